package libmlx5_test

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/verbs"
)

// TestCQError: a queue that overruns raises an event about it, and cannot be
// destroyed before the program is done with the event.
func TestCQError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := boot(t)
		cq := m.create(1, nil)
		for m.dev.HW.Complete(cq.CQN, hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND}) == nil {
			continue
		}
		m.step()
		ev, err := m.ctx.GetAsyncEvent()
		require.NoError(t, err)
		require.Equal(t, &verbs.AsyncEvent{Type: verbs.IBV_EVENT_CQ_ERR, CQ: &cq.CQ}, ev)
		destroyed := false
		go func() {
			err = cq.Destroy()
			destroyed = true
		}()
		synctest.Wait()
		require.False(t, destroyed)
		ev.Ack()
		synctest.Wait()
		require.True(t, destroyed)
		require.NoError(t, err)
	})
}

// TestDeviceFatal: an event without an object needs no acknowledgement to count.
func TestDeviceFatal(t *testing.T) {
	m := boot(t)
	m.dev.Fail(m.proc.MainTask().Trace)
	ev, err := m.ctx.GetAsyncEvent()
	require.NoError(t, err)
	require.Equal(t, &verbs.AsyncEvent{Type: verbs.IBV_EVENT_DEVICE_FATAL, PortNum: ev.PortNum}, ev)
	ev.Ack()
	m.ctx.Close()
}
