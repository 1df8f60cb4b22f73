package firmware

import (
	"encoding/binary"
	"slices"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/drivers/mlx5/hw/words"
)

// queueKind is what a queue with a doorbell is.
type queueKind uint8

const (
	qpQueue queueKind = iota
	sqQueue
	cqQueue
	eqQueue
)

// maker is a command that makes a queue: where its input has the register page,
// the doorbell record and whether that is in a user's UMEM. The number is at
// byte 8 of the output, and of the input of the command that ends the queue.
type maker struct {
	kind                queueKind
	uar, record, inUMEM ifc.Field
}

const numberAt = 8

// numberMask is the width of a queue's number.
var numberMask = map[queueKind]uint32{qpQueue: 1<<24 - 1, sqQueue: 1<<24 - 1, cqQueue: 1<<24 - 1, eqQueue: 0xff}

var makers = map[uint16]maker{
	ifc.MLX5_CMD_OP_CREATE_QP: makerOf(qpQueue, "create_qp_in", "qpc."),
	ifc.MLX5_CMD_OP_CREATE_SQ: makerOf(sqQueue, "create_sq_in", "ctx.wq."),
	ifc.MLX5_CMD_OP_CREATE_CQ: makerOf(cqQueue, "create_cq_in", "cq_context."),
	ifc.MLX5_CMD_OP_CREATE_EQ: {kind: eqQueue, uar: eqUAR},
}

func makerOf(kind queueKind, layout, context string) maker {
	l := ifc.Must(layout)
	return maker{kind, l.Field(context + "uar_page"), l.Field(context + "dbr_addr"), l.Field(context + "dbr_umem_valid")}
}

var enders = map[uint16]queueKind{
	ifc.MLX5_CMD_OP_DESTROY_QP: qpQueue,
	ifc.MLX5_CMD_OP_DESTROY_SQ: sqQueue,
	ifc.MLX5_CMD_OP_DESTROY_CQ: cqQueue,
	ifc.MLX5_CMD_OP_DESTROY_EQ: eqQueue,
}

// The fields of an event queue that its doorbell needs.
var (
	eqUAR      = ifc.Must("create_eq_in").Field("eq_context_entry.uar_page")
	eqVector   = ifc.Must("create_eq_in").Field("eq_context_entry.intr")
	eqProducer = ifc.Must("query_eq_out").Field("eq_context_entry.producer_counter")
)

// recordSize is the length of a doorbell record. Its second word counts what was
// put into a send queue, or says what a completion queue is armed for.
const (
	recordSize = 8
	recordWord = 4
)

// queue is a queue whose doorbell is looked for.
type queue struct {
	kind   queueKind
	number uint32
	uid    uint16 // the user's that made it, 0 for the kernel
	uar    uint32
	record []byte // nil for an event queue
	last   uint32 // the record's second word when it was last looked at
	armed  bool   // a completion queue that has been armed
	vector int    // of an event queue
	sends  *sends // of the network driver's send queue
}

// note keeps account of the queues: it is told of each command that the device
// has carried out.
func (f *Firmware) note(in, out []byte) {
	opcode := binary.BigEndian.Uint16(in)
	if spec, _ := ifc.FindCommand(opcode); len(in) < int(spec.In) { // zeros follow, to the device
		in = append(slices.Clone(in), make([]byte, int(spec.In)-len(in))...)
	}
	switch opcode {
	case ifc.MLX5_CMD_OP_TEARDOWN_HCA, ifc.MLX5_CMD_OP_DISABLE_HCA:
		f.queues = nil
		return
	}
	if kind, ok := enders[opcode]; ok {
		f.forget(kind, binary.BigEndian.Uint32(in[numberAt:])&numberMask[kind])
		return
	}
	m, ok := makers[opcode]
	if !ok || len(out) < numberAt+4 {
		return
	}
	q := &queue{
		kind: m.kind, number: binary.BigEndian.Uint32(out[numberAt:]) & numberMask[m.kind],
		uid: binary.BigEndian.Uint16(in[2:]), uar: uint32(m.uar.Get(in)),
	}
	switch {
	case q.kind == eqQueue:
		q.vector = int(eqVector.Get(in))
	case m.inUMEM.Get(in) != 0:
		return
	default:
		var err error
		if q.record, err = f.ram.slice(m.record.Get(in)&^(recordSize-1), recordSize); err != nil {
			return // the device meets the same error
		}
	}
	if q.kind == sqQueue && q.uid == 0 {
		q.sends = newSends(in)
	}
	if q.kind == cqQueue {
		f.lookForFirstArming(q.uar) // what stands there is older than the queue
	}
	f.queues = append(f.queues, q)
	if q.kind == eqQueue {
		f.moveEQ(q, 0) // the driver's first word to it, before it can hear of anything
	}
}

func (f *Firmware) find(kind queueKind, number uint32) *queue {
	for _, q := range f.queues {
		if q.kind == kind && q.number == number {
			return q
		}
	}
	return nil
}

func (f *Firmware) forget(kind queueKind, number uint32) {
	f.queues = slices.DeleteFunc(f.queues, func(q *queue) bool { return q.kind == kind && q.number == number })
}

// lookAtRecords rings for each queue whose record says something new, and
// reports whether there was one.
func (f *Firmware) lookAtRecords() (busy bool) {
	for _, q := range f.queues {
		if q.kind == cqQueue && !q.armed {
			f.lookForFirstArming(q.uar)
		}
	}
	for _, q := range f.queues {
		if q.record == nil {
			continue
		}
		word := words.Load32(q.record, recordWord)
		if word == q.last {
			continue
		}
		if q.kind == cqQueue && !q.armed && word == notArmed {
			q.last = word
			continue
		}
		busy = true
		last := q.last
		q.last = word
		switch q.kind {
		case cqQueue:
			f.armCQ(q, word)
		case qpQueue, sqQueue:
			if q.sends != nil {
				f.send(q, uint16(last), uint16(word))
			} else {
				f.ringSends(q, uint16(word))
			}
		}
	}
	return busy
}

// notArmed is what the kernel's drivers write into the record of a queue that they
// have just made (MLX5_CQ_INIT_CMD_SN in
// drivers/net/ethernet/mellanox/mlx5/core/cq.c).
const notArmed = 2 << 28

// lookForFirstArming looks at the register of a completion queue's page, for the
// queues that have not been armed yet. The first word of a queue that is armed
// for any completion, from its beginning, is 0, and so a record that was 0 does
// not change; but the register names the queue. A user who arms two queues one
// right after the other leaves only the second there, so all of that user's are
// taken for armed then: an event too many does less harm than none.
func (f *Firmware) lookForFirstArming(uar uint32) {
	page := f.page(uar)
	if page == nil {
		return
	}
	named := f.find(cqQueue, uint32(words.Swap64(page, ifc.MLX5_CQ_DOORBELL, 0))&numberMask[cqQueue])
	if named == nil || named.armed || named.uar != uar {
		return
	}
	for _, q := range f.queues {
		if q != named && (q.kind != cqQueue || q.uar != uar || q.armed || q.uid != named.uid || q.uid == 0) {
			continue
		}
		if word := words.Load32(q.record, recordWord); word != notArmed {
			f.armCQ(q, word)
		}
	}
}

// page returns a register page as it stands in BAR 0, nil for one beyond it.
func (f *Firmware) page(uar uint32) []byte {
	at := uint64(uar) * uarPage
	if at+uarPage > uint64(len(f.bar)) {
		return nil
	}
	return f.bar[at : at+uarPage]
}

// uarPage is the length of a register page; its number is its place in BAR 0.
const uarPage = 4096

// ring makes a store to a register of the device.
func (f *Firmware) ring(uar uint32, off int, words ...uint32) {
	b := make([]byte, 0, 8)
	for _, w := range words {
		b = binary.BigEndian.AppendUint32(b, w)
	}
	f.store(uar, off, b)
}

func (f *Firmware) armCQ(q *queue, word uint32) {
	q.armed, q.last = true, word
	f.ring(q.uar, ifc.MLX5_CQ_DOORBELL, word, q.number)
}

// ringSends stores the first words of a work request's control segment, as a driver
// does that does not push the whole request through BlueFlame: its index and the
// queue's number. The opcode and the length are left out; the device reads the
// request itself.
func (f *Firmware) ringSends(q *queue, posted uint16) {
	f.ring(q.uar, ifc.MLX5_BF_OFFSET, uint32(posted-1)<<8, q.number<<8)
}

// moveEQ arms an event queue, with a consumer index.
func (f *Firmware) moveEQ(q *queue, consumer uint32) {
	f.ring(q.uar, ifc.MLX5_EQ_DOORBELL, q.number<<24|consumer&(1<<24-1))
}

// interrupt raises a vector. The driver's handler has then taken every entry of
// the vector's event queues and armed them.
func (f *Firmware) interrupt(vector int) {
	if err := f.raise(vector); err != nil {
		f.log("vector %d: %v", vector, err)
	}
	for _, q := range f.queues {
		if q.kind != eqQueue || q.vector != vector {
			continue
		}
		in := hw.Input(ifc.MLX5_CMD_OP_QUERY_EQ, 0, 0, 0)
		binary.BigEndian.PutUint32(in[numberAt:], q.number)
		out := hw.Output(ifc.MLX5_CMD_OP_QUERY_EQ, 0)
		if err := hw.Do(nil, f.dev, in, out); err != nil {
			f.log("event queue %d: %v", q.number, err)
			continue
		}
		f.moveEQ(q, uint32(eqProducer.Get(out)))
	}
}
