package radixtree_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/radixtree"
)

func TestChunkSeesTheRestOfTheNode(t *testing.T) {
	for name, keys := range keySets {
		t.Run(name, func(t *testing.T) {
			tr, m := fill(t, keys)
			top := uint32(0)
			if len(keys) > 0 {
				top = slices.Max(keys)
			}
			for k := range maps.Keys(m) {
				v, chunk := tr.LookupChunk(k)
				require.Same(t, m[k], v)
				size := 64 - k%64
				if top == 0 {
					size = 1 // the entry lies in the root
				}
				require.Equal(t, size, chunk.Len())
				for off := range uint32(130) {
					if off < size {
						require.True(t, m[k+off] == chunk.At(off), "key %#x offset %d", k, off)
					} else {
						require.Nil(t, chunk.At(off))
					}
				}
				require.Nil(t, chunk.At(1<<32-1))
			}
		})
	}
}

func TestNoChunkWithoutEntry(t *testing.T) {
	tests := []struct {
		name string
		keys []uint32
		key  uint32
	}{
		{"empty tree", nil, 0},
		{"beside the root's entry", []uint32{0}, 1},
		{"empty slot", []uint32{1, 2}, 0},
		{"no node", []uint32{64, 4096}, 128},
		{"beyond the tree", []uint32{64}, 4096},
		{"the key that is none", uverbsKeys(), 1<<32 - 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tr, _ := fill(t, tt.keys)
			v, chunk := tr.LookupChunk(tt.key)
			require.Nil(t, v)
			require.Zero(t, chunk.Len())
			require.Nil(t, chunk.At(0))
		})
	}
}

func TestLookupsAllocateNothing(t *testing.T) {
	tr, m := fill(t, uverbsKeys())
	keys := slices.Collect(maps.Keys(m))
	hits := 0
	require.Zero(t, testing.AllocsPerRun(10, func() {
		for _, k := range keys {
			if tr.Lookup(k) != nil {
				hits++
			}
			if tr.Lookup(k|1<<17) != nil {
				hits--
			}
			_, chunk := tr.LookupChunk(k)
			if chunk.At(0) != nil {
				hits++
			}
		}
	}))
	require.Equal(t, 2*11*len(keys), hits)
	var root radixtree.Tree[uint32]
	require.NoError(t, root.Insert(0, new(uint32)))
	require.Zero(t, testing.AllocsPerRun(10, func() {
		if v, chunk := root.LookupChunk(0); v != chunk.At(0) {
			hits = -1
		}
	}))
	require.Positive(t, hits)
}
