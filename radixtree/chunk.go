package radixtree

// Chunk is the part of a node of the lowest level from one key's slot to the
// node's end: what radix_tree_iter_lookup leaves behind, and what uverbs keeps
// as radix_slots and radix_slots_len in struct bundle_priv
// (drivers/infiniband/core/uverbs_ioctl.c). It sees what is put into those
// slots later, but not that the node was freed: it is good until the tree
// changes.
type Chunk[V any] struct {
	slots []slot[V]
}

// LookupChunk models radix_tree_iter_lookup in include/linux/radix-tree.h: the
// entry of the key and the slots from there to the end of its node. Without an
// entry there is no chunk either.
func (t *Tree[V]) LookupChunk(key uint32) (*V, Chunk[V]) {
	n := t.root[0].below
	if n == nil {
		if key == 0 && t.root[0].entry != nil {
			return t.root[0].entry, Chunk[V]{t.root[:]}
		}
		return nil, Chunk[V]{}
	}
	shift := n.shift
	if beyond(key, shift) {
		return nil, Chunk[V]{}
	}
	for ; shift != 0; shift -= mapShift {
		if n = n.slots[index(key, shift)].below; n == nil {
			return nil, Chunk[V]{}
		}
	}
	i := index(key, 0)
	if n.slots[i].entry == nil {
		return nil, Chunk[V]{}
	}
	return n.slots[i].entry, Chunk[V]{n.slots[i:]}
}

// Len is the number of slots: radix_tree_chunk_size. It is 64 for a key that
// begins a node and 1 for an entry that lies in the root.
func (c Chunk[V]) Len() uint32 { return uint32(len(c.slots)) }

// At returns the entry offset keys after the chunk's own. It is nil when that
// slot is empty or lies outside the chunk; whoever must know which looks the
// key up in the tree, as uapi_get_attr_for_method does.
func (c Chunk[V]) At(offset uint32) *V {
	if uint64(offset) < uint64(len(c.slots)) {
		return c.slots[offset].entry
	}
	return nil
}
