package traffic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// setup says what two ends of a connection are made of. Zero values stand for
// what most tests want.
type setup struct {
	options
	apart  bool // on two devices
	typ    verbs.QPType
	cap    verbs.QPCap // 16 requests of 4 pieces each way
	size   uint64      // of each end's memory; 64 KiB
	access uint32      // what that may be used for; everything
	srq    bool        // the receives are those of a shared queue
	sigAll bool
	flags  uint32 // IBV_QP_CREATE_*
	ops    uint64 // for the builder

	channel bool // completions tell by a channel
	cqe     uint32
	cq      func(*libmlx5.CQInitAttr)

	link func(*link)
}

// link is the attributes that both ends of a connection agree on.
type link struct {
	mtu                        verbs.MTU
	allows                     uint32 // what the other end may do
	reads, answers             uint8  // requests for data at a time, as asker and as answerer
	timeout, retries           uint8
	rnrRetries, rnrTimer       uint8
	clientPSN, serverPSN, qkey uint32
}

// typical is what connections have unless a test says otherwise. The numbers of
// packets are about to start again from 0.
func typical() link {
	return link{mtu: verbs.IBV_MTU_1024, allows: remoteOps, reads: 4, answers: 4, timeout: 14, retries: 7, rnrRetries: 7, rnrTimer: 12,
		clientPSN: 0xfffff0, serverPSN: 0xfffffe, qkey: 0x11111111}
}

func (s setup) withDefaults() setup {
	if s.cap == (verbs.QPCap{}) {
		s.cap = verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 4, MaxRecvSGE: 4}
	}
	if s.typ == 0 {
		s.typ = verbs.IBV_QPT_RC
	}
	if s.size == 0 {
		s.size = 1 << 16
	}
	if s.access == 0 {
		s.access = everything
	}
	if s.cqe == 0 {
		s.cqe = 64
	}
	if s.apart {
		s.devices = 2
	}
	return s
}

// end is one end of a connection: a program with a queue pair and memory for its
// messages. With XRC it has an initiator to send, and to receive a target with a
// shared queue.
type end struct {
	*program
	setup
	peer           *end
	channel        *verbs.CompChannel
	sendCQ, recvCQ *libmlx5.CQ
	srq            *libmlx5.SRQ // that receives are posted to; nil for the queue pair's own
	xrcd           *verbs.XRCD
	qp             *libmlx5.QP // that sends
	target         *libmlx5.QP // that receives: the same but with XRC
	ah             *libmlx5.AH // of the peer, for datagrams
	mem            *memory
}

// pair makes two connected ends, each a process with memory of its own.
func pair(t *testing.T, s setup) (client, server *end) {
	t.Helper()
	client, server = unconnected(t, s)
	connect(client, server)
	return client, server
}

// unconnected makes two ends whose queue pairs are in RESET.
func unconnected(t *testing.T, s setup) (client, server *end) {
	t.Helper()
	s = s.withDefaults()
	m := boot(t, s.options)
	client, server = m.start(0).newEnd(s), m.start(len(m.devices)-1).newEnd(s)
	client.peer, server.peer = server, client
	return client, server
}

// newEnd makes all that an end needs.
func (p *program) newEnd(s setup) *end {
	p.Helper()
	s = s.withDefaults()
	e := &end{program: p, setup: s}
	if s.channel {
		e.channel = p.channel()
	}
	change := func(a *libmlx5.CQInitAttr) {
		a.Channel = e.channel
		if s.cq != nil {
			s.cq(a)
		}
	}
	e.sendCQ, e.recvCQ = p.createCQ(s.cqe, change), p.createCQ(s.cqe, change)
	e.mem = p.register(s.size, s.access)
	attr := libmlx5.QPInitAttr{PD: p.pd, SendCQ: e.sendCQ, RecvCQ: e.recvCQ, Type: s.typ, Cap: s.cap, SQSigAll: s.sigAll,
		CreateFlags: s.flags, SendOpsFlags: s.ops}
	shared := libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_BASIC, Attr: verbs.SRQAttr{MaxWR: s.cap.MaxRecvWR, MaxSGE: s.cap.MaxRecvSGE}}
	switch {
	case s.typ == verbs.IBV_QPT_XRC_SEND:
		e.xrcd = p.openXRCD()
		shared.Type, shared.XRCD, shared.CQ = verbs.IBV_SRQT_XRC, e.xrcd, e.recvCQ
		e.srq = p.createSRQ(&shared)
		e.target = p.createQP(&libmlx5.QPInitAttr{XRCD: e.xrcd, Type: verbs.IBV_QPT_XRC_RECV})
		attr.RecvCQ, attr.Cap.MaxRecvWR, attr.Cap.MaxRecvSGE = nil, 0, 0
	case s.srq:
		e.srq = p.createSRQ(&shared)
		attr.SRQ = e.srq
	}
	e.qp = p.createQP(&attr)
	if e.target == nil {
		e.target = e.qp
	}
	return e
}

// openXRCD opens a domain that only this program has.
func (p *program) openXRCD() *verbs.XRCD {
	p.Helper()
	const create = 0o100 // O_CREAT
	xrcd, err := p.ctx.OpenXRCD(-1, create)
	require.NoError(p, err)
	p.atEnd(xrcd.Close)
	return xrcd
}

// connect takes the queue pairs of two ends to RTS.
func connect(client, server *end) {
	client.Helper()
	l := typical()
	if client.setup.link != nil {
		client.setup.link(&l)
	}
	client.toRTR(l, l.serverPSN)
	server.toRTR(l, l.clientPSN)
	client.toRTS(l, l.clientPSN)
	server.toRTS(l, l.serverPSN)
}

// connectToItself makes an end its own peer.
func (e *end) connectToItself() {
	e.Helper()
	l := typical()
	e.peer = e
	e.toRTR(l, l.clientPSN)
	e.toRTS(l, l.clientPSN)
}

// The attributes that the steps to RTS take, by the type of the queue pair: what
// ib_modify_qp_is_ok in drivers/infiniband/core/verbs.c wants.
var (
	initMask = map[verbs.QPType]uint32{
		verbs.IBV_QPT_RC:       verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_ACCESS_FLAGS,
		verbs.IBV_QPT_UC:       verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_ACCESS_FLAGS,
		verbs.IBV_QPT_UD:       verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_QKEY,
		verbs.IBV_QPT_XRC_SEND: verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_ACCESS_FLAGS,
		verbs.IBV_QPT_XRC_RECV: verbs.IBV_QP_STATE | verbs.IBV_QP_PKEY_INDEX | verbs.IBV_QP_PORT | verbs.IBV_QP_ACCESS_FLAGS,
	}
	rtrMask = map[verbs.QPType]uint32{
		verbs.IBV_QPT_RC: verbs.IBV_QP_STATE | verbs.IBV_QP_AV | verbs.IBV_QP_PATH_MTU | verbs.IBV_QP_DEST_QPN | verbs.IBV_QP_RQ_PSN |
			verbs.IBV_QP_MAX_DEST_RD_ATOMIC | verbs.IBV_QP_MIN_RNR_TIMER,
		verbs.IBV_QPT_UC: verbs.IBV_QP_STATE | verbs.IBV_QP_AV | verbs.IBV_QP_PATH_MTU | verbs.IBV_QP_DEST_QPN | verbs.IBV_QP_RQ_PSN,
		verbs.IBV_QPT_UD: verbs.IBV_QP_STATE,
		verbs.IBV_QPT_XRC_SEND: verbs.IBV_QP_STATE | verbs.IBV_QP_AV | verbs.IBV_QP_PATH_MTU | verbs.IBV_QP_DEST_QPN |
			verbs.IBV_QP_RQ_PSN,
		verbs.IBV_QPT_XRC_RECV: verbs.IBV_QP_STATE | verbs.IBV_QP_AV | verbs.IBV_QP_PATH_MTU | verbs.IBV_QP_DEST_QPN |
			verbs.IBV_QP_RQ_PSN | verbs.IBV_QP_MAX_DEST_RD_ATOMIC | verbs.IBV_QP_MIN_RNR_TIMER,
	}
	rtsMask = map[verbs.QPType]uint32{
		verbs.IBV_QPT_RC: verbs.IBV_QP_STATE | verbs.IBV_QP_TIMEOUT | verbs.IBV_QP_RETRY_CNT | verbs.IBV_QP_RNR_RETRY |
			verbs.IBV_QP_SQ_PSN | verbs.IBV_QP_MAX_QP_RD_ATOMIC,
		verbs.IBV_QPT_UC: verbs.IBV_QP_STATE | verbs.IBV_QP_SQ_PSN,
		verbs.IBV_QPT_UD: verbs.IBV_QP_STATE | verbs.IBV_QP_SQ_PSN,
		verbs.IBV_QPT_XRC_SEND: verbs.IBV_QP_STATE | verbs.IBV_QP_TIMEOUT | verbs.IBV_QP_RETRY_CNT | verbs.IBV_QP_RNR_RETRY |
			verbs.IBV_QP_SQ_PSN | verbs.IBV_QP_MAX_QP_RD_ATOMIC,
		verbs.IBV_QPT_XRC_RECV: verbs.IBV_QP_STATE | verbs.IBV_QP_TIMEOUT | verbs.IBV_QP_SQ_PSN,
	}
)

func (l *link) initAttr() verbs.QPAttr {
	return verbs.QPAttr{QPState: verbs.IBV_QPS_INIT, PortNum: port, QPAccessFlags: l.allows, QKey: l.qkey}
}

func (l *link) rtrAttr(to *libmlx5.QP, gid [16]byte, psn uint32) verbs.QPAttr {
	return verbs.QPAttr{QPState: verbs.IBV_QPS_RTR, PathMTU: l.mtu, DestQPNum: to.Num, RQPSN: psn, MaxDestRdAtomic: l.answers,
		MinRNRTimer: l.rnrTimer, AHAttr: path(gid)}
}

func (l *link) rtsAttr(psn uint32) verbs.QPAttr {
	return verbs.QPAttr{QPState: verbs.IBV_QPS_RTS, SQPSN: psn, MaxRdAtomic: l.reads, Timeout: l.timeout, RetryCnt: l.retries,
		RNRRetry: l.rnrRetries}
}

// toRTR takes an end to RTR, where it receives what begins at a packet number.
func (e *end) toRTR(l link, psn uint32) {
	e.Helper()
	e.toInit(l)
	// The initiator of one end is connected to the target of the other.
	e.modify(e.qp, l.rtrAttr(e.peer.target, e.peer.gid, psn), rtrMask[e.qp.Type])
	if e.target != e.qp {
		e.modify(e.target, l.rtrAttr(e.peer.qp, e.peer.gid, psn), rtrMask[e.target.Type])
	}
	if e.typ == verbs.IBV_QPT_UD && e.ah == nil {
		e.ah = e.createAH(e.peer.gid)
	}
}

func (e *end) toInit(l link) {
	e.Helper()
	e.modify(e.qp, l.initAttr(), initMask[e.qp.Type])
	if e.target != e.qp {
		e.modify(e.target, l.initAttr(), initMask[e.target.Type])
	}
}

func (e *end) toRTS(l link, psn uint32) {
	e.Helper()
	e.modify(e.qp, l.rtsAttr(psn), rtsMask[e.qp.Type])
	if e.target != e.qp {
		e.modify(e.target, l.rtsAttr(psn), rtsMask[e.target.Type])
	}
}

func (p *program) modify(qp *libmlx5.QP, attr verbs.QPAttr, mask uint32) {
	p.Helper()
	require.NoError(p, qp.Modify(&attr, mask))
}

// toState takes a queue pair to RESET or to ERR.
func (p *program) toState(qp *libmlx5.QP, state verbs.QPState) {
	p.Helper()
	p.modify(qp, verbs.QPAttr{QPState: state}, verbs.IBV_QP_STATE)
}

// state asks for a queue pair's state.
func (p *program) state(qp *libmlx5.QP) verbs.QPState {
	p.Helper()
	attr, _, err := qp.Query(verbs.IBV_QP_STATE)
	require.NoError(p, err)
	return attr.QPState
}

// addressed fills in what a request needs to find the peer.
func (e *end) addressed(wr libmlx5.SendWR) libmlx5.SendWR {
	switch e.typ {
	case verbs.IBV_QPT_UD:
		wr.UD = libmlx5.UDWR{AH: e.ah, RemoteQPN: e.peer.qp.Num, RemoteQKey: e.qkey()}
	case verbs.IBV_QPT_XRC_SEND:
		wr.XRC.RemoteSRQN = e.peer.srq.SRQN
	}
	return wr
}

func (e *end) qkey() uint32 {
	l := typical()
	if e.setup.link != nil {
		e.setup.link(&l)
	}
	return l.qkey
}

// post posts requests in one list, and expects that they are taken.
func (e *end) post(wrs ...libmlx5.SendWR) {
	e.Helper()
	for i := range wrs {
		wrs[i] = e.addressed(wrs[i])
		if i > 0 {
			wrs[i-1].Next = &wrs[i]
		}
	}
	bad, err := e.qp.PostSend(&wrs[0])
	require.NoError(e, err)
	require.Nil(e, bad)
}

// receive posts receives in one list, and expects that they are taken.
func (e *end) receive(wrs ...libmlx5.RecvWR) {
	e.Helper()
	for i := 1; i < len(wrs); i++ {
		wrs[i-1].Next = &wrs[i]
	}
	postRecv := e.target.PostRecv
	if e.srq != nil {
		postRecv = e.srq.PostRecv
	}
	bad, err := postRecv(&wrs[0])
	require.NoError(e, err)
	require.Nil(e, bad)
}

// header is how many bytes of a receive's memory stand before the message.
func (e *end) header() uint64 {
	if e.typ == verbs.IBV_QPT_UD {
		return 40
	}
	return 0
}

// into is a receive of n bytes to an offset of the memory, with the room that a
// datagram's header takes before it.
func (e *end) into(id, off, n uint64) libmlx5.RecvWR {
	return libmlx5.RecvWR{WRID: id, SGList: []verbs.SGE{e.mem.sge(off, n+e.header())}}
}

// sent and received let the devices work, and take the completions of what the
// end has sent or received.
func (e *end) sent() []libmlx5.WC {
	e.Helper()
	e.settle()
	return e.poll(e.sendCQ)
}

func (e *end) received() []libmlx5.WC {
	e.Helper()
	e.settle()
	return e.poll(e.recvCQ)
}

// one is the only completion of a list.
func (m *machine) one(wcs []libmlx5.WC) libmlx5.WC {
	m.Helper()
	require.Len(m, wcs, 1)
	return wcs[0]
}

// succeeded expects completions of these requests, in this order.
func (m *machine) succeeded(wcs []libmlx5.WC, ids ...uint64) {
	m.Helper()
	var got []uint64
	for _, wc := range wcs {
		require.Equal(m, libmlx5.IBV_WC_SUCCESS, wc.Status, "request %d, vendor syndrome %#x", wc.WRID, wc.VendorErr)
		got = append(got, wc.WRID)
	}
	require.Equal(m, ids, got)
}

// signaled is a request with a completion.
func signaled(id uint64, op verbs.WROpcode, sges ...verbs.SGE) libmlx5.SendWR {
	return libmlx5.SendWR{WRID: id, Opcode: op, SendFlags: verbs.IBV_SEND_SIGNALED, SGList: sges}
}
