package stub

import (
	"fmt"
	"strings"
	"sync"

	"uverbsim/core"
)

// trail is what the core asked of the driver, in order, and the operation in
// which callers are held.
type trail struct {
	mu    sync.Mutex
	names []string
	held  string
	let   *sync.Cond // held has changed

	refusals  map[string]int // of an operation: how often it still refuses, always if below 0
	noteUdata bool
}

func (t *trail) init() { t.let = sync.NewCond(&t.mu) }

// said notes a call of an operation and waits while callers of it are held.
func (t *trail) said(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = append(t.names, name)
	if t.held != name {
		return
	}
	for t.held != "" {
		t.let.Wait()
	}
}

func (t *trail) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.Join(t.names, " ")
	t.names = nil
	return text
}

// hold sets the operation in which callers are held, "" for none.
func (t *trail) hold(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.held = name
	t.let.Broadcast()
}

// destroys notes a call of an operation that destroys something, and says
// whether the driver refuses it.
func (t *trail) destroys(name string) error {
	t.said(name)
	return t.refuse(name)
}

// destroysFor is destroys for an operation that is handed the driver's part of
// a request, though it be empty.
func (t *trail) destroysFor(name string, udata *core.Udata) error {
	t.said(name)
	switch {
	case !t.noteUdata:
	case udata == nil:
		t.said("no_udata")
	default:
		t.said(fmt.Sprintf("udata:%d/%d", udata.InLen, udata.OutLen))
	}
	return t.refuse(name)
}

func (t *trail) refuse(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.refusals[name]
	if n == 0 {
		return nil
	}
	if n > 0 {
		t.refusals[name]--
	}
	t.names = append(t.names, "refused")
	return refuses
}
