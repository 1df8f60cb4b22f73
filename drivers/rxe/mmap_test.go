package rxe

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// user is a process that opened a device of this driver, and can map what the
// driver made for its context.
type user struct {
	*rig
	fd int
}

// newUser opens the device by its node and makes a context by an ioctl, so that
// mmap comes to the driver as it does from any process.
func newUser(t testing.TB) *user {
	t.Helper()
	dev, defs := New(Config{})
	m := kernel.NewMachine(methods.Core())
	_, err := m.Register(dev, defs)
	require.NoError(t, err)
	r := &rig{TB: t, dev: dev, d: toRdev(dev), task: m.NewProcess(process.Options{}).MainTask()}
	u := &user{rig: r}
	u.fd, err = r.task.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(t, err)
	r.mem, err = r.task.Mmap(-1, rigMemory, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	r.none = r.mem + rigMemory

	arg := r.take(spec.IoctlHdrSize)
	r.task.Store(arg, spec.EncodeMethod(spec.RDMA_DRIVER_RXE, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT))
	_, err = r.task.Ioctl(u.fd, spec.RDMA_VERBS_IOCTL, arg)
	require.NoError(t, err)
	f := r.task.Fget(u.fd)
	require.NotNil(t, f)
	r.ctx, err = f.Private.(*kernel.File).Ucontext(nil)
	require.NoError(t, err)
	f.Put(r.task)
	return u
}

const protRW = syscall.PROT_READ | syscall.PROT_WRITE

func (u *user) mmap(off, length uint64, flags int) (copyuser.Addr, error) {
	return u.task.Mmap(u.fd, length, protRW, flags, off)
}

// queue makes a CQ and returns what the driver said about its queue.
func (u *user) queue() (*core.CQ, spec.RxeMminfo) {
	ud := u.udata(nil, createCQRespSize)
	cq, err := u.cq(16, ud)
	require.NoError(u, err)
	return cq, u.mminfo(ud.Out)
}

// TestMmap follows the recorded case mmap/cq: the mapping begins with the
// queue's header, and both sides see the same memory.
func TestMmap(t *testing.T) {
	u := newUser(t)
	cq, mi := u.queue()
	at, err := u.mmap(mi.Offset, uint64(mi.Size), syscall.MAP_SHARED)
	require.NoError(t, err)
	require.Equal(t, uint32(7), u.word(at), "log2_elem_size")
	require.Equal(t, uint32(31), u.word(at+bufIndexMask))

	require.True(t, toRcq(cq).post(nil, &spec.WC{WRID: 0x1234}, false))
	require.Equal(t, uint32(1), u.word(at+bufProducerIndex))
	require.Equal(t, uint32(0x1234), u.word(at+bufData))
	require.True(t, u.task.Store(at+bufConsumerIndex, []byte{1, 0, 0, 0}))
	require.Equal(t, uint32(0), toRcq(cq).queue.count(toClient))
}

// TestMmapRefusals follows the recorded cases that it names, and what they
// show: a queue is mapped once.
func TestMmapRefusals(t *testing.T) {
	u := newUser(t)
	_, mi := u.queue()
	gone, goneMi := u.queue()
	require.NoError(t, u.dev.Ops.DestroyCQ(gone, u.udata(nil, 0)))
	for _, c := range []struct {
		name     string
		off, len uint64
		want     error
	}{
		{"mmap/offset-wrong", mi.Offset + copyuser.PageSize, 0x1000, rule.RxeMmapNoObject},
		{"mmap/after-destroy", goneMi.Offset, 0x1000, rule.RxeMmapNoObject},
		{"longer than the queue", mi.Offset, uint64(mi.Size) + 1, rule.RxeMmapTooLarge},
		{"shorter is good", mi.Offset, 1, nil},
		{"a second time is not", mi.Offset, 1, rule.RxeMmapNoObject},
	} {
		_, err := u.mmap(c.off, c.len, syscall.MAP_SHARED)
		refused(t, c.want, err, c.name)
	}
}

// TestMmapNoMemory: a queue whose mapping failed half-way is not mapped and waits no
// longer to be, and goes with its object.
func TestMmapNoMemory(t *testing.T) {
	u := newUser(t)
	cq, mi := u.queue()
	ip := toRcq(cq).queue.ip
	areas := u.task.Mem.Areas()
	task := u.task.Process.NewTask(trace.NewTask(1, &failing{"remap_vmalloc_range"}))
	_, err := task.Mmap(u.fd, uint64(mi.Size), protRW, syscall.MAP_SHARED, mi.Offset)
	refused(t, rule.RxeMmapRemap, err, "no page table")
	require.Equal(t, areas, u.task.Mem.Areas())
	require.Equal(t, 1, ip.ref, "the queue's")
	_, err = u.mmap(mi.Offset, uint64(mi.Size), syscall.MAP_SHARED)
	refused(t, rule.RxeMmapNoObject, err, "it was taken off the list")
	require.NoError(t, u.dev.Ops.DestroyCQ(cq, u.udata(nil, 0)))
	require.Zero(t, ip.ref)
}

// TestMmapPrivate: a queue can be mapped privately, and is then no longer
// shared where the user wrote (recorded rule: once, privately too).
func TestMmapPrivate(t *testing.T) {
	u := newUser(t)
	cq, mi := u.queue()
	at, err := u.mmap(mi.Offset, uint64(mi.Size), syscall.MAP_PRIVATE)
	require.NoError(t, err)
	require.True(t, u.task.Store(at+bufConsumerIndex, []byte{9, 0, 0, 0}))
	require.Equal(t, uint32(9), u.word(at+bufConsumerIndex))
	require.Equal(t, uint32(0), toRcq(cq).queue.buf.word(bufConsumerIndex))
}

// TestMmapOutlivesQueue: a mapping keeps the queue's memory after the queue is
// gone, and so does a forked child's.
func TestMmapOutlivesQueue(t *testing.T) {
	u := newUser(t)
	cq, mi := u.queue()
	at, err := u.mmap(mi.Offset, uint64(mi.Size), syscall.MAP_SHARED)
	require.NoError(t, err)
	ip := toRcq(cq).queue.ip
	require.Equal(t, 2, ip.ref, "the queue's and the mapping's")
	child, err := u.task.Fork()
	require.NoError(t, err)
	require.Equal(t, 3, ip.ref)
	require.NoError(t, u.dev.Ops.DestroyCQ(cq, u.udata(nil, 0)))
	require.Equal(t, uint32(31), u.word(at+bufIndexMask))
	require.NoError(t, u.task.Munmap(at, uint64(mi.Size)))
	require.Equal(t, 1, ip.ref)
	b := make([]byte, 4)
	require.True(t, child.Load(at+bufIndexMask, b))
	require.Equal(t, []byte{31, 0, 0, 0}, b)
	child.Exit()
	require.Zero(t, ip.ref)
}

// TestMmapContexts: a queue is mapped through the context that made it.
func TestMmapContexts(t *testing.T) {
	u := newUser(t)
	_, mi := u.queue()
	other, err := u.task.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(t, err)
	own := u.fd
	u.fd = other
	_, err = u.mmap(mi.Offset, 0x1000, syscall.MAP_SHARED)
	require.ErrorIs(t, err, syscall.EINVAL, "no context")
	_, err = u.d.takePending(nil, &core.Ucontext{Device: u.dev}, mi.Offset, 0x1000)
	refused(t, rule.RxeMmapNoObject, err, "another context")
	u.fd = own
	_, err = u.mmap(mi.Offset, 0x1000, syscall.MAP_SHARED)
	require.NoError(t, err)
}

// TestMmapGone: a queue whose last reference is just gone is still on the list
// for a moment, and cannot be mapped.
func TestMmapGone(t *testing.T) {
	r := newRig(t, Config{})
	u := r.udata(nil, createCQRespSize)
	cq, err := r.cq(16, u)
	require.NoError(t, err)
	ip := toRcq(cq).queue.ip
	ip.ref = 0
	_, err = r.d.takePending(nil, r.ctx, ip.offset, copyuser.PageSize)
	refused(t, rule.RxeMmapObjectGone, err, "going")
	ip.release(nil)
	_, err = r.d.takePending(nil, r.ctx, ip.offset, copyuser.PageSize)
	refused(t, rule.RxeMmapNoObject, err, "gone")
}
