package firmware

import (
	"testing"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/drivers/mlx5/hw/words"
	"uverbsim/sim_test/watchdog"
)

// FuzzQueue: whatever stands in the slots, the mailboxes, the records and the
// registers, the firmware comes through and answers the next command.
func FuzzQueue(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add(hw.Input(ifc.MLX5_CMD_OP_CREATE_CQ, 0, 0, 8), []byte{0, 0, 0, 1, 0, 0, 0, 2})
	f.Add(hw.Input(ifc.MLX5_CMD_OP_CREATE_SQ, 1, 0, 8), make([]byte, 512))
	f.Add([]byte{5, 1}, []byte{})
	f.Fuzz(func(t *testing.T, in, mess []byte) {
		watchdog.On(t)
		if len(in) > mailboxes/4 || len(mess) > slotSize*queueSlots {
			return
		}
		r := newRig(t)
		r.boot()
		uar := r.uar()
		cqn := r.cq(uar, r.eq(uar, ifc.MLX5_EVENT_TYPE_CMD), recordAt)
		r.sq(uar, cqn, recordAt+8)
		copy(r.at(recordAt, 16), mess)
		copy(r.at(sqAt, 4096), mess)
		copy(r.bar[int(uar)*uarPage+0x800:], mess)
		r.give(1, in, len(mess))
		r.poll()
		copy(r.at(queueAt, slotSize*queueSlots), mess)
		r.poll()
		clear(r.at(queueAt, slotSize*queueSlots))
		words.Store32(r.bar, segQueueLow, queueAt) // a DISABLE_HCA may have come
		r.command(hw.Input(ifc.MLX5_CMD_OP_ENABLE_HCA, 0, 0, 0), 16)
	})
}
