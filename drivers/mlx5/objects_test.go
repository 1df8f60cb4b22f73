package mlx5

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
)

// allocPD makes a protection domain, by the write() command.
func (r *rig) allocPD() uint32 {
	r.Helper()
	h, err := r.tryAllocPD()
	require.NoError(r, err)
	return h
}

func (r *rig) tryAllocPD() (uint32, error) {
	r.Helper()
	resp := r.take(8)
	cmd := le.AppendUint32(nil, spec.IB_USER_VERBS_CMD_ALLOC_PD)
	cmd = le.AppendUint16(cmd, 4)
	cmd = le.AppendUint16(cmd, 2)
	cmd = le.AppendUint64(cmd, uint64(resp))
	at := r.take(len(cmd))
	require.True(r, r.task.Mem.Store(at, cmd))
	_, err := r.task.Write(r.fd, at, uint64(len(cmd)))
	return r.u32(resp), err
}

// createSRQ makes a basic shared receive queue and returns its handle and what the
// driver answers.
func (r *rig) createSRQ(pd, maxWR, maxSGE uint32, ucmd spec.Mlx5CreateSRQ) (uint32, uint32, error) {
	r.Helper()
	uhw := r.out(spec.UVERBS_ATTR_UHW_OUT, 8)
	maxOut := r.out(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR, 4)
	attrs := []spec.IoctlAttr{
		handleAttr(spec.UVERBS_ATTR_CREATE_SRQ_HANDLE, 0), handleAttr(spec.UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, pd),
		constAttr(spec.UVERBS_ATTR_CREATE_SRQ_TYPE, srqtBasic), attr(spec.UVERBS_ATTR_CREATE_SRQ_USER_HANDLE, 8, 1),
		attr(spec.UVERBS_ATTR_CREATE_SRQ_MAX_WR, 4, uint64(maxWR)), attr(spec.UVERBS_ATTR_CREATE_SRQ_MAX_SGE, 4, uint64(maxSGE)),
		attr(spec.UVERBS_ATTR_CREATE_SRQ_LIMIT, 4, 0), maxOut, r.out(spec.UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE, 4),
		r.in(spec.UVERBS_ATTR_UHW_IN, spec.Bytes(&ucmd)), uhw,
	}
	err := r.call(r.fd, spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_CREATE, attrs...)
	return uint32(attrs[0].Data), r.u32(addrOf(maxOut)), err
}

// TestSRQ follows mlx5/srq/wr-1, wr-8, wr-32766-nobuf, r1 and buf-off-64.
func TestSRQ(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	pd := r.allocPD()
	require.NoError(t, r.dev.devResCQInit(nil))
	before := r.counts()
	buf, db := uint64(r.take(2*copyuser.PageSize)), uint64(r.take(8))
	for _, c := range []struct {
		name       string
		wr, sge    uint32
		ucmd       spec.Mlx5CreateSRQ
		want       error
		wantMaxWR  uint32
		wantMapped int
	}{
		{"wr-1", 1, 1, spec.Mlx5CreateSRQ{BufAddr: buf, DBAddr: db}, nil, 1, 2},
		{"wr-8", 8, 1, spec.Mlx5CreateSRQ{BufAddr: buf, DBAddr: db}, nil, 15, 2},
		{"buf-off-64", 127, 1, spec.Mlx5CreateSRQ{BufAddr: buf + 64, DBAddr: db}, nil, 127, 3},
		{"r1", 8, 1, spec.Mlx5CreateSRQ{BufAddr: buf, DBAddr: db, Reserved1: 1}, rule.MLX5SRQReserved, 0, 0},
		{"buf-off-4", 8, 1, spec.Mlx5CreateSRQ{BufAddr: buf + 4, DBAddr: db}, rule.MLX5SRQAlignment, 0, 0},
		{"wr-32766-nobuf", 32766, 1, spec.Mlx5CreateSRQ{}, rule.PinUnmapped, 0, 0},
		{"wr-32768", 32768, 1, spec.Mlx5CreateSRQ{}, rule.MLX5SRQSize, 0, 0},
		{"sge-33", 8, 33, spec.Mlx5CreateSRQ{BufAddr: buf, DBAddr: db}, rule.MLX5SRQSize, 0, 0},
		{"db-null", 8, 1, spec.Mlx5CreateSRQ{BufAddr: buf}, rule.PinUnmapped, 0, 0},
	} {
		h, maxWR, err := r.createSRQ(pd, c.wr, c.sge, c.ucmd)
		require.Equal(t, c.want, err, c.name)
		if err != nil {
			require.Empty(t, cmp.Diff(before, r.counts()), c.name)
			continue
		}
		require.Equal(t, c.wantMaxWR, maxWR, c.name)
		require.Equal(t, before["mapped"]+c.wantMapped, r.counts()["mapped"], c.name)
		require.NoError(t, r.call(r.fd, spec.UVERBS_OBJECT_SRQ, spec.UVERBS_METHOD_SRQ_DESTROY,
			handleAttr(spec.UVERBS_ATTR_DESTROY_SRQ_HANDLE, h), r.out(spec.UVERBS_ATTR_DESTROY_SRQ_RESP, 4)), c.name)
		require.Empty(t, cmp.Diff(before, r.counts()), c.name)
	}
}

// TestFlowAction follows mlx5/modhdr/len-8, len-128, len-1024 and ft-3, and
// mlx5/reformat/0-0, 0-1, encap-nodata.
func TestFlowAction(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	before := r.counts()
	modify := func(n int, ft uint64) (uint32, error) {
		attrs := []spec.IoctlAttr{handleAttr(spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE, 0),
			r.in(spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM, make([]byte, n)),
			constAttr(spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_FT_TYPE, ft)}
		err := r.call(r.fd, spec.UVERBS_OBJECT_FLOW_ACTION, spec.MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, attrs...)
		return uint32(attrs[0].Data), err
	}
	for _, c := range []struct {
		n    int
		ft   uint64
		want error
	}{
		{8, spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, nil},
		{128, spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX, nil},
		{9, spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, rule.AttrArraySize},
		{1024, spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX, rule.MLX5ModHdrActions},
		{8, spec.MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX, rule.MLX5ModHdrNoNamespace},
		{8, 5, rule.MLX5ModHdrTableType},
	} {
		h, err := modify(c.n, c.ft)
		require.Equal(t, c.want, err, "%+v", c)
		if err == nil {
			require.Equal(t, before["modify_header"]+1, r.counts()["modify_header"])
			require.NoError(t, r.call(r.fd, spec.UVERBS_OBJECT_FLOW_ACTION, spec.UVERBS_METHOD_FLOW_ACTION_DESTROY,
				handleAttr(spec.UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, h)))
		}
		require.Empty(t, cmp.Diff(before, r.counts()))
	}
	reformat := func(typ, ft uint64, data []byte) error {
		attrs := []spec.IoctlAttr{handleAttr(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE, 0),
			constAttr(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_TYPE, typ), constAttr(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_FT_TYPE, ft)}
		if data != nil {
			attrs = append(attrs, r.in(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF, data))
		}
		return r.call(r.fd, spec.UVERBS_OBJECT_FLOW_ACTION, spec.MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, attrs...)
	}
	require.NoError(t, reformat(0, 0, nil))
	require.Equal(t, error(rule.MLX5ReformatUnsupported), reformat(0, 1, nil))
	require.Equal(t, error(rule.AttrAbsent), reformat(1, 1, nil))
	require.NoError(t, reformat(1, 1, make([]byte, 128)))
	require.Equal(t, error(rule.MLX5ReformatSize), reformat(1, 1, make([]byte, 129)))
	require.Equal(t, error(rule.MLX5ReformatType), reformat(1<<8, 0, make([]byte, 8)), "a type is cut for the check alone")
	require.Equal(t, 1, r.counts()["packet_reformat"])
}

// TestSWICM follows mlx5/dm/icm-0, icm-1 and type-3: memory for steering comes in
// powers of two of blocks, aligned as is asked for.
func TestSWICM(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	alloc := func(length, align, typ uint64) (uint64, error) {
		at := r.out(spec.MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 8)
		err := r.call(r.fd, spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_ALLOC, handleAttr(spec.UVERBS_ATTR_ALLOC_DM_HANDLE, 0),
			constAttr(spec.UVERBS_ATTR_ALLOC_DM_LENGTH, length), attr(spec.UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, align),
			constAttr(spec.MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, typ), at)
		return r.u64(addrOf(at)), err
	}
	const steering = spec.MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM
	_, err := alloc(0, 0, steering)
	require.Equal(t, error(rule.MLX5DMICMLength), err)
	_, err = alloc(64, 0, spec.MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM)
	require.Equal(t, error(rule.MLX5DMNoPatterns), err)
	_, err = alloc(64, 0, 100)
	require.Equal(t, error(rule.MLX5DMType), err)

	block := uint64(r.dev.caps.pow2(capICMGranularity))
	a, err := alloc(1, 0, steering)
	require.NoError(t, err)
	b, err := alloc(1, 0, steering)
	require.NoError(t, err)
	require.Equal(t, a+block, b)
	start := r.dev.caps.get(icmAreas[steering].start)
	c, err := alloc(1, log2(8*block), steering)
	require.NoError(t, err)
	require.Equal(t, start+8*block, c)
	_, err = alloc(1<<r.dev.caps.get(icmAreas[steering].logSize), 0, steering)
	require.Equal(t, error(rule.MLX5DMICMFull), err)
	require.Equal(t, 3, r.counts()["general_object"])
	require.NoError(t, r.task.Close(r.fd))
	require.Zero(t, r.counts()["general_object"])
	require.Zero(t, r.dev.icm.blocks[steering].taken)
}

// TestAreas: the first free run, at a multiple of the alignment.
func TestAreas(t *testing.T) {
	a := newAreas(8)
	at, ok := a.take(0, 3, 1)
	require.True(t, ok)
	require.Zero(t, at)
	at, ok = a.take(0, 2, 4)
	require.True(t, ok)
	require.Equal(t, uint64(4), at)
	_, ok = a.take(0, 3, 1)
	require.False(t, ok)
	at, ok = a.take(0, 2, 1)
	require.True(t, ok)
	require.Equal(t, uint64(6), at)
	at, ok = a.take(0, 0, 1)
	require.True(t, ok, "nothing fits everywhere")
	require.Zero(t, at)
	require.Equal(t, 7, a.taken)
	a.giveBack(0, 3)
	require.Equal(t, 4, a.taken)
	at, ok = a.take(1, 2, 1)
	require.True(t, ok)
	require.Equal(t, uint64(1), at)
	_, ok = a.take(0, 9, 1)
	require.False(t, ok)
}

// TestRateTable follows mlx5/pp/dedicated-twice: a rate is shared by those who want
// the same, unless someone has it to itself.
func TestRateTable(t *testing.T) {
	r := rlTable{entries: make([]rlEntry, 3)}
	limit := rateLimit{3: 1}
	take := func(uid uint16, dedicated bool) uint16 {
		i, e := r.find(&limit, uid, dedicated)
		if e == nil {
			return 0
		}
		if e.refs == 0 {
			*e = rlEntry{limit: limit, uid: uid, dedicated: dedicated}
		}
		e.refs++
		return i
	}
	require.Equal(t, uint16(1), take(5, true))
	require.Equal(t, uint16(2), take(0xffff, false))
	require.Equal(t, uint16(2), take(0xffff, false))
	require.Equal(t, uint16(3), take(5, true), "not the one that is its already")
	require.Zero(t, take(5, true), "the table is full")
	require.Equal(t, uint16(2), take(0xffff, false), "but this rate is in it")
	require.Zero(t, take(6, false), "another user's rate is another")
}

// TestRateTableSize: one place is "no limit", and mlx5_init_rl_table keeps what is
// left in a u16.
func TestRateTableSize(t *testing.T) {
	d := newRig(t, Config{}).dev
	d.caps.set(capQoS, 1)
	d.caps.set(capPacketPacing, 1)
	for entries, want := range map[uint64]uint16{128: 127, 1: 0, 0: 0xffff} {
		d.caps.set(capRateTableSize, entries)
		require.Equal(t, want, d.rlTableSize(), "%d", entries)
	}
	d.caps.set(capPacketPacing, 0)
	require.Zero(t, d.rlTableSize())
}

// TestAtomicMode follows get_atomic_mode and atomic_size_to_mode of
// drivers/infiniband/hw/mlx5/qp.c.
func TestAtomicMode(t *testing.T) {
	d := newRig(t, Config{}).dev
	for _, c := range []struct {
		has, ops, sizes uint64
		mode            uint64
		ok              bool
	}{
		{0, 0xf, 0x1ff, 0, false},
		{1, 0x3, 0x8, 1, true},          // MLX5_ATOMIC_MODE_IB_COMP
		{1, 0x7, 0x8, 3, true},          // MLX5_ATOMIC_MODE_8B
		{1, 0x8, 0x1, 3, true},          // no narrower one
		{1, 0x4, 0x18, 4, true},         // 16 bytes
		{1, 0xf, 0x1ff | 1<<9, 8, true}, // 256 bytes, and not more
		{1, 0xf, 1 << 9, 1, true},
	} {
		d.caps.set(capAtomic, c.has)
		d.caps.set(capAtomicOperations, c.ops)
		d.caps.set(capAtomicSizeQP, c.sizes)
		mode, ok := d.atomicMode(capAtomicSizeQP)
		require.Equal(t, c.ok, ok, "%+v", c)
		require.Equal(t, c.mode, mode, "%+v", c)
	}
	d.caps.set(capAtomicOperations, 0x1)
	_, ok := d.atomicMode(capAtomicSizeQP)
	require.False(t, ok, "compare and swap alone")
}

// TestRates: static rates as the adapter counts them, and the next lower one where
// it has not that.
func TestRates(t *testing.T) {
	d := newRig(t, Config{}).dev
	for rate, want := range map[uint8]uint8{0: 0, rate800Gbps: 0, rate100Gbps: 3, 2: 7, 3: 8} {
		d.caps.set(capStatRate, 0xffff)
		got, err := d.ibRate(nil, rate)
		require.NoError(t, err)
		require.Equal(t, want, got, "rate %d", rate)
	}
	d.caps.set(capStatRate, 1<<7) // 2.5 Gbit/s alone
	got, err := d.ibRate(nil, rate400Gbps)
	require.NoError(t, err)
	require.Equal(t, uint8(7), got)
	for _, rate := range []uint8{1, 24, 255} {
		_, err := d.ibRate(nil, rate)
		require.Equal(t, error(rule.MLX5Rate), err, "rate %d", rate)
	}
}

// set is for tests that want another device.
func (c *caps) set(f capability, v uint64) { f.field.Set(c[f.page], v) }

// TestTimestampFormat: which clock completions of a queue are stamped with.
func TestTimestampFormat(t *testing.T) {
	plain, realTime, freeRunning := &cq{}, &cq{}, &cq{createFlags: spec.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION}
	realTime.ucmd.Flags = spec.MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS
	both, free := tsCaps{true, true}, tsCaps{freeRunning: true}
	for _, c := range []struct {
		caps       tsCaps
		send, recv *cq
		want       uint64
		err        error
	}{
		{both, plain, plain, tsFreeRunning, nil},
		{tsCaps{realTime: true}, plain, plain, tsDefault, nil},
		{both, realTime, realTime, tsRealTime, nil},
		{both, plain, realTime, 0, rule.MLX5TimestampMismatch},
		{both, freeRunning, realTime, 0, rule.MLX5TimestampMismatch},
		{free, realTime, plain, 0, rule.MLX5TimestampFormat},
		{tsCaps{realTime: true}, freeRunning, nil, 0, rule.MLX5TimestampFormat},
		{tsCaps{realTime: true}, plain, realTime, tsRealTime, nil},
		{both, nil, freeRunning, tsFreeRunning, nil},
	} {
		got, err := c.caps.ofQP(c.send, c.recv)
		require.Equal(t, c.err, err)
		require.Equal(t, c.want, got)
	}
}

// TestDeviceStrides: what the device calls a logarithm of strides (the table of
// create_rq in qp.c).
func TestDeviceStrides(t *testing.T) {
	want := []uint64{10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7}
	for i, w := range want {
		require.Equal(t, w, deviceStrides(uint64(i+extMinLogStrides)))
	}
}
