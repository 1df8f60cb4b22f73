package uobject

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// lowestFree is the obvious way to find the lowest number that is not taken.
func lowestFree(taken map[uint64]*Object) uint64 {
	for id := uint64(0); ; id++ {
		if _, ok := taken[id]; !ok {
			return id
		}
	}
}

// TestHandlesAgainstMap allocates, stores and erases at random and compares
// every step with a map.
func TestHandlesAgainstMap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var h handles
	taken := map[uint64]*Object{}
	var ids []uint64
	for range 20000 {
		if len(ids) == 0 || rng.IntN(5) < 3 {
			want := lowestFreeHint(taken, ids)
			id := h.alloc(nil)
			require.Equal(t, want, id)
			require.Nil(t, h.load(nil, id), "a reserved number has no object")
			o := &Object{}
			require.Nil(t, h.store(nil, id, o))
			taken[id] = o
			ids = append(ids, id)
		} else {
			i := rng.IntN(len(ids))
			id := ids[i]
			ids[i] = ids[len(ids)-1]
			ids = ids[:len(ids)-1]
			h.erase(nil, id)
			delete(taken, id)
			require.Nil(t, h.load(nil, id))
		}
		require.Equal(t, len(taken), h.live)
	}
	for id, o := range taken {
		require.Same(t, o, h.load(nil, id))
	}
	last := int64(-1)
	n := 0
	for id, o := range h.all() {
		require.Greater(t, int64(id), last)
		require.Same(t, taken[id], o)
		last = int64(id)
		n++
	}
	require.Equal(t, len(taken), n)
}

// lowestFreeHint is lowestFree, cut short where nothing was ever erased.
func lowestFreeHint(taken map[uint64]*Object, ids []uint64) uint64 {
	if _, ok := taken[uint64(len(ids))]; !ok && allBelow(taken, uint64(len(ids))) {
		return uint64(len(ids))
	}
	return lowestFree(taken)
}

func allBelow(taken map[uint64]*Object, n uint64) bool {
	for id := range taken {
		if id >= n {
			return false
		}
	}
	return true
}

func TestHandlesBeyondTheTree(t *testing.T) {
	var h handles
	require.Nil(t, h.load(nil, 0), "an empty table")
	for range 65 { // two levels
		id := h.alloc(nil)
		h.store(nil, id, &Object{})
	}
	require.NotNil(t, h.load(nil, 64))
	for _, id := range []uint64{65, 4095, 4096, 1 << 32, 1<<32 + 64, 1 << 63, ^uint64(0)} {
		require.Nilf(t, h.load(nil, id), "%#x", id)
	}
}

func TestHandlesStoreNilKeepsTheNumber(t *testing.T) {
	var h handles
	o := &Object{}
	id := h.alloc(nil)
	h.store(nil, id, o)
	require.Same(t, o, h.store(nil, id, nil))
	require.Nil(t, h.load(nil, id))
	require.Equal(t, uint64(1), h.alloc(nil), "0 is still reserved")
}
