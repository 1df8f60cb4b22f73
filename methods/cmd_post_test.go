package methods

import (
	"encoding/binary"
	"math"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

// sendRequest puts a POST_SEND together.
func sendRequest(qp uint32, wqeSize uint32, wrs []spec.SendWR, sges ...spec.SGE) []byte {
	b := bytesOf(spec.PostSend{QPHandle: qp, WRCount: uint32(len(wrs)), SGECount: uint32(len(sges)), WQESize: wqeSize})
	for _, wr := range wrs {
		raw := make([]byte, wqeSize)
		copy(raw, spec.Bytes(&wr))
		b = append(b, raw...)
	}
	for _, sge := range sges {
		b = append(b, spec.Bytes(&sge)...)
	}
	return b
}

// words returns the union of a send work request that holds these 32-bit
// numbers.
func words(v ...uint32) (u [4]uint64) {
	for i, w := range v {
		u[i/2] |= uint64(w) << (32 * (i % 2))
	}
	return u
}

// sendRig is a rig whose POST_SENDs are noted.
func sendRig(t *testing.T, answer func([]core.SendWR) (int, error)) (*rig, *[]core.SendWR) {
	var posted []core.SendWR
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.PostSend = func(_ *process.Task, _ *core.QP, wrs []core.SendWR) (int, error) {
			posted = wrs
			return answer(wrs)
		}
	})
	return r, &posted
}

func accept([]core.SendWR) (int, error) { return 0, nil }

// TestPostSend: every opcode's part of a work request, and its pieces of
// memory, which follow those of the one before.
func TestPostSend(t *testing.T) {
	r, posted := sendRig(t, accept)
	qp := r.qpByWrite(spec.IB_QPT_RC)
	sge := func(n uint64) spec.SGE { return spec.SGE{Addr: n, Length: 1, Lkey: 2} }
	request := sendRequest(qp, 72, []spec.SendWR{
		{WRID: 1, NumSGE: 2, Opcode: spec.IB_UVERBS_WR_SEND, SendFlags: 3, Ex: 9},
		{WRID: 2, Opcode: spec.IB_UVERBS_WR_SEND_WITH_IMM, Ex: 0x04030201},
		{WRID: 3, NumSGE: 1, Opcode: spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, Ex: 5, WR: [4]uint64{0x1000, 0x77}},
		{WRID: 4, Opcode: spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, WR: [4]uint64{0x2000, 6, 7, 0x88}},
		{WRID: 5, Opcode: spec.IB_UVERBS_WR_SEND_WITH_INV, Ex: 0x99},
	}, sge(1), sge(2), sge(3))
	require.Equal(t, "00000000", r.commanded(spec.IB_USER_VERBS_CMD_POST_SEND, request, spec.PostSendRespSize))
	require.Empty(t, gocmp.Diff([]core.SendWR{
		{WRID: 1, Opcode: 2, SendFlags: 3, SGList: []core.SGE{{Addr: 1, Length: 1, LKey: 2}, {Addr: 2, Length: 1, LKey: 2}}},
		{WRID: 2, Opcode: 3, ImmOrInv: [4]byte{1, 2, 3, 4}},
		{WRID: 3, Opcode: 1, ImmOrInv: [4]byte{5}, RemoteAddr: 0x1000, RKey: 0x77, SGList: []core.SGE{{Addr: 3, Length: 1, LKey: 2}}},
		{WRID: 4, Opcode: 5, RemoteAddr: 0x2000, CompareAdd: 6, Swap: 7, RKey: 0x88},
		{WRID: 5, Opcode: 9, ImmOrInv: [4]byte{0x99}},
	}, *posted))
	require.Zero(t, r.qp.Object.Usecnt())
}

// TestPostSendUD: a UD work request names an address handle, which is held
// while the driver looks at it.
func TestPostSendUD(t *testing.T) {
	var r *rig
	var ah uint32
	inUse := int32(0)
	r, posted := sendRig(t, func([]core.SendWR) (int, error) {
		for o := range r.objects() {
			if o.ID() == int64(ah) {
				inUse = o.Usecnt()
			}
		}
		return 0, nil
	})
	qp := r.qpByWrite(spec.IB_QPT_UD)
	answer, err := r.createAH(spec.CreateAH{PDHandle: 0, Attr: spec.AHAttr{GRH: route, IsGlobal: 1, PortNum: 1}})
	require.NoError(t, err)
	ah = decode[spec.CreateAHResp](t, answer).AHHandle
	send := func(opcode uint32, ahs ...uint32) error {
		var wrs []spec.SendWR
		for _, h := range ahs {
			wrs = append(wrs, spec.SendWR{Opcode: opcode, WR: words(h, 0x22, 0x33)})
		}
		return r.command(spec.IB_USER_VERBS_CMD_POST_SEND, sendRequest(qp, 64, wrs), r.resp(spec.PostSendRespSize))
	}
	require.NoError(t, send(spec.IB_UVERBS_WR_SEND, ah, ah))
	require.Len(t, *posted, 2)
	require.NotNil(t, (*posted)[1].AH)
	require.EqualValues(t, 0x22, (*posted)[1].RemoteQPN)
	require.EqualValues(t, 0x33, (*posted)[1].RemoteQKey)
	require.Equal(t, error(rule.CmdPostSendUDOpcode), send(spec.IB_UVERBS_WR_RDMA_WRITE, ah))
	require.Equal(t, error(rule.ObjectWrongType), send(spec.IB_UVERBS_WR_SEND_WITH_IMM, ah, qp))
	require.EqualValues(t, 2, inUse)
	r.requireUnused()
}

// TestPostSendRefused follows the recorded cases write/post-send-unknown-qp and
// write/post-send-wqe-size, and has the other checks in their order.
func TestPostSendRefused(t *testing.T) {
	r, posted := sendRig(t, accept)
	qp := r.qpByWrite(spec.IB_QPT_RC)
	one := []spec.SendWR{{Opcode: spec.IB_UVERBS_WR_SEND}}
	with := func(b []byte, change func(*spec.PostSend)) []byte {
		var cmd spec.PostSend
		copy(spec.Bytes(&cmd), b)
		change(&cmd)
		copy(b, spec.Bytes(&cmd))
		return b
	}
	many := make([]spec.SGE, 16)
	tests := []struct {
		name    string
		request []byte
		want    error
	}{
		{"fewer work requests", with(sendRequest(99, 64, one), func(c *spec.PostSend) { c.WRCount = 2 }), rule.CmdArrayShort},
		{"counts that overflow", with(sendRequest(99, 64, one), func(c *spec.PostSend) { c.WRCount, c.WQESize = math.MaxUint32, math.MaxUint32 }), rule.CmdArrayShort},
		{"fewer pieces", with(sendRequest(99, 64, one), func(c *spec.PostSend) { c.SGECount = 1 }), rule.CmdArrayShort},
		{"more than announced", append(sendRequest(99, 64, one), 1, 0, 0, 0), rule.CmdFinishTail},
		{"write/post-send-wqe-size", sendRequest(99, 52, one), rule.CmdPostSendSize},
		{"a work request beyond kmalloc", sendRequest(99, 4<<20+1, nil), rule.CmdPostSendNoMemory},
		{"write/post-send-unknown-qp", sendRequest(99, 64, one), rule.ObjectNotFound},
		{"a piece that is not there", sendRequest(qp, 64, []spec.SendWR{{NumSGE: 1}}), rule.CmdPostSendSGECount},
		{"an opcode of another verb", sendRequest(qp, 64, []spec.SendWR{{Opcode: spec.IB_UVERBS_WR_LOCAL_INV}}), rule.CmdPostSendOpcode},
		{"a number of pieces that wraps", sendRequest(qp, 64, []spec.SendWR{
			{NumSGE: 16, Opcode: spec.IB_UVERBS_WR_SEND}, {NumSGE: math.MaxUint32 - 15, Opcode: spec.IB_UVERBS_WR_SEND}}, many...), rule.CmdPostSendWRNoMemory},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp := r.resp(spec.PostSendRespSize)
			require.Equal(t, tt.want, r.command(spec.IB_USER_VERBS_CMD_POST_SEND, tt.request, resp))
			require.Equal(t, "a5a5a5a5", r.hex(resp.at, 4))
			require.Empty(t, *posted)
			require.Zero(t, r.qp.Object.Usecnt())
		})
	}
}

// TestPostSendBadWR: the answer says up to which work request the driver came,
// and is written although the call fails.
func TestPostSendBadWR(t *testing.T) {
	bad := 0
	r, _ := sendRig(t, func([]core.SendWR) (int, error) { return bad, syscall.ENOMEM })
	qp := r.qpByWrite(spec.IB_QPT_RC)
	three := make([]spec.SendWR, 3)
	for i := range three {
		three[i].Opcode = spec.IB_UVERBS_WR_SEND
	}
	for _, tt := range []struct {
		wrs  []spec.SendWR
		bad  int
		want string
	}{{three, 0, "01000000"}, {three, 2, "03000000"}, {three, 7, "03000000"}, {nil, 0, "00000000"}} {
		bad = tt.bad
		resp := r.resp(spec.PostSendRespSize)
		err := r.command(spec.IB_USER_VERBS_CMD_POST_SEND, sendRequest(qp, 64, tt.wrs), resp)
		require.Equal(t, error(syscall.ENOMEM), err)
		require.Equal(t, tt.want, r.hex(resp.at, 4))
	}
	err := r.command(spec.IB_USER_VERBS_CMD_POST_SEND, sendRequest(qp, 64, three), r.readonly(4))
	require.Equal(t, error(rule.CmdResponseFault), err)
}

// recvRequest puts a POST_RECV together, and a POST_SRQ_RECV, which is alike.
func recvRequest(handle, wqeSize uint32, wrs []spec.RecvWR, sges ...spec.SGE) []byte {
	b := bytesOf(spec.PostRecv{QPHandle: handle, WRCount: uint32(len(wrs)), SGECount: uint32(len(sges)), WQESize: wqeSize})
	for _, wr := range wrs {
		raw := make([]byte, wqeSize)
		copy(raw, spec.Bytes(&wr))
		b = append(b, raw...)
	}
	for _, sge := range sges {
		b = append(b, spec.Bytes(&sge)...)
	}
	return b
}

// TestPostRecv: receives of QPs and SRQs, whose work requests are read before
// the object is looked up.
func TestPostRecv(t *testing.T) {
	var posted []core.RecvWR
	fail := error(nil)
	post := func(wrs []core.RecvWR) (int, error) {
		posted = wrs
		return 1, fail
	}
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.PostRecv = func(_ *process.Task, _ *core.QP, wrs []core.RecvWR) (int, error) { return post(wrs) }
		ops.PostSRQRecv = func(_ *process.Task, _ *core.SRQ, wrs []core.RecvWR) (int, error) { return post(wrs) }
	})
	qp := r.qpByWrite(spec.IB_QPT_RC)
	srq := decode[spec.CreateSRQResp](t, r.commanded(spec.IB_USER_VERBS_CMD_CREATE_SRQ, bytesOf(spec.CreateSRQ{}), spec.CreateSRQRespSize)).SRQHandle
	many := make([]spec.SGE, 16)
	for cmd, handle := range map[uint8]uint32{spec.IB_USER_VERBS_CMD_POST_RECV: qp, spec.IB_USER_VERBS_CMD_POST_SRQ_RECV: srq} {
		two := []spec.RecvWR{{WRID: 1, NumSGE: 1}, {WRID: 2, NumSGE: 2}}
		sges := []spec.SGE{{Addr: 1}, {Addr: 2}, {Addr: 3}}
		for _, tt := range []struct {
			request []byte
			want    error
		}{
			{recvRequest(99, 8, nil), rule.CmdPostRecvSize},
			{recvRequest(99, 16, two, sges[:2]...), rule.CmdPostRecvSGECount},
			{append(recvRequest(99, 16, two, sges...), 1, 0, 0, 0), rule.CmdFinishTail},
			{recvRequest(99, 4<<20+4, nil), rule.CmdPostRecvNoMemory},
			{recvRequest(99, 16, []spec.RecvWR{{NumSGE: 16}, {NumSGE: math.MaxUint32 - 15}}, many...), rule.CmdPostRecvManySGEs},
			{recvRequest(99, 16, two, sges...), rule.ObjectNotFound},
		} {
			require.Equal(t, tt.want, r.command(cmd, tt.request, r.resp(4)))
		}
		require.Equal(t, "00000000", r.commanded(cmd, recvRequest(handle, 24, two, sges...), 4))
		require.Equal(t, []core.RecvWR{{WRID: 1, SGList: []core.SGE{{Addr: 1}}}, {WRID: 2, SGList: []core.SGE{{Addr: 2}, {Addr: 3}}}}, posted)
		fail = syscall.ENOMEM
		resp := r.resp(4)
		require.Equal(t, fail, r.command(cmd, recvRequest(handle, 16, two, sges...), resp))
		require.Equal(t, "02000000", r.hex(resp.at, 4))
		fail = nil
	}
	r.requireUnused()
}

// FuzzPostSend: no request of POST_SEND makes the kernel hand the driver a
// work request that the user did not send, nor leave an object in use.
func FuzzPostSend(f *testing.F) {
	good := sendRequest(2, 64, []spec.SendWR{{NumSGE: 1, Opcode: spec.IB_UVERBS_WR_SEND}}, spec.SGE{Addr: 1})
	f.Add(good[8:])
	f.Add(make([]byte, 16))
	f.Fuzz(func(t *testing.T, tail []byte) {
		watchdog.On(t)
		if len(tail) > 4096 {
			return
		}
		tail = tail[:len(tail)&^3]
		wrs := 0
		r := newCommands(t, func(ops *core.DeviceOps) {
			ops.PostSend = func(_ *process.Task, _ *core.QP, posted []core.SendWR) (int, error) {
				wrs = len(posted)
				total := 0
				for _, wr := range posted {
					total += len(wr.SGList)
				}
				if total*spec.SGESize > len(tail) {
					t.Fatalf("%d pieces of memory in a request of %d bytes", total, len(tail))
				}
				return 0, nil
			}
		})
		r.qpByWrite(spec.IB_QPT_RC)
		err := r.command(spec.IB_USER_VERBS_CMD_POST_SEND, append(make([]byte, 8), tail...), r.resp(4))
		if err == nil && wrs != int(binary.LittleEndian.Uint32(tail[4:])) {
			t.Fatalf("%d work requests were posted", wrs)
		}
		r.requireUnused()
	})
}
