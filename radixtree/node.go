package radixtree

import "iter"

const (
	mapShift = 6             // RADIX_TREE_MAP_SHIFT in include/linux/radix-tree.h: key bits a node decides
	mapSize  = 1 << mapShift // RADIX_TREE_MAP_SIZE: slots of a node
	mapMask  = mapSize - 1   // RADIX_TREE_MAP_MASK
)

// node is one node of the tree: struct xa_node in include/linux/xarray.h,
// under the name of struct radix_tree_node.
type node[V any] struct {
	parent *node[V]
	shift  uint8 // key bits below the ones this node decides
	offset uint8 // slot in the parent
	count  uint8 // slots in use
	slots  [mapSize]slot[V]
}

// slot holds an entry at the lowest level, and in the root of a tree without
// nodes, and a node elsewhere. The kernel has one pointer for both and tells
// them apart by its low bits.
type slot[V any] struct {
	entry *V
	below *node[V]
}

// maxIndex models shift_maxindex in lib/radix-tree.c: the largest key of a
// tree whose root node has the given shift.
func maxIndex(shift uint8) uint64 { return mapSize<<shift - 1 }

// beyond says whether the key is larger than any in a tree whose root node has
// the given shift.
func beyond(key uint32, shift uint8) bool { return key>>(shift&31) >= mapSize }

// index is the slot in which a node of that shift keeps the key.
func index(key uint32, shift uint8) uint8 { return uint8(key>>(shift&31)) & mapMask }

// Node describes a node of the tree: where it hangs and which keys it covers.
type Node struct {
	Depth  int    // nodes above it
	Shift  uint   // key bits below the 6 that it decides; 0 at the lowest level
	Offset int    // its slot in the node above, 0 for the root node
	First  uint32 // the smallest key it covers
	Last   uint32 // the largest
	Count  int    // slots in use, of 64
}

// Nodes walks the nodes of the tree, each before those below it and those in
// the order of their keys. The tree must not change meanwhile.
func (t *Tree[V]) Nodes() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n := t.root[0].below; n != nil {
			n.each(0, 0, yield)
		}
	}
}

func (n *node[V]) each(depth int, first uint32, yield func(Node) bool) bool {
	last := min(uint64(first)+maxIndex(n.shift), 1<<32-1)
	if !yield(Node{depth, uint(n.shift), int(n.offset), first, uint32(last), int(n.count)}) {
		return false
	}
	for i := range n.slots {
		if below := n.slots[i].below; below != nil && !below.each(depth+1, first|uint32(i)<<n.shift, yield) {
			return false
		}
	}
	return true
}
