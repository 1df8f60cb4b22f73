package methods

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// createCQCmd is a CREATE_CQ without a channel.
var createCQCmd = spec.CreateCQ{UserHandle: 0x1122, CQE: 7, CompChannel: -1}

// cqByWrite makes a CQ by write().
func (r *rig) cqByWrite(cmd spec.CreateCQ) uint32 {
	r.Helper()
	return decode[spec.CreateCQResp](r, r.commanded(spec.IB_USER_VERBS_CMD_CREATE_CQ, bytesOf(cmd), spec.CreateCQRespSize)).CQHandle
}

// TestCreateCQByWrite follows the recorded cases write/create-cq,
// invoke/create-cq-reserved, invoke/create-cq-channel-negative and
// write/ex-create-cq.
func TestCreateCQByWrite(t *testing.T) {
	r := newContext(t, nil)
	for i, change := range []func(*spec.CreateCQ){
		func(*spec.CreateCQ) {},
		func(c *spec.CreateCQ) { c.Reserved = 0xffffffff },
		func(c *spec.CreateCQ) { c.CompChannel = -2147483648 },
	} {
		cmd := createCQCmd
		change(&cmd)
		answer := r.commanded(spec.IB_USER_VERBS_CMD_CREATE_CQ, bytesOf(cmd), spec.CreateCQRespSize)
		require.Equal(t, spec.CreateCQResp{CQHandle: uint32(i), CQE: 7}, decode[spec.CreateCQResp](t, answer))
		require.EqualValues(t, 0x1122, r.cq.Object.UserHandle.Load())
	}
	ex := spec.ExCreateCQ{CQE: 9, CompChannel: -1}
	answer := r.commandedEx(spec.IB_USER_VERBS_EX_CMD_CREATE_CQ, bytesOf(ex), spec.ExCreateCQRespSize)
	want := spec.ExCreateCQResp{Base: spec.CreateCQResp{CQHandle: 3, CQE: 9}, ResponseLength: spec.ExCreateCQRespSize}
	require.Equal(t, want, decode[spec.ExCreateCQResp](t, answer))
}

// TestCreateCQByWriteRefused: the vector is looked at before there is an
// object; whatever is refused later gives its handle back.
func TestCreateCQByWriteRefused(t *testing.T) {
	var flags uint32
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.CreateCQ = func(_ *core.CQ, attr *core.CQInitAttr, _ core.Attrs) error {
			flags = attr.Flags
			return syscall.EOPNOTSUPP
		}
	}))
	fd := int32(r.newChannel())
	tests := []struct {
		name   string
		change func(*spec.ExCreateCQ)
		want   error
	}{
		{"comp_vector", func(c *spec.ExCreateCQ) { c.CompVector = 2 }, rule.CmdCQCompVector},
		{"write/ex-create-cq-comp-mask", func(c *spec.ExCreateCQ) { c.CompMask = 1 }, rule.CmdCQExCompMask},
		{"reserved", func(c *spec.ExCreateCQ) { c.Reserved = 1 }, rule.CmdCQExReserved},
		{"a channel that is not open", func(c *spec.ExCreateCQ) { c.CompChannel = 1000 }, rule.ObjectFDBad},
		{"a channel that is the device", func(c *spec.ExCreateCQ) { c.CompChannel = int32(r.fd) }, rule.ObjectFDForeign},
		{"write/ex-create-cq-flags", func(c *spec.ExCreateCQ) { c.Flags = 0x80 }, syscall.EOPNOTSUPP},
		{"the driver, with a channel", func(c *spec.ExCreateCQ) { c.CompChannel = fd }, syscall.EOPNOTSUPP},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := spec.ExCreateCQ{CQE: 9, CompChannel: -1}
			tt.change(&cmd)
			require.Equal(t, tt.want, r.commandEx(spec.IB_USER_VERBS_EX_CMD_CREATE_CQ, bytesOf(cmd), r.resp(spec.ExCreateCQRespSize)))
			require.Equal(t, cmd.Flags, flags*b2u(tt.want == error(syscall.EOPNOTSUPP)))
		})
	}
	require.Zero(t, r.newPD())
	require.NoError(t, r.p.Close(int(fd)))
}

func b2u(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}

// TestCreateCQWithChannel: the CQ holds its channel, not the descriptor, and a
// failed creation does not.
func TestCreateCQWithChannel(t *testing.T) {
	refs := refCounter{}
	r := newContext(t, trace.NewTask(1, refs))
	fd := r.newChannel()
	held := refs["UVERBS_OBJECT_COMP_CHANNEL"]
	cmd := createCQCmd
	cmd.CompChannel = int32(fd)
	require.Equal(t, error(rule.CmdResponseFault), r.command(spec.IB_USER_VERBS_CMD_CREATE_CQ, bytesOf(cmd), r.readonly(8)))
	require.Equal(t, held, refs["UVERBS_OBJECT_COMP_CHANNEL"])

	cq := r.cqByWrite(cmd)
	require.Equal(t, held+1, refs["UVERBS_OBJECT_COMP_CHANNEL"])
	channel := r.cq.Context.(*kernel.CompletionEventFile)
	r.cq.CompHandler(nil, r.cq)
	require.Equal(t, 1, channel.Queue.Len())
	at := r.buf(8)
	_, err := r.p.Read(fd, at, 8)
	require.NoError(t, err)
	r.cq.CompHandler(nil, r.cq)

	answer := r.commanded(spec.IB_USER_VERBS_CMD_DESTROY_CQ, bytesOf(spec.DestroyCQ{CQHandle: cq}), spec.DestroyCQRespSize)
	require.Equal(t, spec.DestroyCQResp{CompEventsReported: 1}, decode[spec.DestroyCQResp](t, answer))
	require.Equal(t, held, refs["UVERBS_OBJECT_COMP_CHANNEL"])
	require.Zero(t, channel.Queue.Len())
}

// TestCQEventsByWrite: events of a CQ that a command made go to the file's
// first event descriptor, as TestCQEvents has it for an ioctl without one.
func TestCQEventsByWrite(t *testing.T) {
	r := newContext(t, nil)
	first := r.newAsync()
	require.NoError(t, r.p.SetNonblock(first, true))
	cq := r.cqByWrite(createCQCmd)
	r.cq.EventHandler(nil, &core.Event{Type: spec.IB_EVENT_CQ_ERR, CQ: r.cq})
	at := r.buf(16)
	_, err := r.p.Read(first, at, 16)
	require.NoError(t, err)
	require.Equal(t, "22110000000000000000000000000000", r.hex(at, 16))
	answer := r.commanded(spec.IB_USER_VERBS_CMD_DESTROY_CQ, bytesOf(spec.DestroyCQ{CQHandle: cq}), spec.DestroyCQRespSize)
	require.Equal(t, spec.DestroyCQResp{AsyncEventsReported: 1}, decode[spec.DestroyCQResp](t, answer))
}

// TestDestroyCQByWrite follows the recorded cases write/destroy-cq-24 and
// write/destroy-cq-response-fault: the CQ is gone even if nobody can be told.
func TestDestroyCQByWrite(t *testing.T) {
	r := newContext(t, nil)
	cq := r.cqByWrite(createCQCmd)
	destroy := func(resp respBuf) error {
		return r.command(spec.IB_USER_VERBS_CMD_DESTROY_CQ, bytesOf(spec.DestroyCQ{CQHandle: cq}), resp)
	}
	require.Equal(t, error(rule.CmdResponseFault), destroy(r.readonly(8)))
	resp := r.resp(8)
	require.Equal(t, error(rule.ObjectNotFound), destroy(resp))
	require.Equal(t, "a5a5a5a5a5a5a5a5", r.hex(resp.at, 8))
	require.Equal(t, []string{"create_cq", "destroy_cq"}, r.took())
}

// TestResizeCQ follows the recorded case write/resize-cq: the driver's refusal
// leaves the answer untouched, and the CQ unlocked.
func TestResizeCQ(t *testing.T) {
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.ResizeCQ = func(cq *core.CQ, cqe int32, _ *core.Udata) error {
			if cqe < 1 {
				return syscall.EINVAL
			}
			cq.CQE.Store(uint32(cqe) | 7)
			return nil
		}
	})
	cq := r.cqByWrite(createCQCmd)
	resize := func(handle, cqe uint32) (string, error) {
		resp := r.resp(spec.ResizeCQRespSize)
		err := r.command(spec.IB_USER_VERBS_CMD_RESIZE_CQ, bytesOf(spec.ResizeCQ{CQHandle: handle, CQE: cqe}), resp)
		return r.hex(resp.at, resp.n), err
	}
	answer, err := resize(cq, 64)
	require.NoError(t, err)
	require.Equal(t, "4700000000000000", answer)
	for _, cqe := range []uint32{0, 0x80000000} {
		answer, err = resize(cq, cqe)
		require.Equal(t, error(syscall.EINVAL), err)
		require.Equal(t, "a5a5a5a5a5a5a5a5", answer)
	}
	_, err = resize(cq+1, 64)
	require.Equal(t, error(rule.ObjectNotFound), err)
	require.Zero(t, r.cq.Object.Usecnt())
}

// TestReqNotifyCQ follows the recorded cases write/req-notify and
// write/req-notify-cq-is-pd.
func TestReqNotifyCQ(t *testing.T) {
	var asked []core.NotifyFlags
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.ReqNotifyCQ = func(_ *process.Task, _ *core.CQ, flags core.NotifyFlags) error {
			asked = append(asked, flags)
			return syscall.EIO // which nobody hears of
		}
	})
	cq, pd := r.cqByWrite(createCQCmd), uint32(r.newPD())
	notify := func(handle, solicited uint32) error {
		return r.command(spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, bytesOf(spec.ReqNotifyCQ{CQHandle: handle, SolicitedOnly: solicited}), respBuf{})
	}
	require.NoError(t, notify(cq, 0))
	require.NoError(t, notify(cq, 2))
	require.Equal(t, error(rule.ObjectNotFound), notify(cq+100, 0))
	require.Equal(t, error(rule.ObjectWrongType), notify(pd, 0))
	require.Equal(t, []core.NotifyFlags{core.NotifyNextComp, core.NotifySolicited}, asked)
	require.Zero(t, r.cq.Object.Usecnt())
}

// pollOps hand out the completions one by one, and then err.
func pollOps(wcs *[]core.WC, err *error) func(*core.DeviceOps) {
	return func(ops *core.DeviceOps) {
		ops.PollCQ = func(*process.Task, *core.CQ, int) ([]core.WC, error) {
			if len(*wcs) == 0 {
				return nil, *err
			}
			wc := (*wcs)[:1]
			*wcs = (*wcs)[1:]
			return wc, nil
		}
	}
}

// TestPollCQ: completions are written one after the other behind their number,
// into whatever room there is, and the request's limit holds.
func TestPollCQ(t *testing.T) {
	var wcs []core.WC
	var fail error
	r := newCommands(t, pollOps(&wcs, &fail))
	cq := r.cqByWrite(createCQCmd)
	wcs = []core.WC{
		{WRID: 0x1111, Status: 1, Opcode: 2, VendorErr: 3, ByteLen: 4, Imm: [4]byte{5, 6, 7, 8}, QPNum: 9, SrcQP: 10,
			WCFlags: 11, PkeyIndex: 12, SLID: 0x1000d, SL: 14, DLIDBits: 15, PortNum: 16},
		{WRID: 0x2222}, {WRID: 0x3333},
	}
	poll := func(ne uint32) respBuf {
		resp := r.resp(256)
		resp.n = spec.PollCQRespSize
		require.NoError(t, r.command(spec.IB_USER_VERBS_CMD_POLL_CQ, bytesOf(spec.PollCQ{CQHandle: cq, Ne: ne}), resp))
		return resp
	}
	resp := poll(2)
	require.Equal(t, "0200000000000000", r.hex(resp.at, 8))
	require.Equal(t, "1111000000000000"+"01000000"+"02000000"+"03000000"+"04000000"+"05060708"+"09000000"+"0a000000"+
		"0b000000"+"0c00"+"0d00"+"0e"+"0f"+"10"+"00", r.hex(resp.at+8, spec.WCSize))
	require.Equal(t, "2222000000000000", r.hex(resp.at+8+spec.WCSize, 8))
	require.Equal(t, "a5a5a5a5", r.hex(resp.at+8+2*spec.WCSize, 4))

	resp = poll(5)
	require.Equal(t, "0100000000000000"+"3333000000000000", r.hex(resp.at, 16))
	resp = poll(5)
	require.Equal(t, "0000000000000000"+"a5a5a5a5", r.hex(resp.at, 12))
}

// TestPollCQFails: after a fault or a refusal of the driver the number is not
// written, although completions were.
func TestPollCQFails(t *testing.T) {
	var wcs []core.WC
	var fail error
	r := newCommands(t, pollOps(&wcs, &fail))
	cq := r.cqByWrite(createCQCmd)
	poll := func(resp respBuf) error {
		resp.n = spec.PollCQRespSize
		return r.command(spec.IB_USER_VERBS_CMD_POLL_CQ, bytesOf(spec.PollCQ{CQHandle: cq, Ne: 2}), resp)
	}
	wcs = make([]core.WC, 2)
	edge := respBuf{at: r.edge(8 + spec.WCSize)}
	require.Equal(t, error(rule.CmdCQPollWCFault), poll(edge))
	require.Equal(t, "0000000000000000"+"0000000000000000", r.hex(edge.at, 16))
	require.Empty(t, wcs)

	wcs, fail = make([]core.WC, 1), syscall.EIO
	resp := r.resp(128)
	require.Equal(t, error(syscall.EIO), poll(resp))
	require.Equal(t, "a5a5a5a5a5a5a5a5"+"0000000000000000", r.hex(resp.at, 16))

	wcs, fail = nil, nil
	require.Equal(t, error(rule.CmdCQPollFault), poll(r.readonly(8)))
	require.Zero(t, r.cq.Object.Usecnt())
}

// TestPollCQByInvoke: the answer is flagged as written.
func TestPollCQByInvoke(t *testing.T) {
	var wcs []core.WC
	var fail error
	r := newCommands(t, pollOps(&wcs, &fail))
	cq := r.cqByWrite(createCQCmd)
	require.Equal(t, "0000000000000000", r.write(spec.IB_USER_VERBS_CMD_POLL_CQ, bytesOf(spec.PollCQ{CQHandle: cq, Ne: 1}), 8))
	require.Equal(t, "..!", r.written())
}

// TestExModifyCQ: the members that are checked before the CQ is looked for.
func TestExModifyCQ(t *testing.T) {
	var got [2]uint16
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.ModifyCQ = func(_ *process.Task, _ *core.CQ, count, period uint16) error {
			got = [2]uint16{count, period}
			return nil
		}
	})
	cq := r.cqByWrite(createCQCmd)
	moderation := spec.CQModeration{CQCount: 3, CQPeriod: 4}
	for _, tt := range []struct {
		cmd  spec.ExModifyCQ
		want error
	}{
		{spec.ExModifyCQ{CQHandle: 99}, rule.CmdCQModifyEmpty},
		{spec.ExModifyCQ{CQHandle: 99, AttrMask: 1, Reserved: 1}, rule.CmdCQModifyEmpty},
		{spec.ExModifyCQ{CQHandle: 99, AttrMask: 2}, rule.CmdCQModifyMask},
		{spec.ExModifyCQ{CQHandle: 99, AttrMask: 1}, rule.ObjectNotFound},
		{spec.ExModifyCQ{CQHandle: cq, AttrMask: 1, Attr: moderation}, nil},
	} {
		require.Equal(t, tt.want, r.commandEx(spec.IB_USER_VERBS_EX_CMD_MODIFY_CQ, bytesOf(tt.cmd), respBuf{}))
	}
	require.Equal(t, [2]uint16{3, 4}, got)
	require.Zero(t, r.cq.Object.Usecnt())
}

// TestCreateCQTrace: the functions of a CREATE_CQ by write() are entered as
// the kernel's tracer recorded them.
func TestCreateCQTrace(t *testing.T) {
	rec := &recorder{}
	r := newContext(t, trace.NewTask(1, rec))
	rec.names = nil
	r.cqByWrite(createCQCmd)
	require.Equal(t, []string{
		"ib_uverbs_write{",
		"ib_uverbs_create_cq{",
		"uverbs_request{", "}",
		"create_cq{",
		"rdma_alloc_begin_uobject{", "alloc_begin_idr_uobject{", "alloc_uobj{", "ib_uverbs_get_ucontext_file{", "}", "}",
		"ib_rdmacg_try_charge{", "}", "}", "}",
		"uverbs_response{", "}",
		"}", "}",
		"uverbs_finalize_object{", "rdma_alloc_commit_uobject{", "alloc_commit_idr_uobject{", "}", "}", "}",
		"}",
	}, rec.names)
}

// recorder notes which functions that a tracer of the kernel sees are entered
// and left.
type recorder struct{ names []string }

func (r *recorder) Event(_ *trace.Task, e *trace.Event) {
	switch {
	case e.Inlined:
	case e.Kind == trace.Enter:
		r.names = append(r.names, e.Name+"{")
	case e.Kind == trace.Leave:
		r.names = append(r.names, "}")
	}
}
