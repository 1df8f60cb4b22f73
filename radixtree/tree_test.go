package radixtree_test

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/radixtree"
)

type tree = radixtree.Tree[uint32]

// shape works out from the keys alone which nodes a tree of them has.
func shape(keys []uint32) (height int, nodes []radixtree.Node) {
	if len(keys) == 0 {
		return 0, nil
	}
	for top := slices.Max(keys); top != 0; top >>= 6 {
		height++
	}
	for depth := range height {
		shift := uint(6 * (height - 1 - depth))
		used := map[uint64]map[uint64]bool{}
		for _, k := range keys {
			prefix := uint64(k) >> shift >> 6
			if used[prefix] == nil {
				used[prefix] = map[uint64]bool{}
			}
			used[prefix][uint64(k)>>shift] = true
		}
		for prefix, slots := range used {
			n := radixtree.Node{Depth: depth, Shift: shift, First: uint32(prefix << shift << 6), Count: len(slots)}
			n.Last = uint32(min(uint64(n.First)+1<<shift<<6-1, 1<<32-1))
			if depth > 0 {
				n.Offset = int(prefix % 64)
			}
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b radixtree.Node) int {
		return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Depth, b.Depth))
	})
	return height, nodes
}

// agree compares everything that can be seen of the tree with a map.
func agree(t *testing.T, tr *tree, want map[uint32]*uint32) {
	t.Helper()
	keys := slices.Sorted(maps.Keys(want))
	require.Equal(t, len(want), tr.Len())
	height, nodes := shape(keys)
	require.Equal(t, height, tr.Height())
	if d := gocmp.Diff(nodes, slices.Collect(tr.Nodes())); d != "" {
		t.Fatalf("nodes (-want +got):\n%s", d)
	}
	var walked []uint32
	for k, v := range tr.From(0) {
		require.Same(t, want[k], v, "key %#x", k)
		walked = append(walked, k)
	}
	require.Equal(t, keys, walked)
	for _, k := range keys {
		require.Same(t, want[k], tr.Lookup(k), "key %#x", k)
		for _, near := range []uint32{k - 1, k + 1, k ^ 64, k ^ 1<<31} {
			require.True(t, want[near] == tr.Lookup(near), "key %#x", near)
		}
	}
}

// uverbsKeys are keys as the dispatcher's tree has them: object, method and
// attribute slots of 20 core objects and a few driver objects.
func uverbsKeys() []uint32 {
	var keys []uint32
	for _, object := range []uint32{0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 15, 20, 22, 24, 30, 31} {
		keys = append(keys, object<<11)
		for method := uint32(1); method <= 3; method++ {
			for attr := uint32(0); attr < 8; attr++ {
				keys = append(keys, object<<11|method<<6|attr)
			}
		}
	}
	return keys
}

var keySets = map[string][]uint32{
	"nothing":        {},
	"only zero":      {0},
	"one node":       {0, 1, 5, 63},
	"only 63":        {63},
	"only 64":        {64},
	"zero and 64":    {0, 64},
	"edges":          {0, 63, 64, 4095, 4096, 1<<18 - 1, 1 << 18, 1<<24 - 1, 1 << 24, 1<<30 - 1, 1 << 30, 1<<31 - 1, 1 << 31, 1<<32 - 1},
	"largest":        {1<<32 - 1},
	"zero, largest":  {0, 1<<32 - 1},
	"a full node":    firstKeys(64),
	"two full nodes": firstKeys(128),
	"uverbs":         uverbsKeys(),
}

func firstKeys(n uint32) (keys []uint32) {
	for k := range n {
		keys = append(keys, k)
	}
	return keys
}

func TestAgainstMap(t *testing.T) {
	for name, keys := range keySets {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(4) {
				rnd := rand.New(rand.NewPCG(seed, 1))
				keys := slices.Clone(keys)
				rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				var tr tree
				want := map[uint32]*uint32{}
				agree(t, &tr, want)
				for _, k := range keys {
					v := new(k)
					require.NoError(t, tr.Insert(k, v))
					want[k] = v
					if len(keys) < 150 {
						agree(t, &tr, want)
					}
				}
				agree(t, &tr, want)
				rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
				for _, k := range keys {
					require.Same(t, want[k], tr.Delete(k))
					require.Nil(t, tr.Delete(k))
					delete(want, k)
					if len(keys) < 150 {
						agree(t, &tr, want)
					}
				}
				agree(t, &tr, want)
			}
		})
	}
}

func TestInsertTakenKeyChangesNothing(t *testing.T) {
	for name, keys := range keySets {
		t.Run(name, func(t *testing.T) {
			var tr tree
			want := map[uint32]*uint32{}
			for _, k := range keys {
				want[k] = new(k)
				require.NoError(t, tr.Insert(k, want[k]))
			}
			for _, k := range keys {
				require.ErrorIs(t, tr.Insert(k, new(uint32)), radixtree.ErrExist)
			}
			agree(t, &tr, want)
		})
	}
}

func TestInsertNilPanics(t *testing.T) {
	require.Panics(t, func() { new(tree).Insert(1, nil) })
}

// Deleting in the opposite order takes the tree back through every shape that
// it had.
func TestDeleteUndoesInsert(t *testing.T) {
	keys := uverbsKeys()
	keys = append(keys, keySets["edges"][2:]...)
	slices.Sort(keys)
	keys = slices.Compact(keys)
	rnd := rand.New(rand.NewPCG(7, 7))
	rnd.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	var tr tree
	var before [][]radixtree.Node
	for _, k := range keys {
		before = append(before, slices.Collect(tr.Nodes()))
		require.NoError(t, tr.Insert(k, new(k)))
	}
	for i, k := range slices.Backward(keys) {
		require.Equal(t, k, *tr.Delete(k))
		require.Equal(t, before[i], slices.Collect(tr.Nodes()), "after deleting %#x", k)
	}
	require.Zero(t, tr.Height())
}

func TestNodesEndsEarly(t *testing.T) {
	var tr tree
	for _, k := range uverbsKeys() {
		require.NoError(t, tr.Insert(k, new(k)))
	}
	n := 0
	for range tr.Nodes() {
		if n++; n == 3 {
			break
		}
	}
	require.Equal(t, 3, n)
}

func TestWalk(t *testing.T) {
	type visit struct {
		shift uint
		slot  int
	}
	build := func(keys ...uint32) *tree {
		tr := new(tree)
		for _, k := range keys {
			require.NoError(t, tr.Insert(k, new(k)))
		}
		return tr
	}
	tests := []struct {
		name string
		tree *tree
		key  uint32
		road []visit
		hit  bool
	}{
		{"empty tree", build(), 0, nil, false},
		{"entry in the root", build(0), 0, nil, true},
		{"beyond the root's entry", build(0), 1, nil, false},
		{"one node", build(0, 9), 9, []visit{{0, 9}}, true},
		{"empty slot of the one node", build(0, 9), 8, []visit{{0, 8}}, false},
		{"beyond one node", build(0, 9), 64, nil, false},
		{"CQ CREATE's cqe", build(3<<11, 3<<11|1<<6|3), 3<<11 | 1<<6 | 3, []visit{{12, 1}, {6, 33}, {0, 3}}, true},
		{"no such method", build(3<<11, 3<<11|1<<6|3), 3<<11 | 2<<6, []visit{{12, 1}, {6, 34}}, false},
		{"no such object", build(3<<11, 3<<11|1<<6|3), 31 << 11, []visit{{12, 15}}, false},
		{"the key that is none", build(3<<11, 3<<11|1<<6|3), 1<<32 - 1, nil, false},
		{"the largest key", build(1<<32 - 1), 1<<32 - 1, []visit{{30, 3}, {24, 63}, {18, 63}, {12, 63}, {6, 63}, {0, 63}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var road []visit
			v := tt.tree.Walk(tt.key, func(shift uint, slot int) { road = append(road, visit{shift, slot}) })
			require.Equal(t, tt.road, road)
			require.Equal(t, tt.hit, v != nil)
			require.True(t, v == tt.tree.Lookup(tt.key))
		})
	}
}
