package uobject

import (
	"iter"
	"math/bits"
	"sync/atomic"

	"uverbsim/trace"
)

// handles is the xarray of a file's handles (struct ib_uverbs_file's idr, with
// XA_FLAGS_ALLOC): a 64-way radix tree that gives out the lowest free number.
// Loads take no lock. A number is first reserved with no object in it and
// gets its object when that is committed.
type handles struct {
	mu   trace.Mutex // xa_lock
	root atomic.Pointer[handleNode]
	live int // numbers in use
}

// handleNode is one node: 64 children, or 64 objects where shift is 0.
type handleNode struct {
	shift uint
	full  uint64 // bit i: no number is free below child i
	kids  *[64]atomic.Pointer[handleNode]
	objs  *[64]atomic.Pointer[Object]
}

func newHandleNode(shift uint) *handleNode {
	if shift == 0 {
		return &handleNode{objs: new([64]atomic.Pointer[Object])}
	}
	return &handleNode{shift: shift, kids: new([64]atomic.Pointer[handleNode])}
}

// leaf returns the node that holds id, or nil.
func (h *handles) leaf(id uint64) *handleNode {
	n := h.root.Load()
	if n == nil || id>>n.shift > 63 {
		return nil
	}
	for n.shift > 0 {
		if n = n.kids[id>>n.shift&63].Load(); n == nil {
			return nil
		}
	}
	return n
}

// entry is what a task does to the place of a number.
func (h *handles) entry(e trace.Effect, id uint64) trace.Access {
	return trace.Access{Effect: e, On: &h.root, N: id}
}

// load returns the object with that handle, or nil (xa_load).
func (h *handles) load(t *trace.Task, id uint64) *Object {
	if t.Scheduled() {
		t.PointAt(&trace.Point{Kind: trace.Handle, Verb: "xa_load", Name: "handle", Access: h.entry(trace.Reads, id)})
	}
	n := h.leaf(id)
	if n == nil {
		return nil
	}
	return n.objs[id&63].Load()
}

// alloc reserves the lowest free number (xa_alloc with no entry).
func (h *handles) alloc(t *trace.Task) (id uint64) {
	h.mu.Lock(t)
	defer h.mu.Unlock(t)
	root := h.root.Load()
	switch {
	case root == nil:
		root = newHandleNode(0)
		h.root.Store(root)
	case root.full == ^uint64(0):
		up := newHandleNode(root.shift + 6)
		up.kids[0].Store(root)
		up.full = 1
		h.root.Store(up)
		root = up
	}
	var path [6]*handleNode
	depth := 0
	n := root
	for n.shift > 0 {
		i := uint64(bits.TrailingZeros64(^n.full))
		id |= i << n.shift
		path[depth] = n
		depth++
		kid := n.kids[i].Load()
		if kid == nil {
			kid = newHandleNode(n.shift - 6)
			n.kids[i].Store(kid)
		}
		n = kid
	}
	i := uint64(bits.TrailingZeros64(^n.full))
	id |= i
	n.full |= 1 << i
	for n.full == ^uint64(0) && depth > 0 {
		depth--
		n = path[depth]
		n.full |= 1 << (id >> n.shift & 63)
	}
	h.live++
	return id
}

// store puts the object under its reserved number (xa_store). nil takes it out
// and keeps the number reserved.
func (h *handles) store(t *trace.Task, id uint64, o *Object) (old *Object) {
	h.mu.LockFor(t, h.entry(trace.Writes, id))
	defer h.mu.Unlock(t)
	return h.leaf(id).objs[id&63].Swap(o)
}

// erase frees the number (xa_erase).
func (h *handles) erase(t *trace.Task, id uint64) {
	h.mu.LockFor(t, h.entry(trace.Writes, id))
	defer h.mu.Unlock(t)
	for n := h.root.Load(); ; n = n.kids[id>>n.shift&63].Load() {
		n.full &^= 1 << (id >> n.shift & 63)
		if n.shift == 0 {
			n.objs[id&63].Store(nil)
			break
		}
	}
	h.live--
}

// all walks the objects in the order of their handles.
func (h *handles) all() iter.Seq2[uint64, *Object] {
	return func(yield func(uint64, *Object) bool) {
		if n := h.root.Load(); n != nil {
			n.walk(0, yield)
		}
	}
}

func (n *handleNode) walk(base uint64, yield func(uint64, *Object) bool) bool {
	for i := range uint64(64) {
		if n.shift > 0 {
			kid := n.kids[i].Load()
			if kid != nil && !kid.walk(base|i<<n.shift, yield) {
				return false
			}
			continue
		}
		if o := n.objs[i].Load(); o != nil && !yield(base|i, o) {
			return false
		}
	}
	return true
}
