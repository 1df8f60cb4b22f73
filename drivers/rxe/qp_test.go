package rxe

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestCreateQP follows the recorded cases qp/create-rc, qp/type-…,
// qp/caps-zero, qp/caps-inline and srq/pd-busy: what a QP gets for what it asks
// for, and how long its queues are.
func TestCreateQP(t *testing.T) {
	for _, c := range []struct {
		name       string
		typ        uint8
		srq        bool
		ask, want  core.QPCap
		rqSize, sq uint32
	}{
		{"qp/create-rc", spec.IB_QPT_RC, false, core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
			core.QPCap{MaxSendWR: 7, MaxRecvWR: 7, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 16}, 0x1000, 0x1000},
		{"qp/type-3", spec.IB_QPT_UC, false, core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
			core.QPCap{MaxSendWR: 7, MaxRecvWR: 7, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 16}, 0x1000, 0x1000},
		{"qp/type-4", spec.IB_QPT_UD, false, core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
			core.QPCap{MaxSendWR: 7, MaxRecvWR: 7, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 16}, 0x1000, 0x1000},
		{"qp/caps-zero", spec.IB_QPT_RC, false, core.QPCap{}, core.QPCap{}, 0x1000, 0x1000},
		{"qp/caps-inline", spec.IB_QPT_RC, false, core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 100},
			core.QPCap{MaxSendWR: 7, MaxRecvWR: 7, MaxSendSGE: 6, MaxRecvSGE: 1, MaxInlineData: 100}, 0x1000, 0x2000},
		{"srq/pd-busy", spec.IB_QPT_RC, true, core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1},
			core.QPCap{MaxSendWR: 7, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 16}, 0, 0x1000},
		{"with an SRQ no matter how many receives", spec.IB_QPT_RC, true, core.QPCap{MaxRecvWR: 1 << 30, MaxRecvSGE: 99},
			core.QPCap{MaxRecvWR: 1 << 30, MaxRecvSGE: 99}, 0, 0x1000},
		{"the events' QP", spec.IB_QPT_RC, false, core.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 2, MaxRecvSGE: 2},
			core.QPCap{MaxSendWR: 15, MaxRecvWR: 15, MaxSendSGE: 2, MaxRecvSGE: 2, MaxInlineData: 32}, 0x1000 + 0x1000, 0x2000},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, Config{})
			cq := r.newCQ(16)
			init := &core.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: c.typ, Cap: c.ask, SqSigType: 1}
			if c.srq {
				var err error
				init.SRQ, _, err = r.srq(core.SRQAttr{MaxWR: 4}, r.udata(nil, 24))
				require.NoError(t, err)
			}
			u := r.udata(nil, 32)
			qp, err := r.qp(init, u)
			require.NoError(t, err)
			require.Equal(t, c.want, init.Cap)
			require.Equal(t, c.sq, r.mminfo(u.Out+createQPRespSQ).Size)
			if c.srq {
				require.Equal(t, uint32(0xa5a5a5a5), r.word(u.Out+8), "no receive queue, nothing said")
			} else {
				require.Equal(t, sizeOfQueue(c.want.MaxRecvWR, recvWQESize+c.want.MaxRecvSGE*sgeSize), r.mminfo(u.Out).Size)
			}
			require.Equal(t, uint32(17), qp.QPNum)

			var attr core.QPAttr
			var got core.QPInitAttr
			require.NoError(t, r.dev.Ops.QueryQP(r.task, qp, &attr, 0, &got))
			seen := c.want
			if c.srq {
				seen.MaxRecvWR, seen.MaxRecvSGE = 0, 0
			}
			require.Equal(t, seen, attr.Cap)
			require.Equal(t, core.QPInitAttr{SendCQ: cq, RecvCQ: cq, SRQ: init.SRQ, Cap: seen, SqSigType: 1, Type: c.typ}, got)
			require.NoError(t, r.dev.Ops.DestroyQP(qp, r.udata(nil, 0)))
			require.Zero(t, r.counts()["qp"])
			require.Equal(t, 1+map[bool]int{true: 1}[c.srq], r.counts()["pending_mmaps"], "those of the CQ and the SRQ")
		})
	}
}

// sizeOfQueue is the length that a queue of n elements has: a header of 384
// bytes, one element more, each of a power of two bytes, in whole pages.
func sizeOfQueue(n, elem uint32) uint32 {
	e := uint32(64)
	for e < elem {
		e *= 2
	}
	return (384 + (n+1)*e + 4095) / 4096 * 4096
}

// TestCreateQPRefusals follows the recorded cases that it names, and the order
// of the checks. Nothing is left behind.
func TestCreateQPRefusals(t *testing.T) {
	r := newRig(t, Config{Memory: 1 << 20})
	cq := r.newCQ(16)
	good := core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
	out := r.take(32)
	half := r.none - 16 // the receive queue's place is written, the send queue's faults
	before := r.counts()
	for _, c := range []struct {
		name string
		init core.QPInitAttr
		u    *core.Udata
		want error
	}{
		{"a request", core.QPInitAttr{Type: 9}, r.udata(make([]byte, 8), 32), rule.RxeCreateQPUdataIn},
		{"qp/write-no-udata", core.QPInitAttr{Type: 9}, r.udata(nil, 0), rule.RxeCreateQPUdataOut},
		{"31 bytes", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq}, r.udata(nil, 31), rule.RxeCreateQPUdataOut},
		{"qp/flags-ud-loopback", core.QPInitAttr{Type: 9, CreateFlags: 2}, r.outAt(out, 32), rule.RxeCreateQPFlags},
		{"qp/type-8", core.QPInitAttr{Type: 8, SendCQ: cq, RecvCQ: cq}, r.outAt(out, 32), rule.RxeQPType},
		{"qp/type-9", core.QPInitAttr{Type: 9, SendCQ: cq}, r.outAt(out, 32), rule.RxeQPType},
		{"no send CQ", core.QPInitAttr{Type: 2, RecvCQ: cq}, r.outAt(out, 32), rule.RxeQPNoCQ},
		{"no receive CQ", core.QPInitAttr{Type: 2, SendCQ: cq}, r.outAt(out, 32), rule.RxeQPNoCQ},
		{"GSI", core.QPInitAttr{Type: 1, SendCQ: cq, RecvCQ: cq, Cap: good}, r.outAt(out, 32), rule.RxeQPGSIPort},
		{"sends", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxSendWR: 1<<20 + 1, MaxSendSGE: 33}}, r.outAt(out, 32), rule.RxeQPSendWR},
		{"qp/caps-too-many-sge", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxSendSGE: 33, MaxRecvWR: 1<<20 + 1}}, r.outAt(out, 32), rule.RxeQPSendSGE},
		{"receives", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxRecvWR: 1<<20 + 1, MaxRecvSGE: 33}}, r.outAt(out, 32), rule.RxeQPRecvWR},
		{"scatter entries", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxRecvSGE: 33, MaxInlineData: 513}}, r.outAt(out, 32), rule.RxeQPRecvSGE},
		{"inline data", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxInlineData: 513}}, r.outAt(out, 32), rule.RxeQPInline},
		{"a send queue of 512 MiB", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxSendWR: 1 << 20}}, r.outAt(out, 32), rule.RxeCreateQPNoMemory},
		{"a receive queue of 128 MiB", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxRecvWR: 1 << 20}}, r.outAt(out, 32), rule.RxeCreateQPNoMemory},
		{"qp/uhw-out-unmapped", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: good}, r.outAt(r.none, 32), rule.RxeMmapInfoFault},
		{"the send queue's place faults", core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: good}, r.outAt(half, 32), rule.RxeMmapInfoFault},
	} {
		_, err := r.qp(&c.init, c.u)
		refused(t, c.want, err, c.name)
		require.Equal(t, before, r.counts(), c.name)
	}
	require.NoError(t, r.dev.Ops.DestroyCQ(cq, r.udata(nil, 0)), "no work queue is left on it")
}

// TestSendQueueFirst: the place of the send queue is written before the
// receive queue is made, and stays written when that fails.
func TestSendQueueFirst(t *testing.T) {
	r := newRig(t, Config{Memory: 1 << 20})
	cq := r.newCQ(16)
	u := r.udata(nil, 32)
	_, err := r.qp(&core.QPInitAttr{Type: 2, SendCQ: cq, RecvCQ: cq, Cap: core.QPCap{MaxSendWR: 1, MaxRecvWR: 1 << 20}}, u)
	refused(t, rule.RxeCreateQPNoMemory, err, "receive queue")
	mi := r.mminfo(u.Out + createQPRespSQ)
	require.Equal(t, uint32(copyuser.PageSize), mi.Size)
	_, err = r.d.takePending(nil, r.ctx, mi.Offset, copyuser.PageSize)
	refused(t, rule.RxeMmapNoObject, err, "but nothing can be mapped there")
}

// Attributes for the steps of an RC QP, as the recorded cases ev/… give them.
const (
	toInit = spec.IB_QP_STATE | spec.IB_QP_PKEY_INDEX | spec.IB_QP_PORT | spec.IB_QP_ACCESS_FLAGS
	toRTR  = spec.IB_QP_STATE | spec.IB_QP_AV | spec.IB_QP_PATH_MTU | spec.IB_QP_DEST_QPN | spec.IB_QP_RQ_PSN |
		spec.IB_QP_MAX_DEST_RD_ATOMIC | spec.IB_QP_MIN_RNR_TIMER
	toRTS = spec.IB_QP_STATE | spec.IB_QP_TIMEOUT | spec.IB_QP_RETRY_CNT | spec.IB_QP_RNR_RETRY | spec.IB_QP_SQ_PSN |
		spec.IB_QP_MAX_QP_RD_ATOMIC
)

// peerAttr is what a QP that talks to the QP of that number is given.
func (r *rig) peerAttr(state uint8, peer uint32) core.QPAttr {
	return core.QPAttr{State: state, PortNum: 1, PathMTU: spec.IB_MTU_1024, DestQPNum: peer, AccessFlags: 15,
		MaxRdAtomic: 1, MaxDestRdAtomic: 1, MinRNRTimer: 12, Timeout: 8, RetryCnt: 1,
		AH: core.AHAttr{DGID: r.dev.GIDs[1].GID, SGIDIndex: 1, HopLimit: 64, IsGlobal: true, PortNum: 1}}
}

// connect brings a QP to RTS, towards the QP of that number.
func (r *rig) connect(qp *core.QP, peer uint32) {
	r.Helper()
	require.NoError(r, r.modify(qp, toInit, r.peerAttr(spec.IB_QPS_INIT, peer)))
	if qp.Type == spec.IB_QPT_UC {
		const path = spec.IB_QP_STATE | spec.IB_QP_AV | spec.IB_QP_PATH_MTU | spec.IB_QP_DEST_QPN | spec.IB_QP_RQ_PSN
		require.NoError(r, r.modify(qp, path, r.peerAttr(spec.IB_QPS_RTR, peer)))
		require.NoError(r, r.modify(qp, spec.IB_QP_STATE|spec.IB_QP_SQ_PSN, r.peerAttr(spec.IB_QPS_RTS, peer)))
		return
	}
	require.NoError(r, r.modify(qp, toRTR, r.peerAttr(spec.IB_QPS_RTR, peer)))
	require.NoError(r, r.modify(qp, toRTS, r.peerAttr(spec.IB_QPS_RTS, peer)))
}

func (r *rig) state(qp *core.QP) core.QPAttr {
	var attr core.QPAttr
	require.NoError(r, r.dev.Ops.QueryQP(r.task, qp, &attr, 0, new(core.QPInitAttr)))
	return attr
}

// TestModifyQP follows the recorded cases qp/modify-… and ev/…, step by step
// with one QP.
func TestModifyQP(t *testing.T) {
	r := newRig(t, Config{})
	qp := r.newQP(r.rcInit(r.newCQ(16)))
	for i, c := range []struct {
		name string
		mask uint32
		attr core.QPAttr
		want error
		is   uint8
	}{
		{"qp/modify-mask-rate-limit", spec.IB_QP_RATE_LIMIT, core.QPAttr{}, rule.RxeQPMask, spec.IB_QPS_RESET},
		{"qp/modify-reset-to-rts", spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_RTS}, rule.RxeQPTransition, spec.IB_QPS_RESET},
		{"qp/modify-init-missing-port", toInit &^ spec.IB_QP_PORT, core.QPAttr{State: spec.IB_QPS_INIT}, rule.RxeQPTransition, spec.IB_QPS_RESET},
		{"port 2", toInit, core.QPAttr{State: spec.IB_QPS_INIT, PortNum: 2}, rule.RxeQPPort, spec.IB_QPS_RESET},
		{"an attribute that the step does not take", toInit | spec.IB_QP_QKEY, core.QPAttr{State: spec.IB_QPS_INIT, PortNum: 1}, rule.RxeQPTransition, spec.IB_QPS_RESET},
		{"access", toInit, core.QPAttr{State: spec.IB_QPS_INIT, PortNum: 1, AccessFlags: 0x20}, rule.RxeQPAccess, spec.IB_QPS_RESET},
		{"qp/modify-reset-to-init", toInit, core.QPAttr{State: spec.IB_QPS_INIT, PortNum: 1}, nil, spec.IB_QPS_INIT},
		{"no doorbell yet", 0, core.QPAttr{}, nil, spec.IB_QPS_INIT},
		{"an MTU above 4096", toRTR, func() core.QPAttr { a := r.peerAttr(2, 17); a.PathMTU = 6; return a }(), rule.RxeQPMTU, spec.IB_QPS_INIT},
		{"a GID index of nothing", toRTR, func() core.QPAttr { a := r.peerAttr(2, 17); a.AH.SGIDIndex = 9; return a }(), rule.RxeAVNetworkType, spec.IB_QPS_INIT},
		{"to RTR", toRTR, r.peerAttr(spec.IB_QPS_RTR, 17), nil, spec.IB_QPS_RTR},
		{"129 reads", toRTS, func() core.QPAttr { a := r.peerAttr(3, 17); a.MaxRdAtomic = 129; return a }(), rule.RxeQPRdAtomic, spec.IB_QPS_RTR},
		{"a timeout of 32", toRTS, func() core.QPAttr { a := r.peerAttr(3, 17); a.Timeout = 32; return a }(), rule.RxeQPTimeout, spec.IB_QPS_RTR},
		{"capabilities", spec.IB_QP_CAP, core.QPAttr{Cap: core.QPCap{MaxSendSGE: 33}}, rule.RxeQPSendSGE, spec.IB_QPS_RTR},
		{"an alternate port", spec.IB_QP_ALT_PATH, core.QPAttr{AltPortNum: 2}, rule.RxeQPAltPort, spec.IB_QPS_RTR},
		{"an alternate timeout", spec.IB_QP_ALT_PATH, core.QPAttr{AltPortNum: 1, AltTimeout: 32}, rule.RxeQPAltTimeout, spec.IB_QPS_RTR},
		{"to RTS", toRTS, r.peerAttr(spec.IB_QPS_RTS, 17), nil, spec.IB_QPS_RTS},
		{"the state as the user sees it counts", spec.IB_QP_STATE | spec.IB_QP_CUR_STATE, core.QPAttr{State: spec.IB_QPS_RTS, CurState: spec.IB_QPS_RTR}, rule.RxeQPTransition, spec.IB_QPS_RTS},
		{"ev/flush", spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_ERR}, nil, spec.IB_QPS_ERR},
		{"out of the error state only by RESET", spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_INIT}, rule.RxeQPTransition, spec.IB_QPS_ERR},
		{"to RESET", spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_RESET}, nil, spec.IB_QPS_RESET},
	} {
		refused(t, c.want, r.modify(qp, c.mask, c.attr), fmt.Sprintf("%d %s", i, c.name))
		got := r.state(qp)
		require.Equal(t, c.is, got.State, c.name)
		require.Equal(t, c.is, got.CurState, c.name)
	}

	ud := r.rcInit(r.newCQ(16))
	ud.Type = spec.IB_QPT_UD
	refused(t, rule.RxeQPAccessType, r.modify(r.newQP(ud), spec.IB_QP_ACCESS_FLAGS, core.QPAttr{}), "access flags of a UD QP")
}

// TestQueryQP: what was set is what a query tells; numbers of reads and atomics
// go up to a power of two.
func TestQueryQP(t *testing.T) {
	r := newRig(t, Config{})
	qp := r.newQP(r.rcInit(r.newCQ(16)))
	fresh := r.state(qp)
	require.Equal(t, uint8(spec.IB_MTU_256), fresh.PathMTU)
	require.True(t, fresh.AH.IsGlobal, "qp/query: is_global of a fresh QP")
	require.Zero(t, fresh.PortNum)

	a := r.peerAttr(spec.IB_QPS_RTS, 0x123456)
	a.MaxRdAtomic, a.MaxDestRdAtomic, a.RqPSN, a.SqPSN = 5, 3, 0xff00aabb, 0x11223344
	a.AH.FlowLabel, a.AH.TrafficClass, a.AH.DMAC = 7, 9, [6]byte{1, 2, 3, 4, 5, 6}
	for _, step := range []struct {
		state uint8
		mask  uint32
	}{{spec.IB_QPS_INIT, toInit}, {spec.IB_QPS_RTR, toRTR}, {spec.IB_QPS_RTS, toRTS}} {
		a.State = step.state
		require.NoError(t, r.modify(qp, step.mask, a))
	}
	want := a
	want.CurState = spec.IB_QPS_RTS
	want.MaxRdAtomic, want.MaxDestRdAtomic, want.RqPSN, want.SqPSN = 8, 4, 0x00aabb, 0x223344
	want.Cap = core.QPCap{MaxSendWR: 7, MaxRecvWR: 7, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 16}
	want.AH.DMAC = [6]byte{}
	want.AltAH.IsGlobal = true
	require.Equal(t, want, r.state(qp))
	require.Equal(t, [6]byte{1, 2, 3, 4, 5, 6}, toRqp(qp).priAV.Dmac)
	require.Equal(t, uint8(spec.RXE_NETWORK_TYPE_IPV4), toRqp(qp).priAV.NetworkType)
}

// TestDrain follows the recorded cases ev/sqd-drained and qp/… : SQD tells when
// the send queue is drained, and until then only the error state can follow.
func TestDrain(t *testing.T) {
	var work []func()
	r := newRig(t, Config{Work: func(f func()) { work = append(work, f) }})
	qp := r.newQP(r.rcInit(r.newCQ(16)))
	r.connect(qp, qp.QPNum)
	require.NoError(t, r.modify(qp, spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_SQD}))
	require.Equal(t, uint8(1), r.state(qp).SQDraining)
	refused(t, rule.RxeQPDraining, r.modify(qp, spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_RTS}), "draining")
	require.Empty(t, r.raised())

	require.Len(t, work, 1)
	work[0]()
	require.Equal(t, []uint32{spec.IB_EVENT_SQ_DRAINED}, r.raised())
	require.Zero(t, r.state(qp).SQDraining)
	require.NoError(t, r.modify(qp, spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_RTS}))
}
