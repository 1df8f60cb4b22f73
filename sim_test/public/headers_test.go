package public

import (
	"maps"
	"slices"
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
	"uverbsim/verbs"
)

// headers are section A: the header, the lookup of the method, libraries that
// are older or newer than the kernel.
var headers = []problem{
	{
		id: "A1", name: "probe-enospc",
		met: "Under strace the first ioctl of every program fails with ENOSPC, which was taken for a GET_CONTEXT that does not " +
			"work (hellas-ai/thunderbolt-ibverbs issue 74). It is rdma-core's own probe for INVOKE_WRITE: method 0 of the object " +
			"DEVICE, where GET_CONTEXT is method 3, with the command QUERY_DEVICE and no request (`has_ioctl_write` of libibverbs/device.c).",
		answer: "ENOSPC: a request of no bytes is shorter than the command's, which is looked at before the command runs, so that " +
			"neither a context is wanted nor anything made (handler of `UVERBS_METHOD_INVOKE_WRITE`). The library takes ENOSPC for a " +
			"kernel that has INVOKE_WRITE; ENOTTY or EPROTONOSUPPORT would send all its commands through write().",
		shown: []shown{
			{"linux-6.12-public/public/A1-probe", "invoke-write/core-size"},
			{"linux-6.12-rxe/invoke/order-size-before-context", "invoke-write/core-size"},
		},
		test: testProbe,
	},
	{
		id: "A2", name: "probe-enospc-recorder",
		met: "A debugger that records system calls stops at a program's first uverbs call: it looks for EINVAL from an ioctl that it " +
			"does not know and finds ENOSPC (rr-debugger/rr issue 3937).",
		answer: "The call is the probe of A1, and ENOSPC is what its own arguments deserve. An ioctl number that uverbs does not know " +
			"is ENOTTY, whatever its argument, and never EINVAL (`ib_uverbs_ioctl`, whose ENOIOCTLCMD the VFS turns into ENOTTY).",
		shown: []shown{
			{"linux-6.12-public/public/A1-probe", "invoke-write/core-size"},
			{"linux-6.12-rxe/cmd/wrong-nr", "ioctl/unknown"},
			{"linux-6.12-rxe/cmd/zero", "ioctl/unknown"},
		},
	},
	{
		id: "A3", name: "fallback-decision",
		met: "A new library on an old kernel has to find out what that kernel lacks, and does so by three errnos " +
			"(libibverbs/cmd_fallback.c; rdma-core PR 294, 444 and 450, commits e225b20f3 and b60b19225).",
		answer: "An ioctl number other than RDMA_VERBS_IOCTL is ENOTTY (`ib_uverbs_ioctl`), an object or method that the device does " +
			"not have EPROTONOSUPPORT (`ib_uverbs_cmd_verbs`), and so is an unknown attribute that is flagged mandatory " +
			"(`uverbs_set_attr`). A handler cannot say EPROTONOSUPPORT by accident: it becomes EINVAL, with a warning in the log " +
			"(`ib_uverbs_run_method`). The library gives up ioctls after ENOTTY and one method after EPROTONOSUPPORT; any other errno is the command's own.",
		shown: []shown{
			{"linux-6.12-public/public/A3-three-refusals", "ioctl/unknown"},
			{"linux-6.12-public/public/A3-three-refusals", "method/unknown"},
			{"linux-6.12-public/public/A3-three-refusals", "attr/unknown-mandatory"},
		},
		test: testFallbackDecision,
	},
	{
		id: "A4", name: "reserved-header",
		met: "Clients that build requests by hand leave bytes of the header unset, and cannot tell which check refused them.",
		answer: "`reserved1` and `reserved2` have to be 0, which is checked before `driver_id`: EPROTONOSUPPORT, also when " +
			"driver and method are unknown (`ib_uverbs_ioctl`). With both 0, a wrong `driver_id` is EINVAL, before the lookup of the " +
			"method, which is EPROTONOSUPPORT (`ib_uverbs_cmd_verbs`).",
		shown: []shown{
			{"linux-6.12-public/public/A4-reserved-first", "header/reserved"},
			{"linux-6.12-public/public/A4-reserved-first", "header/driver-id"},
			{"linux-6.12-public/public/A4-reserved-first", "method/unknown"},
			{"linux-6.12-rxe/hdr/order-length-reserved", "header/length"},
		},
	},
	{
		id: "A5", name: "driver-id",
		met: "Cards whose PCI id is in no table of rdma-core are found through netlink alone, which tells the driver's id; where only " +
			"sysfs is read they are not found (rdma-core commit 57c069257, gVisor PR 14021). Who guesses the id makes calls for another driver.",
		answer: "A `driver_id` that is not the device's is EINVAL, however right the call, and 0 is no wildcard: attributes of a " +
			"driver's own would otherwise mean something else. Nothing was done by then (`ib_uverbs_cmd_verbs`).",
		shown: []shown{
			{"linux-6.12-public/public/A5-other-driver", "header/driver-id"},
			{"linux-6.12-rxe/hdr/driver-unknown", "header/driver-id"},
			{"linux-6.12-rxe/hdr/driver-high", "header/driver-id"},
		},
	},
	{
		id: "A7", name: "two-not-supported-errnos",
		met: "A tool that asks whether something is supported looked for one of EOPNOTSUPP and EPROTONOSUPPORT and met the other " +
			"(linux-rdma/perftest PR 343 and 352); with ENOSYS it was the same again, when rdma-core 28 changed to EOPNOTSUPP " +
			"(openucx/ucx PR 6275, rdma-core PR 669 and 713).",
		answer: "It depends on who refuses. The framework says EPROTONOSUPPORT of a method or a mandatory attribute that it does not " +
			"have (`ib_uverbs_cmd_verbs`, `uverbs_set_attr`). Handlers and drivers say EOPNOTSUPP, as of ADVISE_MR or a CQ flag, and so does write() " +
			"of a command that the device lacks (`ib_uverbs_notsupp`). ENOSYS is left in a corner of a driver: RESIZE_CQ of an mlx5 card " +
			"that cannot resize (`mlx5_ib_resize_cq`).",
		shown: []shown{
			{"linux-6.12-public/public/A7-two-errnos", "method/unknown"},
			{"linux-6.12-public/public/A7-two-errnos", "attr/unknown-mandatory"},
			{"linux-6.12-public/public/A7-two-errnos", "rxe/create-cq-flags"},
			{"linux-6.12-public/public/A7-two-errnos", "advise-mr/unsupported"},
			{"linux-6.12-public/public/A7-two-errnos", "write/not-supported"},
			{"linux-6.12-mlx5-caps/mlx5-caps/cq_resize=0+cq_moderation=0/resize/cqe-30", "mlx5-resize/not-supported"},
		},
	},
	{
		id: "A8", name: "dmabuf-too-old",
		met: "CUDA exports dma-bufs on kernels whose verbs cannot take them (perplexityai/pplx-garden PR 3, NVIDIA/nccl issue 778, " +
			"aws-ofi-nccl PR 618): programs want to know beforehand.",
		answer: "Three refusals tell three things apart: a kernel without the method (before 5.12) EPROTONOSUPPORT, a driver without " +
			"the operation EOPNOTSUPP, whatever the other attributes are, and an offset and an iova that lie differently in their pages " +
			"EINVAL, before the descriptor is read (handler of `UVERBS_METHOD_REG_DMABUF_MR`).",
		shown: []shown{
			{"linux-6.12-public/public/A8-dmabuf-order", "dmabuf-mr/unsupported"},
			{"linux-6.12-public-stub/public/A8-dmabuf-misaligned", "dmabuf-mr/misaligned"},
			{"linux-6.12-public-stub/public/A8-dmabuf-misaligned", "object/not-found"},
		},
		test: testDmabufTooOld,
	},
	{
		id: "A9", name: "exp-kconfig-cq",
		met: "Until 2020 a kernel could have the ioctl framework without CQ_CREATE and CQ_DESTROY, which an option of the " +
			"configuration named experimental left out (linux-rdma mail of June 2020, d983de1ac in the archive).",
		answer: "On such a kernel both methods are EPROTONOSUPPORT, and the library makes its queues by INVOKE_WRITE or, where that is " +
			"missing too, by write(). 6.12 always has them " +
			"(`uverbs_def_obj_cq`).",
		shown: []shown{{"linux-6.12-rxe/cq/create-destroy", ""}},
		test:  testKernelWithoutCQIoctl,
	},
	{
		id: "A10", name: "method-removed-by-missing-op",
		met: "The same program finds methods on one device that another lacks, on the same kernel.",
		answer: "What a driver has no operations for is taken out of its tree when it registers (`uapi_finalize_disable`). Without " +
			"`destroy_cq` there is no object CQ: CQ_CREATE and CQ_DESTROY are EPROTONOSUPPORT, CREATE_CQ by write() is EOPNOTSUPP. With " +
			"an object go all methods that must be given a handle of it: SRQ_CREATE, WQ_CREATE and ADVISE_MR without `dealloc_pd`; a " +
			"method that may be given one stays. A command of write() with a bit that means nothing is EINVAL, one beyond the table " +
			"EOPNOTSUPP (`uapi_get_method`).",
		shown: []shown{
			{"linux-6.12-public-stub/public/A10-no-destroy-cq", "method/unknown"},
			{"linux-6.12-public-stub/public/A10-no-destroy-cq", "info-handles/unknown-object"},
			{"linux-6.12-public-stub/public/A10-no-destroy-cq", "write/not-supported"},
			{"linux-6.12-public-stub/public/A10-no-destroy-cq", "write/words"},
			{"linux-6.12-public-stub/public/A10-no-destroy-cq", "write/command-range"},
			{"linux-6.12-public-stub/public/A10-no-destroy-cq", "write/command-flags"},
			{"linux-6.12-public-stub/public/A10-no-dealloc-pd", "method/unknown"},
			{"linux-6.12-tree/tree/no-destroy-cq/write", "write/not-supported"},
			{"linux-6.12-rxe-sweep/sweep/invoke_write/a2-v100", "write/command-flags"},
		},
	},
}

// host is a machine with one device of a test's own making, and a process that
// has it open, with a context, and two pages to call from: the first is for the
// call, the second for its data.
type host struct {
	p      *process.Process
	device *kernel.Device
	fd     int
	page   copyuser.Addr
}

// hostDriver is the id of the host's driver, which no driver has.
const hostDriver = 99

// newHost boots it. ops may lack what deals with the context.
func newHost(t *testing.T, coreDefs, driverDefs kernel.Definitions, ops core.DeviceOps) *host {
	t.Helper()
	return newHostOf(t, coreDefs, driverDefs, &core.Device{Name: "host0", DriverID: hostDriver, Ops: ops, PhysPorts: 1,
		NumCompVectors: 1, UverbsCmdMask: ^uint64(0)})
}

// newHostOf boots one with that device.
func newHostOf(t *testing.T, coreDefs, driverDefs kernel.Definitions, dev *core.Device) *host {
	t.Helper()
	dev.Ops.AllocUcontext = func(*core.Ucontext, *core.Udata) error { return nil }
	dev.Ops.DeallocUcontext = func(*process.Task, *core.Ucontext) {}
	m := kernel.NewMachine(coreDefs)
	d, err := m.Register(dev, driverDefs)
	require.NoError(t, err)
	h := &host{p: m.NewProcess(process.Options{}), device: d}
	h.fd, err = h.p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(t, err)
	h.page, err = h.p.Mmap(-1, 2*copyuser.PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	require.NoError(t, h.call(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT))
	return h
}

// data is the address of the second page.
func (h *host) data() copyuser.Addr { return h.page + copyuser.PageSize }

func (h *host) call(object, method uint16, attrs ...spec.IoctlAttr) error {
	if !h.p.Store(h.page, spec.EncodeMethod(hostDriver, object, method, attrs...)) {
		panic("the host's page is not there")
	}
	_, err := h.p.Ioctl(h.fd, spec.RDMA_VERBS_IOCTL, h.page)
	return err
}

// attr is an attribute of the last call as the kernel left it.
func (h *host) attr(i int) spec.IoctlAttr {
	var b [spec.IoctlAttrSize]byte
	if !h.p.Load(h.page+spec.IoctlHdrSize+copyuser.Addr(i*spec.IoctlAttrSize), b[:]) {
		panic("the host's page is not there")
	}
	return spec.DecodeIoctlAttr(&b)
}

// own is a driver's own method of the object DEVICE, with those attributes.
func own(handler kernel.Handler, attrs ...spec.Attr) kernel.Definitions {
	return kernel.Definitions{
		Spec: []spec.Definition{{Object: spec.Object{ID: spec.UVERBS_OBJECT_DEVICE, Methods: []spec.Method{
			{ID: spec.NSFlag, Name: "OWN", Attrs: attrs}}}}},
		Methods: map[kernel.MethodID]kernel.Handler{{Object: spec.UVERBS_OBJECT_DEVICE, Method: spec.NSFlag}: handler},
	}
}

func (h *host) callOwn(attrs ...spec.IoctlAttr) error {
	return h.call(spec.UVERBS_OBJECT_DEVICE, spec.NSFlag, attrs...)
}

// without are the definitions less some methods of an object: those of a kernel
// that does not have them yet.
func without(defs kernel.Definitions, object uint16, ids ...uint16) kernel.Definitions {
	defs.Spec, defs.Methods = slices.Clone(defs.Spec), maps.Clone(defs.Methods)
	for i := range defs.Spec {
		defs.Spec[i] = defs.Spec[i].Clone()
		o := &defs.Spec[i].Object
		if o.ID == object {
			o.Methods = slices.DeleteFunc(o.Methods, func(m spec.Method) bool { return slices.Contains(ids, m.ID) })
		}
	}
	for _, id := range ids {
		delete(defs.Methods, kernel.MethodID{Object: object, Method: id})
	}
	return defs
}

// client is the process as the library sees it: it counts the system calls. An
// ioctl goes out under the number cmd if that is not 0, and refused may change
// what came back.
type client struct {
	*process.Process
	ioctls, writes int
	last           copyuser.Addr // where the last ioctl's argument was
	cmd            uint32
	refused        func(error) error
}

func (c *client) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	c.ioctls++
	c.last = arg
	if c.cmd != 0 {
		cmd = c.cmd
	}
	n, err := c.Process.Ioctl(fd, cmd, arg)
	if err != nil && c.refused != nil {
		err = c.refused(err)
	}
	return n, err
}

func (c *client) Write(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	c.writes++
	return c.Process.Write(fd, buf, n)
}

func (h *host) client() *client { return &client{Process: h.p} }

// testProbe: the first ioctl of the library, and which way its commands go after
// each answer to it.
func testProbe(t *testing.T) {
	ops := core.DeviceOps{AllocPD: func(*core.PD, *core.Udata) error { return nil }}
	ops.DeallocPD = func(*core.PD, *core.Udata) error { return nil }
	for _, tt := range []struct {
		answer         syscall.Errno // 0 is the kernel's own
		ioctls, writes int           // after the probe and one command
	}{
		{0, 2, 0},
		{syscall.EINVAL, 2, 0},
		{syscall.EPROTONOSUPPORT, 1, 1},
		{syscall.ENOTTY, 1, 1},
	} {
		h := newHost(t, methods.Core(), kernel.Definitions{}, ops)
		sys := h.client()
		sys.refused = func(err error) error {
			require.Equal(t, 1, sys.ioctls)
			require.ErrorIs(t, err, syscall.ENOSPC)
			if tt.answer != 0 {
				return tt.answer
			}
			return err
		}
		c := verbs.InitContext(sys, h.fd, hostDriver)
		var hdr [8]byte
		require.True(t, h.p.Load(sys.last, hdr[:]))
		require.Equal(t, [8]byte{40, 0, spec.UVERBS_OBJECT_DEVICE, 0, spec.UVERBS_METHOD_INVOKE_WRITE, 0, 1, 0}, hdr,
			"length, object, method, attributes")
		_, err := c.CmdAllocPD(verbs.UHW{})
		require.NoError(t, err)
		require.Equal(t, []int{tt.ioctls, tt.writes}, []int{sys.ioctls, sys.writes})
	}
}

// testFallbackDecision: what the library makes of the three refusals, and of a
// handler that says EPROTONOSUPPORT where it should not.
func testFallbackDecision(t *testing.T) {
	h := newHost(t, methods.Core(), own(func(*kernel.Bundle) error { return syscall.EPROTONOSUPPORT }), core.DeviceOps{})

	err := h.callOwn()
	require.ErrorIs(t, err, syscall.EINVAL)
	require.ErrorIs(t, err, rule.MethodEPROTONOSUPPORT)

	const unknown = 31
	tests := []struct {
		name           string
		cmd            uint32
		object, method uint16
		attr           bool // with an unknown attribute that is mandatory
		want           verbs.Fallback
		again, other   int // ioctls after the same command, and after another one
	}{
		{"no ioctl", spec.RDMA_VERBS_IOCTL + 1, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, false, verbs.TryWrite, 1, 1},
		{"no method", 0, spec.UVERBS_OBJECT_DEVICE, unknown, false, verbs.TryWrite, 1, 2},
		{"no object", 0, unknown, 0, false, verbs.TryWrite, 1, 2},
		{"no attribute", 0, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_CONTEXT, true, verbs.TryWrite, 1, 2},
		{"a handler's EPROTONOSUPPORT", 0, spec.UVERBS_OBJECT_DEVICE, spec.NSFlag, false, verbs.Failed, 2, 3},
		{"missing attributes", 0, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_GID_ENTRY, false, verbs.Failed, 2, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sys := h.client()
			sys.cmd = tt.cmd
			c := verbs.InitContext(sys, h.fd, hostDriver)
			sys.ioctls = 0 // the probe of A1
			f := c.Frame()
			defer f.Leave()
			execute := func(op verbs.Op) verbs.Fallback {
				cmd := f.CommandBuffer(tt.object, tt.method, 1, nil)
				if tt.attr {
					cmd.FillAttrInUint32(unknown, 0)
				}
				how, _ := c.ExecuteIoctlFallback(op, cmd)
				return how
			}
			require.Equal(t, tt.want, execute(verbs.OpQueryPort))
			require.Equal(t, 1, sys.ioctls)
			require.Equal(t, tt.want, execute(verbs.OpQueryPort))
			require.Equal(t, tt.again, sys.ioctls)
			execute(verbs.OpCreateCQ)
			require.Equal(t, tt.other, sys.ioctls)
		})
	}
}

// testDmabufTooOld: a kernel that has no method for dma-bufs against one whose
// driver has no operation for them.
func testDmabufTooOld(t *testing.T) {
	ops := core.DeviceOps{DeregMR: func(*core.MR, *core.Udata) error { return nil }}
	ops.AllocPD = func(*core.PD, *core.Udata) error { return nil }
	ops.DeallocPD = func(*core.PD, *core.Udata) error { return nil }

	old := newHost(t, without(methods.Core(), spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_REG_DMABUF_MR), kernel.Definitions{}, ops)
	require.ErrorIs(t, old.regDmabuf(t), syscall.EPROTONOSUPPORT)
	require.ErrorIs(t, old.call(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_QUERY_MR), rule.AttrMissing, "the object itself is there")

	h := newHost(t, methods.Core(), kernel.Definitions{}, ops)
	require.ErrorIs(t, h.regDmabuf(t), syscall.EOPNOTSUPP)

	fds := 0
	ops.RegUserMRDmabuf = func(*core.PD, uint64, uint64, uint64, int, uint32, core.Attrs) (*core.MR, error) {
		fds++
		return new(core.MR), nil
	}
	h = newHost(t, methods.Core(), kernel.Definitions{}, ops)
	require.NoError(t, h.regDmabuf(t))
	require.Equal(t, 1, fds)
}

// regDmabuf makes a PD and registers a dma-buf on it.
func (h *host) regDmabuf(t *testing.T) error {
	pd, err := verbs.InitContext(h.client(), h.fd, hostDriver).CmdAllocPD(verbs.UHW{})
	require.NoError(t, err)
	in := func(id, n uint16, v uint64) spec.IoctlAttr { return spec.IoctlAttr{AttrID: id, Len: n, Data: v} }
	return h.call(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_REG_DMABUF_MR,
		in(spec.UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0), in(spec.UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, uint64(pd.Handle)),
		in(spec.UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, 0), in(spec.UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 4096),
		in(spec.UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, 0), in(spec.UVERBS_ATTR_REG_DMABUF_MR_FD, 4, 5),
		in(spec.UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 4, spec.IB_ACCESS_LOCAL_WRITE),
		in(spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, uint64(h.data())),
		in(spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, uint64(h.data())+4))
}

// cqOps are those of a driver that makes queues of any size.
func cqOps() core.DeviceOps {
	return core.DeviceOps{
		CreateCQ: func(cq *core.CQ, attr *core.CQInitAttr, _ core.Attrs) error {
			cq.CQE.Store(attr.CQE)
			return nil
		},
		DestroyCQ: func(*core.CQ, *core.Udata) error { return nil },
	}
}

// cqMethods are what a kernel without the experimental option lacked.
var cqMethods = []uint16{spec.UVERBS_METHOD_CQ_CREATE, spec.UVERBS_METHOD_CQ_DESTROY}

// testKernelWithoutCQIoctl: the library on a kernel that has the framework but
// not the two methods, and on one that has them.
func testKernelWithoutCQIoctl(t *testing.T) {
	tests := []struct {
		name           string
		defs           kernel.Definitions
		ioctl          error
		ioctls, writes int // the probe of A1 among them
	}{
		{"with", methods.Core(), syscall.EINVAL, 1 + 2, 0},
		{"without", without(methods.Core(), spec.UVERBS_OBJECT_CQ, cqMethods...), syscall.EPROTONOSUPPORT, 1 + 2 + 2, 0},
		{"without INVOKE_WRITE too", without(without(methods.Core(), spec.UVERBS_OBJECT_CQ, cqMethods...),
			spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE), syscall.EPROTONOSUPPORT, 1 + 2, 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := newHost(t, tt.defs, kernel.Definitions{}, cqOps())
			for _, m := range cqMethods {
				require.ErrorIs(t, h.call(spec.UVERBS_OBJECT_CQ, m), tt.ioctl)
			}
			sys := h.client()
			cq := new(verbs.CQ)
			require.NoError(t, verbs.InitContext(sys, h.fd, hostDriver).CmdCreateCQ(cq, &verbs.CQInitAttr{CQE: 5}, verbs.UHW{}, false))
			require.Equal(t, uint32(5), cq.CQE)
			require.NoError(t, cq.CmdDestroyCQ())
			require.Equal(t, []int{tt.ioctls, tt.writes}, []int{sys.ioctls, sys.writes})
		})
	}
}
