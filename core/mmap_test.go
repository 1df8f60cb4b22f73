package core

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/trace"
)

func testContext() *Ucontext { return NewUcontext(new(Device), new(Umaps), nil) }

// TestInsertMmapEntry gives out the lowest range that is free.
func TestInsertMmapEntry(t *testing.T) {
	type insert struct {
		bytes    uint64
		min, max uint32
		want     int64 // -1 is none
	}
	for _, tc := range []struct {
		name    string
		inserts []insert
	}{
		{"one after the other", []insert{{1, 0, 9, 0}, {page, 0, 9, 1}, {page + 1, 0, 9, 2}, {1, 0, 9, 4}}},
		{"from min on", []insert{{1, 5, 9, 5}, {1, 3, 9, 3}, {1, 3, 9, 4}, {1, 3, 9, 6}}},
		{"a hole too small is left", []insert{{1, 0, 9, 0}, {1, 2, 9, 2}, {2 * page, 0, 9, 3}, {1, 0, 9, 1}}},
		{"max is the last first offset", []insert{{1, 7, 8, 7}, {3 * page, 7, 8, 8}, {1, 7, 8, -1}, {1, 7, 11, 11}}},
		{"the last of 32 bits is never taken", []insert{{1, math.MaxUint32 - 1, math.MaxUint32, math.MaxUint32 - 1}, {1, math.MaxUint32 - 1, math.MaxUint32, -1}}},
		{"no room before the end", []insert{{2 * page, math.MaxUint32 - 1, math.MaxUint32, -1}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := testContext()
			for _, in := range tc.inserts {
				var e MmapEntry
				err := c.InsertMmapEntry(nil, &e, in.bytes, in.min, in.max)
				if in.want < 0 {
					require.Equal(t, error(rule.UmapNoOffset), err)
					continue
				}
				require.NoError(t, err)
				require.Equal(t, uint64(in.want), e.Pgoff)
			}
		})
	}
	t.Run("no memory", func(t *testing.T) {
		c := testContext()
		require.Equal(t, error(rule.UmapNoOffset), c.InsertMmapEntry(trace.NewTask(1, breaks("rdma_user_mmap_entry")), new(MmapEntry), 1, 0, 9))
		var e MmapEntry
		require.NoError(t, c.InsertMmapEntry(nil, &e, 1, 0, 9))
		require.Zero(t, e.Pgoff)
	})
}

// TestMmapEntriesAgainstScan inserts and removes at random and compares with a
// scan of what is taken.
func TestMmapEntriesAgainstScan(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	c := testContext()
	taken := map[uint64]bool{}
	var live []*MmapEntry
	for range 3000 {
		if len(live) > 0 && rng.IntN(3) == 0 {
			i := rng.IntN(len(live))
			e := live[i]
			live = append(live[:i], live[i+1:]...)
			for p := range e.NPages {
				delete(taken, e.Pgoff+p)
			}
			e.Remove(nil)
			continue
		}
		n, min := uint64(1+rng.IntN(4)), uint64(rng.IntN(50))
		const max = 100
		want, ok := uint64(0), false
		for first := min; first <= max && !ok; first++ {
			want, ok = first, true
			for p := range n {
				ok = ok && !taken[first+p]
			}
		}
		e := new(MmapEntry)
		err := c.InsertMmapEntry(nil, e, n*page, uint32(min), max)
		require.Equal(t, ok, err == nil)
		if !ok {
			continue
		}
		require.Equal(t, want, e.Pgoff)
		for p := range n {
			taken[e.Pgoff+p] = true
		}
		live = append(live, e)
	}
	require.Len(t, c.mmap.entries, len(taken))
}

// TestMmapEntryAt finds an entry by its first offset only, until it is removed.
func TestMmapEntryAt(t *testing.T) {
	freed := 0
	c := testContext()
	c.Device.Ops.MmapFree = func(*trace.Task, *MmapEntry) { freed++ }
	var e MmapEntry
	require.NoError(t, c.InsertMmapEntry(nil, &e, 2*page, 5, 9))
	for _, off := range []uint64{0, 4, 6, 7, 1 << 32, 1<<32 + 5, math.MaxUint64} {
		require.Nilf(t, c.MmapEntryAt(nil, off), "%#x", off)
	}
	got := c.MmapEntryAt(nil, 5)
	require.Same(t, &e, got)
	e.Remove(nil)
	require.Zero(t, freed, "somebody has it")
	require.Nil(t, c.MmapEntryAt(nil, 5))
	got.Put(nil)
	require.Equal(t, 1, freed)
	require.Empty(t, c.mmap.entries)
	(*MmapEntry)(nil).Remove(nil)
}
