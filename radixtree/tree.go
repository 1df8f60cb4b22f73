package radixtree

import "errors"

// ErrExist is what Insert returns when the key is taken: the kernel's -EEXIST.
var ErrExist = errors.New("radixtree: the key is taken")

// Tree is a radix tree of *V under 32-bit keys: struct radix_tree_root in
// include/linux/radix-tree.h. The zero value is an empty tree. A Tree must not
// be copied once it is in use.
type Tree[V any] struct {
	root [1]slot[V] // xa_head; an array so that it can be a Chunk
	len  int
	gen  uint32 // changes whenever a node is added or freed
}

// Len is the number of entries.
func (t *Tree[V]) Len() int { return t.len }

// Height is the number of levels of nodes. It is 0 for an empty tree and for
// one that has no key but 0.
func (t *Tree[V]) Height() int {
	if n := t.root[0].below; n != nil {
		return int(n.shift)/mapShift + 1
	}
	return 0
}

// Lookup models radix_tree_lookup in lib/radix-tree.c: the entry of the key,
// or nil.
func (t *Tree[V]) Lookup(key uint32) *V {
	n := t.root[0].below
	if n == nil {
		if key == 0 {
			return t.root[0].entry
		}
		return nil
	}
	shift := n.shift
	if beyond(key, shift) {
		return nil
	}
	// The shift is counted down here and not read from each node, so that a
	// level costs one load.
	for ; shift != 0; shift -= mapShift {
		if n = n.slots[index(key, shift)].below; n == nil {
			return nil
		}
	}
	return n.slots[index(key, 0)].entry
}

// find returns the slot of the key and the node that has it, which is nil when
// it is the root's own slot; no slot when there is no node for the key. It
// models __radix_tree_lookup in lib/radix-tree.c.
func (t *Tree[V]) find(key uint32) (*slot[V], *node[V]) {
	n := t.root[0].below
	if n == nil {
		if key == 0 {
			return &t.root[0], nil
		}
		return nil, nil
	}
	if beyond(key, n.shift) {
		return nil, nil
	}
	for n.shift != 0 {
		if n = n.slots[index(key, n.shift)].below; n == nil {
			return nil, nil
		}
	}
	return &n.slots[index(key, 0)], n
}

// Walk is Lookup with a look at the road: visit is called for every node that
// the lookup passes, from the root down, with the node's shift and the slot
// that the key selects in it. A lookup ends early at an empty slot; of a key
// beyond the tree's largest possible one no node is visited.
func (t *Tree[V]) Walk(key uint32, visit func(shift uint, slot int)) *V {
	n := t.root[0].below
	if n == nil || beyond(key, n.shift) {
		return t.Lookup(key)
	}
	for {
		i := index(key, n.shift)
		visit(uint(n.shift), int(i))
		if n.shift == 0 {
			return n.slots[i].entry
		}
		if n = n.slots[i].below; n == nil {
			return nil
		}
	}
}

// Insert models radix_tree_insert in lib/radix-tree.c: it puts v under the
// key, or returns ErrExist and changes nothing when the key is taken. v must
// not be nil: an empty slot is how the tree knows that there is no entry.
func (t *Tree[V]) Insert(key uint32, v *V) error {
	if v == nil {
		panic("radixtree: Insert of nil")
	}
	s, n := t.create(key)
	if s.entry != nil {
		return ErrExist
	}
	s.entry = v
	if n != nil {
		n.count++
	}
	t.len++
	return nil
}

// create models __radix_tree_create in lib/radix-tree.c: it makes the nodes
// that the key needs and returns its slot and the node that has it.
func (t *Tree[V]) create(key uint32) (*slot[V], *node[V]) {
	s := &t.root[0]
	levels := t.Height() // still to go down
	if levels == 0 && key != 0 || levels > 0 && beyond(key, s.below.shift) {
		levels = t.extend(key)
	}
	var n *node[V]
	for offset := uint8(0); levels > 0; s = &n.slots[offset] {
		levels--
		shift := uint8(levels * mapShift)
		if s.below == nil {
			s.below = &node[V]{parent: n, shift: shift, offset: offset}
			t.gen++
			if n != nil {
				n.count++
			}
		}
		n = s.below
		offset = index(key, shift)
	}
	return s, n
}

// extend models radix_tree_extend in lib/radix-tree.c: it returns the height
// that the key needs and puts nodes on top of what is in the tree until it is
// that high. An empty tree is left alone.
func (t *Tree[V]) extend(key uint32) (height int) {
	shift := uint8(t.Height() * mapShift) // of the first node to be added
	top := shift
	for beyond(key, top) {
		top += mapShift
	}
	height = int(top)/mapShift + 1
	if t.root[0] == (slot[V]{}) {
		return height
	}
	for ; shift <= top; shift += mapShift {
		n := &node[V]{shift: shift, count: 1}
		n.slots[0] = t.root[0]
		if below := n.slots[0].below; below != nil {
			below.parent = n
		}
		t.root[0] = slot[V]{below: n}
		t.gen++
	}
	return height
}

// Delete models radix_tree_delete in lib/radix-tree.c: it takes the entry of
// the key out and returns it, or nil when there is none.
func (t *Tree[V]) Delete(key uint32) *V {
	s, n := t.find(key)
	if s == nil || s.entry == nil {
		return nil
	}
	v := s.entry
	s.entry = nil
	t.len--
	if n != nil {
		n.count--
		t.deleteNode(n)
	}
	return v
}

// deleteNode models delete_node in lib/radix-tree.c: from n upwards, nodes
// without an entry are freed; when that ends at the root node the tree may
// have become lower.
func (t *Tree[V]) deleteNode(n *node[V]) {
	for n.count == 0 {
		up := n.parent
		t.gen++
		if up == nil {
			t.root[0].below = nil
			return
		}
		up.slots[n.offset].below = nil
		up.count--
		n = up
	}
	if n == t.root[0].below {
		t.shrink()
	}
}

// shrink models radix_tree_shrink in lib/radix-tree.c: a root node that has
// nothing but slot 0 is replaced by what is in it.
func (t *Tree[V]) shrink() {
	for n := t.root[0].below; n != nil && n.count == 1; n = t.root[0].below {
		if n.slots[0] == (slot[V]{}) {
			return
		}
		t.root[0] = n.slots[0]
		if below := t.root[0].below; below != nil {
			below.parent = nil
		}
		t.gen++
	}
}
