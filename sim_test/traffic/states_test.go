package traffic

import (
	"fmt"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// Short names of the attributes and the states, for the table below.
const (
	pkey     = verbs.IBV_QP_PKEY_INDEX
	onPort   = verbs.IBV_QP_PORT
	access   = verbs.IBV_QP_ACCESS_FLAGS
	withQKey = verbs.IBV_QP_QKEY
	av       = verbs.IBV_QP_AV
	mtu      = verbs.IBV_QP_PATH_MTU
	dest     = verbs.IBV_QP_DEST_QPN
	rqPSN    = verbs.IBV_QP_RQ_PSN
	sqPSN    = verbs.IBV_QP_SQ_PSN
	reads    = verbs.IBV_QP_MAX_QP_RD_ATOMIC
	answers  = verbs.IBV_QP_MAX_DEST_RD_ATOMIC
	rnrTimer = verbs.IBV_QP_MIN_RNR_TIMER
	timeout  = verbs.IBV_QP_TIMEOUT
	retries  = verbs.IBV_QP_RETRY_CNT
	rnrRetry = verbs.IBV_QP_RNR_RETRY
	altPath  = verbs.IBV_QP_ALT_PATH
	migState = verbs.IBV_QP_PATH_MIG_STATE
	curState = verbs.IBV_QP_CUR_STATE
	capacity = verbs.IBV_QP_CAP
	notify   = verbs.IBV_QP_EN_SQD_ASYNC_NOTIFY

	reset = verbs.IBV_QPS_RESET
	init_ = verbs.IBV_QPS_INIT
	rtr   = verbs.IBV_QPS_RTR
	rts   = verbs.IBV_QPS_RTS
	sqd   = verbs.IBV_QPS_SQD
	sqe   = verbs.IBV_QPS_SQE
	inErr = verbs.IBV_QPS_ERR

	rc  = verbs.IBV_QPT_RC
	uc  = verbs.IBV_QPT_UC
	ud  = verbs.IBV_QPT_UD
	ini = verbs.IBV_QPT_XRC_SEND
	tgt = verbs.IBV_QPT_XRC_RECV
)

// attributes are all that the plain command of modify_qp can set but the state.
var attributes = []uint32{pkey, onPort, access, withQKey, av, mtu, dest, rqPSN, sqPSN, reads, answers, rnrTimer, timeout, retries,
	rnrRetry, altPath, migState, curState, capacity, notify}

// step is a change of state: the attributes that it must be given and those that
// it may be given.
type step struct{ needs, takes map[verbs.QPType]uint32 }

type attrs = map[verbs.QPType]uint32

// steps is qp_state_table of drivers/infiniband/core/verbs.c for the types of queue
// pairs that programs have, without alternate paths, which the core refuses on
// RoCE, and without the steps to and from SQD: the driver knows no command that
// leads there.
var steps = map[[2]verbs.QPState]step{
	{reset, reset}: {},
	{reset, init_}: {needs: attrs{rc: pkey | onPort | access, uc: pkey | onPort | access, ud: pkey | onPort | withQKey,
		ini: pkey | onPort | access, tgt: pkey | onPort | access}},

	{init_, reset}: {},
	{init_, inErr}: {},
	{init_, init_}: {takes: attrs{rc: pkey | onPort | access, uc: pkey | onPort | access, ud: pkey | onPort | withQKey,
		ini: pkey | onPort | access, tgt: pkey | onPort | access}},
	{init_, rtr}: {
		needs: attrs{rc: av | mtu | dest | rqPSN | answers | rnrTimer, uc: av | mtu | dest | rqPSN, ini: av | mtu | dest | rqPSN,
			tgt: av | mtu | dest | rqPSN | answers | rnrTimer},
		takes: attrs{rc: access | pkey, uc: access | pkey, ud: pkey | withQKey, ini: access | pkey, tgt: access | pkey},
	},

	{rtr, reset}: {},
	{rtr, inErr}: {},
	{rtr, rts}: {
		needs: attrs{rc: timeout | retries | rnrRetry | sqPSN | reads, uc: sqPSN, ud: sqPSN,
			ini: timeout | retries | rnrRetry | sqPSN | reads, tgt: timeout | sqPSN},
		takes: attrs{rc: curState | access | rnrTimer | migState, uc: curState | access | migState, ud: curState | withQKey,
			ini: curState | access | migState, tgt: curState | access | rnrTimer | migState},
	},

	{rts, reset}: {},
	{rts, inErr}: {},
	{rts, rts}: {takes: attrs{rc: curState | access | migState | rnrTimer, uc: curState | access | migState, ud: curState | withQKey,
		ini: curState | access | migState, tgt: curState | access | migState | rnrTimer}},

	{sqe, reset}: {},
	{sqe, inErr}: {},
	{sqe, rts}:   {takes: attrs{uc: curState | access, ud: curState | withQKey}},

	{inErr, reset}: {},
	{inErr, inErr}: {},
}

// ignored are the attributes that the core drops before it looks at them
// (modify_qp_mask of drivers/infiniband/core/uverbs_cmd.c).
var ignored = attrs{ini: answers | rnrTimer, tgt: reads | retries | rnrRetry}

// reachable are the states that a queue pair of a type can be brought to.
func reachable(typ verbs.QPType) []verbs.QPState {
	states := []verbs.QPState{reset, init_, rtr, rts, inErr}
	if typ == uc || typ == ud {
		states = append(states, sqe)
	}
	return states
}

// stepper brings a queue pair, whose peer it is itself, to states.
type stepper struct {
	*program
	qp *libmlx5.QP
}

func newStepper(t *testing.T, typ verbs.QPType) *stepper {
	p := boot(t, options{}).start(0)
	s := &stepper{program: p}
	attr := libmlx5.QPInitAttr{Type: typ}
	if typ == tgt {
		attr.XRCD = p.openXRCD()
	} else {
		attr.PD, attr.SendCQ, attr.Cap = p.pd, p.createCQ(16, nil), verbs.QPCap{MaxSendWR: 1, MaxSendSGE: 1}
		if typ != ini {
			attr.RecvCQ, attr.Cap.MaxRecvWR, attr.Cap.MaxRecvSGE = attr.SendCQ, 1, 1
		}
	}
	s.qp = p.createQP(&attr)
	return s
}

// values are an attribute of each kind that is good with each step.
func (s *stepper) values(cur, next verbs.QPState) verbs.QPAttr {
	return verbs.QPAttr{QPState: next, CurQPState: cur, PortNum: port, QPAccessFlags: remoteOps, QKey: 5, AHAttr: path(s.gid),
		PathMTU: verbs.IBV_MTU_1024, DestQPNum: s.qp.Num, RQPSN: 1, SQPSN: 2, MaxRdAtomic: 4, MaxDestRdAtomic: 4, MinRNRTimer: 12,
		Timeout: 14, RetryCnt: 7, RNRRetry: 7, PathMigState: verbs.IBV_MIG_MIGRATED, AltAHAttr: path(s.gid), AltPortNum: port}
}

func (s *stepper) try(cur, next verbs.QPState, mask uint32) error {
	attr := s.values(cur, next)
	return s.qp.Modify(&attr, mask|verbs.IBV_QP_STATE)
}

// bring takes the queue pair to a state by the shortest way.
func (s *stepper) bring(state verbs.QPState) {
	s.Helper()
	s.toState(s.qp, reset)
	for _, next := range map[verbs.QPState][]verbs.QPState{
		init_: {init_}, rtr: {init_, rtr}, rts: {init_, rtr, rts}, sqe: {init_, rtr, rts}, inErr: {init_, inErr},
	}[state] {
		from := map[verbs.QPState]verbs.QPState{init_: reset, rtr: init_, rts: rtr, inErr: init_}[next]
		require.NoError(s, s.try(from, next, steps[[2]verbs.QPState{from, next}].needs[s.qp.Type]))
	}
	if state == sqe {
		wr := libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SGList: []verbs.SGE{{Length: 1, LKey: 1}}}
		if s.qp.Type == ud {
			wr.UD.AH = s.createAH(s.gid)
		}
		_, err := s.qp.PostSend(&wr)
		require.NoError(s, err)
		s.settle()
	}
	require.Equal(s, state, s.state(s.qp))
}

// eachStep runs a test with every pair of states that a queue pair of each type
// can be in and be asked to go to.
func eachStep(t *testing.T, f func(s *stepper, cur, next verbs.QPState, what string)) {
	for name, typ := range map[string]verbs.QPType{"RC": rc, "UC": uc, "UD": ud, "XRC initiator": ini, "XRC target": tgt} {
		t.Run(name, func(t *testing.T) {
			s := newStepper(t, typ)
			for _, cur := range reachable(typ) {
				for next := reset; next <= inErr; next++ {
					f(s, cur, next, fmt.Sprintf("%d to %d", cur, next))
				}
			}
		})
	}
}

// TestIllegalSteps: what is not in the table is refused whatever is given with it,
// and the queue pair stays where it is.
func TestIllegalSteps(t *testing.T) {
	eachStep(t, func(s *stepper, cur, next verbs.QPState, what string) {
		if _, legal := steps[[2]verbs.QPState{cur, next}]; legal {
			return
		}
		s.bring(cur)
		masks := []uint32{0, pkey | onPort | access, av | mtu | dest | rqPSN | answers | rnrTimer, sqPSN, curState,
			timeout | retries | rnrRetry | sqPSN | reads}
		for _, mask := range append(masks, attributes...) {
			require.ErrorIs(s, s.try(cur, next, mask), syscall.EINVAL, "%s with %#x", what, mask)
		}
		require.Equal(s, cur, s.state(s.qp), what)
	})
}

// TestAttributesOfSteps: a step of the table is taken with just what it needs, and
// with each attribute that it takes; it is refused without one of the former and
// with any other.
func TestAttributesOfSteps(t *testing.T) {
	eachStep(t, func(s *stepper, cur, next verbs.QPState, what string) {
		st, legal := steps[[2]verbs.QPState{cur, next}]
		if !legal {
			return
		}
		needs, takes := st.needs[s.qp.Type], st.takes[s.qp.Type]
		s.bring(cur)
		for _, bit := range attributes {
			switch {
			case ignored[s.qp.Type]&bit != 0:
			case needs&bit != 0:
				require.ErrorIs(s, s.try(cur, next, needs&^bit), syscall.EINVAL, "%s without %#x", what, bit)
			case takes&bit == 0:
				require.ErrorIs(s, s.try(cur, next, needs|bit), syscall.EINVAL, "%s with %#x", what, bit)
			}
		}
		require.Equal(s, cur, s.state(s.qp), what)
		good := []uint32{needs, needs | takes}
		for _, bit := range attributes {
			if takes&bit != 0 {
				good = append(good, needs|bit)
			}
		}
		for _, mask := range good {
			s.bring(cur)
			require.NoError(s, s.try(cur, next, mask), "%s with %#x", what, mask)
			require.Equal(s, next, s.state(s.qp), what)
		}
	})
}

// TestPresentStateIsALie: the driver believes the present state that it is told,
// and the device refuses the command that does not go with the real one.
func TestPresentStateIsALie(t *testing.T) {
	s := newStepper(t, rc)
	s.bring(rtr)
	require.Error(t, s.try(rts, rts, curState))
	require.Equal(t, rtr, s.state(s.qp))
}

// TestValuesOfAttributes: values that no queue pair can have are refused.
func TestValuesOfAttributes(t *testing.T) {
	s := newStepper(t, rc)
	for name, tt := range map[string]struct {
		cur, next verbs.QPState
		change    func(*verbs.QPAttr)
	}{
		"port 0":               {reset, init_, func(a *verbs.QPAttr) { a.PortNum = 0 }},
		"port 2":               {reset, init_, func(a *verbs.QPAttr) { a.PortNum = 2 }},
		"P_Key index":          {reset, init_, func(a *verbs.QPAttr) { a.PKeyIndex = 5000 }},
		"MTU 0":                {init_, rtr, func(a *verbs.QPAttr) { a.PathMTU = 0 }},
		"MTU 8192":             {init_, rtr, func(a *verbs.QPAttr) { a.PathMTU = 6 }},
		"17 reads as answerer": {init_, rtr, func(a *verbs.QPAttr) { a.MaxDestRdAtomic = 17 }},
		"17 reads as asker":    {rtr, rts, func(a *verbs.QPAttr) { a.MaxRdAtomic = 17 }},
		"path without a GRH":   {init_, rtr, func(a *verbs.QPAttr) { a.AHAttr.IsGlobal = false }},
		"GID index":            {init_, rtr, func(a *verbs.QPAttr) { a.AHAttr.GRH.SGIDIndex = 200 }},
		"port of the path":     {init_, rtr, func(a *verbs.QPAttr) { a.AHAttr.PortNum = 2 }},
		"address nobody has":   {init_, rtr, func(a *verbs.QPAttr) { a.AHAttr.GRH.DGID[15] = 0xee }},
	} {
		t.Run(name, func(t *testing.T) {
			s.within(t)
			s.bring(tt.cur)
			attr := s.values(tt.cur, tt.next)
			tt.change(&attr)
			require.Error(t, s.qp.Modify(&attr, steps[[2]verbs.QPState{tt.cur, tt.next}].needs[rc]|verbs.IBV_QP_STATE))
			require.Equal(t, tt.cur, s.state(s.qp))
		})
	}
}

// TestQueryAfterEachStep: query_qp tells what was set, where the device keeps it:
// depths are rounded up to powers of two.
func TestQueryAfterEachStep(t *testing.T) {
	for name, typ := range services {
		t.Run(name, func(t *testing.T) {
			client, server := unconnected(t, setup{typ: typ, cap: verbs.QPCap{MaxSendWR: 10, MaxRecvWR: 10, MaxSendSGE: 3, MaxRecvSGE: 3}})
			l := typical()
			l.reads, l.answers, l.rnrTimer, l.timeout, l.retries, l.rnrRetries = 3, 5, 21, 17, 5, 6
			l.allows = verbs.IBV_ACCESS_REMOTE_WRITE
			if typ == rc || typ == ini {
				l.allows = remoteOps
			}
			query := func(qp *libmlx5.QP) *verbs.QPAttr {
				attr, sigAll, err := qp.Query(verbs.IBV_QP_STATE | verbs.IBV_QP_CAP)
				require.NoError(t, err)
				require.False(t, sigAll)
				require.Equal(t, attr.QPState, attr.CurQPState)
				return attr
			}
			require.Equal(t, reset, query(client.qp).QPState)
			client.toInit(l)
			attr := query(client.qp)
			require.Equal(t, init_, attr.QPState)
			require.EqualValues(t, port, attr.PortNum)
			require.Zero(t, attr.PKeyIndex)
			if typ == ud {
				require.Equal(t, l.qkey, attr.QKey)
			}
			client.toState(client.qp, reset)
			if client.target != client.qp {
				client.toState(client.target, reset)
			}
			client.toRTR(l, 0x123456)
			attr = query(client.target)
			require.Equal(t, rtr, attr.QPState)
			if typ != ud {
				require.EqualValues(t, 0x123456, attr.RQPSN)
				require.Equal(t, server.qp.Num, attr.DestQPNum)
				require.Equal(t, l.mtu, attr.PathMTU)
				require.Equal(t, l.allows, attr.QPAccessFlags)
				require.True(t, attr.AHAttr.IsGlobal)
				require.Equal(t, server.gid, attr.AHAttr.GRH.DGID)
				require.EqualValues(t, gidIndex, attr.AHAttr.GRH.SGIDIndex)
				require.EqualValues(t, port, attr.AHAttr.PortNum)
			}
			if typ == rc || typ == ini {
				require.EqualValues(t, 8, attr.MaxDestRdAtomic)
				require.EqualValues(t, 21, attr.MinRNRTimer)
			}
			client.toRTS(l, 0x654321)
			attr = query(client.qp)
			require.Equal(t, rts, attr.QPState)
			require.EqualValues(t, 0x654321, attr.SQPSN)
			if typ == rc || typ == ini {
				require.EqualValues(t, 4, attr.MaxRdAtomic)
				require.EqualValues(t, 17, attr.Timeout)
				require.EqualValues(t, 5, attr.RetryCnt)
				require.EqualValues(t, 6, attr.RNRRetry)
			}
			require.GreaterOrEqual(t, attr.Cap.MaxSendWR, uint32(10))
			require.EqualValues(t, 3, attr.Cap.MaxSendSGE)
			if typ != ini {
				require.GreaterOrEqual(t, attr.Cap.MaxRecvWR, uint32(10))
				require.GreaterOrEqual(t, attr.Cap.MaxRecvSGE, uint32(3))
			}
			client.toState(client.qp, inErr)
			require.Equal(t, inErr, query(client.qp).QPState)
		})
	}
}

// TestPacketNumbersAdvance: query_qp tells the numbers of the next packets.
func TestPacketNumbersAdvance(t *testing.T) {
	client, server := pair(t, setup{link: func(l *link) { l.clientPSN, l.mtu = 0xfffffe, verbs.IBV_MTU_256 }})
	server.receive(server.into(1, 0, 1000))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 1000))) // four packets
	client.succeeded(client.sent(), 1)
	attr, _, err := client.qp.Query(verbs.IBV_QP_SQ_PSN)
	require.NoError(t, err)
	require.EqualValues(t, 2, attr.SQPSN)
	attr, _, err = server.qp.Query(verbs.IBV_QP_RQ_PSN)
	require.NoError(t, err)
	require.EqualValues(t, 2, attr.RQPSN)
}

// TestAccessChangesInRTS: what the other end may do can be changed while the
// connection lives.
func TestAccessChangesInRTS(t *testing.T) {
	client, server := pair(t, setup{link: func(l *link) { l.allows = 0 }})
	server.modify(server.qp, verbs.QPAttr{QPState: rts, QPAccessFlags: verbs.IBV_ACCESS_REMOTE_WRITE}, verbs.IBV_QP_STATE|access)
	wr := toTarget(verbs.IBV_WR_RDMA_WRITE, nil)(client, server)
	client.post(wr)
	client.succeeded(client.sent(), 1)
	client.post(toTarget(verbs.IBV_WR_RDMA_READ, nil)(client, server))
	require.Equal(t, libmlx5.IBV_WC_REM_ACCESS_ERR, client.one(client.sent()).Status)
}

// TestReceivesBeforeRTR: receives are taken from INIT on, sends from RTS on.
func TestReceivesBeforeRTR(t *testing.T) {
	client, server := unconnected(t, setup{})
	l := typical()
	recv, send := server.into(1, 0, 8), client.addressed(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	_, err := server.qp.PostRecv(&recv)
	require.ErrorIs(t, err, syscall.EINVAL)
	server.toInit(l)
	server.receive(recv)
	server.toState(server.qp, reset)
	server.toInit(l)
	server.receive(recv)
	for _, to := range []func(){func() {}, func() { client.toRTR(l, l.serverPSN) }} {
		to()
		_, err = client.qp.PostSend(&send)
		require.ErrorIs(t, err, syscall.ENOMEM)
	}
	server.modify(server.qp, l.rtrAttr(client.qp, client.gid, l.clientPSN), rtrMask[rc])
	client.toRTS(l, l.clientPSN)
	client.post(send)
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
	server.events()
}
