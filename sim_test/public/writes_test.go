package public

import (
	"encoding/binary"
	"encoding/hex"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/spec"
)

// writes are section E: commands by write(), and through INVOKE_WRITE.
var writes = []problem{
	{
		id: "E2", name: "creds-changed",
		met: "A program opens the device as root and gives its rights up afterwards, as DPDK's do, or a child goes on with what " +
			"its parent opened: every write() is refused from then on (Spirent/openperf issue 147; chaos/diod issue 107 met the " +
			"same check in ucma). A maintainer told why ioctl needs none (linux-rdma, 2025-03, with e639db051).",
		answer: "write() is EACCES whenever the caller's credentials are not the very ones of the open, equal ones included, and " +
			"before the count and the buffer are looked at (`ib_uverbs_write`, `ib_safe_file_access`); the kernel's log says so " +
			"once. ioctl on the same descriptor goes on, INVOKE_WRITE of the same command included.",
		shown: []shown{
			{"linux-6.12-public/public/E2-setuid-write-and-ioctl", "write/access"},
			{"linux-6.12-more/cred/setuid-two-files", "write/access"},
			{"linux-6.12-more/cred/write-order-count", "write/access"},
			{"linux-6.12-more/cred/write-after-setuid-no-context", "write/access"},
			{"linux-6.12-more/cred/setuid-open-after", ""},
			{"linux-6.12-more/proc/fork-write", "write/access"},
			{"linux-6.12-more/proc/fork-after-setuid", "write/access"},
		},
	},
	{
		id: "E6", name: "uninit-padding",
		met: "A library copied a struct with four bytes of padding over `comp_mask`, so that QPs could be made or not as the stack " +
			"happened to be (rdma-core commit 74af92ae5, 2021-11); a user of jonhoo/rust-ibverbs (issue 24) saw create_qp fail with " +
			"EINVAL in about half of the runs.",
		answer: "The extended CREATE_QP refuses bits of `comp_mask` that it does not know with EINVAL, then a `reserved` byte that is " +
			"not 0 (`ib_uverbs_ex_create_qp`); the one bit that it knows sends it to look an indirection table up (`create_qp`). " +
			"CREATE_QP has no `comp_mask` and leaves `reserved` alone. A driver's own mask is the driver's to refuse: mlx5 says " +
			"EOPNOTSUPP (`create_rss_raw_qp_tir`, `mlx5_ib_alloc_ucontext`). With zeros all of them go through.",
		shown: []shown{
			{"linux-6.12-public/public/E6-random-comp-mask", "cmd-qp/ex-comp-mask"},
			{"linux-6.12-rules/rule/cmd-qp-ex-comp-mask", "cmd-qp/ex-comp-mask"},
			{"linux-6.12-public/public/E6-plain-create-qp", ""},
			{"linux-6.12-rules-mlx5/rule/mlx5-qp-rss-comp-mask", "mlx5-qp/rss-comp-mask"},
			{"linux-6.12-mlx5/mlx5/ctx/comp-mask", "mlx5-ucontext/reserved"},
		},
	},
	{
		id: "E7", name: "comp-mask-now-checked",
		met: "A newer kernel began to look at `comp_mask` in bnxt_re's requests for CQs, QPs and SRQs, and libraries that had never set " +
			"it stopped working (rdma-core PR 1736 with commits cfba7251f and ef0d81892; kernel series on linux-rdma, 2026-02 and " +
			"2026-03, with 1cd7b66ba, 081c725d3, dbfcb89c2 and 217639ab9).",
		answer: "In 6.12 each driver has a rule of its own. The core's requests follow the one that the series then wrote down: a " +
			"longer one may end in zeros, else EOPNOTSUPP, and a shorter extended one counts as filled up with zeros " +
			"(`uverbs_request`); a response is cut off, or filled up with zeros (`uverbs_response`). mlx5 refuses a tail or a mask " +
			"that is not 0 where it looks (`mlx5_ib_alloc_mw`), and reads no further than it knows where it does not " +
			"(`mlx5_ib_alloc_ucontext`). Newer kernels tell programs that all drivers are strict by a bit of `core_support` " +
			"(IB_UVERBS_CORE_SUPPORT_ROBUST_UDATA); GET_CONTEXT of 6.12 sets bit 0 alone.",
		shown: []shown{
			{"linux-6.12-rxe/write/ex-create-cq-comp-mask", "cmd-cq/ex-comp-mask"},
			{"linux-6.12-rxe/write/body-long-zero", ""},
			{"linux-6.12-rxe/write/body-long-nonzero", "cmd/request-tail"},
			{"linux-6.12-rxe/write/ex-long-nonzero", "cmd/request-tail"},
			{"linux-6.12-rxe/write/ex-in-short", ""},
			{"linux-6.12-rxe/write/ex-out-min", ""},
			{"linux-6.12-rxe/write/udata-in-ignored", ""},
			{"linux-6.12-rules-mlx5/rule/mlx5-mw-reserved", "mlx5-mw/reserved"},
			{"linux-6.12-rules-mlx5/rule/mlx5-mw-tail", "mlx5-mw/tail"},
			{"linux-6.12-mlx5/mlx5/ctx/len-33-zero", ""},
			{"linux-6.12-mlx5/mlx5/ctx/len-33-tail", ""},
			{"linux-6.12-rxe/ctx/get-outputs", ""},
		},
	},
	{
		id: "E8", name: "resp-not-cleared",
		met: "A library used fields of a response that an older driver had never written, and valgrind found bytes in requests that " +
			"nobody had set (rdma-core commits e91a6ca48, cd88ca8cb, 39d82a36a and f2f0fb233).",
		answer: "What a response buffer has beyond the core's response is cleared (`uverbs_response`; CORE_OUT by " +
			"`uverbs_copy_to_struct_or_zero`). The driver's part is the driver's: what it does not write stays as it was, in the words " +
			"that follow a response of write() as in UHW_OUT, and so does what lies beyond all words that were announced. mlx5 says in " +
			"`response_length` how far it wrote (`mlx5_ib_alloc_ucontext`).",
		shown: []shown{
			{"linux-6.12-public/public/E8-response-tail", "rxe/query-device-udata"},
			{"linux-6.12-public/public/E8-core-out-tail", ""},
			{"linux-6.12-rxe/invoke/core-out-16", ""},
			{"linux-6.12-rxe/cq/uhw-out-24", ""},
			{"linux-6.12-mlx5/mlx5/ctx/out-len-28", ""},
			{"linux-6.12-mlx5/mlx5/ctx/out-len-73", ""},
		},
	},
	{
		id: "E9", name: "wq-user-handle",
		met: "The events of a work queue that was made by write() carried a cookie that was not the program's (linux-rdma, 2020-05, with " +
			"12a3f1a91).",
		answer: "The user's handle is kept on either way, by `ib_uverbs_ex_create_wq` and by the handler of WQ_CREATE, and each event of the " +
			"queue begins with it (`ib_uverbs_wq_event_handler`).",
		shown: []shown{{"linux-6.12-mlx5/mlx5/wq/create", ""}},
		test:  testWQUserHandle,
	},
	{
		id: "E10", name: "qp-type-by-path",
		met: "QP types that no program should have, such as SMI and GSI, were refused by ioctl, but handed to the driver by write() " +
			"(linux-rdma, 2020-09, with 407e3c5b3).",
		answer: "Either way takes RC, UC, UD, XRC_INI, XRC_TGT, DRIVER and, of a process with CAP_NET_RAW, RAW_PACKET. Any other type is " +
			"EINVAL before the driver is asked; by write() also before the handles are looked up, which the parser has done by then for an " +
			"ioctl (`create_qp` and the handler of QP_CREATE).",
		shown: []shown{
			{"linux-6.12-public-stub/public/E10-qp-types-by-write", "cmd-qp/type"},
			{"linux-6.12-public-stub/public/E10-qp-types-by-ioctl", "qp/type"},
			{"linux-6.12-stub-more/cap/raw-qp-nocap", "qp/raw-packet-cap"},
			{"linux-6.12-more/cred/raw-qp-write", "cmd-qp/raw-packet"},
		},
	},
	{
		id: "E11", name: "stack-downcast",
		met: "A helper for drivers took every call's bundle for the larger struct of an ioctl, and read what lay on the stack beside it " +
			"where the call had come by write() (linux-rdma, 2026-05, with 753c3adc0).",
		answer: "6.12 has no such helper (`uverbs_get_handler_fn` came with the kernels of 2026), but the same two kinds of bundles: " +
			"write() makes a bare one without attributes (`ib_uverbs_write`), and `uverbs_finalize_uobj_create` and its like, which look " +
			"into the larger one, are for handlers of ioctls alone.",
		shown: []shown{
			{"linux-6.12-rxe/write/alloc-pd", ""},
			{"linux-6.12-rxe/invoke/alloc-pd", ""},
		},
		test: testBareBundle,
	},
	{
		id: "E12", name: "hdr-ex",
		met: "A program's write() ended with errno 22, and nothing told its user which of the header's fields was wrong " +
			"(erpc-io/eRPC issue 86).",
		answer: "Of an extended command, in this order: `in_words` and `provider_in_words`, times 8, are the count without the headers, else " +
			"EINVAL; `cmd_hdr_reserved` is 0, else EINVAL; there is a response address if and only if there are words for a response, else " +
			"EINVAL; the response lies in the user's half, else EFAULT (`verify_hdr`). All of it comes before the handler, so that nothing was " +
			"made. Of a plain command `in_words`, times 4, is the count.",
		shown: []shown{
			{"linux-6.12-public/public/E12-extended-header", "write/ex-words"},
			{"linux-6.12-public/public/E12-extended-header", "write/ex-reserved"},
			{"linux-6.12-public/public/E12-extended-header", "write/ex-no-out-words"},
			{"linux-6.12-public/public/E12-extended-header", "write/ex-no-response"},
			{"linux-6.12-public/public/E12-extended-header", "write/ex-response-fault"},
			{"linux-6.12-rxe/write/ex-short-header", "write/ex-too-short"},
			{"linux-6.12-rxe/write/ex-header-unmapped", "write/ex-header-fault"},
			{"linux-6.12-rxe/write/in-words-long", "write/words"},
		},
	},
}

// plain is a machine with a device that does nothing, and a process that has a
// context of it.
type plain struct {
	testing.TB
	p  *process.Process
	fd int
	at copyuser.Addr // memory that no buffer has taken yet
}

// withContext adds the making of contexts to a device's operations.
func withContext(ops core.DeviceOps) core.DeviceOps {
	ops.AllocUcontext = func(*core.Ucontext, *core.Udata) error { return nil }
	ops.DeallocUcontext = func(*process.Task, *core.Ucontext) {}
	return ops
}

// newPlain makes a machine whose device has those operations besides that of
// making a context.
func newPlain(t testing.TB, ops core.DeviceOps) *plain {
	t.Helper()
	m := kernel.NewMachine(methods.Core())
	_, err := m.Register(&core.Device{Name: "plain0", PhysPorts: 1, NumCompVectors: 1, UverbsCmdMask: spec.DefaultUverbsCmdMask,
		Ops: withContext(ops)}, kernel.Definitions{})
	require.NoError(t, err)
	d := &plain{TB: t, p: m.NewProcess(process.Options{})}
	d.fd, err = d.p.Open("/dev/infiniband/uverbs0", syscall.O_RDWR)
	require.NoError(t, err)
	const prot, flags = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_PRIVATE | syscall.MAP_ANONYMOUS
	d.at, err = d.p.Mmap(-1, 16*copyuser.PageSize, prot, flags, 0)
	require.NoError(t, err)
	d.ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
	return d
}

// buf puts bytes into the process's memory.
func (d *plain) buf(b []byte) copyuser.Addr {
	d.Helper()
	at := d.at
	d.at += copyuser.Addr(len(b)+7) &^ 7
	require.True(d, d.p.Store(at, b))
	return at
}

// load takes n bytes out of it.
func (d *plain) load(at copyuser.Addr, n int) []byte {
	d.Helper()
	b := make([]byte, n)
	require.True(d, d.p.Load(at, b))
	return b
}

// ioctl makes a call that succeeds, and returns the data of its attributes.
func (d *plain) ioctl(object, method uint16, attrs ...spec.IoctlAttr) []uint64 {
	d.Helper()
	for i := range attrs {
		attrs[i].Flags = spec.UVERBS_ATTR_F_MANDATORY
	}
	arg := d.buf(spec.EncodeMethod(spec.RDMA_DRIVER_UNKNOWN, object, method, attrs...))
	_, err := d.p.Ioctl(d.fd, spec.RDMA_VERBS_IOCTL, arg)
	require.NoError(d, err)
	data := make([]uint64, len(attrs))
	for i := range data {
		a := [spec.IoctlAttrSize]byte(d.load(arg+copyuser.Addr(spec.IoctlHdrSize+i*spec.IoctlAttrSize), spec.IoctlAttrSize))
		data[i] = spec.DecodeIoctlAttr(&a).Data
	}
	return data
}

// command makes a plain command by write(). request begins behind the address
// of the response.
func (d *plain) command(cmd uint32, request []byte, respLen int) []byte {
	d.Helper()
	resp := d.buf(make([]byte, respLen))
	b := binary.LittleEndian.AppendUint32(nil, cmd)
	b = binary.LittleEndian.AppendUint16(b, uint16(8+8+len(request))/4)
	b = binary.LittleEndian.AppendUint16(b, uint16(respLen/4))
	b = binary.LittleEndian.AppendUint64(b, uint64(resp))
	d.write(append(b, request...))
	return d.load(resp, respLen)
}

// extended makes an extended command by write().
func (d *plain) extended(cmd uint32, request []byte, respLen int) []byte {
	d.Helper()
	resp := d.buf(make([]byte, respLen))
	b := binary.LittleEndian.AppendUint32(nil, cmd|spec.IB_USER_VERBS_CMD_FLAG_EXTENDED)
	b = binary.LittleEndian.AppendUint16(b, uint16(len(request)/8))
	b = binary.LittleEndian.AppendUint16(b, uint16(respLen/8))
	b = binary.LittleEndian.AppendUint64(b, uint64(resp))
	b = append(b, make([]byte, 8)...)
	d.write(append(b, request...))
	return d.load(resp, respLen)
}

func (d *plain) write(b []byte) {
	d.Helper()
	n, err := d.p.Write(d.fd, d.buf(b), uint64(len(b)))
	require.NoError(d, err)
	require.EqualValues(d, len(b), n)
}

// words are 32-bit numbers, one behind the other.
func words(w ...uint32) []byte {
	var b []byte
	for _, w := range w {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

func attrNum(id uint16, size int, v uint64) spec.IoctlAttr {
	return spec.IoctlAttr{AttrID: id, Len: uint16(size), Data: v}
}

func attrPtr(id uint16, size int, at copyuser.Addr) spec.IoctlAttr {
	return attrNum(id, size, uint64(at))
}

// testWQUserHandle: the event of a work queue bears the handle that the user
// gave it, whichever way it was made.
func testWQUserHandle(t *testing.T) {
	var made []*core.WQ
	d := newPlain(t, core.DeviceOps{
		AllocPD:   func(*core.PD, *core.Udata) error { return nil },
		DeallocPD: func(*core.PD, *core.Udata) error { return nil },
		CreateCQ:  func(*core.CQ, *core.CQInitAttr, core.Attrs) error { return nil },
		DestroyCQ: func(*core.CQ, *core.Udata) error { return nil },
		CreateWQ: func(_ *core.PD, attr *core.WQInitAttr, _ *core.Udata) (*core.WQ, error) {
			made = append(made, &core.WQ{EventHandler: attr.EventHandler})
			return made[len(made)-1], nil
		},
		DestroyWQ: func(*core.WQ, *core.Udata) error { return nil },
	})
	fd := int(d.ioctl(spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC,
		attrNum(spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, 0, 0))[0])
	d.command(spec.IB_USER_VERBS_CMD_ALLOC_PD, nil, 4)
	const pd, cq = 0, 1
	d.ioctl(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE,
		attrNum(spec.UVERBS_ATTR_CREATE_CQ_HANDLE, 0, 0),
		attrNum(spec.UVERBS_ATTR_CREATE_CQ_CQE, 4, 16),
		attrNum(spec.UVERBS_ATTR_CREATE_CQ_USER_HANDLE, 8, 0),
		attrNum(spec.UVERBS_ATTR_CREATE_CQ_COMP_VECTOR, 4, 0),
		attrPtr(spec.UVERBS_ATTR_CREATE_CQ_RESP_CQE, 4, d.buf(make([]byte, 4))))

	const byWrite, byIoctl = 0x1122334455667788, 0x99aabbccddeeff00
	// comp_mask, wq_type, user_handle, pd, cq, max_wr, max_sge, create_flags, reserved
	d.extended(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ,
		words(0, spec.IB_WQT_RQ, byWrite&0xffffffff, byWrite>>32, pd, cq, 4, 1, 0, 0), 24)
	d.ioctl(spec.UVERBS_OBJECT_WQ, spec.UVERBS_METHOD_WQ_CREATE,
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_HANDLE, 0, 0),
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_PD_HANDLE, 0, pd),
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_TYPE, 8, spec.IB_WQT_RQ),
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_USER_HANDLE, 8, byIoctl),
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_MAX_WR, 4, 4),
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_MAX_SGE, 4, 1),
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_FLAGS, 4, 0),
		attrNum(spec.UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, 0, cq),
		attrPtr(spec.UVERBS_ATTR_CREATE_WQ_RESP_MAX_WR, 4, d.buf(make([]byte, 4))),
		attrPtr(spec.UVERBS_ATTR_CREATE_WQ_RESP_MAX_SGE, 4, d.buf(make([]byte, 4))),
		attrPtr(spec.UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM, 4, d.buf(make([]byte, 4))))
	require.Len(t, made, 2)

	for i, want := range []string{"8877665544332211" + "1300000000000000", "00ffeeddccbbaa99" + "1300000000000000"} {
		made[i].EventHandler(nil, &core.Event{Type: spec.IB_EVENT_WQ_FATAL, WQ: made[i]})
		at := d.buf(make([]byte, 16))
		_, err := d.p.Read(fd, at, 16)
		require.NoError(t, err)
		require.Equal(t, want, hex.EncodeToString(d.load(at, 16)))
	}
}

// testBareBundle: a driver's operation is handed the call that it works for.
// One that came by write() has no attributes, and nothing of an ioctl's parser
// to be asked for; the model stops where the kernel would read the stack.
func testBareBundle(t *testing.T) {
	var calls []string
	var d *plain
	d = newPlain(t, core.DeviceOps{
		AllocPD: func(_ *core.PD, udata *core.Udata) error {
			b := udata.Attrs.(*kernel.Bundle)
			require.Equal(t, d.p, b.Task().Process, "both know the caller")
			finalize := func() { b.FinalizeCreate(spec.UVERBS_ATTR_CORE_OUT) }
			if b.IsValid(spec.UVERBS_ATTR_WRITE_CMD) {
				calls = append(calls, "ioctl")
				require.True(t, b.IsValid(spec.UVERBS_ATTR_CORE_OUT))
				require.NotPanics(t, finalize)
				return nil
			}
			calls = append(calls, "write")
			for id := range uint16(spec.BkeyLen) {
				require.False(t, b.IsValid(id))
			}
			require.NotZero(t, b.UCore.Out, "the response of a write() is the core's udata")
			require.Panics(t, finalize)
			return nil
		},
		DeallocPD: func(*core.PD, *core.Udata) error { return nil },
	})
	invoke := func() {
		d.ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
			attrNum(spec.UVERBS_ATTR_CORE_IN, 8, 0),
			attrPtr(spec.UVERBS_ATTR_CORE_OUT, 4, d.buf(make([]byte, 4))),
			attrNum(spec.UVERBS_ATTR_WRITE_CMD, 8, spec.IB_USER_VERBS_CMD_ALLOC_PD))
	}
	write := func() { d.command(spec.IB_USER_VERBS_CMD_ALLOC_PD, nil, 4) }
	write()
	invoke()
	write() // a bundle that served an ioctl is not a write()'s afterwards
	require.Equal(t, []string{"write", "ioctl", "write"}, calls)
}
