package mlx5

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
)

// TestStatusRules: the errno of each status (cmd_status_to_err of mlx5_core).
func TestStatusRules(t *testing.T) {
	for status, want := range map[hw.Status]syscall.Errno{
		0x01: syscall.EIO, 0x02: syscall.EINVAL, 0x03: syscall.EINVAL, 0x04: syscall.EIO, 0x05: syscall.EINVAL,
		0x06: syscall.EBUSY, 0x07: syscall.EAGAIN, 0x08: syscall.ENOMEM, 0x09: syscall.EINVAL, 0x0a: syscall.EINVAL,
		0x0f: syscall.EAGAIN, 0x10: syscall.EINVAL, 0x30: syscall.EINVAL, 0x40: syscall.EINVAL, 0x50: syscall.EIO,
		0x51: syscall.EIO, 0x0b: syscall.EIO, 0xff: syscall.EIO,
	} {
		err := checked(rule.MLX5CmdStatus, make([]byte, 16), []byte{byte(status)})
		require.ErrorIs(t, err, want, "%v", status)
	}
}

// TestExec: a command's refusal by the adapter, and by an adapter that is in error:
// what ends something is done all the same.
func TestExec(t *testing.T) {
	d := newRig(t, Config{}).dev
	n, err := d.create(nil, ifc.MLX5_CMD_OP_ALLOC_PD, 0)
	require.NoError(t, err)
	require.NoError(t, d.destroy(nil, ifc.MLX5_CMD_OP_DEALLOC_PD, 0, n))
	require.Equal(t, error(rule.MLX5CmdBadRes), d.destroy(nil, ifc.MLX5_CMD_OP_DEALLOC_PD, 0, n))
	_, err = d.create(nil, 0xfff, 0)
	require.Equal(t, error(rule.MLX5CmdBadOp), err)

	d.HW.Fail()
	_, err = d.create(nil, ifc.MLX5_CMD_OP_ALLOC_PD, 0)
	require.Equal(t, error(rule.MLX5CmdDeviceError), err)
	require.NoError(t, d.destroy(nil, ifc.MLX5_CMD_OP_DEALLOC_PD, 0, n))
}

// TestMailbox: what one command left does not reach the next.
func TestMailbox(t *testing.T) {
	d := new(Device)
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_CQ, 3, 64)
	require.Len(t, m.in, 272+64)
	for i := range m.in {
		m.in[i] = 0xff
	}
	for i := range m.out {
		m.out[i] = 0xff
	}
	d.giveBack(m)
	m2 := d.mailbox(ifc.MLX5_CMD_OP_ALLOC_PD, 5, 0)
	require.Same(t, m, m2)
	require.Equal(t, []byte{0x08, 0x00, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, m2.in)
	require.Equal(t, make([]byte, 16), m2.out)
}
