package stub

import (
	"fmt"
	"strings"
	"sync"

	"uverbsim/core"
)

// trail is what the core asked of the driver, in order, what there is as it went, and
// the operation in which callers are held.
type trail struct {
	mu    sync.Mutex
	names []string
	held  string
	let   *sync.Cond // held has changed

	refusals  map[string]int // of an operation: how often it still refuses, always if below 0
	noteUdata bool

	have map[string]int // of each kind, what was made and not destroyed
}

func (t *trail) init() {
	t.let = sync.NewCond(&t.mu)
	t.have = map[string]int{}
}

// kindOf returns of what kind an operation makes or destroys something, and how many
// more there are then: 1, -1, or 0 for one that does neither.
func kindOf(op string) (kind string, more int) {
	verb, kind, _ := strings.Cut(op, "_")
	switch verb {
	case "alloc", "create":
		return kind, 1
	case "dealloc", "destroy":
		return kind, -1
	case "reg": // reg_user_mr, reg_user_mr_dmabuf and reg_dm_mr
		return "mr", 1
	case "dereg":
		return "mr", -1
	}
	return "", 0
}

// said notes a call of an operation and waits while callers of it are held.
func (t *trail) said(name string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names = append(t.names, name)
	if kind, more := kindOf(name); more > 0 {
		t.have[kind]++
	}
	if t.held != name {
		return
	}
	for t.held != "" {
		t.let.Wait()
	}
}

// ended notes that there is one less of a kind.
func (t *trail) ended(kind string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.have[kind]--
}

// counts returns what was made and not destroyed.
func (t *trail) counts() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	counts := map[string]int{}
	for kind, n := range t.have {
		if n != 0 {
			counts[kind] = n
		}
	}
	return counts
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

// refuse says whether the driver refuses an operation that destroys something, which
// is gone if it does not.
func (t *trail) refuse(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.refusals[name]
	if n == 0 {
		kind, _ := kindOf(name)
		t.have[kind]--
		return nil
	}
	if n > 0 {
		t.refusals[name]--
	}
	t.names = append(t.names, "refused")
	return refuses
}
