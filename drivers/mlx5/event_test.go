package mlx5

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// arm asks for an event at the next completion: by the queue's record in memory,
// and by the doorbell in the context's first page of registers.
func (r *rig) arm(uar copyuser.Addr, a *cqArgs, cqn uint32, consumer, sn uint32) {
	r.Helper()
	word := sn<<28 | consumer // MLX5_CQ_DB_REQ_NOT is 0: the next one, solicited or not
	require.True(r, r.task.Mem.Store(copyuser.Addr(a.ucmd.DBAddr)+4, be.AppendUint32(nil, word)))
	ring := be.AppendUint32(be.AppendUint32(nil, word), cqn)
	require.True(r, r.task.Mem.Store(uar+ifc.MLX5_CQ_DOORBELL, ring))
}

// TestCompletion is the way of a completion: into the user's memory, and, since
// the queue is armed, by the event queue and its interrupt to the completion
// channel.
func TestCompletion(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	uar, err := r.mmap(spec.MLX5_IB_MMAP_REGULAR_PAGE, 0, copyuser.PageSize, protRW)
	require.NoError(t, err)
	channel := r.compChannel()
	a := r.cqArgs()
	a.channel, a.userHandle = channel, 0x1122334455667788
	require.True(t, r.task.Mem.Store(copyuser.Addr(a.ucmd.DBAddr), make([]byte, 8)))
	q, err := r.createCQ(a)
	require.NoError(t, err)
	r.arm(uar, &a, q.cqn, 0, 0)

	require.False(t, r.dev.Step(nil), "nothing has happened")
	require.NoError(t, r.dev.HW.Complete(q.cqn, hw.Completion{Opcode: 0, WQECounter: 7}))
	_, err = r.read(channel, 8)
	require.ErrorIs(t, err, syscall.EAGAIN, "the interrupt has not come")
	for r.dev.Step(nil) {
	}
	b, err := r.read(channel, 8)
	require.NoError(t, err)
	require.Equal(t, a.userHandle, le.Uint64(b))

	cqe := r.bytes(copyuser.Addr(a.ucmd.BufAddr), hw.CQESize)
	require.Equal(t, uint16(7), be.Uint16(cqe[60:]))

	require.NoError(t, r.dev.HW.Complete(q.cqn, hw.Completion{WQECounter: 8}))
	for r.dev.Step(nil) {
	}
	_, err = r.read(channel, 8)
	require.ErrorIs(t, err, syscall.EAGAIN, "it was not armed again")

	comp, async, err := r.destroyCQ(q.handle)
	require.NoError(t, err)
	require.Equal(t, [2]uint32{1, 0}, [2]uint32{comp, async})
}

// TestCQError: a queue that runs over breaks, which its event file is told.
func TestCQError(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	async := r.asyncFD()
	a := r.cqArgs()
	a.cqe, a.async, a.userHandle = 1, async, 42
	require.True(t, r.task.Mem.Store(copyuser.Addr(a.ucmd.DBAddr), make([]byte, 8)))
	q, err := r.createCQ(a)
	require.NoError(t, err)
	require.Equal(t, uint32(1), q.entries, "two entries, both of the device")
	for err == nil {
		err = r.dev.HW.Complete(q.cqn, hw.Completion{})
	}
	for r.dev.Step(nil) {
	}
	b, err := r.read(async, 16)
	require.NoError(t, err)
	require.Equal(t, uint64(42), le.Uint64(b))
	require.Equal(t, uint32(spec.IB_EVENT_CQ_ERR), le.Uint32(b[8:]))
	_, n, err := r.destroyCQ(q.handle)
	require.NoError(t, err)
	require.Equal(t, uint32(1), n)
}

// TestFail: when the adapter breaks, every event file is told, commands are
// refused, and what users have can still go.
func TestFail(t *testing.T) {
	r := newRig(t, Config{})
	empty := r.dev.Bus.Mapped()
	r.context(request())
	async := r.asyncFD()
	q, err := r.createCQ(r.cqArgs())
	require.NoError(t, err)
	r.dev.Fail(nil)
	b, err := r.read(async, 16)
	require.NoError(t, err)
	require.Equal(t, uint32(spec.IB_EVENT_DEVICE_FATAL), le.Uint32(b[8:]))
	_, err = r.createCQ(r.cqArgs())
	require.Equal(t, error(rule.MLX5CmdDeviceError), err)
	_, _, err = r.destroyCQ(q.handle)
	require.NoError(t, err)
	require.NoError(t, r.task.Close(async))
	require.NoError(t, r.task.Close(r.fd))
	const eqPages = 2048 * hw.EQESize / copyuser.PageSize // 1024 events, and 128 to spare
	require.Equal(t, empty+eqPages, r.dev.Bus.Mapped(), "only the completion event queue is left")
}

// TestRemove: the device goes from under its users, whose descriptors stay and say
// so; nothing is left in the adapter or reachable for it.
func TestRemove(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	channel := r.compChannel()
	a := r.cqArgs()
	a.channel = channel
	_, err := r.createCQ(a)
	require.NoError(t, err)
	_, err = r.allocUARObj(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
	require.NoError(t, err)
	require.NoError(t, r.dev.Remove(r.m.NewProcess(process.Options{}).MainTask()))
	require.Equal(t, map[string]int{"mapped": 0}, r.counts())
	_, err = r.createCQ(r.cqArgs())
	require.ErrorIs(t, err, syscall.EIO)
	_, err = r.task.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.ErrorIs(t, err, syscall.ENOENT)
}
