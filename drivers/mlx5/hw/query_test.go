package hw

import (
	"bytes"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// TestQueriesSideBySide: what queries read beside each other, and in one slot, is
// never half of a change.
func TestQueriesSideBySide(t *testing.T) {
	d := New(Config{})
	require.NoError(t, d.Exec(nil, Input(ifc.MLX5_CMD_OP_ENABLE_HCA, 0, 0, 0), make([]byte, 64)))
	access := func(slot int, write bool, fill byte) []byte {
		in, out := make([]byte, registerData+nodeDescriptionSize), make([]byte, registerData+nodeDescriptionSize)
		copy(in, Input(ifc.MLX5_CMD_OP_ACCESS_REG, 0, 0, 0))
		in[7] = 1 // a read
		if write {
			in[7] = registerWrite
		}
		registerID.Set(in, MLX5_REG_NODE_DESC)
		copy(in[registerData:], bytes.Repeat([]byte{fill}, nodeDescriptionSize))
		if err := d.ExecIn(nil, slot, in, out); err != nil {
			t.Error(err)
		}
		if status, _ := Result(out); status != MLX5_CMD_STAT_OK {
			t.Errorf("status %v", status)
		}
		return out[registerData:]
	}
	access(0, true, 1)
	var wg sync.WaitGroup
	for _, slot := range []int{0, 1, 1, 2} {
		wg.Go(func() {
			for range 3000 {
				got := access(slot, false, 0)
				if !bytes.Equal(got, bytes.Repeat(got[:1], len(got))) || got[0] == 0 {
					t.Errorf("half of a change: %x", got)
					return
				}
			}
		})
	}
	for i := range 100 {
		access(3, true, byte(i+1))
		for range manyQueries {
			access(3, false, 0)
		}
	}
	wg.Wait()
	require.False(t, d.mu.slots[0].busy.Load())
}
