package methods

import (
	"encoding/hex"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// fake is a driver without hardware: its operations make empty objects with
// numbers from one counter, and it notes which were called.
type fake struct {
	next uint32
	log  []string
	qp   *core.QP  // the one made last, as the driver knows it
	cq   *core.CQ  // likewise
	srq  *core.SRQ // likewise
	wq   *core.WQ  // likewise
}

func (f *fake) number() uint32 {
	f.next++
	return f.next
}

func (f *fake) note(op string) { f.log = append(f.log, op) }

// took returns the operations that were called since the last look.
func (f *fake) took() []string {
	log := f.log
	f.log = nil
	return log
}

// ops are all that the handlers of this package can call.
func (f *fake) ops() core.DeviceOps {
	return core.DeviceOps{
		AllocUcontext:   func(*core.Ucontext, *core.Udata) error { f.note("alloc_ucontext"); return nil },
		DeallocUcontext: func(*process.Task, *core.Ucontext) { f.note("dealloc_ucontext") },
		QueryUcontext:   func(*core.Ucontext, core.Attrs) error { f.note("query_ucontext"); return nil },
		QueryPort: func(_ *process.Task, _ *core.Device, _ uint32, attr *core.PortAttr) error {
			*attr = core.PortAttr{State: 4, MaxMTU: 5, ActiveMTU: 3, GIDTblLen: 1024, IPGIDs: true, PortCapFlags: 1<<16 | 1<<26,
				MaxMsgSz: 0x800000, PkeyTblLen: 1, MaxVLNum: 1, ActiveWidth: 1, ActiveSpeed: 256, PhysState: 5,
				LID: 0x1234, SMLID: 0x5678, PortCapFlags2: 0x2b}
			return nil
		},
		AllocPD:   func(*core.PD, *core.Udata) error { f.note("alloc_pd"); return nil },
		DeallocPD: func(*core.PD, *core.Udata) error { f.note("dealloc_pd"); return nil },
		CreateCQ: func(cq *core.CQ, attr *core.CQInitAttr, _ core.Attrs) error {
			f.cq = cq
			cq.CQE.Store(attr.CQE)
			f.note("create_cq")
			return nil
		},
		DestroyCQ: func(*core.CQ, *core.Udata) error { f.note("destroy_cq"); return nil },
		RegUserMR: func(_ *core.PD, _, length, va uint64, _ uint32, _ *core.Udata) (*core.MR, error) {
			n := f.number()
			return &core.MR{LKey: n, RKey: n + 0x100, Length: length, IOVA: va}, nil
		},
		RegDMMR: func(_ *core.PD, _ *core.DM, attr *core.DMMRAttr, _ core.Attrs) (*core.MR, error) {
			n := f.number()
			return &core.MR{LKey: n, RKey: n + 0x100, Length: attr.Length}, nil
		},
		RegUserMRDmabuf: func(_ *core.PD, _, length, va uint64, _ int, _ uint32, _ core.Attrs) (*core.MR, error) {
			n := f.number()
			return &core.MR{LKey: n, RKey: n + 0x100, Length: length, IOVA: va}, nil
		},
		DeregMR: func(*core.MR, *core.Udata) error { f.note("dereg_mr"); return nil },
		AdviseMR: func(_ *core.PD, _, _ uint32, list []core.SGE, _ core.Attrs) error {
			if list[0].Length == 0 {
				return syscall.EFAULT
			}
			return nil
		},
		AllocMW:      func(mw *core.MW, _ *core.Udata) error { mw.RKey = f.number(); return nil },
		DeallocMW:    func(*process.Task, *core.MW) error { f.note("dealloc_mw"); return nil },
		CreateUserAH: func(*core.AH, *core.AHAttr, *core.Udata) error { return nil },
		DestroyAH:    func(*process.Task, *core.AH, uint32) error { f.note("destroy_ah"); return nil },
		CreateSRQ: func(srq *core.SRQ, attr *core.SRQInitAttr, _ *core.Udata) error {
			srq.SRQNum, f.srq = f.number(), srq
			attr.Attr.MaxWR *= 2
			return nil
		},
		DestroySRQ: func(*core.SRQ, *core.Udata) error { f.note("destroy_srq"); return nil },
		CreateQP: func(qp *core.QP, attr *core.QPInitAttr, _ *core.Udata) error {
			qp.QPNum, f.qp = f.number(), qp
			attr.Cap.MaxSendWR *= 2
			return nil
		},
		DestroyQP:   func(*core.QP, *core.Udata) error { f.note("destroy_qp"); return nil },
		AllocXRCD:   func(*core.XRCD, *core.Udata) error { return nil },
		DeallocXRCD: func(*core.XRCD, *core.Udata) error { f.note("dealloc_xrcd"); return nil },
		CreateWQ: func(_ *core.PD, attr *core.WQInitAttr, _ *core.Udata) (*core.WQ, error) {
			f.wq = &core.WQ{WQNum: f.number(), EventHandler: attr.EventHandler}
			return f.wq, nil
		},
		DestroyWQ:          func(*core.WQ, *core.Udata) error { f.note("destroy_wq"); return nil },
		CreateRWQIndTable:  func(*core.RWQIndTable, *core.RWQIndTableInitAttr, *core.Udata) error { return nil },
		DestroyRWQIndTable: func(*process.Task, *core.RWQIndTable) error { f.note("destroy_rwq_ind_table"); return nil },
		CreateFlow:         func(*core.QP, *core.FlowAttr, *core.Udata) (*core.Flow, error) { return new(core.Flow), nil },
		DestroyFlow:        func(*process.Task, *core.Flow) error { f.note("destroy_flow"); return nil },
		DestroyFlowAction:  func(*process.Task, *core.FlowAction) error { f.note("destroy_flow_action"); return nil },
		AllocDM: func(*core.Ucontext, *core.DMAllocAttr, core.Attrs) (*core.DM, error) {
			return new(core.DM), nil
		},
		DeallocDM:       func(*core.DM, core.Attrs) error { f.note("dealloc_dm"); return nil },
		CreateCounters:  func(*core.Counters, core.Attrs) error { return nil },
		DestroyCounters: func(*process.Task, *core.Counters) error { f.note("destroy_counters"); return nil },
		ReadCounters: func(_ *core.Counters, attr *core.CountersReadAttr, _ core.Attrs) error {
			for i := range attr.Buf {
				attr.Buf[i] = uint64(i) + 1
			}
			return nil
		},
	}
}

// rig is a machine with a fake device, which a process has opened. The process
// has memory to call from.
type rig struct {
	testing.TB
	*fake
	m       *kernel.Machine
	dev     *core.Device
	uverbs  *kernel.Device
	p       *process.Process
	fd      int
	args    copyuser.Addr // where calls are put
	free    copyuser.Addr // memory that no buffer has taken yet
	nattrs  int           // of the last call
	unplug  copyuser.Addr // an address that nothing is mapped at
	changed func(*core.DeviceOps)
	made    *uobject.Object // what the driver's own methods made last
}

type rigOption func(*rig)

// lacking changes the driver's operations: it takes some away, or puts others
// in their place.
func lacking(change func(*core.DeviceOps)) rigOption { return func(r *rig) { r.changed = change } }

const (
	fakeDriverID = 99
	rw           = syscall.PROT_READ | syscall.PROT_WRITE
	anon         = syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS
)

// newRig returns a rig whose process has no context yet.
func newRig(tb testing.TB, tr *trace.Task, opts ...rigOption) *rig {
	tb.Helper()
	r := &rig{TB: tb, fake: new(fake), m: kernel.NewMachine(Core()), unplug: 0x5ead00000000}
	for _, o := range opts {
		o(r)
	}
	ops := r.ops()
	if r.changed != nil {
		r.changed(&ops)
	}
	r.dev = &core.Device{Name: "fake0", DriverID: fakeDriverID, NumCompVectors: 2, PhysPorts: 1, Ops: ops,
		UverbsCmdMask: ^uint64(0), LinkLayer: core.LinkLayerEthernet, GIDTblLen: 1024, GIDs: []core.GIDAttr{
			{GID: [16]byte{0: 0xfe, 1: 0x80, 15: 1}, Index: 0, Port: 1, Type: 2, Ifindex: 3},
			{GID: [16]byte{10: 0xff, 11: 0xff, 12: 192, 14: 2, 15: 1}, Index: 1, Port: 1, Type: 2, Ifindex: 3},
		}}
	var err error
	r.uverbs, err = r.m.Register(r.dev, r.makeDefs())
	require.NoError(tb, err)
	r.p = r.m.NewProcess(process.Options{Trace: tr})
	r.fd = r.open()
	r.args, err = r.p.Mmap(-1, copyuser.PageSize, rw, anon, 0)
	require.NoError(tb, err)
	r.free, err = r.p.Mmap(-1, 64*copyuser.PageSize, rw, anon, 0)
	require.NoError(tb, err)
	return r
}

// newContext is newRig with a context.
func newContext(tb testing.TB, tr *trace.Task, opts ...rigOption) *rig {
	tb.Helper()
	r := newRig(tb, tr, opts...)
	r.ok(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
	r.took()
	return r
}

func (r *rig) open() int {
	fd, err := r.p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(r, err)
	return fd
}

// buf returns n bytes of a5 in the process's memory.
func (r *rig) buf(n int) copyuser.Addr {
	at := r.free
	r.free += copyuser.Addr(n+15) &^ 7
	fill := make([]byte, n)
	for i := range fill {
		fill[i] = 0xa5
	}
	require.True(r, r.p.Mem.Store(at, fill))
	return at
}

// data is buf with those bytes in it.
func (r *rig) data(b []byte) copyuser.Addr {
	at := r.buf(len(b))
	require.True(r, r.p.Mem.Store(at, b))
	return at
}

// hex returns n bytes of the process's memory.
func (r *rig) hex(at copyuser.Addr, n int) string {
	b := make([]byte, n)
	require.True(r, r.p.Mem.Load(at, b))
	return hex.EncodeToString(b)
}

// num is an attribute that holds a number; handles and descriptors have size 0.
func num(id uint16, size int, v uint64) spec.IoctlAttr {
	return spec.IoctlAttr{AttrID: id, Len: uint16(size), Flags: spec.UVERBS_ATTR_F_MANDATORY, Data: v}
}

// ptr is an attribute that holds an address.
func ptr(id uint16, size int, at copyuser.Addr) spec.IoctlAttr { return num(id, size, uint64(at)) }

// put writes a call into the process's memory.
func (r *rig) put(object, method uint16, attrs ...spec.IoctlAttr) {
	require.True(r, r.p.Mem.Store(r.args, spec.EncodeMethod(fakeDriverID, object, method, attrs...)))
	r.nattrs = len(attrs)
}

// attr returns attribute i of the last call as it stands in memory.
func (r *rig) attr(i int) spec.IoctlAttr {
	var b [spec.IoctlAttrSize]byte
	require.True(r, r.p.Mem.Load(r.args+spec.IoctlHdrSize+copyuser.Addr(i)*spec.IoctlAttrSize, b[:]))
	return spec.DecodeIoctlAttr(&b)
}

// written returns the flags of the last call's attributes: ! for one that is
// flagged as written.
func (r *rig) written() string {
	s := ""
	for i := range r.nattrs {
		if r.attr(i).Flags&spec.UVERBS_ATTR_F_VALID_OUTPUT != 0 {
			s += "!"
		} else {
			s += "."
		}
	}
	return s
}

// again makes the call that stands in memory.
func (r *rig) again() error {
	_, err := r.p.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, r.args)
	return err
}

// call makes a call.
func (r *rig) call(object, method uint16, attrs ...spec.IoctlAttr) error {
	r.put(object, method, attrs...)
	return r.again()
}

// ok makes a call that succeeds.
func (r *rig) ok(object, method uint16, attrs ...spec.IoctlAttr) {
	r.Helper()
	require.NoError(r, r.call(object, method, attrs...))
}

// refused makes a call that the rule refuses.
func (r *rig) refused(want *rule.Rule, object, method uint16, attrs ...spec.IoctlAttr) {
	r.Helper()
	require.Equal(r, error(want), r.call(object, method, attrs...))
}

// write makes a write() command by INVOKE_WRITE and returns its response.
func (r *rig) write(cmd uint32, request []byte, respLen int) string {
	r.Helper()
	resp := r.buf(respLen)
	r.ok(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
		num(spec.UVERBS_ATTR_WRITE_CMD, 8, uint64(cmd)),
		ptr(spec.UVERBS_ATTR_CORE_IN, len(request), r.inline(request)),
		ptr(spec.UVERBS_ATTR_CORE_OUT, respLen, resp))
	return r.hex(resp, respLen)
}

// inline returns the data of an attribute of those bytes.
func (r *rig) inline(b []byte) copyuser.Addr {
	if len(b) > 8 {
		return r.data(b)
	}
	var v uint64
	for i, c := range b {
		v |= uint64(c) << (8 * i)
	}
	return copyuser.Addr(v)
}

// handleOf returns the handle that a response begins with.
func (r *rig) handleOf(resp string) uint64 {
	b, err := hex.DecodeString(resp[:8])
	require.NoError(r, err)
	return uint64(b[0]) | uint64(b[1])<<8
}

func (r *rig) newPD() uint64 {
	r.Helper()
	return r.handleOf(r.write(spec.IB_USER_VERBS_CMD_ALLOC_PD, make([]byte, spec.AllocPDSize), spec.AllocPDRespSize))
}

func (r *rig) newChannel() int {
	r.Helper()
	return int(r.handleOf(r.write(spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, make([]byte, spec.CreateCompChannelSize), spec.CreateCompChannelRespSize)))
}

func (r *rig) newXRCD() uint64 {
	r.Helper()
	cmd := spec.OpenXRCD{FD: ^uint32(0), Oflags: syscall.O_CREAT}
	return r.handleOf(r.write(spec.IB_USER_VERBS_CMD_OPEN_XRCD, spec.Bytes(&cmd), spec.OpenXRCDRespSize))
}

// cqAttrs are those of a CQ_CREATE that succeeds.
func (r *rig) cqAttrs(more ...spec.IoctlAttr) []spec.IoctlAttr {
	return append([]spec.IoctlAttr{
		num(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0),
		num(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, 16),
		num(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 0x1122),
		num(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		ptr(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, r.buf(4)),
	}, more...)
}

func (r *rig) newCQ(more ...spec.IoctlAttr) uint64 {
	r.Helper()
	r.ok(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, r.cqAttrs(more...)...)
	return r.attr(0).Data
}

// qpAttrs are those of a QP_CREATE of an RC QP that succeeds, with the
// objects that it is made of behind.
func (r *rig) qpAttrs(qpType uint64, more ...spec.IoctlAttr) []spec.IoctlAttr {
	qpCap := spec.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
	return append([]spec.IoctlAttr{
		num(spec.UVERBS_ATTR_CREATE_QP_HANDLE, 0, 0),
		num(spec.UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 119),
		ptr(spec.UVERBS_ATTR_CREATE_QP_CAP, spec.QPCapSize, r.data(spec.Bytes(&qpCap))),
		num(spec.UVERBS_ATTR_CREATE_QP_TYPE, 8, qpType),
		ptr(spec.UVERBS_ATTR_CREATE_QP_RESP_CAP, spec.QPCapSize, r.buf(spec.QPCapSize)),
		ptr(spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4, r.buf(4)),
	}, more...)
}

// rcAttrs are qpAttrs of an RC QP.
func (r *rig) rcAttrs(pd, cq uint64, more ...spec.IoctlAttr) []spec.IoctlAttr {
	return r.qpAttrs(spec.IB_UVERBS_QPT_RC, append([]spec.IoctlAttr{
		num(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, 0, pd),
		num(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, 0, cq),
		num(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, 0, cq),
	}, more...)...)
}

func (r *rig) newRC(pd, cq uint64, more ...spec.IoctlAttr) uint64 {
	r.Helper()
	r.ok(spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, r.rcAttrs(pd, cq, more...)...)
	return r.attr(0).Data
}

// destroyer says how an object is destroyed by ioctl: the size of the response
// is 0 where there is none.
type destroyer struct {
	object, method uint16
	resp           int
}

var (
	destroyPD   = destroyer{spec.UVERBS_OBJECT_PD, spec.UVERBS_METHOD_PD_DESTROY, 0}
	destroyCQ   = destroyer{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_DESTROY, spec.DestroyCQRespSize}
	destroyQP   = destroyer{spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_DESTROY, spec.DestroyQPRespSize}
	destroySRQ  = destroyer{spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_DESTROY, spec.DestroySRQRespSize}
	destroyWQ   = destroyer{spec.UVERBS_OBJECT_WQ, spec.UVERBS_METHOD_WQ_DESTROY, 4}
	destroyMR   = destroyer{spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_MR_DESTROY, 0}
	destroyDM   = destroyer{spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_FREE, 0}
	destroyXRCD = destroyer{spec.UVERBS_OBJECT_XRCD, spec.UVERBS_METHOD_XRCD_DESTROY, 0}
	destroyCtrs = destroyer{spec.UVERBS_OBJECT_COUNTERS, spec.UVERBS_METHOD_COUNTERS_DESTROY, 0}
)

// destroy destroys an object and returns the response, if there is one.
func (r *rig) destroy(d destroyer, handle uint64) (string, error) {
	attrs := []spec.IoctlAttr{num(0, 0, handle)}
	if d.resp == 0 {
		return "", r.call(d.object, d.method, attrs...)
	}
	at := r.buf(d.resp)
	err := r.call(d.object, d.method, append(attrs, ptr(1, d.resp, at))...)
	return r.hex(at, d.resp), err
}

// addrOf returns the address that an attribute holds.
func addrOf(a spec.IoctlAttr) copyuser.Addr { return copyuser.Addr(a.Data) }
