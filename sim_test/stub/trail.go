package stub

import (
	"strings"
	"sync"
)

// trail is what the core asked of the driver, in order, and the operation in
// which callers are held.
type trail struct {
	mu    sync.Mutex
	names []string
	held  string
	let   *sync.Cond // held has changed
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
