package hw

import (
	"encoding/binary"
	"errors"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of the completion queues' commands and context.
var (
	cqContextIn     = ifc.Must("create_cq_in").Field("cq_context")
	cqContextOut    = ifc.Must("query_cq_out").Field("cq_context")
	cqContextModify = ifc.Must("modify_cq_in").Field("cq_context")
	cqNumber        = ifc.Must("create_cq_out").Field("cqn")
	cqFieldSelect   = ifc.Must("modify_cq_in").Field("modify_field_select_resize_field_select")
	capLogMaxCQ     = ifc.Must("cmd_hca_cap").Field("log_max_cq_sz")
	capAPU          = ifc.Must("cmd_hca_cap").Field("apu")

	cqc = struct {
		status, cqeSize, collapsed, ignoreOverrun, periodMode, apu, st, pageOffset, logSize, uarPage, period, maxCount, eqn, logPageSize,
		lastNotified, lastSolicit, consumer, producer, doorbell, recordUMEM ifc.Field
	}{
		status:        ifc.Must("cqc").Field("status"),
		cqeSize:       ifc.Must("cqc").Field("cqe_sz"),
		collapsed:     ifc.Must("cqc").Field("cc"),
		ignoreOverrun: ifc.Must("cqc").Field("oi"),
		periodMode:    ifc.Must("cqc").Field("cq_period_mode"),
		apu:           ifc.Must("cqc").Field("apu_cq"),
		st:            ifc.Must("cqc").Field("st"),
		pageOffset:    ifc.Must("cqc").Field("page_offset"),
		logSize:       ifc.Must("cqc").Field("log_cq_size"),
		uarPage:       ifc.Must("cqc").Field("uar_page"),
		period:        ifc.Must("cqc").Field("cq_period"),
		maxCount:      ifc.Must("cqc").Field("cq_max_count"),
		eqn:           ifc.Must("cqc").Field("c_eqn_or_apu_element"),
		logPageSize:   ifc.Must("cqc").Field("log_page_size"),
		lastNotified:  ifc.Must("cqc").Field("last_notified_index"),
		lastSolicit:   ifc.Must("cqc").Field("last_solicit_index"),
		consumer:      ifc.Must("cqc").Field("consumer_counter"),
		producer:      ifc.Must("cqc").Field("producer_counter"),
		doorbell:      ifc.Must("cqc").Field("dbr_addr"),
		recordUMEM:    ifc.Must("cqc").Field("dbr_umem_valid"),
	}
)

// cq is a completion queue. Its buffer and its doorbell record lie in its
// user's memory: entries are written there, and the consumer index is read from
// the record's first word. Counters run on through the rounds of the queue and
// count modulo 2^24.
type cq struct {
	n       uint32
	ctx     []byte // cqc; what changes while the queue lives stands below
	eq      *eq    // nil if the queue reports to an APU
	uar     uint32
	record  Addr
	buf     buffer
	logSize uint
	stride  uint64
	form    uint8 // CQE_STRIDE_*
	single  bool  // all entries go to the first place

	pi, ci uint32 // producer; consumer as it was last read
	status uint8

	// The producer index behind the last completion, and behind the last that
	// was solicited or failed. An entry that announces a resize is none.
	end, solicited uint32

	st       uint8 // asked to tell, or has told
	armedCI  uint32
	armedSN  uint8
	told     bool // an event was raised, for the request of sequence number toldSN
	toldSN   uint8
	notified uint32
}

// beyond says whether index a lies behind index b, both modulo 2^24.
func beyond(a, b uint32) bool { return int32((a-b)<<8) > 0 }

// size is the number of entries.
func (q *cq) size() uint32 { return 1 << q.logSize }

// outstanding is the number of entries that the consumer has not taken, by the
// index that was last read. A consumer that is ahead of the producer makes it
// larger than the queue.
func (q *cq) outstanding() uint32 { return (q.pi - q.ci) & bits24 }

func (q *cq) has(f ifc.Field) bool { return f.Get(q.ctx) != 0 }

func createCQ(d *Device, c *command) *refusal {
	ctx := cqContextIn.Bytes(c.in)
	q := &cq{
		ctx:     append([]byte(nil), ctx...),
		uar:     uint32(cqc.uarPage.Get(ctx)),
		record:  cqc.doorbell.Get(ctx),
		buf:     newBuffer(cqc.logPageSize.Get(ctx), cqc.pageOffset.Get(ctx), c.in[pas:]),
		logSize: uint(cqc.logSize.Get(ctx)),
		stride:  CQESize,
	}
	if uint64(q.logSize) > d.cap(capLogMaxCQ) {
		return badCQSize
	}
	q.form, q.single = uint8(cqc.cqeSize.Get(ctx)), q.has(cqc.collapsed)
	switch q.form {
	case ifc.CQE_STRIDE_64:
	case ifc.CQE_STRIDE_128, ifc.CQE_STRIDE_128_PAD:
		q.stride = 2 * CQESize
	default:
		return badCQEStride
	}
	if d.cap(capAPU) == 0 || cqc.apu.Get(ctx) == 0 {
		o, ok := d.find(kindEQ, uint32(cqc.eqn.Get(ctx)), c.uid, toName)
		if !ok {
			return noSuchEQ
		}
		q.eq = o.as.(*eq)
	}
	n, r := d.add(kindCQ, c.uid, q)
	if r != nil {
		return r
	}
	q.n = n
	d.markUnarmed(q)
	if q.eq != nil {
		q.eq.cqs++
	}
	cqNumber.Set(c.out, uint64(n))
	return nil
}

// cq finds the queue that stands at byte 8 of a command.
func (c *command) cq(d *Device, a access) *cq {
	if o, ok := d.find(kindCQ, c.number(kindCQ, 8), c.uid, a); ok {
		return o.as.(*cq)
	}
	return nil
}

// destroyCQ ends a queue, and with it the events about it that have not been
// delivered: its number may be another queue's before they would be.
func destroyCQ(d *Device, c *command) *refusal {
	q := c.cq(d, toChange)
	if q == nil {
		return noSuchObject
	}
	if d.objects[kindCQ].live[q.n].users > 0 {
		return objectBusy
	}
	if q.eq != nil {
		q.eq.cqs--
	}
	d.remove(kindCQ, q.n)
	d.forget(func(p *pending) bool { return p.cq == q })
	return nil
}

func queryCQ(d *Device, c *command) *refusal {
	q := c.cq(d, toRead)
	if q == nil {
		return noSuchObject
	}
	ctx := cqContextOut.Bytes(c.out)
	copy(ctx, q.ctx)
	cqc.status.Set(ctx, uint64(q.status))
	cqc.st.Set(ctx, uint64(q.st))
	cqc.lastNotified.Set(ctx, uint64(q.notified))
	cqc.lastSolicit.Set(ctx, uint64(q.solicited))
	cqc.consumer.Set(ctx, uint64(q.ci))
	cqc.producer.Set(ctx, uint64(q.pi))
	return nil
}

// cqModifications has what the operation modifier 0 of MODIFY_CQ changes. Moderation
// delays an event until its count or its period is reached; events wait for
// Step in any case, and when it comes every period has passed.
var cqModifications = []struct {
	bit   uint64
	field ifc.Field
}{
	{ifc.MLX5_CQ_MODIFY_PERIOD, cqc.period},
	{ifc.MLX5_CQ_MODIFY_COUNT, cqc.maxCount},
	{ifc.MLX5_CQ_MODIFY_OVERRUN, cqc.ignoreOverrun},
	{ifc.MLX5_CQ_MODIFY_PERIOD_MODE, cqc.periodMode},
}

func modifyCQ(d *Device, c *command) *refusal {
	q := c.cq(d, toChange)
	if q == nil {
		return noSuchObject
	}
	switch c.opMod {
	case 0:
		return q.modify(c)
	case ifc.MLX5_CQ_OPMOD_RESIZE:
		return d.resize(q, c)
	}
	return badCQMode
}

func (q *cq) modify(c *command) *refusal {
	selected := cqFieldSelect.Get(c.in)
	known := uint64(0)
	for _, m := range cqModifications {
		known |= m.bit
	}
	if selected&^known != 0 {
		return badCQFields
	}
	from := cqContextModify.Bytes(c.in)
	for _, m := range cqModifications {
		if selected&m.bit != 0 {
			m.field.Set(q.ctx, m.field.Get(from))
		}
	}
	return nil
}

// cqResizes has what operation modifier 1 of MODIFY_CQ changes beside the pages.
var cqResizes = []struct {
	bit   uint64
	field ifc.Field
}{
	{ifc.MLX5_MODIFY_CQ_MASK_LOG_SIZE, cqc.logSize},
	{ifc.MLX5_MODIFY_CQ_MASK_PG_OFFSET, cqc.pageOffset},
	{ifc.MLX5_MODIFY_CQ_MASK_PG_SIZE, cqc.logPageSize},
}

// resizeOpcode is what the announcing entry has for an opcode of a work request
// (MLX5_CQE_OPCODE_RESIZE in include/linux/mlx5/device.h).
const resizeOpcode = 0x16

// resize moves the queue to another buffer. The last entry in the old one says so; the next
// completion goes to the new one, at the index behind it. What is outstanding
// in the old buffer its user moves himself, one place on.
//
// The page list is not held against the new size: an entry beyond it is an
// access error when it is written.
func (d *Device) resize(q *cq, c *command) *refusal {
	if q.status != ifc.MLX5_CQC_STATUS_OK {
		return cqInError
	}
	selected := cqFieldSelect.Get(c.in)
	known := uint64(0)
	ctx := append([]byte(nil), q.ctx...)
	from := cqContextModify.Bytes(c.in)
	for _, m := range cqResizes {
		known |= m.bit
		if selected&m.bit != 0 {
			m.field.Set(ctx, m.field.Get(from))
		}
	}
	if selected&^known != 0 {
		return badCQFields
	}
	logSize := uint(cqc.logSize.Get(ctx))
	if uint64(logSize) > d.cap(capLogMaxCQ) {
		return badCQSize
	}
	if err := d.consumer(q); err != nil {
		return noCQAccess
	}
	if n := q.outstanding(); n <= q.size() {
		if n > 1<<logSize {
			return cqesLeft
		}
		if n == q.size() && !q.has(cqc.ignoreOverrun) {
			return cqFull
		}
	}
	if err := d.putCQE(q, &Completion{Opcode: ifc.MLX5_CQE_RESIZE_CQ, SendOpcode: resizeOpcode}); err != nil {
		d.breakCQ(q, ifc.MLX5_CQC_STATUS_CQ_WRITE_FAIL, CQErrorAccess)
		return noCQAccess
	}
	for _, index := range []*uint32{&q.end, &q.solicited} {
		if beyond(*index, q.ci) {
			*index = (*index + 1) & bits24
		}
	}
	q.ctx, q.logSize = ctx, logSize
	q.buf = newBuffer(cqc.logPageSize.Get(ctx), cqc.pageOffset.Get(ctx), c.in[pas:])
	return nil
}

// Errors of Complete.
var (
	ErrNoCQ      = errors.New("hw: no completion queue has this number")
	ErrCQError   = errors.New("hw: the completion queue is in error")
	ErrCQOverrun = errors.New("hw: the completion queue is full and has broken")
	ErrCQAccess  = errors.New("hw: the completion queue's memory cannot be reached and it has broken")
)

// Complete puts a completion into a queue, as the device does when a work
// request is done, and raises the event that the queue's user asked for.
//
// A queue that has no room breaks, unless it was made to ignore overruns; so
// does one whose memory cannot be reached. It takes no more completions then,
// and an event of type MLX5_EVENT_TYPE_CQ_ERROR says why.
//
// Errors: ErrNoCQ, ErrCQError, ErrCQOverrun, ErrCQAccess, ErrDevice.
func (d *Device) Complete(cqn uint32, c Completion) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.broken {
		return ErrDevice
	}
	o, ok := d.objects[kindCQ].live[cqn]
	if !ok {
		return ErrNoCQ
	}
	return d.complete(o.as.(*cq), &c)
}

func (d *Device) complete(q *cq, c *Completion) error {
	if q.status != ifc.MLX5_CQC_STATUS_OK {
		return ErrCQError
	}
	if q.outstanding() >= q.size() { // by what was last known
		if err := d.consumer(q); err != nil {
			d.breakCQ(q, ifc.MLX5_CQC_STATUS_CQ_WRITE_FAIL, CQErrorAccess)
			return ErrCQAccess
		}
	}
	if q.outstanding() >= q.size() && !q.has(cqc.ignoreOverrun) {
		d.breakCQ(q, ifc.MLX5_CQC_STATUS_CQ_OVERFLOW, CQErrorOverrun)
		return ErrCQOverrun
	}
	if err := d.putCQE(q, c); err != nil {
		d.breakCQ(q, ifc.MLX5_CQC_STATUS_CQ_WRITE_FAIL, CQErrorAccess)
		return ErrCQAccess
	}
	q.end = q.pi
	if c.Solicited || c.failed() {
		q.solicited = q.pi
	}
	d.notify(q)
	return nil
}

// consumer reads the consumer index from the doorbell record.
func (d *Device) consumer(q *cq) error {
	word := d.entry[:4]
	if err := d.read("cq doorbell record", word, q.record); err != nil {
		return err
	}
	q.ci = binary.BigEndian.Uint32(word) & bits24
	return nil
}

// putCQE writes the next entry. Its owner bit is the parity of the round; a
// collapsed queue has all its entries in the first place.
func (d *Device) putCQE(q *cq, c *Completion) error {
	clear(d.entry[:])
	at, b := uint64(0), d.entry[CQESize:]
	c.encode(b, d.now(), uint8(q.pi>>q.logSize&1))
	if !q.single {
		at = uint64(q.pi&(q.size()-1)) * q.stride
	}
	switch q.form {
	case ifc.CQE_STRIDE_128:
		at += CQESize
	case ifc.CQE_STRIDE_128_PAD:
		b = d.entry[:]
	}
	if err := d.put("cqe", &q.buf, at, b); err != nil {
		return err
	}
	q.pi = (q.pi + 1) & bits24
	return nil
}

// now is the counter that completions are stamped with.
func (d *Device) now() uint64 {
	if d.cfg.Clock != nil {
		return d.cfg.Clock()
	}
	d.stamp++
	return d.stamp
}

// breakCQ puts a queue into error and says so.
func (d *Device) breakCQ(q *cq, status, syndrome uint8) {
	q.status = status
	d.raise(cqErrorEQE(q.n, syndrome), q)
}

// armCQ is the doorbell of a completion queue: sequence number in bits 29:28,
// bit 24 for solicited completions only, consumer index below. The event comes
// with the next completion that counts, or at once if one lies beyond the index.
//
// The user counts the sequence number on when it has seen an event. A request
// with the number of the last event was made before that and is stale. While any
// completion counts, a request for solicited ones alone takes nothing back.
func (d *Device) armCQ(uar, word, cqn uint32) {
	o, ok := d.objects[kindCQ].live[cqn]
	if !ok {
		return
	}
	q := o.as.(*cq)
	sn := uint8(word >> 28 & 3)
	if q.uar != uar || q.told && sn == q.toldSN {
		return
	}
	q.armedSN, q.armedCI = sn, word&bits24
	if word&ifc.MLX5_CQ_DB_REQ_NOT_SOL == 0 {
		q.st = ifc.MLX5_CQC_ST_NOTIFICATION_REQUEST_ARMED
	} else if q.st != ifc.MLX5_CQC_ST_NOTIFICATION_REQUEST_ARMED {
		q.st = ifc.MLX5_CQC_ST_SOLICITED_NOTIFICATION_REQUEST_ARMED
	}
	d.notify(q)
}

// notify raises the completion event if the queue is armed and a completion that
// counts lies beyond the index that it was armed with, and beyond what the last event
// told of: who arms before he has polled is not told twice.
func (d *Device) notify(q *cq) {
	end := q.end
	switch q.st {
	case ifc.MLX5_CQC_ST_NOTIFICATION_REQUEST_ARMED:
	case ifc.MLX5_CQC_ST_SOLICITED_NOTIFICATION_REQUEST_ARMED:
		end = q.solicited
	default:
		return
	}
	if !beyond(end, q.armedCI) || q.told && !beyond(end, q.notified) {
		return
	}
	q.st = ifc.MLX5_CQC_ST_FIRED
	q.told, q.toldSN = true, q.armedSN
	q.notified = q.pi
	if q.eq == nil {
		return
	}
	d.push(pending{eq: q.eq, event: compEQE(q.n), cq: q})
}
