// Package radixtree is the 64-way radix tree in which the uverbs ioctl
// dispatcher keeps its objects, methods and attributes, as lib/radix-tree.c
// does it.
//
// A node has 64 slots and stands for 6 bits of the key. The tree is as high as
// its largest key needs: none but key 0 and the entry lies in the root itself,
// keys up to 63 and there is one node, keys up to 4095 and there are two
// levels. It grows and shrinks with its largest key, and a node that loses its
// last entry goes.
//
// The 16-bit keys of uverbs are object(5) / method(5) / attribute(6), so that
// the lowest level holds a method in slot 0 and its attributes in the other 63
// slots. A Chunk is the view of that node which a method's lookup leaves
// behind: each attribute of the method is then one index away.
//
// Left out is what uverbs does not use: tags, the IDR's free-slot search, gang
// lookups, entries that are numbers, preloaded nodes, and RCU. The tree is
// built before it is published and never changed afterwards while somebody
// looks something up: any number of goroutines may read it at once as long as
// none writes.
package radixtree
