package libmlx5_test

import (
	"cmp"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// createQP makes a queue pair; its domain is made here if attr has none.
func (m *machine) createQP(attr *libmlx5.QPInitAttr) *libmlx5.QP {
	m.t.Helper()
	if attr.PD == nil && attr.XRCD == nil {
		pd, err := m.ctx.AllocPD()
		require.NoError(m.t, err)
		attr.PD = pd
	}
	qp, err := m.ctx.CreateQP(attr)
	require.NoError(m.t, err)
	return qp
}

func (m *machine) toInit(qp *libmlx5.QP) {
	m.t.Helper()
	attr := verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: 1}
	mask := uint32(verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT)
	if qp.Type == verbs.IBV_QPT_UD {
		attr.QKey = 0x11111111
		mask |= verbs.IBV_QP_QKEY
	} else {
		attr.QPAccessFlags = verbs.IBV_ACCESS_REMOTE_WRITE | verbs.IBV_ACCESS_REMOTE_READ
		if m.ctx.Device.Base.AtomicCap != 0 {
			attr.QPAccessFlags |= verbs.IBV_ACCESS_REMOTE_ATOMIC
		}
		mask |= verbs.IBV_QP_ACCESS_FLAGS
	}
	require.NoError(m.t, qp.Modify(&attr, mask))
	require.Equal(m.t, verbs.IBV_QPS_INIT, qp.State)
}

// toRTS moves a queue pair on until it sends, connected with dest.
func (m *machine) toRTS(qp *libmlx5.QP, dest uint32) {
	m.t.Helper()
	m.toInit(qp)
	mask := uint32(verbs.IBV_QP_STATE)
	attr := verbs.QPAttr{QPState: verbs.IBV_QPS_RTR, PathMTU: cmp.Or(m.mtu, verbs.IBV_MTU_1024), DestQPNum: dest,
		MaxDestRdAtomic: 4, MinRNRTimer: 12,
		AHAttr: verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{DGID: m.gid(), HopLimit: 1}}}
	connected := qp.Type != verbs.IBV_QPT_UD
	reliable := connected && qp.Type != verbs.IBV_QPT_UC
	if connected {
		mask |= verbs.IBV_QP_AV | verbs.IBV_QP_PATH_MTU | verbs.IBV_QP_DEST_QPN | verbs.IBV_QP_RQ_PSN
	}
	if reliable {
		mask |= verbs.IBV_QP_MAX_DEST_RD_ATOMIC | verbs.IBV_QP_MIN_RNR_TIMER
	}
	require.NoError(m.t, qp.Modify(&attr, mask))
	attr = verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, Timeout: 14, RetryCnt: 7, RNRRetry: 7, MaxRdAtomic: 4}
	mask = verbs.IBV_QP_STATE | verbs.IBV_QP_SQ_PSN
	if reliable {
		mask |= verbs.IBV_QP_TIMEOUT | verbs.IBV_QP_RETRY_CNT | verbs.IBV_QP_RNR_RETRY | verbs.IBV_QP_MAX_QP_RD_ATOMIC
	}
	require.NoError(m.t, qp.Modify(&attr, mask))
}

func (m *machine) gid() [16]byte {
	gid, err := m.ctx.QueryGID(1, 0)
	require.NoError(m.t, err)
	return gid
}

// load reads the program's memory.
func (m *machine) load(at copyuser.Addr, n int) []byte {
	b := make([]byte, n)
	require.True(m.t, m.proc.Load(at, b))
	return b
}
