package hw

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// TestDrain: what was fetched is finished, what is posted later waits until the
// queue pair may go on, and receives are taken all the while.
func TestDrain(t *testing.T) {
	a, b := apart(t, ifc.MLX5_QP_ST_RC, Link{Delay: time.Millisecond}, connection{timeout: 20})
	drained := func() (n int) {
		for _, e := range a.events {
			if qpn, _ := e.QP(); e.Type == ifc.MLX5_EVENT_TYPE_SQ_DRAINED && qpn == a.qpn {
				n++
			}
		}
		return n
	}
	send := func(text string) {
		b.receive(b.data(0, 16))
		a.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte(text)})
	}
	pass := func() {
		for range 4 {
			settleEnds(a, b)
			a.fabric.Advance(time.Millisecond)
		}
	}
	a.subscribe(1 << ifc.MLX5_EVENT_TYPE_SQ_DRAINED)
	send("under way")
	settleEnds(a, b)
	require.Equal(t, MLX5_CMD_STAT_OK, a.transit(opRTS2SQD, nil))
	require.Equal(t, uint8(ifc.MLX5_QP_STATE_SQ_DRAINING), a.state(a.qpn))
	require.Equal(t, MLX5_CMD_STAT_BAD_QP_STATE_ERR, a.transit(ifc.MLX5_CMD_OP_SQD_RTS_QP, nil))
	require.Zero(t, drained())
	send("later")
	pass()
	require.Len(t, a.poll(), 1)
	require.Equal(t, "under way", string(b.bytes(0, 9)))
	require.Equal(t, uint8(ifc.MLX5_QP_STATE_SQD), a.state(a.qpn))
	require.Equal(t, 1, drained())

	a.receive(a.data(0x100, 16))
	b.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: []byte("hello")})
	pass()
	require.Equal(t, uint8(ifc.MLX5_CQE_RESP_SEND), a.poll()[0].op)
	require.Len(t, b.poll(), 2)

	require.Equal(t, MLX5_CMD_STAT_OK, a.transit(ifc.MLX5_CMD_OP_SQD_RTS_QP, nil))
	pass()
	require.Len(t, a.poll(), 1)
	require.Equal(t, "later", string(b.bytes(0, 5)))

	require.Equal(t, MLX5_CMD_STAT_OK, a.transit(opRTS2SQD, nil))
	settleEnds(a, b)
	require.Equal(t, uint8(ifc.MLX5_QP_STATE_SQD), a.state(a.qpn), "nothing is under way")
	require.Equal(t, 2, drained())
}

// subscribe makes an event queue without a buffer for more types of events.
func (e *end) subscribe(mask uint64) { e.createEQ(eqOptions{log: 6, mask: mask}) }
