package methods

import (
	"encoding/binary"
	"encoding/hex"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// respBuf is where a write() command of a test wants its answer.
type respBuf struct {
	at copyuser.Addr
	n  int
}

// resp returns room for an answer of n bytes.
func (r *rig) resp(n int) respBuf { return respBuf{r.buf(n), n} }

// plainBytes puts a write() command together. A response's address goes into
// the request's first 8 bytes.
func plainBytes(cmd uint8, request []byte, resp respBuf) []byte {
	b := make([]byte, 8, 8+len(request))
	binary.LittleEndian.PutUint32(b, uint32(cmd))
	binary.LittleEndian.PutUint16(b[4:], uint16((8+len(request))/4))
	binary.LittleEndian.PutUint16(b[6:], uint16(resp.n/4))
	b = append(b, request...)
	if resp.n > 0 {
		binary.LittleEndian.PutUint64(b[8:], uint64(resp.at))
	}
	return b
}

// exBytes puts an extended write() command together.
func exBytes(cmd uint8, request []byte, resp respBuf) []byte {
	b := make([]byte, 24, 24+len(request))
	binary.LittleEndian.PutUint32(b, uint32(cmd)|spec.IB_USER_VERBS_CMD_FLAG_EXTENDED)
	binary.LittleEndian.PutUint16(b[4:], uint16(len(request)/8))
	binary.LittleEndian.PutUint16(b[6:], uint16(resp.n/8))
	if resp.n > 0 {
		binary.LittleEndian.PutUint64(b[8:], uint64(resp.at))
	}
	return append(b, request...)
}

// command makes a write() command.
func (r *rig) command(cmd uint8, request []byte, resp respBuf) error {
	r.Helper()
	return r.writeBytes(plainBytes(cmd, request, resp))
}

// commandEx makes an extended write() command.
func (r *rig) commandEx(cmd uint8, request []byte, resp respBuf) error {
	r.Helper()
	return r.writeBytes(exBytes(cmd, request, resp))
}

func (r *rig) writeBytes(b []byte) error {
	n, err := r.p.Write(r.fd, r.data(b), uint64(len(b)))
	if err == nil {
		require.EqualValues(r, len(b), n)
	}
	return err
}

// commanded makes a write() command that succeeds and returns its answer.
func (r *rig) commanded(cmd uint8, request []byte, n int) string {
	r.Helper()
	resp := r.resp(n)
	require.NoError(r, r.command(cmd, request, resp))
	return r.hex(resp.at, n)
}

// commandedEx is commanded of an extended command.
func (r *rig) commandedEx(cmd uint8, request []byte, n int) string {
	r.Helper()
	resp := r.resp(n)
	require.NoError(r, r.commandEx(cmd, request, resp))
	return r.hex(resp.at, n)
}

// bytesOf returns a copy of a wire struct's memory.
func bytesOf[T any](v T) []byte { return append([]byte(nil), spec.Bytes(&v)...) }

// decode reads a wire struct from the hex that a command answered.
func decode[T any](tb testing.TB, answer string) (v T) {
	b, err := hex.DecodeString(answer)
	require.NoError(tb, err)
	copy(spec.Bytes(&v), b)
	return v
}

// readonly returns a buffer of n bytes of a5 that can only be read.
func (r *rig) readonly(n int) respBuf {
	at, err := r.p.Mmap(-1, copyuser.PageSize, rw, anon, 0)
	require.NoError(r, err)
	require.NoError(r, r.p.Mprotect(at, copyuser.PageSize, 1))
	return respBuf{at, n}
}

// edge returns an address with n readable and writable bytes behind it and
// nothing behind those.
func (r *rig) edge(n int) copyuser.Addr {
	at, err := r.p.Mmap(-1, 2*copyuser.PageSize, rw, anon, 0)
	require.NoError(r, err)
	require.NoError(r, r.p.Munmap(at+copyuser.PageSize, copyuser.PageSize))
	return at + copyuser.PageSize - copyuser.Addr(n)
}

// drop takes capabilities from the process and opens the device anew: write()
// goes by the credentials of the open.
func (r *rig) drop(caps ...process.Cap) {
	require.NoError(r, r.p.Capset(caps...))
	r.fd = r.open()
	r.ok(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
}

// TestWritesComplete: every command that the declarations name has a handler,
// and there is no other handler.
func TestWritesComplete(t *testing.T) {
	all := writes()
	plain, ex := 0, 0
	for _, d := range spec.Core() {
		for _, w := range d.Writes {
			handler := all[write(w.Command)]
			if w.Ex {
				handler = all[writeEx(w.Command)]
				ex++
			} else {
				plain++
			}
			require.NotNil(t, handler, w.Name)
		}
	}
	require.Equal(t, 35, plain)
	require.Equal(t, 12, ex)
	require.Len(t, all, plain+ex)
}

// TestRequest: how a request of another length than the command's struct is
// taken, in the two ways in which a command can come.
func TestRequest(t *testing.T) {
	const pd = spec.IB_USER_VERBS_CMD_DEALLOC_PD
	tests := []struct {
		name    string
		request string
		want    error
	}{
		{"write/body-long-zero", "0000000000000000", nil},
		{"write/body-long-nonzero", "0000000001000000", rule.CmdRequestTail},
		{"the struct itself", "00000000", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			request, err := hex.DecodeString(tt.request)
			require.NoError(t, err)
			r := newContext(t, nil)
			r.newPD()
			require.Equal(t, tt.want, r.command(pd, request, respBuf{}))
			r.took()

			r = newContext(t, nil)
			r.newPD()
			require.Equal(t, tt.want, r.call(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE,
				num(spec.UVERBS_ATTR_WRITE_CMD, 8, pd),
				ptr(spec.UVERBS_ATTR_CORE_IN, len(request), r.inline(request))))
		})
	}
}

// TestRequestFaults follows the recorded cases write/body-unmapped and
// write/request-edge-body: a request of which only the start can be read. The
// tail counts as not zero there.
func TestRequestFaults(t *testing.T) {
	r := newCommands(t, nil)
	qp := r.qpByWrite(spec.IB_QPT_RC)
	one := []spec.SendWR{{NumSGE: 1, Opcode: spec.IB_UVERBS_WR_SEND}}
	send := plainBytes(spec.IB_USER_VERBS_CMD_POST_SEND, sendRequest(qp, 56, one, spec.SGE{}), respBuf{n: 4})
	recv := plainBytes(spec.IB_USER_VERBS_CMD_POST_RECV, recvRequest(qp, 16, []spec.RecvWR{{NumSGE: 1}}, spec.SGE{}), respBuf{n: 4})
	dealloc := plainBytes(spec.IB_USER_VERBS_CMD_DEALLOC_PD, bytesOf(spec.DeallocPD{}), respBuf{})
	long := plainBytes(spec.IB_USER_VERBS_CMD_DEALLOC_PD, make([]byte, 8), respBuf{})
	table := exBytes(spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, tableRequest(1, 0, 0), respBuf{})
	tests := []struct {
		name    string
		command []byte
		mapped  int
		want    error
	}{
		{"write/body-unmapped", dealloc, 8, rule.CmdRequestFault},
		{"write/request-edge-body", dealloc, 10, rule.CmdRequestFault},
		{"the tail", long, 12, rule.CmdRequestTail},
		{"the struct before arrays", send, 16, rule.CmdStartFault},
		{"a send work request", send, 8 + 24, rule.CmdPostSendWRFault},
		{"the pieces of a send", send, 8 + 24 + 56, rule.CmdPostSendSGEFault},
		{"a receive work request", recv, 8 + 24, rule.CmdPostRecvWRFault},
		{"the pieces of a receive", recv, 8 + 24 + 16, rule.CmdPostRecvSGEFault},
		{"the handles of a table", table, 24 + 8, rule.CmdNextFault},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := r.edge(tt.mapped)
			require.True(t, r.p.Mem.Store(at, tt.command[:tt.mapped]))
			_, err := r.p.Write(r.fd, at, uint64(len(tt.command)))
			require.Equal(t, tt.want, err)
		})
	}
	r.requireUnused()
}

// TestResponse: how an answer is written to a buffer of another length.
func TestResponse(t *testing.T) {
	query := bytesOf(spec.ExQueryDevice{})
	full := spec.ExQueryDeviceRespSize
	tests := []struct {
		name     string
		room     int
		want     int    // response_length
		lastWord string // of the buffer
	}{
		{"write/ex-query-device", full, full, "00000000"},
		{"write/ex-out-min", 184, 184, "b8000000"},
		{"longer than the struct", full + 16, full, "00000000"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newContext(t, nil, lacking(cmdOps(nil)))
			resp := r.resp(tt.room + 8)
			resp.n = tt.room
			require.NoError(t, r.commandEx(spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE, query, resp))
			require.Equal(t, tt.lastWord, r.hex(resp.at+copyuser.Addr(tt.room)-4, 4))
			require.Equal(t, "a5a5a5a5a5a5a5a5", r.hex(resp.at+copyuser.Addr(tt.room), 8))
			got := decode[spec.ExQueryDeviceResp](t, r.hex(resp.at, min(tt.room, full)))
			require.EqualValues(t, tt.want, got.ResponseLength)
		})
	}
}

// TestResponseFaults: an answer that cannot be written undoes a creation
// (recorded cases write/response-readonly, write/ex-response-unmapped), and
// one for which only the part beyond the struct faults as well.
func TestResponseFaults(t *testing.T) {
	r := newContext(t, nil)
	alloc := bytesOf(spec.AllocPD{})
	require.Equal(t, error(rule.CmdResponseFault), r.command(spec.IB_USER_VERBS_CMD_ALLOC_PD, alloc, r.readonly(4)))
	require.Equal(t, []string{"alloc_pd", "dealloc_pd"}, r.took())
	require.Zero(t, r.newPD())

	channel := respBuf{r.edge(8), 16}
	require.Equal(t, error(rule.CmdResponseFault), r.command(spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, bytesOf(spec.CreateCompChannel{}), channel))
	require.Equal(t, r.fd+1, r.newChannel())
}

// TestHandlesOf32Bits: a command's handles are unsigned, so that no handle is
// negative.
func TestHandlesOf32Bits(t *testing.T) {
	r := newContext(t, nil)
	err := r.command(spec.IB_USER_VERBS_CMD_DEALLOC_PD, bytesOf(spec.DeallocPD{PDHandle: 0xffffffff}), respBuf{})
	require.Equal(t, error(rule.ObjectNotFound), err)
}

// objects walks the objects of the open file.
func (r *rig) objects() iter.Seq[*uobject.Object] {
	f := r.p.MainTask().Fget(r.fd)
	defer f.Put(nil)
	return f.Private.(*kernel.File).Objects.Objects(nil)
}

// requireUnused demands that no object is locked by a call any more.
func (r *rig) requireUnused() {
	r.Helper()
	for o := range r.objects() {
		require.Zero(r, o.Usecnt(), o.Type().Name)
	}
}

// cmdOps returns a change that adds the operations that only write() commands
// reach, and then makes another change.
func cmdOps(more func(*core.DeviceOps)) func(*core.DeviceOps) {
	return func(ops *core.DeviceOps) {
		ops.QueryDevice = func(_ *process.Task, _ *core.Device, attr *core.DeviceAttr, _ *core.Udata) error {
			attr.MaxQP = 7
			return nil
		}
		ops.ResizeCQ = func(cq *core.CQ, cqe int32, _ *core.Udata) error {
			cq.CQE.Store(uint32(cqe))
			return nil
		}
		ops.PollCQ = func(*process.Task, *core.CQ, int) ([]core.WC, error) { return nil, nil }
		ops.ReqNotifyCQ = func(*process.Task, *core.CQ, core.NotifyFlags) error { return nil }
		ops.ModifyCQ = func(*process.Task, *core.CQ, uint16, uint16) error { return nil }
		ops.ReregUserMR = func(*core.MR, uint32, uint64, uint64, uint64, uint32, *core.PD, *core.Udata) (*core.MR, error) {
			return nil, nil
		}
		ops.ModifyQP = func(*core.QP, *core.QPAttr, uint32, *core.Udata) error { return nil }
		ops.QueryQP = func(*process.Task, *core.QP, *core.QPAttr, uint32, *core.QPInitAttr) error { return nil }
		ops.PostSend = func(*process.Task, *core.QP, []core.SendWR) (int, error) { return 0, nil }
		ops.PostRecv = func(*process.Task, *core.QP, []core.RecvWR) (int, error) { return 0, nil }
		ops.PostSRQRecv = func(*process.Task, *core.SRQ, []core.RecvWR) (int, error) { return 0, nil }
		ops.AttachMcast = func(*process.Task, *core.QP, [16]byte, uint16) error { return nil }
		ops.DetachMcast = func(*process.Task, *core.QP, [16]byte, uint16) error { return nil }
		ops.ModifySRQ = func(*core.SRQ, *core.SRQAttr, uint32, *core.Udata) error { return nil }
		ops.QuerySRQ = func(*process.Task, *core.SRQ, *core.SRQAttr) error { return nil }
		ops.ModifyWQ = func(*core.WQ, *core.WQAttr, uint32, *core.Udata) error { return nil }
		if more != nil {
			more(ops)
		}
	}
}

// newCommands returns a rig with a context and all operations.
func newCommands(tb testing.TB, more func(*core.DeviceOps)) *rig {
	return newContext(tb, nil, lacking(cmdOps(more)))
}
