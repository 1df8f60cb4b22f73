package transcript

import (
	"slices"
	"sync"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/rule"
	"uverbsim/spec"
)

// Tape is a watch.Watcher that takes down the calls of programs as the
// transcript has them.
type Tape struct {
	mu    sync.Mutex
	pids  []int
	calls map[int][]Call
	peeks map[*watch.Call][]Value
}

var _ watch.Watcher = (*Tape)(nil)

// PIDs returns the processes that made calls, in the order of their first.
func (t *Tape) PIDs() []int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.pids)
}

// Calls returns the calls of a process, in the order in which they ended.
func (t *Tape) Calls(pid int) []Call {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.calls[pid])
}

// Enter implements watch.Watcher.
func (t *Tape) Enter(c *watch.Call) {
	if c.Name != "ioctl" || c.Cmd != spec.RDMA_VERBS_IOCTL {
		return
	}
	c.TakeArgument()
	if c.Ioctl == nil {
		return
	}
	before := make([]Value, len(c.Ioctl.Attrs))
	for i := range before {
		before[i] = look(c, c.Ioctl.Attrs[i].IoctlAttr)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.peeks == nil {
		t.peeks = map[*watch.Call][]Value{}
	}
	t.peeks[c] = before
}

// Leave implements watch.Watcher.
func (t *Tape) Leave(c *watch.Call) {
	var out Call
	if c.Err != nil {
		out.Errno = rule.Errno(c.Err)
	}
	switch {
	case c.Name == "mmap":
		out.Mmap = &Mmap{Length: c.Length, Offset: c.Offset, Prot: c.Prot, FD: c.FD}
	case c.Name == "ioctl" && c.Ioctl != nil:
		c.TakeAnswer()
		i := c.Ioctl
		out.Ioctl = &Ioctl{Object: i.Header.ObjectID, Method: i.Header.MethodID, Driver: i.Header.DriverID}
		t.mu.Lock()
		before := t.peeks[c]
		delete(t.peeks, c)
		t.mu.Unlock()
		for n := range i.Attrs {
			a := &i.Attrs[n]
			attr := Attr{ID: a.AttrID, Len: a.Len, Flags: a.Flags, Reserved: a.AttrData, AfterFlags: a.After.Flags, After: look(c, a.After)}
			if n < len(before) {
				attr.Before = before[n]
			}
			out.Ioctl.Attrs = append(out.Ioctl.Attrs, attr)
		}
	default:
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls == nil {
		t.calls = map[int][]Call{}
	}
	if _, known := t.calls[c.PID]; !known {
		t.pids = append(t.pids, c.PID)
	}
	t.calls[c.PID] = append(t.calls[c.PID], out)
}

// look reads an attribute's data as the transcript's recorder did: a large number
// is an address, whatever it is.
func look(c *watch.Call, a spec.IoctlAttr) Value {
	if a.Data < least || a.Len == 0 {
		return Value{Number: a.Data}
	}
	b := make([]byte, min(int(a.Len), maxBytes))
	if c.Mem == nil || c.Mem.CopyIn(b, copyuser.Addr(a.Data)) < len(b) {
		b = nil
	}
	return Value{Pointer: true, Bytes: b}
}
