package rxe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
)

// without is the driver of a 6.12 kernel that lacks one feature.
func without(f spec.Feature) Config { return Config{Kernel: spec.Linux6_12.Without(f)} }

// TestQPAnswerWithoutFeature follows the recorded cases qp/create-rc and
// srq/type-0 of 6.1: the answer repeats what was asked for.
func TestQPAnswerWithoutFeature(t *testing.T) {
	r := newRig(t, without(spec.RxeGrantedQPSize))
	init := r.rcInit(r.newCQ(16))
	qp := r.newQP(init)
	require.Equal(t, core.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1, MaxInlineData: 16}, init.Cap)
	var attr core.QPAttr
	require.NoError(t, r.dev.Ops.QueryQP(r.task, qp, &attr, 0, new(core.QPInitAttr)))
	require.Equal(t, uint32(7), attr.Cap.MaxSendWR, "a query tells what was made")

	r = newRig(t, without(spec.RxeGrantedSRQSize))
	_, got, err := r.srq(core.SRQAttr{MaxWR: 4}, r.udata(nil, createSRQRespSize))
	require.NoError(t, err)
	require.Equal(t, uint32(4), got.MaxWR)
}

// TestCreateQPOrderWithoutFeature: a request that should not be there is found
// last.
func TestCreateQPOrderWithoutFeature(t *testing.T) {
	r := newRig(t, without(spec.RxeCreateQPUdataFirst))
	cq := r.newCQ(16)
	request := func() *core.Udata { return r.udata(make([]byte, 8), createQPRespSize) }
	_, err := r.qp(&core.QPInitAttr{Type: 2, CreateFlags: 2}, request())
	refused(t, rule.RxeCreateQPFlags, err, "flags")
	_, err = r.qp(&core.QPInitAttr{Type: 2}, request())
	refused(t, rule.RxeQPNoCQ, err, "no CQ")
	_, err = r.qp(r.rcInit(cq), request())
	refused(t, rule.RxeCreateQPUdataIn, err, "a request")
	require.Zero(t, r.counts()["qp"])
}

// TestModifyQPWithoutFeatures: the transition is looked at before the
// attributes, and also if the state stays; access rights are not looked at.
func TestModifyQPWithoutFeatures(t *testing.T) {
	r := newRig(t, without(spec.RxeModifyQPStateLast))
	qp := r.newQP(r.rcInit(r.newCQ(16)))
	badPort := core.QPAttr{State: spec.IB_QPS_RTS, PortNum: 2}
	refused(t, rule.RxeQPTransition, r.modify(qp, spec.IB_QP_STATE|spec.IB_QP_PORT, badPort), "both wrong")
	require.NoError(t, r.modify(qp, toInit, core.QPAttr{State: spec.IB_QPS_INIT, PortNum: 1}))
	require.NoError(t, r.modify(qp, toRTR, r.peerAttr(spec.IB_QPS_RTR, 17)))
	refused(t, rule.RxeQPTransition, r.modify(qp, spec.IB_QP_MIN_RNR_TIMER, core.QPAttr{}), "RTR stays RTR")

	r = newRig(t, without(spec.RxeQPAccess))
	qp = r.newQP(r.rcInit(r.newCQ(16)))
	require.NoError(t, r.modify(qp, toInit, core.QPAttr{State: spec.IB_QPS_INIT, PortNum: 1, AccessFlags: 0x20}))
}

// TestMRWithoutFeatures follows the recorded cases mr/access-80 and mr/rereg-2
// of 6.1, and what lookups of keys do.
func TestMRWithoutFeatures(t *testing.T) {
	r := newRig(t, without(spec.RxeMRAccess))
	r.newMR(r.take(8), 8, spec.IB_ACCESS_HUGETLB)

	r = newRig(t, without(spec.RxeReregMR))
	require.Nil(t, r.dev.Ops.ReregUserMR)

	r = newRig(t, without(spec.RxeMRRkey))
	local := r.newMR(r.take(8), 8, spec.IB_ACCESS_LOCAL_WRITE)
	require.Zero(t, local.RKey)
	require.NotZero(t, local.LKey)
	remote := r.newMR(r.take(8), 8, spec.IB_ACCESS_REMOTE_READ)
	require.Equal(t, remote.LKey, remote.RKey)
	find := func(key uint32, by lookupType) bool {
		mr := r.d.lookupMR(nil, toRpd(r.pd), 0, key, by)
		if mr != nil {
			mr.put(nil)
		}
		return mr != nil
	}
	require.True(t, find(local.LKey, lookupLocal))
	require.False(t, find(local.LKey, lookupRemote))
	require.True(t, find(remote.RKey, lookupRemote))

	const both = spec.IB_ACCESS_LOCAL_WRITE | spec.IB_ACCESS_REMOTE_WRITE
	for k, want := range map[*spec.Kernel]bool{spec.Linux6_12: false, spec.Linux6_12.Without(spec.RxeMRAllRights): true} {
		r := newRig(t, Config{Kernel: k})
		one := toRmr(r.newMR(r.take(8), 8, spec.IB_ACCESS_LOCAL_WRITE))
		require.Equal(t, want, one.grants(k, toRpd(r.pd), both, one.ib.LKey, lookupLocal))
		require.False(t, one.grants(k, toRpd(r.pd), spec.IB_ACCESS_REMOTE_READ, one.ib.LKey, lookupLocal))
		require.True(t, one.grants(k, toRpd(r.pd), 0, one.ib.LKey, lookupLocal))
	}
}

// TestKernelOfMachine: a driver of one kernel cannot be loaded into another.
func TestKernelOfMachine(t *testing.T) {
	m := kernel.NewMachine(kernel.Definitions{}, kernel.Version(spec.Linux6_1))
	_, err := m.Register(New(Config{}))
	require.EqualError(t, err, "kernel: device rxe0: its driver is that of Linux 6.12, the machine runs 6.1")
	_, err = m.Register(New(Config{Kernel: m.Kernel()}))
	require.NoError(t, err)
}
