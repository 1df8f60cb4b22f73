package verbs_test

import (
	"encoding/binary"
	"encoding/hex"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
	"uverbsim/verbs"
)

// The objects that the tests' commands name.
func (k *fakeKernel) objects(c *verbs.Context) (*verbs.PD, *verbs.CQ, *verbs.SRQ, *verbs.XRCD) {
	return &verbs.PD{Context: c, Handle: 0x11}, &verbs.CQ{Context: c, Handle: 0x22},
		&verbs.SRQ{Context: c, Handle: 0x33}, &verbs.XRCD{Context: c, Handle: 0x44}
}

var testCap = verbs.QPCap{MaxSendWR: 1, MaxRecvWR: 2, MaxSendSGE: 3, MaxRecvSGE: 4, MaxInlineData: 5}

// TestCreateQPByWrite: the plain command, the extended one when there are flags,
// and a kernel that has neither.
func TestCreateQPByWrite(t *testing.T) {
	const cap5 = "0100000002000000030000000400000005000000"
	answer := wire(t, "07000000 43000000 0a000000 0b000000 0c000000 0d000000 0e000000 00000000")
	for _, tt := range []struct {
		name   string
		change func(*verbs.QPInitAttr)
		want   string // from behind the header and the address of the answer on
	}{
		{"plain", func(a *verbs.QPInitAttr) { a.SQSigAll = true },
			"0100000000000000 11000000 22000000 22000000 33000000" + cap5 + "01020100"},
		{"without a shared queue", func(a *verbs.QPInitAttr) { a.SRQ = nil },
			"0100000000000000 11000000 22000000 22000000 00000000" + cap5 + "00020000"},
		{"XRC initiator", func(a *verbs.QPInitAttr) { a.Type, a.SRQ = verbs.IBV_QPT_XRC_SEND, nil },
			"0100000000000000 11000000 22000000 00000000 00000000 01000000 00000000 03000000 00000000 05000000 00090000"},
		{"XRC target", func(a *verbs.QPInitAttr) { a.Type, a.SRQ = verbs.IBV_QPT_XRC_RECV, nil },
			"0100000000000000 44000000 00000000 00000000 00000000" + cap5 + "000a0000"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			k := newKernel(t)
			k.write = func(req []byte) (int, error) {
				respond(k, req, 8, answer)
				return len(req), nil
			}
			c := context(t, k, false)
			k.ioctl = func([]byte) error { return syscall.ENOTTY }
			pd, cq, srq, xrcd := k.objects(c)
			attr := verbs.QPInitAttr{PD: pd, XRCD: xrcd, SendCQ: cq, RecvCQ: cq, SRQ: srq, Type: verbs.IBV_QPT_RC, Cap: testCap}
			tt.change(&attr)
			qp := new(verbs.QP)
			require.NoError(t, c.CmdCreateQP(qp, &attr, verbs.UHW{}))
			require.Equal(t, wire(t, "18000000"), k.writes[0][:4], "CREATE_QP")
			require.Equal(t, hex.EncodeToString(wire(t, tt.want)), hex.EncodeToString(k.writes[0][16:]))
			require.Equal(t, []uint32{7, 0x43}, []uint32{qp.Handle, qp.Num})
			require.Equal(t, verbs.QPCap{MaxSendWR: 10, MaxRecvWR: 11, MaxSendSGE: 12, MaxRecvSGE: 13, MaxInlineData: 14}, attr.Cap)
		})
	}

	t.Run("extended", func(t *testing.T) {
		k := newKernel(t)
		k.write = func(req []byte) (int, error) {
			respond(k, req, 8, append(answer, make([]byte, 8)...))
			return len(req), nil
		}
		c := context(t, k, false)
		k.ioctl = func([]byte) error { return syscall.ENOTTY }
		pd, cq, _, _ := k.objects(c)
		attr := verbs.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_UD, Cap: testCap,
			CreateFlags: verbs.IBV_QP_CREATE_SOURCE_QPN | verbs.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, SourceQPN: 0x1234}
		qp := new(verbs.QP)
		require.NoError(t, c.CmdCreateQP(qp, &attr, verbs.UHW{}))
		require.Equal(t, wire(t, "18000080"), k.writes[0][:4])
		require.Equal(t, hex.EncodeToString(wire(t, "0100000000000000 11000000 22000000 22000000 00000000"+cap5+"00040000",
			"00000000 02040000 00000000 34120000")), hex.EncodeToString(k.writes[0][24:]))
		require.Equal(t, uint32(0x43), qp.Num)
	})
}

// TestCreateQPFlags: with the ioctl the source queue pair has an attribute of its
// own, and no flag.
func TestCreateQPFlags(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	pd, cq, _, _ := k.objects(c)
	k.ioctl = func(buf []byte) error {
		require.Equal(t, uint32(2|spec.IB_UVERBS_QP_CREATE_SQ_SIG_ALL), binary.LittleEndian.Uint32(attr(t, buf, spec.UVERBS_ATTR_CREATE_QP_FLAGS)[8:]))
		require.Equal(t, uint32(0x1234), binary.LittleEndian.Uint32(attr(t, buf, spec.UVERBS_ATTR_CREATE_QP_SOURCE_QPN)[8:]))
		return nil
	}
	a := verbs.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_UD, SQSigAll: true,
		CreateFlags: verbs.IBV_QP_CREATE_SOURCE_QPN | verbs.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, SourceQPN: 0x1234}
	require.NoError(t, c.CmdCreateQP(new(verbs.QP), &a, verbs.UHW{}))
}

// TestCreateQPRefused: what the library finds itself, before it asks the kernel.
func TestCreateQPRefused(t *testing.T) {
	k := newKernel(t)
	c := context(t, k, true)
	pd, cq, _, _ := k.objects(c)
	for name, tt := range map[string]struct {
		attr verbs.QPInitAttr
		want error
	}{
		"no domain":     {verbs.QPInitAttr{Type: verbs.IBV_QPT_RC, SendCQ: cq, RecvCQ: cq}, verbs.ErrQPParent},
		"no XRC domain": {verbs.QPInitAttr{Type: verbs.IBV_QPT_XRC_RECV, PD: pd}, verbs.ErrQPParent},
		"no type":       {verbs.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq}, verbs.ErrQPType},
		"flags":         {verbs.QPInitAttr{Type: verbs.IBV_QPT_UD, PD: pd, SendCQ: cq, RecvCQ: cq, CreateFlags: 1}, verbs.ErrQPCreateFlags},
	} {
		err := c.CmdCreateQP(new(verbs.QP), &tt.attr, verbs.UHW{})
		require.ErrorIs(t, err, tt.want, name)
		require.ErrorIs(t, err, syscall.EINVAL, name)
	}
	require.Empty(t, k.ioctls)
}

// TestModifyQPFields: each bit of the mask is for its member, and the other
// members are not sent.
func TestModifyQPFields(t *testing.T) {
	path := verbs.AHAttr{GRH: verbs.GlobalRoute{DGID: [16]byte{1, 15: 2}, FlowLabel: 3, SGIDIndex: 4, HopLimit: 5, TrafficClass: 6},
		DLID: 7, SL: 8, SrcPathBits: 9, StaticRate: 10, IsGlobal: true, PortNum: 11}
	dest := wire(t, "01000000000000000000000000000002 03000000 0700 0000 04 05 06 08 09 0a 01 0b")
	full := verbs.QPAttr{QPState: 1, CurQPState: 2, PathMTU: 3, PathMigState: 4, QKey: 5, RQPSN: 6, SQPSN: 7, DestQPNum: 8,
		QPAccessFlags: 9, AHAttr: path, AltAHAttr: path, PKeyIndex: 10, AltPKeyIndex: 11, EnSQDAsyncNotify: 12, MaxRdAtomic: 13,
		MaxDestRdAtomic: 14, MinRNRTimer: 15, PortNum: 16, Timeout: 17, RetryCnt: 18, RNRRetry: 19, AltPortNum: 20, AltTimeout: 21}
	k := newKernel(t)
	c := context(t, k, true)
	qp := &verbs.QP{Context: c, Handle: 0x55, State: verbs.IBV_QPS_RTS}
	for _, tt := range []struct {
		mask uint32
		want map[int][]byte // by the offset in struct ib_uverbs_modify_qp
	}{
		{verbs.IBV_QP_STATE, map[int][]byte{96: {1}}},
		{verbs.IBV_QP_CUR_STATE, map[int][]byte{97: {2}}},
		{verbs.IBV_QP_PATH_MTU, map[int][]byte{98: {3}}},
		{verbs.IBV_QP_PATH_MIG_STATE, map[int][]byte{99: {4}}},
		{verbs.IBV_QP_EN_SQD_ASYNC_NOTIFY, map[int][]byte{100: {12}}},
		{verbs.IBV_QP_MAX_QP_RD_ATOMIC, map[int][]byte{101: {13}}},
		{verbs.IBV_QP_MAX_DEST_RD_ATOMIC, map[int][]byte{102: {14}}},
		{verbs.IBV_QP_MIN_RNR_TIMER, map[int][]byte{103: {15}}},
		{verbs.IBV_QP_PORT, map[int][]byte{104: {16}}},
		{verbs.IBV_QP_TIMEOUT, map[int][]byte{105: {17}}},
		{verbs.IBV_QP_RETRY_CNT, map[int][]byte{106: {18}}},
		{verbs.IBV_QP_RNR_RETRY, map[int][]byte{107: {19}}},
		{verbs.IBV_QP_QKEY, map[int][]byte{72: {5}}},
		{verbs.IBV_QP_RQ_PSN, map[int][]byte{76: {6}}},
		{verbs.IBV_QP_SQ_PSN, map[int][]byte{80: {7}}},
		{verbs.IBV_QP_DEST_QPN, map[int][]byte{84: {8}}},
		{verbs.IBV_QP_ACCESS_FLAGS, map[int][]byte{88: {9}}},
		{verbs.IBV_QP_PKEY_INDEX, map[int][]byte{92: {10}}},
		{verbs.IBV_QP_AV, map[int][]byte{0: dest}},
		{verbs.IBV_QP_ALT_PATH, map[int][]byte{32: dest, 94: {11}, 108: {20, 21}}},
	} {
		k.ioctl = func(buf []byte) error {
			got := k.at(buf, spec.UVERBS_ATTR_CORE_IN)
			want := make([]byte, 112)
			copy(want[64:], wire(t, "55000000"))
			copy(want[68:], []byte{byte(tt.mask), byte(tt.mask >> 8), byte(tt.mask >> 16), byte(tt.mask >> 24)})
			for at, b := range tt.want {
				copy(want[at:], b)
			}
			require.Equal(t, hex.EncodeToString(want), hex.EncodeToString(got), "mask %#x", tt.mask)
			return nil
		}
		require.NoError(t, qp.CmdModifyQP(&full, tt.mask))
	}
	require.Equal(t, verbs.IBV_QPS_INIT, qp.State)
}
