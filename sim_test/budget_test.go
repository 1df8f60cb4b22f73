package sim_test

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
)

// caller is a process with an open device, a context, and calls that lie ready
// in its memory.
type caller struct {
	task   *process.Task
	fd     int
	driver uint32
	next   copyuser.Addr // free memory
}

// drivers boots a machine with one device of each driver.
var drivers = map[string]struct {
	id   uint32
	load func(m *kernel.Machine) error
}{
	"mlx5": {spec.RDMA_DRIVER_MLX5, func(m *kernel.Machine) error { _, err := mlx5.New(m, mlx5.Config{}); return err }},
	"rxe":  {spec.RDMA_DRIVER_RXE, func(m *kernel.Machine) error { _, err := m.Register(rxe.New(rxe.Config{})); return err }},
}

const callerMem = 64 * copyuser.PageSize

func newCaller(tb testing.TB, driver string) *caller {
	tb.Helper()
	return newCallerOn(tb, drivers[driver].id, drivers[driver].load)
}

func newCallerOn(tb testing.TB, driver uint32, load func(m *kernel.Machine) error) *caller {
	tb.Helper()
	m := kernel.NewMachine(methods.Core())
	require.NoError(tb, load(m))
	task := m.NewProcess(process.Options{}).MainTask()
	fd, err := task.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(tb, err)
	mem, err := task.Mmap(-1, callerMem, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(tb, err)
	c := &caller{task: task, fd: fd, driver: driver, next: mem}
	uhw := c.alloc(tb, spec.Mlx5AllocUcontextReqV2Size)
	require.True(tb, task.Mem.PutUint32(uhw, 4))
	c.do(tb, c.call(tb, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: spec.Mlx5AllocUcontextReqV2Size, Data: uint64(uhw)},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 128, Data: uint64(c.alloc(tb, 128))}))
	return c
}

// thread is the same caller in a thread and with memory of its own.
func (c *caller) thread(tb testing.TB) *caller {
	task := c.task.NewTask(nil)
	mem, err := task.Mmap(-1, callerMem, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(tb, err)
	return &caller{task: task, fd: c.fd, driver: c.driver, next: mem}
}

// alloc returns n bytes of the process's memory that are touched already, from
// the start of a page where they are a page or more.
func (c *caller) alloc(tb testing.TB, n uint64) copyuser.Addr {
	if n >= copyuser.PageSize {
		c.next = (c.next + copyuser.PageSize - 1).PageDown()
	}
	a := c.next
	c.next += copyuser.Addr((n + 63) &^ 63)
	require.True(tb, c.task.Mem.Store(a, make([]byte, n)))
	return a
}

// call writes a call into the process's memory and returns where.
func (c *caller) call(tb testing.TB, object, method uint16, attrs ...spec.IoctlAttr) copyuser.Addr {
	tb.Helper()
	buf := spec.EncodeMethod(c.driver, object, method, attrs...)
	at := c.alloc(tb, uint64(len(buf)))
	require.True(tb, c.task.Mem.Store(at, buf))
	return at
}

func (c *caller) do(tb testing.TB, at copyuser.Addr) {
	if _, err := c.task.Ioctl(c.fd, spec.RDMA_VERBS_IOCTL, at); err != nil {
		tb.Fatal(err)
	}
}

// queryPort is a call of QUERY_PORT.
func (c *caller) queryPort(tb testing.TB) copyuser.Addr {
	return c.call(tb, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, Len: 8, Data: 1},
		spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_RESP, Len: spec.QueryPortRespExSize, Data: uint64(c.alloc(tb, spec.QueryPortRespExSize))})
}

// cqLife is a call that makes a CQ of 255 entries and one that destroys it. The
// handle of the first has to be carried over to the second.
type cqLife struct {
	create, destroy copyuser.Addr
	from, to        copyuser.Addr // the handle
}

func (c *caller) cqLife(tb testing.TB) cqLife {
	buf := c.alloc(tb, 256*64)
	db := c.alloc(tb, copyuser.PageSize)
	uhw := c.alloc(tb, spec.Mlx5CreateCQSize)
	req := make([]byte, spec.Mlx5CreateCQSize)
	binary.LittleEndian.PutUint64(req, uint64(buf))
	binary.LittleEndian.PutUint64(req[8:], uint64(db))
	binary.LittleEndian.PutUint32(req[16:], 64)
	require.True(tb, c.task.Mem.Store(uhw, req))
	const handleOff = spec.IoctlHdrSize + spec.IoctlAttrDataOffset
	l := cqLife{
		create: c.call(tb, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_HANDLE},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_CQE, Len: 4, Data: 255},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, Len: 8, Data: 7},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, Len: 4},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, Len: 4, Data: uint64(c.alloc(tb, 4))},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_IN, Len: spec.Mlx5CreateCQSize, Data: uint64(uhw)},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_UHW_OUT, Len: 32, Data: uint64(c.alloc(tb, 32))}),
		destroy: c.call(tb, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY,
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_DESTROY_CQ_HANDLE},
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_DESTROY_CQ_RESP, Len: 8, Data: uint64(c.alloc(tb, 8))}),
	}
	l.from, l.to = l.create+handleOff, l.destroy+handleOff
	return l
}

func (c *caller) live(tb testing.TB, l cqLife) {
	c.do(tb, l.create)
	handle, _ := c.task.Mem.GetUint64(l.from)
	c.task.Mem.PutUint64(l.to, handle)
	c.do(tb, l.destroy)
}

// TestQueryPortAllocatesNothing holds the budget of a whole call that has a
// handler and an answer.
func TestQueryPortAllocatesNothing(t *testing.T) {
	for name := range drivers {
		t.Run(name, func(t *testing.T) {
			c := newCaller(t, name)
			at := c.queryPort(t)
			c.do(t, at)
			require.Zero(t, testing.AllocsPerRun(200, func() { c.do(t, at) }))
		})
	}
}

// TestCQAllocations holds the budget of making and destroying a CQ on mlx5.
func TestCQAllocations(t *testing.T) {
	c := newCaller(t, "mlx5")
	l := c.cqLife(t)
	c.live(t, l)
	got := testing.AllocsPerRun(200, func() { c.live(t, l) })
	t.Logf("%v allocations", got)
	require.LessOrEqual(t, got, 24.0)
}

func BenchmarkQueryPort(b *testing.B) {
	for name := range drivers {
		b.Run(name, func(b *testing.B) {
			c := newCaller(b, name)
			at := c.queryPort(b)
			b.ReportAllocs()
			for b.Loop() {
				c.do(b, at)
			}
		})
	}
}

// BenchmarkCQ makes and destroys a CQ.
func BenchmarkCQ(b *testing.B) {
	for name := range drivers {
		b.Run(name, func(b *testing.B) {
			c := newCaller(b, name)
			l := c.cqLife(b)
			b.ReportAllocs()
			for b.Loop() {
				c.live(b, l)
			}
		})
	}
}

// BenchmarkCQParallel does so in several threads on one file.
func BenchmarkCQParallel(b *testing.B) {
	c := newCaller(b, "mlx5")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		own := c.thread(b)
		l := own.cqLife(b)
		for pb.Next() {
			own.live(b, l)
		}
	})
}

// BenchmarkQueryPortParallel calls QUERY_PORT in several threads on one file.
func BenchmarkQueryPortParallel(b *testing.B) {
	c := newCaller(b, "mlx5")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		own := c.thread(b)
		at := own.queryPort(b)
		for pb.Next() {
			own.do(b, at)
		}
	})
}
