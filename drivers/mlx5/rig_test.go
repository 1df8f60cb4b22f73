package mlx5

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// rig is a machine with one adapter, and a process that has its device open.
type rig struct {
	*testing.T
	m    *kernel.Machine
	dev  *Device
	task *process.Task
	fd   int

	mem  copyuser.Addr // memory that nobody has taken yet
	none copyuser.Addr // nothing is mapped here
}

const rigMemory = 256 * copyuser.PageSize

func newRig(t *testing.T, cfg Config) *rig { return newTracedRig(t, cfg, nil) }

func newTracedRig(t *testing.T, cfg Config, tr *trace.Task) *rig {
	t.Helper()
	r := &rig{T: t, m: kernel.NewMachine(methods.Core())}
	var err error
	r.dev, err = New(r.m, cfg)
	require.NoError(t, err)
	r.task = r.m.NewProcess(process.Options{Trace: tr}).MainTask()
	r.fd = r.open()
	r.mem, err = r.task.Mmap(-1, rigMemory, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	r.none = r.mem + rigMemory
	return r
}

func (r *rig) open() int {
	r.Helper()
	fd, err := r.task.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(r, err)
	return fd
}

// take returns n bytes of the process's memory, filled with 0xa5; a page and more
// begin at a page.
func (r *rig) take(n int) copyuser.Addr {
	r.Helper()
	if n >= copyuser.PageSize {
		r.mem = (r.mem + copyuser.PageSize - 1).PageDown()
	}
	at := r.mem
	r.mem += copyuser.Addr(n+63) &^ 63
	require.LessOrEqual(r, r.mem, r.none)
	fill := make([]byte, n)
	for i := range fill {
		fill[i] = 0xa5
	}
	require.True(r, r.task.Mem.Store(at, fill))
	return at
}

func (r *rig) bytes(at copyuser.Addr, n int) []byte {
	r.Helper()
	b := make([]byte, n)
	require.True(r, r.task.Mem.Load(at, b))
	return b
}

func (r *rig) u32(at copyuser.Addr) uint32 { return le.Uint32(r.bytes(at, 4)) }
func (r *rig) u64(at copyuser.Addr) uint64 { return le.Uint64(r.bytes(at, 8)) }

// attr makes an attribute that lies at an address; one of up to 8 bytes that is
// input lies in the call itself.
func attr(id uint16, n int, data uint64) spec.IoctlAttr {
	return spec.IoctlAttr{AttrID: id, Len: uint16(n), Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: data}
}

// in makes an attribute of the process's own bytes.
func (r *rig) in(id uint16, b []byte) spec.IoctlAttr {
	if len(b) <= 8 {
		var word [8]byte
		copy(word[:], b)
		return attr(id, len(b), le.Uint64(word[:]))
	}
	at := r.take(len(b))
	require.True(r, r.task.Mem.Store(at, b))
	return attr(id, len(b), uint64(at))
}

// out makes an attribute with room for n bytes.
func (r *rig) out(id uint16, n int) spec.IoctlAttr { return attr(id, n, uint64(r.take(n))) }

func handleAttr(id uint16, h uint32) spec.IoctlAttr  { return attr(id, 0, uint64(h)) }
func constAttr(id uint16, v uint64) spec.IoctlAttr   { return attr(id, 8, v) }
func addrOf(a spec.IoctlAttr) copyuser.Addr          { return copyuser.Addr(a.Data) }
func (r *rig) answer(a spec.IoctlAttr, n int) []byte { return r.bytes(addrOf(a), n) }

// prepare writes a call into the process's memory and returns where.
func (r *rig) prepare(object, method uint16, attrs ...spec.IoctlAttr) copyuser.Addr {
	r.Helper()
	buf := spec.EncodeMethod(spec.RDMA_DRIVER_MLX5, object, method, attrs...)
	at := r.take(len(buf))
	require.True(r, r.task.Mem.Store(at, buf))
	return at
}

// call makes a call and returns its error; attributes that the kernel wrote to,
// handles, are in attrs afterwards.
func (r *rig) call(fd int, object, method uint16, attrs ...spec.IoctlAttr) error {
	r.Helper()
	at := r.prepare(object, method, attrs...)
	_, err := r.task.Ioctl(fd, spec.RDMA_VERBS_IOCTL, at)
	back := r.bytes(at, spec.IoctlHdrSize+len(attrs)*spec.IoctlAttrSize)
	for i := range attrs {
		attrs[i] = spec.DecodeIoctlAttr((*[spec.IoctlAttrSize]byte)(back[spec.IoctlHdrSize+i*spec.IoctlAttrSize:]))
	}
	return err
}

// request is the driver's part of the request for a context: 16 registers, 4 of
// them with low latency, and CQE version 1.
func request() spec.Mlx5AllocUcontextReqV2 {
	return spec.Mlx5AllocUcontextReqV2{TotalNumBfregs: 16, NumLowLatencyBfregs: 4, MaxCQEVersion: 1}
}

// getContext asks for a context and returns the driver's part of the answer.
func (r *rig) getContext(fd int, in []byte, outLen int) ([]byte, error) {
	r.Helper()
	attrs := []spec.IoctlAttr{
		r.in(spec.UVERBS_ATTR_UHW_IN, in), r.out(spec.UVERBS_ATTR_UHW_OUT, outLen),
		r.out(spec.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, 4), r.out(spec.UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, 8),
	}
	err := r.call(fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, attrs...)
	return r.answer(attrs[1], outLen), err
}

// context gives the rig's file a context.
func (r *rig) context(req spec.Mlx5AllocUcontextReqV2) spec.Mlx5AllocUcontextResp {
	r.Helper()
	var resp spec.Mlx5AllocUcontextResp
	b, err := r.getContext(r.fd, spec.Bytes(&req), len(spec.Bytes(&resp)))
	require.NoError(r, err)
	copy(spec.Bytes(&resp), b)
	return resp
}

// devxContext gives the rig's file the context of a DEVX user.
func (r *rig) devxContext() {
	r.Helper()
	req := request()
	req.Flags = spec.MLX5_IB_ALLOC_UCTX_DEVX
	r.context(req)
}

// cqArgs is a call that makes a completion queue: the core's part and the
// driver's.
type cqArgs struct {
	cqe, vector, flags uint32
	ucmd               spec.Mlx5CreateCQ
	inLen              int // of ucmd, whole if 0
	out                copyuser.Addr
	noOut              bool
	channel, async     int // descriptors, -1 for none
	userHandle         uint64
}

// cqArgs returns a call that is right: 16 entries of 64 bytes in memory of its
// own.
func (r *rig) cqArgs() cqArgs {
	return cqArgs{cqe: 16, channel: -1, async: -1, out: r.take(8),
		ucmd: spec.Mlx5CreateCQ{BufAddr: uint64(r.take(2 * copyuser.PageSize)), DBAddr: uint64(r.take(8)), CQESize: 64}}
}

// madeCQ is a new completion queue as its user knows it.
type madeCQ struct{ handle, cqn, entries uint32 }

func (r *rig) createCQ(a cqArgs) (madeCQ, error) {
	r.Helper()
	in := spec.Bytes(&a.ucmd)
	if a.inLen != 0 {
		in = in[:a.inLen]
	}
	attrs := []spec.IoctlAttr{
		handleAttr(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0),
		attr(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, uint64(a.cqe)),
		attr(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, a.userHandle),
		attr(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, uint64(a.vector)),
		attr(spec.UVERBS_ATTR_CREATE_CQ_FLAGS, 4, uint64(a.flags)),
		r.out(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4),
		r.in(spec.UVERBS_ATTR_UHW_IN, in),
	}
	if !a.noOut {
		attrs = append(attrs, attr(spec.UVERBS_ATTR_UHW_OUT, 8, uint64(a.out)))
	}
	if a.channel >= 0 {
		attrs = append(attrs, attr(spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, uint64(a.channel)))
	}
	if a.async >= 0 {
		attrs = append(attrs, attr(spec.UVERBS_ATTR_CREATE_CQ_EVENT_FD, 0, uint64(a.async)))
	}
	if err := r.call(r.fd, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, attrs...); err != nil {
		return madeCQ{}, err
	}
	return madeCQ{uint32(attrs[0].Data), r.u32(a.out), r.u32(addrOf(attrs[5]))}, nil
}

// destroyCQ returns how many completion events and asynchronous ones were read.
func (r *rig) destroyCQ(h uint32) (comp, async uint32, err error) {
	r.Helper()
	resp := r.out(spec.UVERBS_ATTR_DESTROY_CQ_RESP, 8)
	err = r.call(r.fd, spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY, handleAttr(spec.UVERBS_ATTR_DESTROY_CQ_HANDLE, h), resp)
	return r.u32(addrOf(resp)), r.u32(addrOf(resp) + 4), err
}

// compChannel makes a completion channel, for which there is only a write()
// command.
func (r *rig) compChannel() int {
	r.Helper()
	resp := r.take(4)
	cmd := le.AppendUint32(nil, spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL)
	cmd = le.AppendUint16(cmd, 4) // words of the command
	cmd = le.AppendUint16(cmd, 1) // words of the response
	cmd = le.AppendUint64(cmd, uint64(resp))
	at := r.take(len(cmd))
	require.True(r, r.task.Mem.Store(at, cmd))
	_, err := r.task.Write(r.fd, at, uint64(len(cmd)))
	require.NoError(r, err)
	return int(r.u32(resp))
}

// asyncFD makes a descriptor for asynchronous events.
func (r *rig) asyncFD() int {
	r.Helper()
	attrs := []spec.IoctlAttr{attr(spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0)}
	require.NoError(r, r.call(r.fd, spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC, attrs...))
	return int(int32(attrs[0].Data))
}

// read reads n bytes from a descriptor that must not wait.
func (r *rig) read(fd, n int) ([]byte, error) {
	r.Helper()
	require.NoError(r, r.task.SetNonblock(fd, true))
	at := r.take(n)
	got, err := r.task.Read(fd, at, uint64(n))
	return r.bytes(at, int(max(got, 0))), err
}

// mmap maps pages of the device at an offset of a command and an index.
func (r *rig) mmap(command, index, length uint64, prot int) (copyuser.Addr, error) {
	pgoff := command<<mmapCmdShift | index&0xff | index>>8<<mmapIndexHighByte
	return r.task.Mmap(r.fd, length, prot, syscall.MAP_SHARED, pgoff<<copyuser.PageShift)
}

// counts are the adapter's objects, and the pages that it can reach under
// "mapped".
func (r *rig) counts() map[string]int {
	c := r.dev.HW.Counts()
	c["mapped"] = r.dev.Bus.Mapped()
	return c
}

const protRW = syscall.PROT_READ | syscall.PROT_WRITE
