package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// transition is what one of the commands does that change a queue pair's state.
type transition struct {
	from     uint16 // the states that it is taken in, a bit each
	to       uint8
	always   []ifc.Field // of the context, taken from the command
	optional []option    // those that opt_param_mask selects
}

// option is a part of the context behind a bit of opt_param_mask.
type option struct {
	bit    uint64
	fields []ifc.Field
}

func states(of ...uint8) (mask uint16) {
	for _, s := range of {
		mask |= 1 << s
	}
	return mask
}

// The parts that a mask selects.
var (
	optionRRE        = option{ifc.MLX5_QP_OPTPAR_RRE, []ifc.Field{qpc.rre}}
	optionRWE        = option{ifc.MLX5_QP_OPTPAR_RWE, []ifc.Field{qpc.rwe}}
	optionRAE        = option{ifc.MLX5_QP_OPTPAR_RAE, []ifc.Field{qpc.rae, qpcField("atomic_mode")}}
	optionPkey       = option{ifc.MLX5_QP_OPTPAR_PKEY_INDEX, []ifc.Field{qpc.path.pkeyIndex}}
	optionQKey       = option{ifc.MLX5_QP_OPTPAR_Q_KEY, []ifc.Field{qpc.qKey}}
	optionPort       = option{ifc.MLX5_QP_OPTPAR_PRI_PORT, []ifc.Field{qpc.path.port}}
	optionRNRTimeout = option{ifc.MLX5_QP_OPTPAR_RNR_TIMEOUT, []ifc.Field{qpc.minRNRNak}}
	optionPMState    = option{ifc.MLX5_QP_OPTPAR_PM_STATE, []ifc.Field{qpcField("pm_state")}}
	optionAltPath    = option{ifc.MLX5_QP_OPTPAR_ALT_ADDR_PATH, []ifc.Field{qpcField("secondary_address_path")}}
	optionSRAMax     = option{ifc.MLX5_QP_OPTPAR_SRA_MAX, []ifc.Field{qpc.logSRAMax}}
	optionRRAMax     = option{ifc.MLX5_QP_OPTPAR_RRA_MAX, []ifc.Field{qpc.logRRAMax}}
	optionRetry      = option{ifc.MLX5_QP_OPTPAR_RETRY_COUNT, []ifc.Field{qpc.retryCount}}
	optionRNRRetry   = option{ifc.MLX5_QP_OPTPAR_RNR_RETRY, []ifc.Field{qpc.rnrRetry}}
	optionTimeout    = option{ifc.MLX5_QP_OPTPAR_ACK_TIMEOUT, []ifc.Field{qpc.path.ackTimeout}}
	optionPath       = option{ifc.MLX5_QP_OPTPAR_PRIMARY_ADDR_PATH, primaryPath}
	optionCounters   = option{ifc.MLX5_QP_OPTPAR_COUNTER_SET_ID, []ifc.Field{qpc.counterSet}}
)

// primaryPath is the path to the other end, but for what is set at other times:
// P_Key index, port and time-out.
var primaryPath = func() (fields []ifc.Field) {
	ads := ifc.Must("ads")
	apart := map[string]bool{"pkey_index": true, "vhca_port_num": true, "ack_timeout": true}
	for _, f := range ads.Fields {
		if !apart[f.Name] {
			fields = append(fields, qpcField("primary_address_path."+f.Name))
		}
	}
	return fields
}()

// transitions are the commands that carry a context, by opcode. Which of them are taken in a state is
// the interface between driver and device; which attributes a program may give
// with them the driver has checked.
var transitions = map[uint16]transition{
	ifc.MLX5_CMD_OP_RST2INIT_QP: {
		from: states(ifc.MLX5_QP_STATE_RST), to: ifc.MLX5_QP_STATE_INIT,
		always: []ifc.Field{qpcField("pm_state"), qpc.path.pkeyIndex, qpc.path.port, qpc.qKey, qpc.rre, qpc.rwe, qpc.rae,
			qpcField("atomic_mode"), qpc.counterSet},
	},
	ifc.MLX5_CMD_OP_INIT2INIT_QP: {
		from: states(ifc.MLX5_QP_STATE_INIT), to: ifc.MLX5_QP_STATE_INIT,
		optional: []option{optionRRE, optionRWE, optionRAE, optionPkey, optionQKey, optionPort, optionCounters},
	},
	ifc.MLX5_CMD_OP_INIT2RTR_QP: {
		from: states(ifc.MLX5_QP_STATE_INIT), to: ifc.MLX5_QP_STATE_RTR,
		always: append([]ifc.Field{qpc.mtu, qpc.logMsgMax, qpc.remoteQPN, qpc.nextRcvPSN, qpc.logRRAMax, qpc.minRNRNak},
			primaryPath...),
		optional: []option{optionRRE, optionRWE, optionRAE, optionPkey, optionQKey, optionAltPath, optionCounters},
	},
	ifc.MLX5_CMD_OP_RTR2RTS_QP: {
		from: states(ifc.MLX5_QP_STATE_RTR), to: ifc.MLX5_QP_STATE_RTS,
		always: []ifc.Field{qpc.nextSendPSN, qpc.logSRAMax, qpc.retryCount, qpc.rnrRetry, qpc.path.ackTimeout},
		optional: []option{optionRRE, optionRWE, optionRAE, optionRNRTimeout, optionQKey, optionPMState, optionAltPath,
			optionCounters},
	},
	ifc.MLX5_CMD_OP_RTS2RTS_QP: {
		from: states(ifc.MLX5_QP_STATE_RTS), to: ifc.MLX5_QP_STATE_RTS,
		optional: []option{optionRRE, optionRWE, optionRAE, optionRNRTimeout, optionQKey, optionPMState, optionAltPath,
			optionCounters},
	},
	ifc.MLX5_CMD_OP_SQERR2RTS_QP: {
		from: states(ifc.MLX5_QP_STATE_SQER), to: ifc.MLX5_QP_STATE_RTS,
		optional: []option{optionRRE, optionRWE, optionRAE, optionRNRTimeout, optionQKey, optionCounters},
	},
	ifc.MLX5_CMD_OP_SQD_RTS_QP: {
		from: states(ifc.MLX5_QP_STATE_SQD), to: ifc.MLX5_QP_STATE_RTS,
		optional: []option{optionRRE, optionRWE, optionRAE, optionRNRTimeout, optionQKey, optionPMState, optionAltPath,
			optionPath, optionPkey, optionPort, optionSRAMax, optionRRAMax, optionRetry, optionRNRRetry, optionTimeout,
			optionCounters},
	},
}

// trusted is a command to a device that does not refuse it: what it cannot do it
// leaves.
func trusted(h handler) handler {
	return func(d *Device, c *command) *refusal {
		if h(d, c) != nil {
			clear(c.out)
		}
		return nil
	}
}

// stepSize is the length of a command with a context.
var stepSize = ifc.Must("rst2init_qp_in").Size()

// largestMTU is the number of 4096 bytes (enum ib_mtu), the largest packet
// payload.
const (
	largestMTU    = 5
	smallestShift = 7 // the number 0 would be 128 bytes
)

// moveQP is the commands that take a queue pair from any state to one.
func moveQP(state uint8) handler {
	return func(d *Device, c *command) *refusal {
		q := c.qp(d, toChange)
		if q == nil {
			return noSuchObject
		}
		if state == ifc.MLX5_QP_STATE_ERR {
			q.resp.out.clear() // its user wants nothing sent any more, not even why
		}
		d.enter(q, state)
		return nil
	}
}

// stepQP is the other commands that change a queue pair's state.
func stepQP(d *Device, c *command) *refusal {
	q := c.qp(d, toChange)
	if q == nil {
		return noSuchObject
	}
	step := transitions[c.opcode]
	if step.from>>q.state&1 == 0 {
		return badQPState
	}
	if want := stepSize; len(c.in) < want { // the header has no structure for one of them
		c.in = append(make([]byte, 0, want), c.in...)[:want]
	}
	from := qpStepIn.Bytes(c.in)
	selected := qpOptIn.Get(c.in)
	if r := q.checkStep(&step, from, selected); r != nil {
		return r
	}
	for _, f := range step.always {
		q.take(f, from)
	}
	for _, o := range step.optional {
		if selected&o.bit != 0 {
			for _, f := range o.fields {
				q.take(f, from)
			}
		}
	}
	d.enter(q, step.to)
	return nil
}

// take takes over a field of the context.
func (q *qp) take(f ifc.Field, from []byte) {
	if f.Width > 64 || f.Count > 1 {
		copy(f.Bytes(q.ctx), f.Bytes(from))
		return
	}
	f.Set(q.ctx, f.Get(from))
}

// checkStep refuses what the device cannot work with.
func (q *qp) checkStep(step *transition, from []byte, selected uint64) *refusal {
	var known uint64
	for _, o := range step.optional {
		known |= o.bit
	}
	if len(step.optional) > 0 && selected&^known != 0 {
		return badQPOptional
	}
	if step.from == states(ifc.MLX5_QP_STATE_INIT) && step.to == ifc.MLX5_QP_STATE_RTR && carried[q.service&0xf] {
		if mtu := qpc.mtu.Get(from); mtu < 1 || mtu > largestMTU {
			return badQPMTU
		}
	}
	return nil
}

// enter is what a state means for the queue pair's work.
func (d *Device) enter(q *qp, state uint8) {
	was := q.state
	q.state = state
	q.cache(d)
	switch state {
	case ifc.MLX5_QP_STATE_RST:
		d.quiesce(q)
		q.sq.reset()
		q.rq.reset()
		q.req, q.resp = requester{}, responder{}
	case ifc.MLX5_QP_STATE_RTR:
		q.resp.psn = uint32(qpc.nextRcvPSN.Get(q.ctx))
	case ifc.MLX5_QP_STATE_RTS:
		if was == ifc.MLX5_QP_STATE_RTR {
			q.req.psn = uint32(qpc.nextSendPSN.Get(q.ctx))
			q.req.unacked = q.req.psn
			q.req.retries, q.req.rnrRetries = q.maxRetries, q.maxNotReady
		}
		d.schedule(q)
	case ifc.MLX5_QP_STATE_ERR:
		if was != state {
			d.abandon(q)
		}
	}
}

// cache copies what the data path goes by out of the context.
func (q *qp) cache(d *Device) {
	q.mtuShift = smallestShift + uint8(qpc.mtu.Get(q.ctx))
	q.mtu = 1 << q.mtuShift
	q.remote = uint32(qpc.remoteQPN.Get(q.ctx))
	q.qkey = uint32(qpc.qKey.Get(q.ctx))
	q.canRead, q.canWrite, q.canAtomic = qpc.rre.Get(q.ctx) != 0, qpc.rwe.Get(q.ctx) != 0, qpc.rae.Get(q.ctx) != 0
	q.counters = uint8(qpc.counterSet.Get(q.ctx))
	q.maxReads, q.maxAnswers = 1<<qpc.logSRAMax.Get(q.ctx), 1<<qpc.logRRAMax.Get(q.ctx)
	q.maxRetries, q.maxNotReady = uint8(qpc.retryCount.Get(q.ctx)), uint8(qpc.rnrRetry.Get(q.ctx))
	if q.ackTimeout = 0; qpc.path.ackTimeout.Get(q.ctx) != 0 {
		q.ackTimeout = ackTimeoutUnit << qpc.path.ackTimeout.Get(q.ctx)
	}
	q.maxMessage = 1 << d.cap(capLogMaxMsg)
	if q.isDatagram() {
		q.maxMessage = uint64(q.mtu)
	}
	copy(q.peer.remote[:], qpc.path.rgid.Bytes(q.ctx))
	q.near = d.ownsGID(q.peer.remote)
	q.peer.source = uint8(qpc.path.srcAddrIndex.Get(q.ctx))
	q.peer.sl = uint8(qpc.path.sl.Get(q.ctx))
	q.peer.hopLimit = uint8(qpc.path.hopLimit.Get(q.ctx))
	q.peer.tclass = uint8(qpc.path.tclass.Get(q.ctx))
	q.peer.flowLabel = uint32(qpc.path.flowLabel.Get(q.ctx))
}
