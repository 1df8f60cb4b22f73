package rxe

import (
	"sync"

	"uverbsim/spec"
	"uverbsim/trace"
)

// syndrome is what an answer says: an AETH syndrome of
// drivers/infiniband/sw/rxe/rxe_hdr.h, with the timer of an RNR NAK apart.
type syndrome uint8

const (
	ack syndrome = iota
	nakPSNSeqError
	nakInvalidReq
	nakRemAccErr
	nakRemOpErr
	nakRNR
)

// message is a struct rxe_pkt_info, but of all packets of a message at once:
// what a work request sends, or the answer to it.
type message struct {
	isRequest bool
	qpType    uint8
	destQPN   uint32
	sgid      [16]byte
	dgid      [16]byte
	psn       uint32 // of the first packet
	packets   uint32
	mtu       int // bytes in a packet

	// Of a request.
	opcode           uint32 // enum ib_uverbs_wr_opcode
	solicited        bool
	imm              uint32 // big-endian
	addr             uint64
	rkey             uint32
	length           uint32 // of a read or a write, in bytes
	compareAdd, swap uint64

	data []byte // of a send, a write, or an answer

	// Of an answer.
	syndrome syndrome
	timer    uint8 // of an RNR NAK
}

// lastPSN is the number of the message's last packet.
func (m *message) lastPSN() uint32 { return (m.psn + m.packets - 1) & psnMask }

// psnCompare is above 0 if a comes after b: psn_compare in
// drivers/infiniband/sw/rxe/rxe_verbs.h.
func psnCompare(a, b uint32) int32 { return int32((a - b) << 8) }

// numPackets is how many packets n bytes take: at least one.
func numPackets(n uint32, mtu int) uint32 {
	return uint32(max(1, (uint64(n)+uint64(mtu)-1)/uint64(mtu)))
}

// messageQueue is a struct sk_buff_head: what came for a QP. Each message in
// it holds a reference on the QP.
type messageQueue struct {
	mu   sync.Mutex
	list []*message
}

func (q *messageQueue) push(m *message) {
	q.mu.Lock()
	q.list = append(q.list, m)
	q.mu.Unlock()
}

// peek returns the first message, pop takes it out; nil if there is none.

func (q *messageQueue) peek() *message {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil
	}
	return q.list[0]
}

func (q *messageQueue) pop() *message {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.list) == 0 {
		return nil
	}
	m := q.list[0]
	q.list = q.list[1:]
	return m
}

// drain drops all messages for the QP.
func (q *messageQueue) drain(t *trace.Task, qp *rxeQP) {
	for q.pop() != nil {
		qp.put(t)
	}
}

// xmit sends a message to the peer of a QP. It models rxe_xmit_packet in
// drivers/infiniband/sw/rxe/rxe_net.c: a QP that is not that far sends nothing.
func (qp *rxeQP) xmit(t *trace.Task, m *message) {
	defer t.Enter(module, "rxe_xmit_packet").Leave()
	qp.stateLock.Lock(t)
	m.qpType, m.destQPN, m.mtu = qp.ib.Type, qp.attr.DestQPNum, mtuBytes(qp.attr.PathMTU)
	m.sgid, m.dgid = qp.dev.gid(qp.priAV.GRH.SGIDIndex), qp.priAV.GRH.DGID
	ready := qp.attr.State >= spec.IB_QPS_RTR
	if m.isRequest {
		ready = qp.attr.State >= spec.IB_QPS_RTS
	}
	qp.stateLock.Unlock(t)
	if ready && qp.dev.hasGID(m.dgid) {
		qp.dev.rcv(t, m)
	}
}

// gid returns the GID with that index, zeros if there is none.
func (d *rxeDev) gid(index uint8) [16]byte {
	if int(index) >= len(d.ib.GIDs) {
		return [16]byte{}
	}
	return d.ib.GIDs[index].GID
}

// hasGID says whether packets to the GID arrive here: rxe_match_dgid in
// drivers/infiniband/sw/rxe/rxe_recv.c.
func (d *rxeDev) hasGID(gid [16]byte) bool {
	for i := range d.ib.GIDs {
		if d.ib.GIDs[i].GID == gid {
			return true
		}
	}
	return false
}

// rcv gives a message to the QP that it is for, if that takes it. It models
// rxe_rcv in drivers/infiniband/sw/rxe/rxe_recv.c.
func (d *rxeDev) rcv(t *trace.Task, m *message) {
	defer t.Enter(module, "rxe_rcv").Leave()
	qp, _ := d.qpPool.get(t, m.destQPN).(*rxeQP)
	if qp == nil {
		return
	}
	if !qp.queuePkt(t, m) {
		qp.put(t)
	}
}

// queuePkt has the QP work on a message, if it takes that. It models rxe_rcv_pkt
// in drivers/infiniband/sw/rxe/rxe_recv.c. What is taken is queued under the
// state lock: a QP that was reset since would not look at it any more, and would
// be held by it.
func (qp *rxeQP) queuePkt(t *trace.Task, m *message) bool {
	qp.stateLock.Lock(t)
	defer qp.stateLock.Unlock(t)
	if !qp.accepts(m) {
		return false
	}
	if m.isRequest {
		qp.reqPkts.push(m)
		qp.recvTask.sched(t)
	} else {
		qp.respPkts.push(m)
		qp.sendTask.sched(t)
	}
	return true
}

// accepts models check_type_state and check_addr in
// drivers/infiniband/sw/rxe/rxe_recv.c. The caller holds the state lock.
func (qp *rxeQP) accepts(m *message) bool {
	least := uint8(spec.IB_QPS_RTS)
	if m.isRequest {
		least = spec.IB_QPS_RTR
	}
	if !qp.valid || qp.ib.Type != m.qpType || qp.attr.State < least || qp.attr.PortNum != numPorts {
		return false
	}
	return m.dgid == qp.dev.gid(qp.priAV.GRH.SGIDIndex) && m.sgid == qp.priAV.GRH.DGID
}
