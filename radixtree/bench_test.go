package radixtree_test

import (
	"math/rand/v2"
	"testing"

	"uverbsim/radixtree"
)

var (
	sink *uint32
	view radixtree.Chunk[uint32]
)

// benchTree has 374 keys laid out like those of uverbs, and the order in which
// they are asked for.
func benchTree(b *testing.B) (*tree, [256]uint32) {
	keys := uverbsKeys()[:374]
	tr, _ := fill(b, keys)
	rnd := rand.New(rand.NewPCG(3, 1))
	var order [256]uint32
	for i := range order {
		order[i] = keys[rnd.IntN(len(keys))]
	}
	return tr, order
}

func BenchmarkLookup(b *testing.B) {
	tr, order := benchTree(b)
	for i := range b.N {
		sink = tr.Lookup(order[i&255])
	}
}

func BenchmarkLookupChunk(b *testing.B) {
	tr, order := benchTree(b)
	for i := range b.N {
		sink, view = tr.LookupChunk(order[i&255])
	}
}

func BenchmarkChunkAt(b *testing.B) {
	tr, _ := benchTree(b)
	_, chunk := tr.LookupChunk(3<<11 | 1<<6)
	for i := range b.N {
		sink = chunk.At(uint32(i & 63))
	}
}

func BenchmarkInsertDelete(b *testing.B) {
	keys := uverbsKeys()[:374]
	v := new(uint32)
	for b.Loop() {
		var tr tree
		for _, k := range keys {
			_ = tr.Insert(k, v)
		}
		tr.DeleteRange(0, 1<<32-1)
	}
}
