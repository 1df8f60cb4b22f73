package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// The objects that raw packets go through: send queues and the interfaces that
// these send by, receive queues, tables of them, and the interfaces that receive
// into either.

// queueSteps are the states of a send or receive queue that follow each state.
var queueSteps = map[uint64][]uint64{
	ifc.MLX5_SQC_STATE_RST: {ifc.MLX5_SQC_STATE_RST, ifc.MLX5_SQC_STATE_RDY, ifc.MLX5_SQC_STATE_ERR},
	ifc.MLX5_SQC_STATE_RDY: {ifc.MLX5_SQC_STATE_RST, ifc.MLX5_SQC_STATE_RDY, ifc.MLX5_SQC_STATE_ERR},
	ifc.MLX5_SQC_STATE_ERR: {ifc.MLX5_SQC_STATE_RST, ifc.MLX5_SQC_STATE_ERR},
}

// The fields of the send queues' context.
var (
	sqWQ  = wqIn("sqc")
	sqCQN = ifc.Must("sqc").Field("cqn")
	sqTIS = struct{ count, first ifc.Field }{ifc.Must("sqc").Field("tis_lst_sz"), ifc.Must("sqc").Field("tis_num_0")}
)

var sqKind = &contextKind{
	kind: kindSQ, in: ifc.Must("create_sq_in").Field("ctx"), out: ifc.Must("query_sq_out").Field("sq_context"),
	from: ifc.Must("modify_sq_in").Field("ctx"), mask: ifc.Must("modify_sq_in").Field("modify_bitmask"),
	parts: []part{
		{ifc.MLX5_MODIFY_SQ_IN_MODIFY_BITMASK_PACKET_PACING, []ifc.Field{ifc.Must("sqc").Field("packet_pacing_rate_limit_index")}},
	},
	state: ifc.Must("sqc").Field("state"), current: ifc.Must("modify_sq_in").Field("sq_state"), steps: queueSteps,
	wq: sqWQ, read: readSQ,
	entered: func(d *Device, o *context) {
		switch o.get(o.of.state) {
		case ifc.MLX5_SQC_STATE_RST:
			o.taken, o.pieces = 0, 0
		case ifc.MLX5_SQC_STATE_ERR:
			d.scheduleRaw(o)
		}
	},
}

// readSQ checks a new send queue. It sends by one interface or by none.
func readSQ(d *Device, o *context, c *command) (r *refusal) {
	switch {
	case o.get(o.of.state) != ifc.MLX5_SQC_STATE_RST:
		return badQueueState
	case o.get(sqTIS.count) > 1:
		return badTISList
	}
	if o.workQueue, r = d.workQueue(&sqWQ, o.bytes, c.in[sqPas:], c.uid); r != nil {
		return r
	}
	o.refs = append(o.workQueue.refs, ref{kindCQ, uint32(o.get(sqCQN))})
	if o.get(sqTIS.count) == 1 {
		o.refs = append(o.refs, ref{kindTIS, uint32(o.get(sqTIS.first))})
	}
	return nil
}

var (
	sqPas = ifc.Must("create_sq_in").Field("ctx.wq.pas").Byte()
	rqPas = ifc.Must("create_rq_in").Field("ctx.wq.pas").Byte()
)

// The fields of the receive queues' context.
var (
	rqWQ      = wqIn("rqc")
	rqMemType = ifc.Must("rqc").Field("mem_rq_type")
	rqCQN     = ifc.Must("rqc").Field("cqn")
	rqRMP     = ifc.Must("rqc").Field("rmpn")
)

var rqKind = &contextKind{
	kind: kindRQ, in: ifc.Must("create_rq_in").Field("ctx"), out: ifc.Must("query_rq_out").Field("rq_context"),
	from: ifc.Must("modify_rq_in").Field("ctx"), mask: ifc.Must("modify_rq_in").Field("modify_bitmask"),
	parts: []part{
		{ifc.MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_VSD, []ifc.Field{ifc.Must("rqc").Field("vsd")}},
		{ifc.MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_SCATTER_FCS, []ifc.Field{ifc.Must("rqc").Field("scatter_fcs")}},
		{ifc.MLX5_MODIFY_RQ_IN_MODIFY_BITMASK_RQ_COUNTER_SET_ID, []ifc.Field{ifc.Must("rqc").Field("counter_set_id")}},
	},
	state: ifc.Must("rqc").Field("state"), current: ifc.Must("modify_rq_in").Field("rq_state"), steps: queueSteps,
	wq: rqWQ, read: readRQ,
	entered: func(d *Device, o *context) {
		switch o.get(o.of.state) {
		case ifc.MLX5_RQC_STATE_RST:
			o.taken = 0
		case ifc.MLX5_RQC_STATE_ERR:
			d.flushRaw(o)
		}
	},
}

// readRQ checks a new receive queue: its entries are its own, or those of a
// receive memory pool.
func readRQ(d *Device, o *context, c *command) (r *refusal) {
	if o.get(o.of.state) != ifc.MLX5_RQC_STATE_RST {
		return badQueueState
	}
	switch o.get(rqMemType) {
	case ifc.MLX5_RQC_MEM_RQ_TYPE_MEMORY_RQ_INLINE:
		if o.workQueue, r = d.workQueue(&rqWQ, o.bytes, c.in[rqPas:], c.uid); r != nil {
			return r
		}
		o.refs = o.workQueue.refs
	case ifc.MLX5_RQC_MEM_RQ_TYPE_MEMORY_RQ_RMP:
		n := uint32(o.get(rqRMP))
		if s := d.srqOf(n); s != nil && s.kind != rmp {
			return noSuchSRQ
		}
		o.refs = []ref{{kindSRQ, n}}
	default:
		return badRQMemory
	}
	o.refs = append(o.refs, ref{kindCQ, uint32(o.get(rqCQN))})
	return nil
}

// The fields of the contexts of transport interfaces.
var (
	tisDomain = ifc.Must("tisc").Field("transport_domain")
	tirDomain = ifc.Must("tirc").Field("transport_domain")
	tirType   = ifc.Must("tirc").Field("disp_type")
	tirRQ     = ifc.Must("tirc").Field("inline_rqn")
	tirTable  = ifc.Must("tirc").Field("indirect_table")

	capLogMaxTD = ifc.Must("cmd_hca_cap").Field("log_max_transport_domain")
)

// transportDomain is what an interface belongs to: nothing on a device that has
// no transport domains.
func (d *Device) transportDomain(n uint64) []ref {
	if d.cap(capLogMaxTD) == 0 {
		return nil
	}
	return []ref{{kindTD, uint32(n)}}
}

var tisKind = &contextKind{
	kind: kindTIS, in: ifc.Must("create_tis_in").Field("ctx"), out: ifc.Must("query_tis_out").Field("tis_context"),
	from: ifc.Must("modify_tis_in").Field("ctx"), mask: ifc.Must("modify_tis_in").Field("bitmask"),
	parts: []part{
		partOf("modify_tis_bitmask", "prio", "tisc", "prio"),
		partOf("modify_tis_bitmask", "strict_lag_tx_port_affinity", "tisc", "strict_lag_tx_port_affinity"),
		partOf("modify_tis_bitmask", "lag_tx_port_affinity", "tisc", "lag_tx_port_affinity"),
	},
	read: func(d *Device, o *context, c *command) *refusal {
		o.refs = d.transportDomain(o.get(tisDomain))
		return nil
	},
}

var tirKind = &contextKind{
	kind: kindTIR, in: ifc.Must("create_tir_in").Field("ctx"), out: ifc.Must("query_tir_out").Field("tir_context"),
	from: ifc.Must("modify_tir_in").Field("ctx"), mask: ifc.Must("modify_tir_in").Field("bitmask"),
	parts: []part{
		partOf("modify_tir_bitmask", "packet_merge", "tirc", "lro_timeout_period_usecs", "packet_merge_mask", "lro_max_ip_payload_size"),
		partOf("modify_tir_bitmask", "hash", "tirc", "rx_hash_symmetric", "rx_hash_fn", "rx_hash_toeplitz_key",
			"rx_hash_field_selector_outer", "rx_hash_field_selector_inner"),
		partOf("modify_tir_bitmask", "self_lb_en", "tirc", "self_lb_block"),
	},
	read: func(d *Device, o *context, c *command) *refusal {
		o.refs = d.transportDomain(o.get(tirDomain))
		switch o.get(tirType) {
		case ifc.MLX5_TIRC_DISP_TYPE_DIRECT:
			o.refs = append(o.refs, ref{kindRQ, uint32(o.get(tirRQ))})
		case ifc.MLX5_TIRC_DISP_TYPE_INDIRECT:
			o.refs = append(o.refs, ref{kindRQT, uint32(o.get(tirTable))})
		default:
			return badTIRType
		}
		return nil
	},
}

// The fields of the contexts of tables of receive queues.
var (
	rqtMost = ifc.Must("rqtc").Field("rqt_max_size")
	rqtSize = ifc.Must("rqtc").Field("rqt_actual_size")
	rqtType = ifc.Must("rqtc").Field("list_q_type")
	rqtList = ifc.Must("rqtc").Field("rq_num")

	capLogMaxRQTSize = ifc.Must("cmd_hca_cap").Field("log_max_rqt_size")
)

var rqtKind = &contextKind{
	kind: kindRQT, in: ifc.Must("create_rqt_in").Field("rqt_context"), out: ifc.Must("query_rqt_out").Field("rqt_context"),
	hasList: true,
	from:    ifc.Must("modify_rqt_in").Field("ctx"), mask: ifc.Must("modify_rqt_in").Field("bitmask"),
	parts: []part{partOf("rqt_bitmask", "rqn_list", "rqtc", "rqt_actual_size", "rq_num")},
	read:  func(d *Device, o *context, c *command) *refusal { return readRQT(d, o, c.uid) },
	changed: func(d *Device, o *context, uid uint16) *refusal {
		if r := readRQT(d, o, uid); r != nil {
			return r
		}
		return d.check(o.refs, uid)
	},
}

// readRQT checks a table: it is not larger than it may become, and each place has
// a receive queue.
func readRQT(d *Device, o *context, uid uint16) *refusal {
	n, list := o.get(rqtSize), rqtList.Bytes(o.bytes)
	switch {
	case o.get(rqtMost) > 1<<d.cap(capLogMaxRQTSize), n > o.get(rqtMost), n > uint64(len(list)/4):
		return badRQTSize
	case o.get(rqtType) != 0:
		return badRQTType
	}
	o.refs = nil
	for i := range int(n) {
		o.refs = append(o.refs, ref{kindRQ, number24(list, i)})
	}
	return nil
}
