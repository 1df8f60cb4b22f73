package libmlx5_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// rc makes a queue pair of reliable connections that sends, with a completion
// queue of its own.
func (m *machine) rc(change func(*libmlx5.QPInitAttr)) (*libmlx5.QP, *libmlx5.CQ) {
	m.t.Helper()
	cq := m.create(63, nil)
	attr := libmlx5.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
		Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 2, MaxRecvSGE: 2}}
	if change != nil {
		change(&attr)
	}
	qp := m.createQP(&attr)
	m.toRTS(qp, qp.Num)
	return qp, cq
}

func unhex(t *testing.T, parts ...string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(strings.Join(parts, ""), " ", ""))
	require.NoError(t, err)
	return b
}

// sge is a list of one piece.
func sge(addr copyuser.Addr, length, lkey uint32) []verbs.SGE {
	return []verbs.SGE{{Addr: addr, Length: length, LKey: lkey}}
}

// TestSendWQE holds the bytes of each request to the layouts of mlx5dv.h. qqqqqq
// stands for the queue pair's number.
func TestSendWQE(t *testing.T) {
	m := boot(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	at, err := verbs.Alloc(m.proc, 4096)
	require.NoError(t, err)
	require.True(t, m.proc.Store(at, []byte("hello, device")))
	ah, err := pd.CreateAH(&verbs.AHAttr{IsGlobal: true, PortNum: 1, SL: 3,
		GRH: verbs.GlobalRoute{DGID: m.gid(), FlowLabel: 0x5, HopLimit: 9, TrafficClass: 7}})
	require.NoError(t, err)
	mr := &verbs.MR{LKey: 0x0a0b0c0d}
	window := func(typ verbs.MWType, length uint64, access uint32) libmlx5.BindMWWR {
		return libmlx5.BindMWWR{MW: &verbs.MW{RKey: 0x00112200, Type: typ}, RKey: 0x00112201,
			BindInfo: libmlx5.BindInfo{MR: mr, Addr: 0x1122334455667788, Length: length, MWAccessFlags: access}}
	}
	const zeros16 = "00000000000000000000000000000000"
	gid := hex.EncodeToString(func() []byte { g := m.gid(); return g[:] }())
	for _, tt := range []struct {
		name string
		typ  verbs.QPType
		wr   libmlx5.SendWR
		want []string
	}{
		{"SEND", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SGList: sge(0x1122334455667788, 64, 0x99)},
			[]string{"0000000a qqqqqq02 00000000 00000000", "00000040 00000099 1122334455667788"}},
		{"SEND, signaled and solicited", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND,
			SendFlags: verbs.IBV_SEND_SIGNALED | verbs.IBV_SEND_SOLICITED},
			[]string{"0000000a qqqqqq01 0000000a 00000000"}},
		{"SEND, fenced", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_FENCE},
			[]string{"0000000a qqqqqq01 00000080 00000000"}},
		{"SEND with immediate", verbs.IBV_QPT_UC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND_WITH_IMM, ImmData: 0x01020304},
			[]string{"0000000b qqqqqq01 00000000 01020304"}},
		{"SEND with invalidation", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND_WITH_INV, InvalidateRKey: 0x05060708},
			[]string{"00000001 qqqqqq01 00000000 05060708"}},
		{"two pieces, one empty", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND,
			SGList: append(sge(1, 0, 1), sge(0x1000, 0x80, 2)...)},
			[]string{"0000000a qqqqqq02 00000000 00000000", "00000080 00000002 0000000000001000"}},
		{"inline", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_INLINE,
			SGList: append(sge(at, 5, 0), sge(at+7, 6, 0)...)},
			[]string{"0000000a qqqqqq02 00000000 00000000", "8000000b", hex.EncodeToString([]byte("hellodevice")), "00"}},
		{"inline, longer than a segment", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_INLINE,
			SGList: sge(at, 13, 0)},
			[]string{"0000000a qqqqqq03 00000000 00000000", "8000000d", hex.EncodeToString([]byte("hello, device")), "000000 000000000000000000000000"}},
		{"inline, nothing", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_INLINE,
			SGList: sge(at, 0, 0)},
			[]string{"0000000a qqqqqq01 00000000 00000000"}},
		{"RDMA WRITE", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE,
			RDMA: libmlx5.RDMAWR{RemoteAddr: 0x0102030405060708, RKey: 0x11121314}, SGList: sge(0x1000, 8, 9)},
			[]string{"00000008 qqqqqq03 00000000 00000000", "0102030405060708 11121314 00000000", "00000008 00000009 0000000000001000"}},
		{"RDMA WRITE with immediate", verbs.IBV_QPT_UC, libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE_WITH_IMM, ImmData: 7,
			RDMA: libmlx5.RDMAWR{RemoteAddr: 0x0102030405060708, RKey: 0x11121314}},
			[]string{"00000009 qqqqqq02 00000000 00000007", "0102030405060708 11121314 00000000"}},
		{"RDMA READ", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_READ,
			RDMA: libmlx5.RDMAWR{RemoteAddr: 0x0102030405060708, RKey: 0x11121314}, SGList: sge(0x1000, 8, 9)},
			[]string{"00000010 qqqqqq03 00000000 00000000", "0102030405060708 11121314 00000000", "00000008 00000009 0000000000001000"}},
		{"compare and swap", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_ATOMIC_CMP_AND_SWP,
			Atomic: libmlx5.AtomicWR{RemoteAddr: 0x0102030405060708, RKey: 0x11121314, CompareAdd: 5, Swap: 6}, SGList: sge(0x1000, 100, 9)},
			[]string{"00000011 qqqqqq04 00000000 00000000", "0102030405060708 11121314 00000000",
				"0000000000000006 0000000000000005", "00000008 00000009 0000000000001000"}},
		{"fetch and add", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_ATOMIC_FETCH_AND_ADD,
			Atomic: libmlx5.AtomicWR{RemoteAddr: 0x0102030405060708, RKey: 0x11121314, CompareAdd: 5, Swap: 6}, SGList: sge(0x1000, 8, 9)},
			[]string{"00000012 qqqqqq04 00000000 00000000", "0102030405060708 11121314 00000000",
				"0000000000000005 0000000000000000", "00000008 00000009 0000000000001000"}},
		{"datagram", verbs.IBV_QPT_UD, libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SGList: sge(0x1000, 8, 9),
			UD: libmlx5.UDWR{AH: ah, RemoteQPN: 0x010203, RemoteQKey: 0x22222222}},
			[]string{"0000000a qqqqqq05 00000000 00000000", "22222222 00000000 80010203 06 00 mmmm 00000000 aaaaaaaaaaaa 07 09 00000005", gid,
				"00000008 00000009 0000000000001000"}},
		{"bind of type 2", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_BIND_MW,
			BindMW: window(verbs.IBV_MW_TYPE_2, 0x1000, verbs.IBV_ACCESS_REMOTE_WRITE|verbs.IBV_ACCESS_REMOTE_READ)},
			[]string{"00000025 qqqqqq0c 00000000 00112200", "b0000000 0004 0000 00000000 203c6041", zeros16, zeros16,
				"00003000 qqqqqq01 00000000 00000000 1122334455667788 0000000000001000", zeros16, zeros16,
				"00001000 0a0b0c0d 1122334455667788", zeros16, zeros16, zeros16}},
		{"bind of type 1, zero based", verbs.IBV_QPT_UC, libmlx5.SendWR{Opcode: verbs.IBV_WR_BIND_MW,
			BindMW: window(verbs.IBV_MW_TYPE_1, 0x1000, verbs.IBV_ACCESS_REMOTE_ATOMIC|verbs.IBV_ACCESS_LOCAL_WRITE|verbs.IBV_ACCESS_ZERO_BASED)},
			[]string{"00000025 qqqqqq0c 00000000 00112200", "90000000 0004 0000 00000000 203c2041", zeros16, zeros16,
				"00004800 ffffff01 00000000 00000000 0000000000000000 0000000000001000", zeros16, zeros16,
				"00001000 0a0b0c0d 1122334455667788", zeros16, zeros16, zeros16}},
		{"unbind of type 1", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_BIND_MW, BindMW: window(verbs.IBV_MW_TYPE_1, 0, 0)},
			[]string{"00000025 qqqqqq08 00000000 00112200", "90000000 0000 0000 00000000 20002000", zeros16, zeros16,
				"40000000 ffffff01 00000000 00000000", zeros16, zeros16, zeros16}},
		{"local invalidation", verbs.IBV_QPT_RC, libmlx5.SendWR{Opcode: verbs.IBV_WR_LOCAL_INV, InvalidateRKey: 0x00112233},
			[]string{"00000025 qqqqqq08 00000000 00112233", "98000000 0000 0000 00000000 20006000", zeros16, zeros16,
				"40000000 ffffff00 00000000 00000000", zeros16, zeros16, zeros16}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Type, a.PD, a.Cap.MaxInlineData = tt.typ, pd, 60 })
			bad, err := qp.PostSend(&tt.wr)
			require.NoError(t, err)
			require.Nil(t, bad)
			want := strings.Join(tt.want, "")
			want = strings.ReplaceAll(want, "qqqqqq", fmt.Sprintf("%06x", qp.Num))
			want = strings.ReplaceAll(want, "mmmm", "c005")
			want = strings.ReplaceAll(want, "aaaaaaaaaaaa", ahMAC(t, m, pd))
			got := m.load(qp.Buffer().SQ, len(unhex(t, want)))
			require.Equal(t, hex.EncodeToString(unhex(t, want)), hex.EncodeToString(got))
			units := byte((len(got) + 63) / 64)
			require.Equal(t, []byte{0, 0, 0, 0, 0, 0, 0, units}, m.load(qp.Buffer().Record, 8), "the record counts in units of 64 bytes")
		})
	}
}

// ahMAC is the MAC address that the kernel resolves the port's own GID to.
func ahMAC(t *testing.T, m *machine, pd *libmlx5.PD) string {
	t.Helper()
	gid := m.gid()
	out := make([]byte, 16)
	ah, err := pd.CmdCreateAH(&verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{DGID: gid}}, verbs.UHW{Out: out})
	require.NoError(t, err)
	require.NoError(t, ah.CmdDestroyAH())
	return hex.EncodeToString(out[4:10])
}

// stores is a process that writes down what the program stores.
type stores struct {
	*process.Process
	log []store
}

type store struct {
	at copyuser.Addr
	b  []byte
}

func (s *stores) Store(at copyuser.Addr, b []byte) bool {
	s.log = append(s.log, store{at, append([]byte(nil), b...)})
	return s.Process.Store(at, b)
}

// watched opens the device anew by a process whose stores are written down.
func (m *machine) watched() *stores {
	s := &stores{Process: m.proc}
	m.ctx.Close()
	var err error
	m.ctx, err = libmlx5.OpenDevice(s, node)
	require.NoError(m.t, err)
	return s
}

// since returns the stores since it was called last.
func (s *stores) since() []store {
	log := s.log
	s.log = nil
	return log
}

// TestDoorbells: what a post stores, in which order, and to which of the two
// buffers of its register.
func TestDoorbells(t *testing.T) {
	m := boot(t)
	s := m.watched()
	qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Cap.MaxSendWR = 16; a.Cap.MaxSendSGE = 4; a.Cap.MaxInlineData = 200 })
	buf := qp.Buffer()
	one := func() *libmlx5.SendWR { return &libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SGList: sge(0x1000, 64, 9)} }
	list := func(wrs ...*libmlx5.SendWR) *libmlx5.SendWR {
		for i := 1; i < len(wrs); i++ {
			wrs[i-1].Next = wrs[i]
		}
		return wrs[0]
	}
	wqe := func(place uint32, ds byte) []byte {
		return unhex(t, fmt.Sprintf("00%04x0a %06x%02x 00000000 00000000 00000040 00000009 0000000000001000", place, qp.Num, ds))
	}
	post := func(wr *libmlx5.SendWR) []store {
		s.since()
		_, err := qp.PostSend(wr)
		require.NoError(t, err)
		return s.since()
	}
	padded := func(b []byte) []byte { return append(b, make([]byte, 64-len(b))...) }
	record := buf.Record + 4

	got := post(one())
	require.Equal(t, []store{{buf.SQ, padded(wqe(0, 2))}, {record, []byte{0, 0, 0, 1}},
		{buf.Register, padded(wqe(0, 2))}}, got, "one alone goes to the register as a whole")

	got = post(list(one(), one(), one()))
	all := append(append(padded(wqe(1, 2)), padded(wqe(2, 2))...), padded(wqe(3, 2))...)
	require.Equal(t, []store{{buf.SQ + 64, all}, {record, []byte{0, 0, 0, 4}}, {buf.Register + 256, wqe(3, 2)[:8]}}, got,
		"several are stored and rung once, by the last one's beginning, in the other buffer")

	got = post(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND})
	require.Equal(t, buf.Register, got[2].at)
	require.Len(t, got[2].b, 8, "a request without data is not worth the copy")

	require.True(t, m.proc.Store(buf.SQ, make([]byte, 64)))
	at, err := verbs.Alloc(m.proc, 4096)
	require.NoError(t, err)
	got = post(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_INLINE, SGList: sge(at, 200, 0)})
	require.Len(t, got, 2+4, "224 bytes are copied in pieces of 64")
	for i, st := range got[2:] {
		require.Equal(t, buf.Register+256+copyuser.Addr(64*i), st.at)
		require.Len(t, st.b, 64)
	}
	require.Equal(t, []byte{0, 0, 0, 9}, got[1].b)

	bad := one()
	bad.Opcode = 200
	s.since()
	refused, err := qp.PostSend(list(one(), bad, one()))
	require.ErrorIs(t, err, libmlx5.ErrOpcode)
	require.Same(t, bad, refused)
	got = s.since()
	require.Equal(t, store{buf.SQ + 9*64, padded(wqe(9, 2))}, got[0], "what stands in front of it is posted")
	require.Len(t, got, 3)

	refused, err = qp.PostSend(bad)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.Same(t, bad, refused)
	require.Empty(t, s.since(), "nothing is rung")
}
