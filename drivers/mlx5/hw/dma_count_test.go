package hw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// countingBus counts the accesses of memory, each of which is a system call where
// the memory is another process's.
type countingBus struct {
	Memory
	reads, writes int
}

func (b *countingBus) ReadAt(p []byte, addr Addr) error {
	b.reads++
	return b.Memory.ReadAt(p, addr)
}

func (b *countingBus) WriteAt(p []byte, addr Addr) error {
	b.writes++
	return b.Memory.WriteAt(p, addr)
}

// TestAccesses holds messages to how often they access memory. Besides the data
// that is, for the sender, the doorbell record before and after, the work request
// and its completion; for the receiver of a SEND the record, the receive and its
// completion. Each answer that comes has the sender look at its record again, and a
// long message is moved in trains of 16 KiB.
func TestAccesses(t *testing.T) {
	for _, tt := range []struct {
		name          string
		op            uint8
		n, segs       int
		reads, writes int
	}{
		{"SEND of 64 bytes", ifc.MLX5_OPCODE_SEND, 64, 1, 6, 3},
		{"WRITE of 64 bytes", ifc.MLX5_OPCODE_RDMA_WRITE, 64, 1, 4, 2},
		{"WRITE in 8 pieces", ifc.MLX5_OPCODE_RDMA_WRITE, 8, 8, 11, 2},
		{"READ of 64 bytes", ifc.MLX5_OPCODE_RDMA_READ, 64, 1, 8, 2},
		{"WRITE of 4 KiB", ifc.MLX5_OPCODE_RDMA_WRITE, 4 << 10, 1, 4, 2},
		{"WRITE of 64 KiB", ifc.MLX5_OPCODE_RDMA_WRITE, 64 << 10, 1, 7, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := pair(t, ifc.MLX5_QP_ST_RC, connection{})
			settleEnds(a)
			bus := &countingBus{Memory: a.mem}
			a.Device.cfg.Bus = bus
			w := wr{op: tt.op}
			for range tt.segs {
				w.sgl = append(w.sgl, a.data(0, tt.n))
			}
			if tt.op == ifc.MLX5_OPCODE_SEND {
				b.receive(b.data(0, tt.n))
			} else {
				to := b.data(0, tt.n)
				w.remote = &to
			}
			a.post(w)
			settleEnds(a)
			require.Len(t, a.poll(), 1)
			require.LessOrEqual(t, bus.reads, tt.reads)
			require.LessOrEqual(t, bus.writes, tt.writes)
		})
	}
}
