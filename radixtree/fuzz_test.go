package radixtree_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/radixtree"
	"uverbsim/sim_test/watchdog"
)

// FuzzOps plays a stream of five-byte operations, a code and a key each, on a
// tree and on a map: both must always hold the same.
func FuzzOps(f *testing.F) {
	op := func(code byte, key uint32) []byte { return binary.LittleEndian.AppendUint32([]byte{code}, key) }
	seed := func(ops ...[]byte) {
		var all []byte
		for _, o := range ops {
			all = append(all, o...)
		}
		f.Add(all)
	}
	seed(op(0, 0), op(0, 0), op(1, 0))
	seed(op(0, 0), op(0, 64), op(0, 1<<32-1), op(1, 1<<32-1), op(1, 64))
	seed(op(0, 6208), op(0, 6209), op(0, 6272), op(2, 6208), op(3, 0))
	f.Fuzz(func(t *testing.T, ops []byte) {
		watchdog.On(t)
		if len(ops) > 5*400 {
			return
		}
		var tr tree
		m := map[uint32]*uint32{}
		for ; len(ops) >= 5; ops = ops[5:] {
			key := binary.LittleEndian.Uint32(ops[1:])
			if ops[0]&4 != 0 {
				key &= 1<<16 - 1 // the keys that uverbs has
			}
			switch ops[0] % 4 {
			case 0:
				err := tr.Insert(key, &key)
				if m[key] != nil {
					require.ErrorIs(t, err, radixtree.ErrExist)
					break
				}
				require.NoError(t, err)
				m[key] = &key
			case 1:
				require.True(t, m[key] == tr.Delete(key))
				delete(m, key)
			case 2:
				last := key | 63
				n := 0
				for k := range m {
					if k >= key && k <= last {
						delete(m, k)
						n++
					}
				}
				require.Equal(t, n, tr.DeleteRange(key, last))
			case 3: // drop every other entry from the key on, while walking
				odd := false
				for k := range tr.From(key) {
					if odd = !odd; odd {
						require.NotNil(t, m[k])
						require.True(t, m[k] == tr.Delete(k))
						delete(m, k)
					}
				}
			}
			require.Equal(t, len(m), tr.Len())
		}
		agree(t, &tr, m)
		for k, v := range m {
			got, chunk := tr.LookupChunk(k)
			require.Same(t, v, got)
			for off := range chunk.Len() {
				require.True(t, m[k+off] == chunk.At(off))
			}
		}
	})
}
