package rxe

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestCreateSRQ follows the recorded cases srq/type-0, srq/limit-5 and
// srq/write-create.
func TestCreateSRQ(t *testing.T) {
	for _, c := range []struct {
		name      string
		ask, want core.SRQAttr
		size      uint32
	}{
		{"srq/type-0", core.SRQAttr{MaxWR: 4, MaxSGE: 1}, core.SRQAttr{MaxWR: 7, MaxSGE: 1}, 0x1000},
		{"srq/limit-5", core.SRQAttr{MaxWR: 4, MaxSGE: 1, Limit: 5}, core.SRQAttr{MaxWR: 7, MaxSGE: 1, Limit: 5}, 0x1000},
		{"no scatter entries become one", core.SRQAttr{MaxWR: 8}, core.SRQAttr{MaxWR: 15, MaxSGE: 1}, 0x1000},
		{"the most of both", core.SRQAttr{MaxWR: 1 << 20, MaxSGE: 27}, core.SRQAttr{MaxWR: 1<<21 - 1, MaxSGE: 27}, 1<<30 + 0x1000},
	} {
		r := newRig(t, Config{Memory: 2 << 30})
		u := r.udata(nil, 24)
		srq, got, err := r.srq(c.ask, u)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, got, c.name)
		require.Equal(t, c.size, r.mminfo(u.Out).Size, c.name)
		require.Equal(t, uint32(131073), r.word(u.Out+16), "the first number")
		var q core.SRQAttr
		require.NoError(t, r.dev.Ops.QuerySRQ(r.task, srq, &q))
		require.Equal(t, c.want, q, c.name)
		require.NoError(t, r.dev.Ops.DestroySRQ(srq, r.udata(nil, 0)))
		require.Equal(t, map[string]int{"uc": 1, "pd": 1}, r.counts(), c.name)
	}
}

// TestCreateSRQRefusals follows the recorded cases that it names.
func TestCreateSRQRefusals(t *testing.T) {
	r := newRig(t, Config{Memory: 1 << 20})
	fault := r.take(24)
	half := r.none - 16 // the queue's place is written, its number faults
	for _, c := range []struct {
		name string
		attr core.SRQAttr
		typ  uint8
		u    *core.Udata
		want error
	}{
		{"srq/uhw-out-23", core.SRQAttr{MaxWR: 4}, 0, r.udata(nil, 23), rule.RxeCreateSRQUdata},
		{"the room before the type", core.SRQAttr{MaxWR: 4}, 1, r.udata(nil, 0), rule.RxeCreateSRQUdata},
		{"XRC", core.SRQAttr{MaxWR: 4}, spec.IB_UVERBS_SRQT_XRC, r.outAt(fault, 24), rule.RxeSRQType},
		{"tag matching before the size", core.SRQAttr{}, spec.IB_UVERBS_SRQT_TM, r.outAt(fault, 24), rule.RxeSRQType},
		{"too many receives", core.SRQAttr{MaxWR: 1<<20 + 1}, 0, r.outAt(fault, 24), rule.RxeSRQTooLarge},
		{"no receives", core.SRQAttr{MaxSGE: 28}, 0, r.outAt(fault, 24), rule.RxeSRQEmpty},
		{"too many scatter entries", core.SRQAttr{MaxWR: 1, MaxSGE: 28}, 0, r.outAt(fault, 24), rule.RxeSRQSGE},
		{"no memory", core.SRQAttr{MaxWR: 1 << 20}, 0, r.outAt(fault, 24), rule.RxeCreateSRQNoMemory},
		{"the queue's place faults", core.SRQAttr{MaxWR: 4}, 0, r.outAt(r.none, 24), rule.RxeMmapInfoFault},
		{"its number faults", core.SRQAttr{MaxWR: 4}, 0, r.outAt(half, 24), rule.RxeCreateSRQFault},
	} {
		srq := &core.SRQ{Device: r.dev, PD: r.pd}
		init := &core.SRQInitAttr{Attr: c.attr, Type: c.typ}
		refused(t, c.want, r.dev.Ops.CreateSRQ(srq, init, c.u), c.name)
		require.Equal(t, map[string]int{"uc": 1, "pd": 1}, r.counts(), c.name)
	}
	require.Equal(t, uint32(0x1000), r.mminfo(half).Size)
}

// TestModifySRQ follows the recorded case srq/write-query-modify-destroy, and
// the order of the checks in rxe_srq_chk_attr.
func TestModifySRQ(t *testing.T) {
	const size, limit = spec.IB_SRQ_MAX_WR, spec.IB_SRQ_LIMIT
	r := newRig(t, Config{})
	created := r.udata(nil, 24)
	srq, _, err := r.srq(core.SRQAttr{MaxWR: 4, MaxSGE: 2}, created)
	require.NoError(t, err)
	mi := r.take(16)
	cmd := binary.LittleEndian.AppendUint64(nil, uint64(mi))
	modify := func(a core.SRQAttr, mask uint32, u *core.Udata) error { return r.dev.Ops.ModifySRQ(srq, &a, mask, u) }
	query := func() (a core.SRQAttr) {
		require.NoError(t, r.dev.Ops.QuerySRQ(r.task, srq, &a))
		return a
	}
	refused(t, rule.RxeModifySRQUdata, modify(core.SRQAttr{MaxWR: 8}, size, r.udata(nil, 0)), "srq/write-query-modify-destroy")
	refused(t, rule.RxeModifySRQUdata, modify(core.SRQAttr{MaxWR: 8}, 0, r.udata(cmd[:7], 0)), "7 bytes")
	faulting := r.udata(nil, 0)
	faulting.In, faulting.InLen = r.none, 8
	refused(t, rule.RxeModifySRQFault, modify(core.SRQAttr{MaxWR: 8}, size, faulting), "fault")

	for _, c := range []struct {
		name string
		attr core.SRQAttr
		mask uint32
		want error
		is   core.SRQAttr
	}{
		{"too many receives", core.SRQAttr{MaxWR: 1<<20 + 1}, size, rule.RxeModifySRQTooLarge, core.SRQAttr{MaxWR: 7, MaxSGE: 2}},
		{"no receives", core.SRQAttr{}, size, rule.RxeModifySRQEmpty, core.SRQAttr{MaxWR: 7, MaxSGE: 2}},
		{"a limit beyond the queue", core.SRQAttr{Limit: 8}, limit, rule.RxeSRQLimit, core.SRQAttr{MaxWR: 7, MaxSGE: 2}},
		{"a limit beyond the device", core.SRQAttr{Limit: 1<<20 + 1}, limit, rule.RxeSRQLimitMax, core.SRQAttr{MaxWR: 7, MaxSGE: 2}},
		{"a limit", core.SRQAttr{Limit: 7}, limit, nil, core.SRQAttr{MaxWR: 7, MaxSGE: 2, Limit: 7}},
		{"fewer than the limit", core.SRQAttr{MaxWR: 6}, size, rule.RxeModifySRQBelowLimit, core.SRQAttr{MaxWR: 7, MaxSGE: 2, Limit: 7}},
		{"the size before the limit", core.SRQAttr{MaxWR: 6, Limit: 99}, size | limit, rule.RxeModifySRQBelowLimit, core.SRQAttr{MaxWR: 7, MaxSGE: 2, Limit: 7}},
		{"larger", core.SRQAttr{MaxWR: 100}, size, nil, core.SRQAttr{MaxWR: 127, MaxSGE: 2, Limit: 7}},
		{"no limit", core.SRQAttr{}, limit, nil, core.SRQAttr{MaxWR: 127, MaxSGE: 2}},
	} {
		refused(t, c.want, modify(c.attr, c.mask, r.udata(cmd, 0)), c.name)
		require.Equal(t, c.is, query(), c.name)
	}
	require.Equal(t, uint32(0x5000), r.mminfo(mi).Size, "the place comes where the request said")
	require.Equal(t, 1, r.counts()["pending_mmaps"])

	srqQueue := toRsrq(srq).rq.queue
	srqQueue.buf.setWord(bufIndexMask, 1000) // the user can write there
	require.Equal(t, uint32(1000), query().MaxWR)
	require.NoError(t, modify(core.SRQAttr{Limit: 900}, limit, r.udata(cmd, 0)))
}

// TestResizeSRQ: receives move to the new queue, and more of them than it has
// room for keep the old one.
func TestResizeSRQ(t *testing.T) {
	r := newRig(t, Config{})
	srq, _, err := r.srq(core.SRQAttr{MaxWR: 8, MaxSGE: 1}, r.udata(nil, 24))
	require.NoError(t, err)
	for i := range uint64(5) {
		_, err := r.dev.Ops.PostSRQRecv(r.task, srq, []core.RecvWR{{WRID: i}})
		require.NoError(t, err)
	}
	none := make([]byte, 8) // no address: the user is not told
	err = r.dev.Ops.ModifySRQ(srq, &core.SRQAttr{MaxWR: 3}, spec.IB_SRQ_MAX_WR, r.udata(none, 0))
	refused(t, rule.RxeQueueResizeTooSmall, err, "3 for 5")
	require.NoError(t, r.dev.Ops.ModifySRQ(srq, &core.SRQAttr{MaxWR: 5}, spec.IB_SRQ_MAX_WR, r.udata(none, 0)))
	q := toRsrq(srq).rq.queue
	require.Equal(t, uint32(5), q.count(fromClient))
	for i := range uint64(5) {
		var wqe spec.RxeRecvWQE
		q.buf.load(q.at(uint32(i)), spec.Bytes(&wqe))
		require.Equal(t, i, wqe.WRID)
	}
}
