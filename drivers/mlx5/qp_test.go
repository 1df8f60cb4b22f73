package mlx5

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// qpArgs is a call that makes a queue pair.
type qpArgs struct {
	pd, cq, srq uint32
	typ         uint64
	flags       uint32
	maxSend     uint32
	maxRecv     uint32
	ucmd        spec.Mlx5CreateQP
}

// qpArgs returns a call that is right: 16 receive and 16 send entries of 64 bytes,
// with a protection domain and a completion queue of their own.
func (r *rig) qpArgs(typ uint64) qpArgs {
	r.Helper()
	a, err := r.tryQPArgs(typ)
	require.NoError(r, err)
	return a
}

func (r *rig) tryQPArgs(typ uint64) (qpArgs, error) {
	r.Helper()
	q, err := r.createCQ(r.cqArgs())
	if err != nil {
		return qpArgs{}, err
	}
	pd, err := r.tryAllocPD()
	return qpArgs{pd: pd, cq: q.handle, typ: typ, maxSend: 16, maxRecv: 16, ucmd: spec.Mlx5CreateQP{
		BufAddr: uint64(r.take(2 * copyuser.PageSize)), DBAddr: uint64(r.take(8)), SQWQECount: 16, RQWQECount: 16, RQWQEShift: 6}}, err
}

func (r *rig) createQP(a *qpArgs) (handle uint32, resp spec.Mlx5CreateQPResp, err error) {
	r.Helper()
	handle, _, resp, err = r.createNumberedQP(a)
	return handle, resp, err
}

// createNumberedQP is createQP with the queue pair's number.
func (r *rig) createNumberedQP(a *qpArgs) (handle, qpn uint32, resp spec.Mlx5CreateQPResp, err error) {
	r.Helper()
	limits := make([]byte, 20)
	for i, v := range []uint32{a.maxSend, a.maxRecv, 1, 1} {
		le.PutUint32(limits[4*i:], v)
	}
	if a.maxRecv == 0 {
		le.PutUint32(limits[12:], 0)
	}
	attrs := []spec.IoctlAttr{
		handleAttr(spec.UVERBS_ATTR_CREATE_QP_HANDLE, 0), handleAttr(spec.UVERBS_ATTR_CREATE_QP_PD_HANDLE, a.pd),
		handleAttr(spec.UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, a.cq), handleAttr(spec.UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, a.cq),
		attr(spec.UVERBS_ATTR_CREATE_QP_USER_HANDLE, 8, 0), r.in(spec.UVERBS_ATTR_CREATE_QP_CAP, limits),
		constAttr(spec.UVERBS_ATTR_CREATE_QP_TYPE, a.typ), attr(spec.UVERBS_ATTR_CREATE_QP_FLAGS, 4, uint64(a.flags)),
		r.out(spec.UVERBS_ATTR_CREATE_QP_RESP_CAP, 20), r.out(spec.UVERBS_ATTR_CREATE_QP_RESP_QP_NUM, 4),
		r.in(spec.UVERBS_ATTR_UHW_IN, spec.Bytes(&a.ucmd)), r.out(spec.UVERBS_ATTR_UHW_OUT, 40),
	}
	if a.srq != 0 {
		attrs = append(attrs, handleAttr(spec.UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, a.srq))
	}
	err = r.call(r.fd, spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_CREATE, attrs...)
	copy(spec.Bytes(&resp), r.answer(attrs[11], 40))
	return uint32(attrs[0].Data), r.u32(addrOf(attrs[9])), resp, err
}

func (r *rig) destroyQP(h uint32) error {
	return r.call(r.fd, spec.UVERBS_OBJECT_QP, spec.UVERBS_METHOD_QP_DESTROY,
		handleAttr(spec.UVERBS_ATTR_DESTROY_QP_HANDLE, h), r.out(spec.UVERBS_ATTR_DESTROY_QP_RESP, 4))
}

// TestCreateQP follows mlx5/qp/type-2, type-3, type-4, sq-3, sq-32769, shift-31,
// buf-off-32, rq-0, flags-800, flags-10000000, driver-0, flags-dct-dci, raw-v1,
// bf-1 and db-unmapped.
func TestCreateQP(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	good := r.qpArgs(spec.IB_QPT_RC)
	require.NoError(t, r.dev.devResSRQInit(nil))
	before := r.counts()
	for _, c := range []struct {
		name   string
		change func(*qpArgs)
		want   error
	}{
		{"type-2", func(*qpArgs) {}, nil},
		{"type-3", func(a *qpArgs) { a.typ = spec.IB_QPT_UC }, nil},
		{"type-4", func(a *qpArgs) { a.typ = spec.IB_QPT_UD }, nil},
		{"no buffer", func(a *qpArgs) { a.ucmd.BufAddr = 0 }, nil},
		{"sq-3", func(a *qpArgs) { a.ucmd.SQWQECount = 3 }, rule.MLX5QPSendPower},
		{"sq-32769", func(a *qpArgs) { a.ucmd.SQWQECount = 32769 }, rule.MLX5QPSendSize},
		{"shift-31", func(a *qpArgs) { a.ucmd.RQWQEShift = 31 }, rule.MLX5QPRecvShift},
		{"count times size", func(a *qpArgs) { a.ucmd.RQWQECount = 1 << 27 }, rule.MLX5QPRecvOverflow},
		{"both queues", func(a *qpArgs) { a.ucmd.RQWQECount, a.ucmd.RQWQEShift = 1<<30-1, 1; a.ucmd.SQWQECount = 16 }, rule.MLX5QPBufferOverflow},
		{"signature", func(a *qpArgs) { a.ucmd.RQWQEShift, a.ucmd.Flags = 3, spec.MLX5_QP_FLAG_SIGNATURE }, rule.MLX5QPRecvSignature},
		{"buf-off-32", func(a *qpArgs) { a.ucmd.BufAddr += 32 }, rule.MLX5QPAlignment},
		{"rq-0", func(a *qpArgs) { a.maxRecv = 0 }, rule.MLX5QPRecvQueue},
		{"send only", func(a *qpArgs) { a.maxRecv, a.ucmd.RQWQECount, a.ucmd.RQWQEShift = 0, 0, 0 }, nil},
		{"flags-80000000", func(a *qpArgs) { a.ucmd.Flags = 1 << 31 }, rule.MLX5QPFlags},
		{"tunnels", func(a *qpArgs) { a.ucmd.Flags = spec.MLX5_QP_FLAG_TUNNEL_OFFLOADS }, rule.MLX5QPFlags},
		{"driver-0", func(a *qpArgs) { a.typ = spec.IB_QPT_DRIVER }, rule.MLX5QPSubtype},
		{"DCI", func(a *qpArgs) { a.typ, a.ucmd.Flags = spec.IB_QPT_DRIVER, spec.MLX5_QP_FLAG_TYPE_DCI }, rule.MLX5QPDCIAttr},
		{"DCT", func(a *qpArgs) { a.typ, a.ucmd.Flags = spec.IB_QPT_DRIVER, spec.MLX5_QP_FLAG_TYPE_DCT }, rule.MLX5QPDCTAttr},
		{"raw-v1", func(a *qpArgs) { a.typ = spec.IB_QPT_RAW_PACKET }, rule.PinUnmapped},
		{"bf-1", func(a *qpArgs) { a.ucmd.Flags, a.ucmd.BfregIndex = spec.MLX5_QP_FLAG_BFREG_INDEX, 1 }, rule.MLX5BfregIndex},
		{"uar-1", func(a *qpArgs) { a.ucmd.Flags, a.ucmd.BfregIndex = spec.MLX5_QP_FLAG_UAR_PAGE_INDEX, 1 }, nil},
		{"both registers", func(a *qpArgs) {
			a.ucmd.Flags = spec.MLX5_QP_FLAG_UAR_PAGE_INDEX | spec.MLX5_QP_FLAG_BFREG_INDEX
		}, rule.MLX5QPUARFlags},
		{"padding", func(a *qpArgs) { a.typ, a.flags = spec.IB_QPT_UD, spec.IB_QP_CREATE_PCI_WRITE_END_PADDING }, nil},
		{"uidx", func(a *qpArgs) { a.ucmd.Uidx = 1 << 24 }, rule.MLX5UserIndexRange},
		{"reserved", func(a *qpArgs) { a.ucmd.Reserved = 1 }, rule.MLX5QPTail},
		{"db-unmapped", func(a *qpArgs) { a.ucmd.DBAddr = uint64(r.none) }, rule.PinUnmapped},
	} {
		a := good
		c.change(&a)
		h, _, err := r.createQP(&a)
		require.Equal(t, c.want, err, c.name)
		if err == nil {
			require.Equal(t, before["qp"]+1, r.counts()["qp"], c.name)
			require.NoError(t, r.destroyQP(h), c.name)
		}
		require.Empty(t, cmp.Diff(before, r.counts()), c.name)
	}
}

// TestQPRegisters: of 16 registers the last 4 go to the first four queue pairs,
// the next share the 11 in the middle, and none takes the first. The numbers are
// those of pages with four registers.
func TestQPRegisters(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	a := r.qpArgs(spec.IB_QPT_RC)
	var handles, got []uint32
	for range 18 {
		h, resp, err := r.createQP(&a)
		require.NoError(t, err)
		handles, got = append(handles, h), append(got, resp.BfregIndex)
	}
	want := []uint32{24, 25, 28, 29, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 1, 4, 5}
	require.Equal(t, want, got)
	require.NoError(t, r.destroyQP(handles[2]))
	_, resp, err := r.createQP(&a)
	require.NoError(t, err)
	require.Equal(t, uint32(28), resp.BfregIndex, "a register of low latency that has become free")
}

// TestRawPacketQP follows mlx5/qp/raw-sq, raw-sq-only and raw-rq-only: the device
// has a queue and an interface for each direction, which DEVX users are told.
func TestRawPacketQP(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	good := r.qpArgs(spec.IB_QPT_RAW_PACKET)
	good.ucmd.SQBufAddr = uint64(r.take(copyuser.PageSize))
	require.NoError(t, r.dev.devResSRQInit(nil))
	before := r.counts()
	const sender = spec.MLX5_IB_CREATE_QP_RESP_MASK_TISN | spec.MLX5_IB_CREATE_QP_RESP_MASK_SQN
	const receiver = spec.MLX5_IB_CREATE_QP_RESP_MASK_TIRN | spec.MLX5_IB_CREATE_QP_RESP_MASK_RQN
	for _, c := range []struct {
		name     string
		send     uint32
		recv     uint32
		offset   uint64
		want     error
		wantMask uint32
	}{
		{"raw-sq", 16, 16, 0, nil, sender | receiver},
		{"raw-sq-only", 16, 0, 0, nil, sender},
		{"raw-rq-only", 0, 16, 0, nil, receiver},
		{"none", 0, 0, 0, rule.MLX5QPRawEmpty, 0},
		{"raw-sq-off-4", 16, 16, 4, rule.MLX5QPRawSendAlignment, 0},
	} {
		a := good
		a.ucmd.SQWQECount, a.ucmd.SQBufAddr = c.send, a.ucmd.SQBufAddr+c.offset
		if a.ucmd.RQWQECount, a.maxRecv = c.recv, c.recv; c.recv == 0 {
			a.ucmd.RQWQEShift = 0
		}
		h, resp, err := r.createQP(&a)
		require.Equal(t, c.want, err, c.name)
		if err == nil {
			icm := resp.CompMask & spec.MLX5_IB_CREATE_QP_RESP_MASK_TIR_ICM_ADDR
			require.Equal(t, c.wantMask, resp.CompMask&^icm, c.name)
			require.Equal(t, before["sq"]+int(c.send/16), r.counts()["sq"], c.name)
			require.Equal(t, before["tir"]+int(c.recv/16), r.counts()["tir"], c.name)
			require.Equal(t, before["qp"], r.counts()["qp"], "there is no queue pair to the device")
			require.NoError(t, r.destroyQP(h), c.name)
		}
		require.Empty(t, cmp.Diff(before, r.counts()), c.name)
	}
}

// TestDCT follows mlx5/qp/srq-dct-sig: the device knows nothing of a DCT before
// it goes to RTR.
func TestDCT(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	a := r.qpArgs(spec.IB_QPT_DRIVER)
	var err error
	a.srq, _, err = r.createSRQ(a.pd, 8, 1, spec.Mlx5CreateSRQ{BufAddr: a.ucmd.BufAddr, DBAddr: a.ucmd.DBAddr})
	require.NoError(t, err)
	require.NoError(t, r.dev.devResSRQInit(nil))
	a.ucmd.Flags = spec.MLX5_QP_FLAG_TYPE_DCT | spec.MLX5_QP_FLAG_SIGNATURE
	before := r.counts()
	h, resp, err := r.createQP(&a)
	require.NoError(t, err)
	require.Equal(t, spec.Mlx5CreateQPResp{}, resp)
	require.Empty(t, cmp.Diff(before, r.counts()))
	require.NoError(t, r.destroyQP(h))
	a.flags = spec.IB_QP_CREATE_SCATTER_FCS
	_, _, err = r.createQP(&a)
	require.Equal(t, error(rule.MLX5QPDCTCreateFlags), err)
}

// TestQPStep: what a queue pair is refused before the device hears of it, as in
// mlx5/modify-qp/port-0, pkey-1, rts-rd-17 and mask-0.
func TestQPStep(t *testing.T) {
	r := newRig(t, Config{})
	rc := &qp{typ: spec.IB_QPT_RC}
	dci := &qp{typ: qptDCI}
	underlay := &qp{typ: spec.IB_QPT_UD, flags: spec.IB_QP_CREATE_SOURCE_QPN}
	const state, where = spec.IB_QP_STATE, spec.IB_QP_PKEY_INDEX | spec.IB_QP_PORT
	const toInit = state | where | spec.IB_QP_ACCESS_FLAGS
	const toRTS = state | spec.IB_QP_TIMEOUT | spec.IB_QP_RETRY_CNT | spec.IB_QP_RNR_RETRY | spec.IB_QP_SQ_PSN | spec.IB_QP_MAX_QP_RD_ATOMIC
	for _, c := range []struct {
		name      string
		q         *qp
		cur, next uint8
		mask      uint32
		attr      core.QPAttr
		want      error
	}{
		{"RC to INIT", rc, spec.IB_QPS_RESET, spec.IB_QPS_INIT, toInit, core.QPAttr{PortNum: 1}, nil},
		{"no access flags", rc, spec.IB_QPS_RESET, spec.IB_QPS_INIT, state | where, core.QPAttr{PortNum: 1}, rule.MLX5ModifyQPStep},
		{"port 2", rc, spec.IB_QPS_RESET, spec.IB_QPS_INIT, toInit, core.QPAttr{PortNum: 2}, rule.MLX5ModifyQPPort},
		{"P_Key", rc, spec.IB_QPS_RESET, spec.IB_QPS_INIT, toInit, core.QPAttr{PortNum: 1, PkeyIndex: 128}, rule.MLX5ModifyQPPkey},
		{"16 reads", rc, spec.IB_QPS_RTR, spec.IB_QPS_RTS, toRTS, core.QPAttr{MaxRdAtomic: 16}, nil},
		{"17 reads", rc, spec.IB_QPS_RTR, spec.IB_QPS_RTS, toRTS, core.QPAttr{MaxRdAtomic: 17}, rule.MLX5ModifyQPAtomic},
		{"DCI to INIT", dci, spec.IB_QPS_RESET, spec.IB_QPS_INIT, state | where, core.QPAttr{PortNum: 1}, nil},
		{"DCI with access flags", dci, spec.IB_QPS_RESET, spec.IB_QPS_INIT, toInit, core.QPAttr{PortNum: 1}, rule.MLX5ModifyQPStep},
		{"DCI from INIT to RTS", dci, spec.IB_QPS_INIT, spec.IB_QPS_RTS, state, core.QPAttr{}, rule.MLX5ModifyQPStep},
		{"DCI to ERR", dci, spec.IB_QPS_RTS, spec.IB_QPS_ERR, state, core.QPAttr{}, nil},
		{"DCI from RESET to ERR", dci, spec.IB_QPS_RESET, spec.IB_QPS_ERR, state, core.QPAttr{}, rule.MLX5ModifyQPStep},
		{"DCI anywhere to RESET", dci, spec.IB_QPS_ERR, spec.IB_QPS_RESET, state, core.QPAttr{}, nil},
		{"underlay", underlay, spec.IB_QPS_RESET, spec.IB_QPS_INIT, state, core.QPAttr{}, nil},
		{"underlay with a port", underlay, spec.IB_QPS_RESET, spec.IB_QPS_INIT, state | spec.IB_QP_PORT, core.QPAttr{PortNum: 1},
			rule.MLX5ModifyQPUnderlay},
	} {
		s := &qpStep{attr: &c.attr, mask: c.mask, cur: c.cur, next: c.next}
		require.Equal(t, c.want, r.dev.checkQPStep(nil, c.q, s), c.name)
	}
}

// TestQPCommands: from every state there is a way to RESET and to ERR, and none to
// SQD.
func TestQPCommands(t *testing.T) {
	for cur := range qpCommands {
		require.NotZero(t, qpCommands[cur][spec.IB_QPS_RESET])
		require.NotZero(t, qpCommands[cur][spec.IB_QPS_ERR])
		require.Zero(t, qpCommands[cur][spec.IB_QPS_SQD])
	}
	s := &qpStep{mask: spec.IB_QP_ACCESS_FLAGS | spec.IB_QP_QKEY | spec.IB_QP_TIMEOUT, cur: spec.IB_QPS_RTR, next: spec.IB_QPS_RTS}
	require.EqualValues(t, optAccess, optParams(s, qpSTRC))
	require.EqualValues(t, optRWE, optParams(s, qpSTUC))
	require.EqualValues(t, optQKey, optParams(s, qpSTUD))
	require.Zero(t, optParams(s, qpSTDCI))
}

func TestShlOverflow(t *testing.T) {
	for _, c := range []struct {
		n, shift, want int32
		ok             bool
	}{
		{1, 30, 1 << 30, true}, {1, 31, 0, false}, {1, 32, 0, false}, {1, -1, 0, false}, {0, 31, 0, true},
		{1 << 25, 5, 1 << 30, true}, {1 << 25, 6, 0, false}, {-1, 0, 0, false}, {16, 6, 1024, true},
	} {
		got, ok := shlOverflow(c.n, c.shift)
		require.Equal(t, c.ok, ok, "%+v", c)
		require.Equal(t, c.want, got, "%+v", c)
	}
}

func TestUDPSport(t *testing.T) {
	require.EqualValues(t, 0xc001, udpSport(1, 7, 9))
	require.EqualValues(t, 0xc000|0x3fff^0x3f, udpSport(0xfffff, 7, 9))
	require.Equal(t, udpSport(0, 7, 9), udpSport(0, 9, 7), "both ends have the same")
	require.EqualValues(t, 0xc000|63, udpSport(0, 7, 9))
}

func TestHashFields(t *testing.T) {
	for _, c := range []struct {
		mask uint64
		word uint32
		want error
	}{
		{0, 0, nil},
		{spec.MLX5_RX_HASH_SRC_IPV4 | spec.MLX5_RX_HASH_DST_PORT_TCP, hashSelSrcIP | hashSelL4DPort, nil},
		{spec.MLX5_RX_HASH_DST_IPV6 | spec.MLX5_RX_HASH_SRC_PORT_UDP, l3ProtIPv6 | l4ProtUDP | hashSelDstIP | hashSelL4SPort, nil},
		{spec.MLX5_RX_HASH_IPSEC_SPI, hashSelIPsecSPI, nil},
		{spec.MLX5_RX_HASH_SRC_IPV4 | spec.MLX5_RX_HASH_SRC_IPV6, 0, rule.MLX5QPRSSBothIP},
		{spec.MLX5_RX_HASH_SRC_PORT_TCP | spec.MLX5_RX_HASH_IPSEC_SPI, 0, rule.MLX5QPRSSManyL4},
	} {
		word, err := hashFields(c.mask)
		require.Equal(t, c.want, err, "%x", c.mask)
		require.Equal(t, c.word, word, "%x", c.mask)
	}
}

// TestHWRate: a rate is the same after its way through the device's numbers.
func TestHWRate(t *testing.T) {
	for rate := uint8(rate2_5Gbps); rate < 23; rate++ {
		require.Equal(t, rate, fromHWRate(hwRate(rate)))
	}
	require.Zero(t, fromHWRate(hwRate(0)))
}

// TestSteeringAnchor follows mlx5/anchor/ft-0, ft-1, ft-2 and ft-5. The anchors of
// a priority are one table, which stays when they have gone.
func TestSteeringAnchor(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	anchor := func(typ uint64, priority uint16, ok bool) (handle, table uint32, err error) {
		id := r.out(spec.MLX5_IB_ATTR_STEERING_ANCHOR_FT_ID, 4)
		if !ok {
			id.Data = uint64(r.none)
		}
		attrs := []spec.IoctlAttr{handleAttr(spec.MLX5_IB_ATTR_STEERING_ANCHOR_CREATE_HANDLE, 0),
			constAttr(spec.MLX5_IB_ATTR_STEERING_ANCHOR_FT_TYPE, typ),
			attr(spec.MLX5_IB_ATTR_STEERING_ANCHOR_PRIORITY, 2, uint64(priority)), id}
		if err = r.call(r.fd, spec.MLX5_IB_OBJECT_STEERING_ANCHOR, spec.MLX5_IB_METHOD_STEERING_ANCHOR_CREATE, attrs...); err == nil {
			table = r.u32(addrOf(id))
		}
		return uint32(attrs[0].Data), table, err
	}
	destroy := func(h uint32) {
		require.NoError(t, r.call(r.fd, spec.MLX5_IB_OBJECT_STEERING_ANCHOR, spec.MLX5_IB_METHOD_STEERING_ANCHOR_DESTROY,
			handleAttr(spec.MLX5_IB_ATTR_STEERING_ANCHOR_DESTROY_HANDLE, h)))
	}
	const rx, tx = spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX
	before := r.counts()
	_, _, err := anchor(rx, 3, false)
	require.Equal(t, error(rule.AttrOutputFault), err)
	require.Empty(t, cmp.Diff(before, r.counts()))
	one, table, err := anchor(rx, 3, true)
	require.NoError(t, err)
	require.Equal(t, before["flow_table"]+2, r.counts()["flow_table"])
	require.Equal(t, before["flow_group"]+2, r.counts()["flow_group"])
	two, again, err := anchor(rx, 3, true)
	require.NoError(t, err)
	require.Equal(t, table, again)
	other, again, err := anchor(tx, 3, true)
	require.NoError(t, err)
	require.NotEqual(t, table, again)
	require.Equal(t, before["flow_table"]+4, r.counts()["flow_table"])
	for _, h := range []uint32{one, two, other} {
		destroy(h)
	}
	require.Equal(t, before["flow_table"]+2, r.counts()["flow_table"], "the anchors' tables stay")
	_, again, err = anchor(rx, 3, true)
	require.NoError(t, err)
	require.Equal(t, table, again)
	_, _, err = anchor(spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_FDB, 0, true)
	require.Equal(t, error(rule.MLX5AnchorNoNamespace), err)
	_, _, err = anchor(5, 0, true)
	require.Equal(t, error(rule.MLX5FlowTableType), err)
	_, _, err = anchor(rx, 16, true)
	require.Equal(t, error(rule.MLX5AnchorPriority), err)
}
