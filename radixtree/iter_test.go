package radixtree_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func fill(t testing.TB, keys []uint32) (*tree, map[uint32]*uint32) {
	tr, m := new(tree), map[uint32]*uint32{}
	for _, k := range keys {
		m[k] = new(k)
		require.NoError(t, tr.Insert(k, m[k]))
	}
	return tr, m
}

func TestFromStartsAnywhere(t *testing.T) {
	for name, keys := range keySets {
		t.Run(name, func(t *testing.T) {
			tr, m := fill(t, keys)
			sorted := slices.Sorted(maps.Keys(m))
			starts := []uint32{0, 1, 62, 63, 64, 65, 4095, 4096, 1 << 18, 1<<30 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1}
			for _, k := range sorted {
				starts = append(starts, k-1, k, k+1)
			}
			for _, start := range starts {
				var got []uint32
				for k := range tr.From(start) {
					got = append(got, k)
				}
				i, _ := slices.BinarySearch(sorted, start)
				require.True(t, slices.Equal(sorted[i:], got), "from %#x: %#x", start, got)
			}
		})
	}
}

func TestDeleteWhileWalking(t *testing.T) {
	victims := map[string]func(key uint32) bool{
		"every key":  func(uint32) bool { return true },
		"odd keys":   func(k uint32) bool { return k%2 == 1 },
		"low keys":   func(k uint32) bool { return k < 4096 },
		"high keys":  func(k uint32) bool { return k >= 64 },
		"whole node": func(k uint32) bool { return k>>6 == 1 },
	}
	for name, keys := range keySets {
		for what, victim := range victims {
			t.Run(name+"/"+what, func(t *testing.T) {
				tr, m := fill(t, keys)
				sorted := slices.Sorted(maps.Keys(m))
				var walked []uint32
				for k, v := range tr.From(0) {
					walked = append(walked, k)
					require.Same(t, m[k], v)
					if victim(k) {
						require.Same(t, v, tr.Delete(k))
						delete(m, k)
					}
				}
				require.Equal(t, sorted, walked, "each key once")
				agree(t, tr, m)
			})
		}
	}
}

// What changes ahead of the walk is seen, whatever nodes come and go.
func TestChangeAheadWhileWalking(t *testing.T) {
	tr, m := fill(t, []uint32{0, 10, 20, 200, 5000})
	steps := map[uint32]func(){
		0:  func() { m[70] = new(uint32); require.NoError(t, tr.Insert(70, m[70])) },
		10: func() { tr.Delete(20); delete(m, 20) },
		70: func() { tr.Delete(5000); tr.Delete(200); delete(m, 5000); delete(m, 200) }, // the root node goes
	}
	var walked []uint32
	for k := range tr.From(0) {
		walked = append(walked, k)
		if f := steps[k]; f != nil {
			f()
		}
	}
	require.Equal(t, []uint32{0, 10, 70}, walked)
	agree(t, tr, m)
}

func TestFromEndsEarly(t *testing.T) {
	tr, _ := fill(t, firstKeys(200))
	n := 0
	for k := range tr.From(3) {
		n++
		if k == 70 {
			break
		}
	}
	require.Equal(t, 68, n)
}

func TestDeleteRange(t *testing.T) {
	const object, method = 3 << 11, 3<<11 | 2<<6
	ranges := map[string][2]uint32{
		"everything":        {0, 1<<32 - 1},
		"an object":         {object, object | 1<<11 - 1},
		"a method":          {method, method | 63},
		"one key":           {method, method},
		"nothing there":     {12 << 11, 13<<11 - 1},
		"backwards":         {method, object},
		"the largest alone": {1<<32 - 1, 1<<32 - 1},
	}
	for name, keys := range keySets {
		for what, r := range ranges {
			t.Run(name+"/"+what, func(t *testing.T) {
				tr, m := fill(t, keys)
				n := 0
				for k := range m {
					if k >= r[0] && k <= r[1] {
						delete(m, k)
						n++
					}
				}
				require.Equal(t, n, tr.DeleteRange(r[0], r[1]))
				agree(t, tr, m)
			})
		}
	}
}
