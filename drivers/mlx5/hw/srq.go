package hw

import (
	"encoding/binary"
	"errors"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// srqKind is one of the kinds of shared receive queues: how its commands and its
// context are laid out.
type srqKind struct {
	in, out ifc.Field // the context, in the command that makes one and in the answer to a query
	pas     int       // of the first
	wq      wqLayout

	state     ifc.Field
	good, bad uint64

	xrcd, cqn, userIndex ifc.Field // of no width where the kind has none
	outstanding          ifc.Field
	broken               func(n uint32) EQE
}

// The kinds. Those of the new interface describe their queue as a struct wq.
var (
	plainSRQ = &srqKind{
		in:  ifc.Must("create_srq_in").Field("srq_context_entry"),
		out: ifc.Must("query_srq_out").Field("srq_context_entry"),
		pas: ifc.Must("create_srq_in").Field("pas").Byte(),
		wq: wqLayout{
			logSize: fieldOf("srqc", "log_srq_size"), logStride: fieldOf("srqc", "log_rq_stride"), strideFrom: minLogStride,
			pageOffset: fieldOf("srqc", "page_offset"), logPageSize: fieldOf("srqc", "log_page_size"),
			pd: fieldOf("srqc", "pd"), record: fieldOf("srqc", "dbr_addr"), lwm: fieldOf("srqc", "lwm"),
			logMaxSize: ifc.Must("cmd_hca_cap").Field("log_max_srq_sz"),
		},
		state: fieldOf("srqc", "state"), good: ifc.MLX5_SRQC_STATE_GOOD, bad: ifc.MLX5_SRQC_STATE_ERROR,
		xrcd: fieldOf("srqc", "xrcd"), outstanding: fieldOf("srqc", "wqe_cnt"),
		broken: func(n uint32) EQE { return srqEQE(ifc.MLX5_EVENT_TYPE_SRQ_CATAS_ERROR, n) },
	}
	xrcSRQ = &srqKind{
		in:  ifc.Must("create_xrc_srq_in").Field("xrc_srq_context_entry"),
		out: ifc.Must("query_xrc_srq_out").Field("xrc_srq_context_entry"),
		pas: ifc.Must("create_xrc_srq_in").Field("pas").Byte(),
		wq: wqLayout{
			logSize: fieldOf("xrc_srqc", "log_xrc_srq_size"), logStride: fieldOf("xrc_srqc", "log_rq_stride"), strideFrom: minLogStride,
			pageOffset: fieldOf("xrc_srqc", "page_offset"), logPageSize: fieldOf("xrc_srqc", "log_page_size"),
			pd: fieldOf("xrc_srqc", "pd"), record: xrcRecord, lwm: fieldOf("xrc_srqc", "lwm"),
			logMaxSize: ifc.Must("cmd_hca_cap").Field("log_max_srq_sz"),
		},
		state: fieldOf("xrc_srqc", "state"), good: ifc.MLX5_XRC_SRQC_STATE_GOOD, bad: ifc.MLX5_XRC_SRQC_STATE_ERROR,
		xrcd: fieldOf("xrc_srqc", "xrcd"), cqn: fieldOf("xrc_srqc", "cqn"), userIndex: fieldOf("xrc_srqc", "user_index"),
		outstanding: fieldOf("xrc_srqc", "wqe_cnt"),
		broken:      func(n uint32) EQE { return srqEQE(ifc.MLX5_EVENT_TYPE_SRQ_CATAS_ERROR, n) },
	}
	rmp = &srqKind{
		in:    ifc.Must("create_rmp_in").Field("ctx"),
		out:   ifc.Must("query_rmp_out").Field("rmp_context"),
		pas:   ifc.Must("create_rmp_in").Field("ctx.wq.pas").Byte(),
		wq:    wqIn("rmpc"),
		state: fieldOf("rmpc", "state"), good: ifc.MLX5_RMPC_STATE_RDY, bad: ifc.MLX5_RMPC_STATE_ERR,
		broken: func(n uint32) EQE { return srqEQE(ifc.MLX5_EVENT_TYPE_SRQ_CATAS_ERROR, n) },
	}
	xrq = &srqKind{
		in:    ifc.Must("create_xrq_in").Field("xrq_context"),
		out:   ifc.Must("query_xrq_out").Field("xrq_context"),
		pas:   ifc.Must("create_xrq_in").Field("xrq_context.wq.pas").Byte(),
		wq:    wqIn("xrqc"),
		state: fieldOf("xrqc", "state"), good: ifc.MLX5_XRQC_STATE_GOOD, bad: ifc.MLX5_XRQC_STATE_ERROR,
		cqn: fieldOf("xrqc", "cqn"), userIndex: fieldOf("xrqc", "user_index"),
		broken: xrqErrorEQE,
	}
)

// xrcRecord is the address of the doorbell record, which the context has in two
// parts without the lowest two bits.
var xrcRecord = func() ifc.Field {
	f := fieldOf("xrc_srqc", "db_record_addr_h")
	f.Width = 64
	return f
}()

// srq is a shared receive queue. Its entries are taken in the order in which
// they are linked, from entry 0 on; the entry taken last may be posted again at
// any place of the chain.
type srq struct {
	n    uint32
	kind *srqKind
	ctx  []byte // as it was given; what changes while the queue lives stands below
	workQueue

	pd, xrcd  uint32
	cq        *cq // nil where completions go to the queue pair's
	cqn       uint32
	userIndex uint32
	indexed   bool // completions have the user index

	isBroken      bool
	lwm           uint16 // entries left below which the limit event comes, 0 for none asked for
	posted, taken uint16 // posted as it was last read
	at, next      uint16 // the entry that is next, and the one behind it once that has been read
}

// Why srqNext finds no entry in a queue that has some.
var (
	errSRQBroken = errors.New("hw: the shared receive queue is in error")
	errSRQLink   = errors.New("hw: an entry of the shared receive queue names a next one that the queue does not have")
)

// nextSegment is the length of what stands before the data segments of a linked
// entry (struct mlx5_wqe_srq_next_seg in include/linux/mlx5/qp.h), and
// nextIndex where it has the next entry's number.
const (
	nextSegment = 16
	nextIndex   = 2
)

// createSRQ is the command that makes a queue of a kind.
func createSRQ(k *srqKind) handler {
	return func(d *Device, c *command) *refusal {
		s, r := k.read(d, c)
		if r != nil {
			return r
		}
		return d.addSRQ(s, c)
	}
}

// createSRQUnchecked is the same for a device that takes what it is given. A
// queue that would be refused is in error from the start.
func createSRQUnchecked(k *srqKind) handler {
	return func(d *Device, c *command) *refusal {
		s, r := k.read(d, c)
		if r != nil || d.check(s.refs, c.uid) != nil {
			s.isBroken, s.workQueue = true, workQueue{}
		}
		return d.addSRQ(s, c)
	}
}

// read checks a context that is to become a queue and finds what it names.
func (k *srqKind) read(d *Device, c *command) (s *srq, r *refusal) {
	ctx := k.in.Bytes(c.in)
	s = &srq{
		kind: k, ctx: append([]byte(nil), ctx...),
		pd: uint32(k.wq.pd.Get(ctx)), xrcd: uint32(k.xrcd.Get(ctx)), cqn: uint32(k.cqn.Get(ctx)),
		userIndex: uint32(k.userIndex.Get(ctx)), lwm: uint16(k.wq.lwm.Get(ctx)),
	}
	s.indexed = d.indexes(s.userIndex)
	if k.state.Get(ctx) != k.good {
		return s, badSRQState
	}
	if s.workQueue, r = d.workQueue(&k.wq, ctx, c.in[k.pas:], c.uid); r != nil {
		return s, r
	}
	if k.xrcd.Width != 0 {
		s.refs = append(s.refs, ref{kindXRCD, s.xrcd})
	}
	if k.cqn.Width != 0 {
		s.refs = append(s.refs, ref{kindCQ, s.cqn})
	}
	return s, nil
}

func (d *Device) addSRQ(s *srq, c *command) (r *refusal) {
	if s.n, r = d.addWith(kindSRQ, c.uid, s, s.refs); r != nil {
		return r
	}
	if s.kind.cqn.Width != 0 {
		s.cq, _ = d.objects[kindCQ].live[s.cqn].as.(*cq)
	}
	putNumber(c.out, s.n)
	return nil
}

// srq finds the queue of a kind that stands at byte 8 of a command.
func (c *command) srq(d *Device, k *srqKind, a access) *srq {
	s, ok := lookup[*srq](d, c, kindSRQ, 8, a)
	if !ok || s.kind != k {
		return nil
	}
	return s
}

// destroySRQ ends a queue, and with it what was to be told of it.
func destroySRQ(k *srqKind) handler {
	return func(d *Device, c *command) *refusal {
		s := c.srq(d, k, toChange)
		if s == nil {
			return noSuchObject
		}
		if r := d.removeWith(kindSRQ, s.n, s.refs); r != nil {
			return r
		}
		d.dropReceives(s)
		d.forget(func(p *pending) bool {
			return p.event == k.broken(s.n) || p.event == srqEQE(ifc.MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, s.n)
		})
		return nil
	}
}

func querySRQ(k *srqKind) handler {
	return func(d *Device, c *command) *refusal {
		s := c.srq(d, k, toRead)
		if s == nil {
			return noSuchObject
		}
		ctx := k.out.Bytes(c.out)
		copy(ctx, s.ctx)
		if s.isBroken {
			k.state.Set(ctx, k.bad)
		} else {
			k.state.Set(ctx, k.good)
		}
		k.wq.lwm.Set(ctx, uint64(s.lwm))
		k.wq.taken.Set(ctx, uint64(s.taken))
		k.wq.posted.Set(ctx, uint64(s.posted))
		k.outstanding.Set(ctx, uint64(s.posted-s.taken))
		return nil
	}
}

// The fields of MODIFY_RMP and of the commands that set the limit.
var (
	modifyRMPState = ifc.Must("modify_rmp_in").Field("rmp_state")
	modifyRMPLWM   = ifc.Must("modify_rmp_in").Field("bitmask.lwm")
	modifyRMPIn    = ifc.Must("modify_rmp_in").Field("ctx")
	armRQLWM       = ifc.Must("arm_rq_in").Field("lwm")
	armXRCSRQLWM   = ifc.Must("arm_xrc_srq_in").Field("lwm")
)

// modifyRMP sets a pool's limit, and takes it into the error state and back.
func modifyRMP(d *Device, c *command) *refusal {
	s := c.srq(d, rmp, toChange)
	if s == nil {
		return noSuchObject
	}
	ctx := modifyRMPIn.Bytes(c.in)
	now := uint64(ifc.MLX5_RMPC_STATE_RDY)
	if s.isBroken {
		now = ifc.MLX5_RMPC_STATE_ERR
	}
	then := rmp.state.Get(ctx)
	switch {
	case modifyRMPState.Get(c.in) != now:
		return notInState
	case then != ifc.MLX5_RMPC_STATE_RDY && then != ifc.MLX5_RMPC_STATE_ERR:
		return badSRQState
	}
	if modifyRMPLWM.Get(c.in) != 0 {
		if r := s.arm(rmp.wq.lwm.Get(ctx)); r != nil {
			return r
		}
	}
	s.isBroken = then == ifc.MLX5_RMPC_STATE_ERR
	return nil
}

// The operation modifiers of ARM_RQ and ARM_XRC_SRQ
// (include/linux/mlx5/mlx5_ifc.h).
const (
	armRQOfSRQ  = 1
	armRQOfXRQ  = 2
	armXRCOfSRQ = 1
)

// armRQ sets the limit of a SRQ or XRQ.
func armRQ(d *Device, c *command) *refusal {
	k := map[uint16]*srqKind{armRQOfSRQ: plainSRQ, armRQOfXRQ: xrq}[c.opMod]
	if k == nil {
		return badArmMode
	}
	return d.armSRQ(c, k, armRQLWM)
}

// armXRCSRQ sets the limit of a XRC SRQ.
func armXRCSRQ(d *Device, c *command) *refusal {
	if c.opMod != armXRCOfSRQ {
		return badArmMode
	}
	return d.armSRQ(c, xrcSRQ, armXRCSRQLWM)
}

func (d *Device) armSRQ(c *command, k *srqKind, lwm ifc.Field) *refusal {
	s := c.srq(d, k, toChange)
	if s == nil {
		return noSuchObject
	}
	return s.arm(lwm.Get(c.in))
}

// arm asks for one event when an entry is taken and fewer than lwm are left
// then. What is left already does not count.
func (s *srq) arm(lwm uint64) *refusal {
	if lwm > uint64(s.size()) {
		return badLWM
	}
	s.lwm = uint16(lwm)
	return nil
}

// srqOf returns the shared receive queue with that number, of whatever kind, nil
// for none.
func (d *Device) srqOf(n uint32) *srq {
	s, _ := d.objects[kindSRQ].live[n].as.(*srq)
	return s
}

// srqNext reads the entry that is next into buf, as much of it as there is room
// for, and returns its data segments and its number; ok is false if none is
// posted. An error means that the entry cannot be reached; the queue is of no
// use then and srqError should say so.
func (d *Device) srqNext(s *srq, buf []byte) (segs []byte, index uint16, ok bool, err error) {
	if s.isBroken {
		return nil, 0, false, errSRQBroken
	}
	// The limit counts what is posted now; without one the record is read when
	// all that was known of is taken.
	if s.lwm != 0 || s.posted == s.taken {
		word := d.entry[:4]
		if err := d.read("srq doorbell record", word, s.record); err != nil {
			return nil, 0, false, err
		}
		s.posted = uint16(binary.BigEndian.Uint32(word))
	}
	if s.posted == s.taken {
		return nil, 0, false, nil
	}
	if uint32(s.at) >= s.size() {
		return nil, 0, false, errSRQLink
	}
	buf = buf[:min(uint64(len(buf)), s.stride())]
	if err := d.get("srq wqe", &s.buf, uint64(s.at)<<s.logStride, buf); err != nil {
		return nil, 0, false, err
	}
	if !s.isLinked() {
		s.next = uint16((uint32(s.at) + 1) & (s.size() - 1))
		return buf, s.at, true, nil
	}
	s.next = binary.BigEndian.Uint16(buf[nextIndex:])
	return buf[nextSegment:], s.at, true, nil
}

// srqTake takes the entry that srqNext has read. If that leaves fewer than the
// limit, the event comes, and the limit is none from then on.
func (d *Device) srqTake(s *srq) {
	s.at = s.next
	s.taken++
	if s.lwm != 0 && s.posted-s.taken < s.lwm {
		s.lwm = 0
		d.raise(srqEQE(ifc.MLX5_EVENT_TYPE_SRQ_RQ_LIMIT, s.n), nil)
	}
}

// srqError puts a queue into error, which its user is told once.
func (d *Device) srqError(s *srq) {
	if s.isBroken {
		return
	}
	s.isBroken = true
	d.raise(s.kind.broken(s.n), nil)
}

// srqEQE is an event about a shared receive queue (struct mlx5_eqe_qp_srq).
func srqEQE(typ uint8, n uint32) (e EQE) {
	e.Type = typ
	binary.BigEndian.PutUint32(e.Data[24:], n)
	return e
}

// xrqErrorEQE is the event of a XRQ in error (struct mlx5_eqe_xrq_err).
func xrqErrorEQE(n uint32) (e EQE) {
	e.Type = ifc.MLX5_EVENT_TYPE_XRQ_ERROR
	binary.BigEndian.PutUint32(e.Data[20:], n)
	return e
}
