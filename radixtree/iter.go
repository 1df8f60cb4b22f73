package radixtree

import "iter"

// From walks the entries with keys of at least start in ascending order, as
// radix_tree_for_each_slot in include/linux/radix-tree.h does.
//
// The loop's body may change the tree. Deleting the current key is what
// radix_tree_iter_delete allows; here any key may be deleted or inserted, and
// the walk meets each key that is there when it comes by.
func (t *Tree[V]) From(start uint32) iter.Seq2[uint32, *V] {
	return func(yield func(uint32, *V) bool) {
		for next, more := start, true; more; {
			var slots []slot[V]
			if next, slots = t.nextChunk(next); slots == nil {
				return
			}
			gen := t.gen
			// Only nodes that come or go make the chunk stale.
			for i := 0; i < len(slots) && gen == t.gen; i++ {
				key := next
				next++
				more = next != 0 // not beyond the largest key
				if v := slots[i].entry; v != nil && !yield(key, v) {
					return
				}
			}
		}
	}
}

// nextChunk models radix_tree_next_chunk in lib/radix-tree.c: the first key of
// at least key that has a node of the lowest level with an entry at or after
// it, and the slots from there to the node's end; no slots when there is none.
func (t *Tree[V]) nextChunk(key uint32) (uint32, []slot[V]) {
restart:
	n := t.root[0].below
	if n == nil {
		if key == 0 && t.root[0].entry != nil {
			return 0, t.root[:]
		}
		return 0, nil
	}
	if beyond(key, n.shift) {
		return 0, nil
	}
	for {
		i := int(index(key, n.shift))
		if n.slots[i] == (slot[V]{}) {
			for i++; i < mapSize && n.slots[i] == (slot[V]{}); i++ {
			}
			first := uint64(key)&^maxIndex(n.shift) + uint64(i)<<n.shift
			if first > 1<<32-1 {
				return 0, nil
			}
			key = uint32(first)
			if i == mapSize {
				goto restart
			}
		}
		if n.shift == 0 {
			return key, n.slots[i:]
		}
		n = n.slots[i].below
	}
}

// DeleteRange models uapi_remove_range in
// drivers/infiniband/core/uverbs_uapi.c: it deletes the entries with keys from
// start to last, both included, and returns how many there were.
func (t *Tree[V]) DeleteRange(start, last uint32) int {
	before := t.len
	for key := range t.From(start) {
		if key > last {
			break
		}
		t.Delete(key)
	}
	return before - t.len
}
