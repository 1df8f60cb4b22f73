package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// A page fault is the use of a key whose page is absent and may be brought in.
// The device tells the driver, with all that this needs to find the memory, and
// lets the queue pair's end wait until PAGE_FAULT_RESUME. The sender waits where
// it is. A receiver answers that it is not ready as long as it waits, so that the
// sender tries again after the receiver's RNR timer, and each such answer counts
// among the sender's RNR retries.

// The parts of a fault's type (include/linux/mlx5/driver.h). A fault about a work
// request that a shared receive queue has is of type 0.
const (
	pfaultRequestor = 1 << 0 // MLX5_PFAULT_REQUESTOR: of the sending end
	pfaultWrite     = 1 << 1 // MLX5_PFAULT_WRITE
	pfaultRDMA      = 1 << 2 // MLX5_PFAULT_RDMA: about memory that the other end names

	pfTypeRMP         = 0                             // MLX5_WQE_PF_TYPE_RMP
	pfTypeSendOrWrite = pfaultRequestor               // MLX5_WQE_PF_TYPE_REQ_SEND_OR_WRITE
	pfTypeResp        = pfaultWrite                   // MLX5_WQE_PF_TYPE_RESP
	pfTypeReadAtomic  = pfaultRequestor | pfaultWrite // MLX5_WQE_PF_TYPE_REQ_READ_OR_ATOMIC
)

// odpUse is what memory that is paged on demand is used for, as the capabilities
// have it.
type odpUse uint8

const (
	odpSend odpUse = iota
	odpReceive
	odpWrite
	odpRead
	odpAtomic
	odpSRQReceive
)

// odpCaps has the capability of each use, by service.
var odpCaps = func() map[uint8][6]ifc.Field {
	m := map[uint8][6]ifc.Field{}
	for service, name := range map[uint8]string{ifc.MLX5_QP_ST_RC: "rc", ifc.MLX5_QP_ST_UD: "ud", ifc.MLX5_QP_ST_XRC: "xrc"} {
		var fields [6]ifc.Field
		for use, bit := range []string{"send", "receive", "write", "read", "atomic", "srq_receive"} {
			fields[use] = ifc.Must("odp_cap").Field("transport_page_fault_scheme_cap." + name + "_odp_caps." + bit)
		}
		m[service] = fields
	}
	return m
}()

var capPG = ifc.Must("cmd_hca_cap").Field("pg")

// verbUses are the uses of the requests' verbs.
var verbUses = map[verb]odpUse{verbSend: odpSend, verbWrite: odpWrite, verbRead: odpRead,
	verbCompareSwap: odpAtomic, verbFetchAdd: odpAtomic}

// pageFault is one end of a queue pair that waits for a page, or whose page cannot
// be brought in.
type pageFault struct {
	waiting   bool
	refused   bool
	answering bool   // a receiver with data to send back
	incoming  bool   // a sender with data that came back
	block     uint16 // a sender's work request
}

// mayWait says whether the key error that was found last is one that the driver
// may mend: the page is absent, of a key that the driver brings pages in for, used
// for something that the device can wait with, and the driver listens.
func (d *Device) mayWait(q *qp, use odpUse) bool {
	caps, ok := odpCaps[q.service]
	return ok && d.pageable && d.cap(capPG) != 0 && caps[use].Get(d.caps[ifc.MLX5_CAP_ODP]) != 0 &&
		d.isHeard(ifc.MLX5_EVENT_TYPE_PAGE_FAULT)
}

// faultOut lets the sender wait for the memory that the work request at next
// takes its data from. It is false if the error is the work request's.
func (d *Device) faultOut(q *qp, w *sendWR, e keyError, n int) bool {
	if e != keyNotPresent || !d.mayWait(q, verbUses[w.verb]) {
		return false
	}
	d.suspendRequester(q, pageFault{waiting: true, block: w.block})
	d.raiseFault(q, PageFault{Type: pfTypeSendOrWrite, WQNum: q.n, WQEIndex: w.block, BytesCommitted: q.req.off, PacketSize: q.packetSize(n)})
	return true
}

// faultIn is the same for the memory that takes what came back.
func (d *Device) faultIn(q *qp, w *sendWR, e keyError, n int) bool {
	if e != keyNotPresent || !d.mayWait(q, verbUses[w.verb]) {
		return false
	}
	d.suspendRequester(q, pageFault{waiting: true, incoming: true, block: w.block})
	d.raiseFault(q, PageFault{Type: pfTypeReadAtomic, WQNum: q.n, WQEIndex: w.block, BytesCommitted: w.answered, PacketSize: q.packetSize(n)})
	return true
}

func (d *Device) suspendRequester(q *qp, f pageFault) {
	q.req.fault = f
	q.req.deadline = 0
}

// faultReceive lets the receiver wait for the memory that a message needs: of its
// receive, or that the other end names. It returns why the request fails if it
// cannot wait.
func (d *Device) faultReceive(q *qp, p *packet) result {
	r := &q.resp
	use, failed := verbUses[p.verb], denied
	if p.verb == verbSend {
		use, failed = odpReceive, badMemory
		if r.recv.srq != nil {
			use = odpSRQReceive
		}
	}
	if r.fault.refused || !d.mayWait(q, use) {
		r.fault = pageFault{}
		return failed
	}
	r.fault = pageFault{waiting: true}
	switch p.verb {
	case verbSend:
		f := PageFault{Type: pfTypeResp, WQNum: q.n, WQEIndex: r.recv.index, BytesCommitted: r.bytes, PacketSize: q.packetSize(p.n)}
		if r.recv.srq != nil {
			f.Type, f.WQNum = pfTypeRMP, r.recv.srq.n
		}
		d.raiseFault(q, f)
	case verbWrite:
		d.raiseFault(q, PageFault{Subtype: PageFaultRDMA, Type: pfaultRDMA | pfaultWrite, RKey: r.key, VA: r.addr, OpLen: r.left,
			PacketSize: q.packetSize(p.n)})
	case verbRead:
		d.raiseFault(q, PageFault{Subtype: PageFaultRDMA, Type: pfaultRDMA, RKey: p.key, VA: p.addr, OpLen: p.length})
	default:
		d.raiseFault(q, PageFault{Subtype: PageFaultRDMA, Type: pfaultRDMA | pfaultWrite, RKey: p.key, VA: p.addr, OpLen: atomicSize})
	}
	return performed
}

// notNow tells the sender to try again, and to say nothing else before.
func (d *Device) notNow(q *qp, p *packet) {
	r := &q.resp
	r.nakked = true
	timer := uint8(qpc.minRNRNak.Get(q.ctx))
	d.answer(q, response{verb: verbAck, psn: p.psn, msn: r.msn, syndrome: ackNotReady | timer})
}

// faultAnswer lets the receiver wait for the memory that an answer takes its data
// from; false if it cannot.
func (d *Device) faultAnswer(q *qp, a *response, n int) bool {
	r := &q.resp
	if r.fault.refused || !d.mayWait(q, odpRead) {
		return false
	}
	r.fault = pageFault{waiting: true, answering: true}
	d.raiseFault(q, PageFault{Subtype: PageFaultRDMA, Type: pfaultRDMA, RKey: a.key, VA: a.addr, OpLen: a.left, PacketSize: q.packetSize(n)})
	return true
}

// packetSize is the length of the first of the packets that n bytes travel in.
func (q *qp) packetSize(n int) uint16 { return uint16(min(n, int(q.mtu))) }

// raiseFault sends the event; its token is the queue pair that waits.
func (d *Device) raiseFault(q *qp, f PageFault) {
	f.Token = q.n
	d.raiseAbout(f.eqe(), pending{qp: q})
}

// The fields of PAGE_FAULT_RESUME.
var resume = struct{ failed, typ, token ifc.Field }{
	failed: ifc.Must("page_fault_resume_in").Field("page_fault_info.trans_page_fault_info.error"),
	typ:    ifc.Must("page_fault_resume_in").Field("page_fault_info.trans_page_fault_info.page_fault_type"),
	token:  ifc.Must("page_fault_resume_in").Field("page_fault_info.trans_page_fault_info.fault_token"),
}

// resumePageFault lets a queue pair go on that waits for a page, or says that
// there is none. One that does not wait any more, since it was moved to another
// state, is left alone. The driver names queue pairs of all users.
func resumePageFault(d *Device, c *command) *refusal {
	o, ok := d.objects[kindQP].live[uint32(resume.token.Get(c.in))]
	if !ok || isUser(c.uid) {
		return noSuchQP
	}
	q := o.as.(*qp)
	failed := resume.failed.Get(c.in) != 0
	if resume.typ.Get(c.in)&pfaultRequestor != 0 {
		d.resumeRequester(q, failed)
	} else {
		d.resumeResponder(q, failed)
	}
	return nil
}

func (d *Device) resumeRequester(q *qp, failed bool) {
	r := &q.req
	f := r.fault
	r.fault = pageFault{}
	w := r.at(f.block)
	if !f.waiting || w == nil {
		return
	}
	switch {
	case failed && f.incoming:
		d.failWR(q, w, ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, reqLocalProtection)
		return
	case failed:
		w.fail(ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR)
		d.count(q.counters, reqLocalProtection)
		r.failed = true
	case f.incoming:
		d.resend(q, w.nextAnswer(q))
	}
	d.startTimer(q)
	d.schedule(q)
}

// at finds the work request that lies in a block.
func (r *requester) at(block uint16) *sendWR {
	for i := range r.ring.n {
		if w := r.ring.at(i); w.block == block {
			return w
		}
	}
	return nil
}

func (d *Device) resumeResponder(q *qp, failed bool) {
	f := &q.resp.fault
	if f.waiting {
		f.waiting, f.refused = false, failed
		d.schedule(q)
	}
}

// What a page fault is about (enum in include/linux/mlx5/device.h).
const (
	PageFaultWQE  = 0 // MLX5_PFAULT_SUBTYPE_WQE: memory that a work request names
	PageFaultRDMA = 1 // MLX5_PFAULT_SUBTYPE_RDMA: memory that the other end names
)

// PageFault is what an event of MLX5_EVENT_TYPE_PAGE_FAULT says (struct
// mlx5_eqe_page_fault in include/linux/mlx5/device.h). Sizes are in bytes.
type PageFault struct {
	Subtype        uint8
	Type           uint8  // to be given back with PAGE_FAULT_RESUME
	Token          uint32 // the same: 24 bits
	BytesCommitted uint32 // that are transferred already
	PacketSize     uint16

	WQNum    uint32 // PageFaultWQE: the queue pair or the shared receive queue
	WQEIndex uint16

	RKey  uint32 // PageFaultRDMA
	OpLen uint32 // of all that is to be accessed
	VA    uint64
}

// PageFault reads the event.
func (e *EQE) PageFault() PageFault {
	be, b := binary.BigEndian, e.Data[:]
	f := PageFault{Subtype: e.Subtype, BytesCommitted: be.Uint32(b), PacketSize: be.Uint16(b[10:])}
	word := be.Uint32(b[24:])
	f.Type = uint8(word >> 24)
	switch e.Subtype {
	case PageFaultWQE:
		f.WQEIndex, f.Token, f.WQNum = be.Uint16(b[6:]), be.Uint32(b[12:]), word&bits24
		f.Type &= 7
	case PageFaultRDMA:
		f.RKey, f.OpLen, f.VA, f.Token = be.Uint32(b[4:]), be.Uint32(b[12:]), be.Uint64(b[16:]), word&bits24
	}
	return f
}

func (f *PageFault) eqe() EQE {
	e := EQE{Type: ifc.MLX5_EVENT_TYPE_PAGE_FAULT, Subtype: f.Subtype}
	be, b := binary.BigEndian, e.Data[:]
	be.PutUint32(b, f.BytesCommitted)
	be.PutUint16(b[10:], f.PacketSize)
	switch f.Subtype {
	case PageFaultWQE:
		be.PutUint16(b[6:], f.WQEIndex)
		be.PutUint32(b[12:], f.Token)
		be.PutUint32(b[24:], uint32(f.Type)<<24|f.WQNum)
	case PageFaultRDMA:
		be.PutUint32(b[4:], f.RKey)
		be.PutUint32(b[12:], f.OpLen)
		be.PutUint64(b[16:], f.VA)
		be.PutUint32(b[24:], uint32(f.Type)<<24|f.Token)
	}
	return e
}
