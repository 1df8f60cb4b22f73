package hw

import (
	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of the queue pairs' commands and of their context.
var (
	qpContextIn  = ifc.Must("create_qp_in").Field("qpc")
	qpNumberOut  = ifc.Must("create_qp_out").Field("qpn")
	qpPas        = ifc.Must("create_qp_in").Field("pas").Byte()
	qpContextOut = ifc.Must("query_qp_out").Field("qpc")
	qpStepIn     = ifc.Must("rst2init_qp_in").Field("qpc")
	qpOptIn      = ifc.Must("rst2init_qp_in").Field("opt_param_mask")

	qpc = struct {
		state, st, pd, mtu, logMsgMax, logRQSize, logRQStride, noSQ, logSQSize, counterSet, uarPage, userIndex, logPageSize,
		remoteQPN, logSRAMax, retryCount, rnrRetry, curRNRRetry, curRetryCount, nextSendPSN, cqnSnd, lastAckedPSN, logRRAMax,
		rre, rwe, rae, pageOffset, minRNRNak, nextRcvPSN, xrcd, cqnRcv, dbrAddr, qKey, rqType, srqn, hwSQCounter, swSQCounter,
		hwRQCounter, swRQCounter, blockLBMC, rlky ifc.Field
		path adsFields
	}{
		state: qpcField("state"), st: qpcField("st"), pd: qpcField("pd"), mtu: qpcField("mtu"), logMsgMax: qpcField("log_msg_max"),
		logRQSize: qpcField("log_rq_size"), logRQStride: qpcField("log_rq_stride"), noSQ: qpcField("no_sq"),
		logSQSize: qpcField("log_sq_size"), counterSet: qpcField("counter_set_id"), uarPage: qpcField("uar_page"),
		userIndex: qpcField("user_index"), logPageSize: qpcField("log_page_size"), remoteQPN: qpcField("remote_qpn"),
		logSRAMax: qpcField("log_sra_max"), retryCount: qpcField("retry_count"), rnrRetry: qpcField("rnr_retry"),
		curRNRRetry: qpcField("cur_rnr_retry"), curRetryCount: qpcField("cur_retry_count"), nextSendPSN: qpcField("next_send_psn"),
		cqnSnd: qpcField("cqn_snd"), lastAckedPSN: qpcField("last_acked_psn"), logRRAMax: qpcField("log_rra_max"),
		rre: qpcField("rre"), rwe: qpcField("rwe"), rae: qpcField("rae"), pageOffset: qpcField("page_offset"),
		minRNRNak: qpcField("min_rnr_nak"), nextRcvPSN: qpcField("next_rcv_psn"), xrcd: qpcField("xrcd"),
		cqnRcv: qpcField("cqn_rcv"), dbrAddr: qpcField("dbr_addr"), qKey: qpcField("q_key"), rqType: qpcField("rq_type"),
		srqn: qpcField("srqn_rmpn_xrqn"), hwSQCounter: qpcField("hw_sq_wqebb_counter"), swSQCounter: qpcField("sw_sq_wqebb_counter"),
		hwRQCounter: qpcField("hw_rq_counter"), swRQCounter: qpcField("sw_rq_counter"), blockLBMC: qpcField("block_lb_mc"),
		rlky: qpcField("rlky"),
		path: adsFields{
			pkeyIndex: qpcField("primary_address_path.pkey_index"), ackTimeout: qpcField("primary_address_path.ack_timeout"),
			srcAddrIndex: qpcField("primary_address_path.src_addr_index"), sl: qpcField("primary_address_path.sl"),
			hopLimit: qpcField("primary_address_path.hop_limit"), tclass: qpcField("primary_address_path.tclass"),
			flowLabel: qpcField("primary_address_path.flow_label"),
			rgid:      qpcField("primary_address_path.rgid_rip"), port: qpcField("primary_address_path.vhca_port_num"),
		},
	}
)

// adsFields are the fields of a path that the device goes by.
type adsFields struct {
	pkeyIndex, ackTimeout, srcAddrIndex, sl, hopLimit, tclass, flowLabel, rgid, port ifc.Field
}

func qpcField(name string) ifc.Field { return ifc.Must("qpc").Field(name) }

// qp is a queue pair. Its queues and its doorbell record lie in its user's
// memory.
type qp struct {
	n       uint32
	ctx     []byte // qpc; what changes while the queue pair lives stands below
	service uint8  // MLX5_QP_ST_*
	state   uint8  // MLX5_QP_STATE_*

	who       user
	uar       uint32
	record    Addr
	buf       buffer
	userIndex uint32
	indexed   bool  // receives' completions have the user index
	counters  uint8 // the set of counters
	refs      []ref // what must not go before it
	scq, rcq  *cq   // nil where the service has none
	srq       *srq
	xrcd      uint32

	sq sendQueue
	rq recvQueue

	// What transitions set, here to be at hand.
	mtu               uint32 // bytes, a power of two
	mtuShift          uint8  // its logarithm
	remote            uint32 // queue pair
	qkey              uint32
	peer              path
	near              bool   // the other end is on this device
	maxMessage        uint64 // bytes
	canRead, canWrite bool   // what the other end may do
	canAtomic         bool
	maxReads          int   // to be asked for at once
	maxAnswers        int   // to be asked of this end at once
	maxRetries        uint8 // before a packet counts as lost for good
	maxNotReady       uint8 // the same for a receiver that is not ready
	ackTimeout        int64 // nanoseconds; 0 is none

	req  requester
	resp responder

	queued bool // waits in Device.ready
	held   bool // has a packet to send that its receiver has no room for
	turn   bool // of its answers; else of its requests
	timed  bool // is in Device.timed
}

// hasSQ says that work requests can be posted to send.
func (q *qp) hasSQ() bool { return qpc.noSQ.Get(q.ctx) == 0 }

// ownRQ says that the receives are the queue pair's own.
func (q *qp) ownRQ() bool { return qpc.rqType.Get(q.ctx) == ifc.MLX5_NON_ZERO_RQ }

// sharesRQ says that the receives are those of a shared queue. A target of XRC has
// none of its own either, but each packet names one.
func (q *qp) sharesRQ() bool {
	return qpc.rqType.Get(q.ctx) == ifc.MLX5_SRQ_RQ && q.service != ifc.MLX5_QP_ST_XRC
}

// carried are the services that this device moves packets for. The others' queue
// pairs are made and change their state; their work requests fail.
var carried = [16]bool{ifc.MLX5_QP_ST_RC: true, ifc.MLX5_QP_ST_UC: true, ifc.MLX5_QP_ST_UD: true, ifc.MLX5_QP_ST_XRC: true,
	ifc.MLX5_QP_ST_QP1: true, ifc.MLX5_QP_ST_REG_UMR: true}

// isReliable says that what is sent is acknowledged.
func (q *qp) isReliable() bool {
	return q.service == ifc.MLX5_QP_ST_RC || q.service == ifc.MLX5_QP_ST_XRC || q.service == ifc.MLX5_QP_ST_REG_UMR
}

// isDatagram says that each work request names its receiver.
func (q *qp) isDatagram() bool {
	return q.service == ifc.MLX5_QP_ST_UD || q.service == ifc.MLX5_QP_ST_QP1
}

func createQP(d *Device, c *command) *refusal {
	q := newQP(c)
	if r := q.findResources(d, c); r != nil {
		return r
	}
	if r := q.layOut(); r != nil {
		return r
	}
	return d.addQP(q, c)
}

// createQPUnchecked is the same for a device that takes what it is given, and
// gives away what is in use. A queue pair that would be refused has no queues.
func createQPUnchecked(d *Device, c *command) *refusal {
	q := newQP(c)
	if q.findResources(d, c) != nil || q.layOut() != nil {
		q.scq, q.rcq, q.srq = nil, nil, nil
		q.sq, q.rq = sendQueue{}, recvQueue{}
	}
	q.refs = nil
	return d.addQP(q, c)
}

// newQP reads a queue pair's context.
func newQP(c *command) *qp {
	ctx := qpContextIn.Bytes(c.in)
	service, privileged := uint8(qpc.st.Get(ctx)), !isUser(c.uid) && qpc.rlky.Get(ctx) != 0
	return &qp{
		ctx:     append([]byte(nil), ctx...),
		service: service,
		who: user{pd: uint32(qpc.pd.Get(ctx)), uid: c.uid, privileged: privileged,
			lists: privileged && service == ifc.MLX5_QP_ST_REG_UMR},
		uar:       uint32(qpc.uarPage.Get(ctx)),
		record:    qpc.dbrAddr.Get(ctx),
		buf:       newBuffer(qpc.logPageSize.Get(ctx), qpc.pageOffset.Get(ctx), c.in[qpPas:]),
		userIndex: uint32(qpc.userIndex.Get(ctx)),
		xrcd:      uint32(qpc.xrcd.Get(ctx)),
		qkey:      uint32(qpc.qKey.Get(ctx)),
	}
}

func (d *Device) addQP(q *qp, c *command) (r *refusal) {
	if q.n, r = d.addWith(kindQP, c.uid, q, q.refs); r != nil {
		return r
	}
	q.who.qpn = q.n
	q.indexed = d.indexes(q.userIndex)
	qpNumberOut.Set(c.out, uint64(q.n))
	return nil
}

// findResources finds the objects that the context names.
func (q *qp) findResources(d *Device, c *command) *refusal {
	if !carried[q.service&0xf] {
		return nil
	}
	q.refs = append(q.refs, domain(q.who.pd, c.uid)...)
	type side struct {
		at  **cq
		cqn uint32
	}
	var sides []side
	if q.hasSQ() {
		sides = append(sides, side{&q.scq, uint32(qpc.cqnSnd.Get(q.ctx))})
	}
	if q.service != ifc.MLX5_QP_ST_XRC {
		sides = append(sides, side{&q.rcq, uint32(qpc.cqnRcv.Get(q.ctx))})
	}
	for _, s := range sides {
		q.refs = append(q.refs, ref{kindCQ, s.cqn})
	}
	srqn := uint32(qpc.srqn.Get(q.ctx))
	if q.sharesRQ() {
		q.refs = append(q.refs, ref{kindSRQ, srqn})
	}
	if r := d.check(q.refs, c.uid); r != nil {
		return r
	}
	for _, s := range sides {
		*s.at, _ = d.objects[kindCQ].live[s.cqn].as.(*cq)
	}
	if q.sharesRQ() {
		q.srq = d.srqOf(srqn)
	}
	return nil
}

// qp finds the queue pair that stands at byte 8 of a command.
func (c *command) qp(d *Device, a access) *qp {
	q, _ := lookup[*qp](d, c, kindQP, 8, a)
	return q
}

// destroyQP ends a queue pair in whatever state. What it had under way is gone
// without a completion.
func destroyQP(d *Device, c *command) *refusal {
	q := c.qp(d, toChange)
	if q == nil {
		return noSuchObject
	}
	if r := d.removeWith(kindQP, q.n, q.refs); r != nil {
		return r
	}
	d.quiesce(q)
	q.state = ifc.MLX5_QP_STATE_RST
	d.leaveGroups(q.n)
	d.forget(func(p *pending) bool { return p.qp == q })
	return nil
}

func queryQP(d *Device, c *command) *refusal {
	q := c.qp(d, toRead)
	if q == nil {
		return noSuchObject
	}
	ctx := qpContextOut.Bytes(c.out)
	copy(ctx, q.ctx)
	qpc.state.Set(ctx, uint64(q.state))
	qpc.nextSendPSN.Set(ctx, uint64(q.req.psn))
	qpc.lastAckedPSN.Set(ctx, uint64((q.req.unacked-1)&bits24))
	qpc.nextRcvPSN.Set(ctx, uint64(q.resp.psn))
	qpc.curRetryCount.Set(ctx, uint64(q.req.retries))
	qpc.curRNRRetry.Set(ctx, uint64(q.req.rnrRetries))
	qpc.hwSQCounter.Set(ctx, uint64(q.sq.ci))
	qpc.swSQCounter.Set(ctx, uint64(q.sq.pi))
	qpc.hwRQCounter.Set(ctx, uint64(q.rq.ci))
	qpc.swRQCounter.Set(ctx, uint64(q.rq.pi))
	return nil
}
