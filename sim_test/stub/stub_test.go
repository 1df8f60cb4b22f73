package stub_test

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/sim_test/stub"
	"uverbsim/spec"
)

// machine is a machine with the stub and a process that has opened its node.
type machine struct {
	*stub.Driver
	p    *process.Process
	fd   int
	args copyuser.Addr // memory for an ioctl's argument
}

func boot(t *testing.T, c stub.Config) *machine {
	t.Helper()
	k := kernel.NewMachine(methods.Core())
	d, err := stub.New(k, c)
	require.NoError(t, err)
	require.NoError(t, d.Add())
	m := &machine{Driver: d, p: k.NewProcess(process.Options{})}
	m.fd, err = m.p.Open(fmt.Sprint("/dev/infiniband/uverbs", d.Device().Num), syscall.O_RDWR)
	require.NoError(t, err)
	const prot = syscall.PROT_READ | syscall.PROT_WRITE
	m.args, err = m.p.Mmap(-1, copyuser.PageSize, prot, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	return m
}

// call makes an ioctl whose attributes have inline data, and returns that data
// as it is afterwards.
func (m *machine) call(object, method uint16, attrs ...spec.IoctlAttr) ([]uint64, error) {
	m.p.Mem.CopyOut(m.args, spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, object, method, attrs...))
	_, err := m.p.Ioctl(m.fd, spec.RDMA_VERBS_IOCTL, m.args)
	var data []uint64
	for i := range attrs {
		v, _ := m.p.Mem.GetUint64(m.args + spec.IoctlHdrSize + copyuser.Addr(i)*spec.IoctlAttrSize + spec.IoctlAttrDataOffset)
		data = append(data, v)
	}
	return data, err
}

func mandatory(id, n uint16, data uint64) spec.IoctlAttr {
	return spec.IoctlAttr{AttrID: id, Len: n, Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: data}
}

// context makes the file's context.
func (m *machine) context(t *testing.T) {
	t.Helper()
	_, err := m.call(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
	require.NoError(t, err)
}

func TestReached(t *testing.T) {
	m := boot(t, stub.Config{})
	m.context(t)
	_, err := m.call(spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_QUERY_UAR,
		mandatory(spec.MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX, 4, 0),
		mandatory(spec.MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, 4, 0))
	require.ErrorIs(t, err, syscall.ENODATA)
	require.ErrorContains(t, err, "stub/reached")
}

// TestLog has the operations and the reasons of destruction in their order.
func TestLog(t *testing.T) {
	m := boot(t, stub.Config{})
	m.context(t)
	require.Equal(t, "alloc_ucontext", m.Log())
	require.Empty(t, m.Log(), "a look empties it")
	out, err := m.call(spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, spec.MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
		mandatory(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0, 0),
		mandatory(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 4, 1))
	require.NoError(t, err)
	require.NoError(t, m.p.Close(int(out[0])))
	require.Equal(t, "fd_gone", m.Log())
	require.NoError(t, m.p.Close(m.fd))
	require.Equal(t, "dealloc_ucontext", m.Log())
}

func TestHold(t *testing.T) {
	m := boot(t, stub.Config{})
	m.Hold("alloc_ucontext")
	done := make(chan error)
	go func() {
		_, err := m.call(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
		done <- err
	}()
	select {
	case <-done:
		t.Fatal("the call was not held")
	case <-time.After(20 * time.Millisecond):
	}
	m.Release()
	require.NoError(t, <-done)
}

// uar makes a UAR and returns its offset.
func (m *machine) uar(typ uint64) (off uint64, err error) {
	const n = 128 // where the outputs lie, behind the attributes
	out := uint64(m.args) + n
	_, err = m.call(spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC,
		mandatory(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0, 0),
		mandatory(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, 8, typ),
		mandatory(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4, out),
		mandatory(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 8, out+8),
		mandatory(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8, out+16))
	off, _ = m.p.Mem.GetUint64(copyuser.Addr(out + 16))
	return off, err
}

func TestMmap(t *testing.T) {
	m := boot(t, stub.Config{Has: []string{"mmap", "uar"}})
	m.context(t)
	mmap := func(pages, off uint64, flags int) (copyuser.Addr, error) {
		return m.p.Mmap(m.fd, pages*copyuser.PageSize, syscall.PROT_READ, flags, off)
	}
	a, err := mmap(4, 0, syscall.MAP_SHARED)
	require.NoError(t, err)
	var b [1]byte
	require.Equal(t, 1, m.p.Mem.CopyIn(b[:], a+4*copyuser.PageSize-1))
	require.Equal(t, byte(0xc3), b[0])
	_, err = mmap(5, 0, syscall.MAP_SHARED)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = mmap(1, 0, syscall.MAP_PRIVATE)
	require.ErrorIs(t, err, syscall.EINVAL)
	_, err = mmap(1, copyuser.PageSize, syscall.MAP_SHARED)
	require.ErrorContains(t, err, "stub/no-mapping")

	off, err := m.uar(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
	require.NoError(t, err)
	require.EqualValues(t, 9<<16, off>>copyuser.PageShift)
	_, err = mmap(1, off, syscall.MAP_SHARED)
	require.NoError(t, err)
	_, err = m.uar(2)
	require.ErrorIs(t, err, syscall.EOPNOTSUPP)
	require.Equal(t, "alloc_ucontext mmap mmap mmap mmap alloc_uar mmap", m.Log())
}

func TestConfig(t *testing.T) {
	ops := boot(t, stub.Config{}).Device().IBDevice().Ops
	require.NotNil(t, ops.AllocPD)
	require.NotNil(t, ops.CreateQP, "it answers EOPNOTSUPP")
	require.Nil(t, ops.CreateSRQ)

	ib := boot(t, stub.Config{Has: []string{"create_srq", "poll_cq", "mask63"}, Lacks: []string{"alloc_pd", "mask0"}}).Device().IBDevice()
	require.Nil(t, ib.Ops.AllocPD)
	require.NotNil(t, ib.Ops.CreateSRQ)
	want := spec.DefaultUverbsCmdMask | 1<<63 | 1<<spec.IB_USER_VERBS_CMD_POLL_CQ
	require.Equal(t, want&^1, ib.UverbsCmdMask)

	for _, c := range []stub.Config{{Has: []string{"no_such"}}, {Lacks: []string{"no_such"}}, {Has: []string{"mask64"}}, {Has: []string{"refuse_no_such"}}} {
		_, err := stub.New(kernel.NewMachine(methods.Core()), c)
		require.ErrorContains(t, err, "no operation")
	}
}

func TestRemoveAndAdd(t *testing.T) {
	m := boot(t, stub.Config{Has: []string{"disassociate_ucontext"}})
	m.context(t)
	require.ErrorIs(t, m.Add(), syscall.EEXIST)
	m.Remove(m.p.MainTask())
	require.Nil(t, m.Device())
	require.Equal(t, "alloc_ucontext disassociate_ucontext dealloc_ucontext unregistered", m.Log())
	require.ErrorIs(t, m.Event(nil, "port", 1, "9"), syscall.ENODEV)
	m.Remove(m.p.MainTask())
	require.Empty(t, m.Log(), "nothing is left to remove")
	require.NoError(t, m.Add())
	require.NotNil(t, m.Device())
}

func TestEvent(t *testing.T) {
	m := boot(t, stub.Config{})
	require.NoError(t, m.Event(nil, "port", 1, "9"))
	require.ErrorIs(t, m.Event(nil, "cq", 0, stub.Completion), syscall.ENOENT)
	require.ErrorIs(t, m.Event(nil, "qp", -1, "3"), syscall.ENOENT)
	require.ErrorIs(t, m.Event(nil, "pd", 0, "3"), syscall.EINVAL)
	require.ErrorIs(t, m.Event(nil, "cq", 0, "x"), syscall.EINVAL)
}

// cq makes a completion queue.
func (m *machine) cq() error {
	const cqe = 128 // where the output lies, behind the attributes
	_, err := m.call(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
		mandatory(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0),
		mandatory(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, 16),
		mandatory(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 1),
		mandatory(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		mandatory(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, uint64(m.args)+cqe))
	return err
}

// TestRefusals: an operation refuses once or always, and says what udata it got.
func TestRefusals(t *testing.T) {
	for _, tc := range []struct {
		has  string
		errs []error
		log  string
	}{
		{"refuse_destroy_cq", []error{syscall.EREMOTEIO, nil}, "destroy_cq udata:0/0 refused destroy_cq udata:0/0"},
		{"never_destroy_cq", []error{syscall.EREMOTEIO, syscall.EREMOTEIO}, "destroy_cq udata:0/0 refused destroy_cq udata:0/0 refused"},
	} {
		m := boot(t, stub.Config{Has: []string{tc.has, "udata"}})
		m.context(t)
		require.NoError(t, m.cq())
		m.Log()
		for _, want := range tc.errs {
			_, err := m.call(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY,
				mandatory(spec.UVERBS_ATTR_DESTROY_CQ_HANDLE, 0, 0),
				mandatory(spec.UVERBS_ATTR_DESTROY_CQ_RESP, 8, uint64(m.args)+256))
			if want == nil {
				require.NoError(t, err)
				continue
			}
			require.ErrorIs(t, err, want)
		}
		require.Equal(t, tc.log, m.Log())
	}
}
