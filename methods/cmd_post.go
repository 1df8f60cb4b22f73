package methods

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands that post work requests. A request has three parts: the
// command's struct, the work requests, each wqe_size bytes apart, and the
// pieces of memory of all of them one after the other.

// kmallocMax is KMALLOC_MAX_SIZE of a 64-bit machine with pages of 4 KiB, in
// bytes: a larger kmalloc always fails.
const kmallocMax = 4 << 20

// maxSGEs is the number of pieces from which on the size of a work request's
// allocation would not fit into 32 bits. The kernel's bound depends a little on
// the opcode; no request can tell, since what comes here is either as small as
// the request or near 2^32.
const maxSGEs = math.MaxUint32/spec.SGESize - 8

// copySGEs copies n pieces of memory; false is a fault.
func copySGEs(b *kernel.Bundle, from copyuser.Addr, n uint32) ([]core.SGE, bool) {
	raw := make([]byte, n*spec.SGESize)
	if !copyuser.CopyFromUser(b.Trace(), b.Task().Mem, raw, from) {
		return nil, false
	}
	sges := make([]core.SGE, n)
	for i := range sges {
		sges[i] = core.SGE{
			Addr:   binary.LittleEndian.Uint64(raw[i*spec.SGESize:]),
			Length: binary.LittleEndian.Uint32(raw[i*spec.SGESize+8:]),
			LKey:   binary.LittleEndian.Uint32(raw[i*spec.SGESize+12:]),
		}
	}
	return sges, true
}

// badWR returns how many of n work requests the driver looked at when it
// refused the one with the index bad.
func badWR(bad, n int) uint32 { return uint32(min(bad+1, n)) }

// uverbsPostSend posts send work requests. The doorbell of some drivers is a
// POST_SEND without any. It models ib_uverbs_post_send in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/array-short, cmd/finish-tail, cmd-post/send-size,
// cmd-post/send-no-memory, those of the lookup and of unmarshallSend, and
// those of the driver.
func uverbsPostSend(b *kernel.Bundle) error {
	var cmd spec.PostSend
	it, err := requestStart(b, &cmd)
	if err != nil {
		return err
	}
	wqes, err := it.nextPtr(uint64(cmd.WQESize) * uint64(cmd.WRCount))
	if err != nil {
		return err
	}
	sgls, err := it.nextPtr(uint64(cmd.SGECount) * spec.SGESize)
	if err != nil {
		return err
	}
	if err := it.finish(); err != nil {
		return err
	}
	if cmd.WQESize < spec.SendWRSize {
		return rule.CmdPostSendSize
	}
	if cmd.WQESize > kmallocMax || b.Trace().Fail(trace.Alloc, "ib_uverbs_send_wr") {
		return rule.CmdPostSendNoMemory
	}
	qp, o, err := uobjGetObjRead[*core.QP](b, spec.UVERBS_OBJECT_QP, cmd.QPHandle)
	if err != nil {
		return err
	}
	s := sendPoster{b: b, cmd: &cmd, qp: qp, sgl: sgls}
	err = s.post(wqes)
	uobjPutRead(o, b)
	s.putAHs()
	return err
}

// sendPoster puts the work requests of one POST_SEND together.
type sendPoster struct {
	b   *kernel.Bundle
	cmd *spec.PostSend
	qp  *core.QP

	sgl  copyuser.Addr // where the next piece of memory is
	used uint32        // how many were taken
	wrs  []core.SendWR
	ahs  []*uobject.Object // the address handles that the work requests hold
}

// post is the part of uverbsPostSend that holds the QP.
func (s *sendPoster) post(wqes copyuser.Addr) error {
	var raw []byte
	if s.cmd.WRCount > 0 {
		// Only the known part of a work request is looked at, but all is copied.
		raw = make([]byte, s.cmd.WQESize)
	}
	for i := range uint64(s.cmd.WRCount) {
		at := wqes + copyuser.Addr(i*uint64(s.cmd.WQESize))
		if !copyuser.CopyFromUser(s.b.Trace(), s.b.Task().Mem, raw, at) {
			return rule.CmdPostSendWRFault
		}
		var wr spec.SendWR
		copy(spec.Bytes(&wr), raw)
		if err := s.add(&wr); err != nil {
			return err
		}
	}
	var resp spec.PostSendResp
	bad, err := s.qp.Device.Ops.PostSend(s.b.Task(), s.qp.RealQP, s.wrs)
	if err != nil {
		resp.BadWR = badWR(bad, len(s.wrs))
	}
	if err2 := response(s.b, &resp); err2 != nil {
		return err2
	}
	return err
}

// add checks one work request and appends it.
func (s *sendPoster) add(u *spec.SendWR) error {
	if u.NumSGE+s.used > s.cmd.SGECount {
		return rule.CmdPostSendSGECount
	}
	wr := core.SendWR{WRID: u.WRID, Opcode: u.Opcode, SendFlags: u.SendFlags}
	if err := s.fillOpcode(&wr, u); err != nil {
		return err
	}
	switch u.Opcode {
	case spec.IB_UVERBS_WR_SEND_WITH_IMM, spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, spec.IB_UVERBS_WR_SEND_WITH_INV:
		copy(wr.ImmOrInv[:], spec.Bytes(&u.Ex))
	}
	if u.NumSGE != 0 {
		var ok bool
		if wr.SGList, ok = copySGEs(s.b, s.sgl, u.NumSGE); !ok {
			return rule.CmdPostSendSGEFault
		}
		s.sgl += copyuser.Addr(u.NumSGE) * spec.SGESize
		s.used += u.NumSGE
	}
	s.wrs = append(s.wrs, wr)
	return nil
}

// fillOpcode fills in what an opcode adds to a work request. A UD QP knows
// sends only, which go to an address handle.
func (s *sendPoster) fillOpcode(wr *core.SendWR, u *spec.SendWR) error {
	var rdma spec.SendWRRDMA
	var atomic spec.SendWRAtomic
	var ud spec.SendWRUD
	if s.qp.Type == spec.IB_QPT_UD {
		if u.Opcode != spec.IB_UVERBS_WR_SEND && u.Opcode != spec.IB_UVERBS_WR_SEND_WITH_IMM {
			return rule.CmdPostSendUDOpcode
		}
		if err := s.allocWR(u.NumSGE); err != nil {
			return err
		}
		copy(spec.Bytes(&ud), spec.Bytes(&u.WR))
		ah, o, err := uobjGetObjRead[*core.AH](s.b, spec.UVERBS_OBJECT_AH, ud.AH)
		if err != nil {
			return err
		}
		s.ahs = append(s.ahs, o)
		wr.AH, wr.RemoteQPN, wr.RemoteQKey = ah, ud.RemoteQPN, ud.RemoteQkey
		return nil
	}
	switch u.Opcode {
	case spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, spec.IB_UVERBS_WR_RDMA_WRITE, spec.IB_UVERBS_WR_RDMA_READ:
		copy(spec.Bytes(&rdma), spec.Bytes(&u.WR))
		wr.RemoteAddr, wr.RKey = rdma.RemoteAddr, rdma.Rkey
	case spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP, spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
		copy(spec.Bytes(&atomic), spec.Bytes(&u.WR))
		wr.RemoteAddr, wr.RKey = atomic.RemoteAddr, atomic.Rkey
		wr.CompareAdd, wr.Swap = atomic.CompareAdd, atomic.Swap
	case spec.IB_UVERBS_WR_SEND, spec.IB_UVERBS_WR_SEND_WITH_IMM, spec.IB_UVERBS_WR_SEND_WITH_INV:
	default:
		return rule.CmdPostSendOpcode
	}
	return s.allocWR(u.NumSGE)
}

// allocWR models alloc_wr in drivers/infiniband/core/uverbs_cmd.c.
func (s *sendPoster) allocWR(sges uint32) error {
	t := s.b.Trace()
	defer t.EnterInlined(trace.Uverbs, "alloc_wr").Leave()
	if sges >= maxSGEs || t.Fail(trace.Alloc, "ib_send_wr") {
		return rule.CmdPostSendWRNoMemory
	}
	return nil
}

// putAHs lets the address handles go.
func (s *sendPoster) putAHs() {
	for _, o := range s.ahs {
		uobjPutRead(o, s.b)
	}
}

// unmarshallRecv reads receive work requests. It models
// ib_uverbs_unmarshall_recv in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd/array-short, cmd/finish-tail, cmd-post/recv-….
func unmarshallRecv(it *reqIter, wrCount, wqeSize, sgeCount uint32) ([]core.RecvWR, error) {
	b := it.b
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "ib_uverbs_unmarshall_recv").Leave()
	if wqeSize < spec.RecvWRSize {
		return nil, rule.CmdPostRecvSize
	}
	wqes, err := it.nextPtr(uint64(wqeSize) * uint64(wrCount))
	if err != nil {
		return nil, err
	}
	sgl, err := it.nextPtr(uint64(sgeCount) * spec.SGESize)
	if err != nil {
		return nil, err
	}
	if err := it.finish(); err != nil {
		return nil, err
	}
	if wqeSize > kmallocMax || t.Fail(trace.Alloc, "ib_uverbs_recv_wr") {
		return nil, rule.CmdPostRecvNoMemory
	}
	var raw []byte
	if wrCount > 0 {
		raw = make([]byte, wqeSize)
	}
	used := uint32(0)
	var wrs []core.RecvWR
	for i := range uint64(wrCount) {
		if !copyuser.CopyFromUser(t, b.Task().Mem, raw, wqes+copyuser.Addr(i*uint64(wqeSize))) {
			return nil, rule.CmdPostRecvWRFault
		}
		var u spec.RecvWR
		copy(spec.Bytes(&u), raw)
		if u.NumSGE+used > sgeCount {
			return nil, rule.CmdPostRecvSGECount
		}
		if u.NumSGE >= maxSGEs {
			return nil, rule.CmdPostRecvManySGEs
		}
		if t.Fail(trace.Alloc, "ib_recv_wr") {
			return nil, rule.CmdPostRecvWRNoMemory
		}
		wr := core.RecvWR{WRID: u.WRID}
		if u.NumSGE != 0 {
			var ok bool
			if wr.SGList, ok = copySGEs(b, sgl, u.NumSGE); !ok {
				return nil, rule.CmdPostRecvSGEFault
			}
			sgl += copyuser.Addr(u.NumSGE) * spec.SGESize
			used += u.NumSGE
		}
		wrs = append(wrs, wr)
	}
	return wrs, nil
}

// uverbsPostRecv posts receive work requests to a QP. It models
// ib_uverbs_post_recv in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: those of unmarshallRecv, of the lookup, and of the driver.
func uverbsPostRecv(b *kernel.Bundle) error {
	var cmd spec.PostRecv
	it, err := requestStart(b, &cmd)
	if err != nil {
		return err
	}
	wrs, err := unmarshallRecv(&it, cmd.WRCount, cmd.WQESize, cmd.SGECount)
	if err != nil {
		return err
	}
	qp, o, err := uobjGetObjRead[*core.QP](b, spec.UVERBS_OBJECT_QP, cmd.QPHandle)
	if err != nil {
		return err
	}
	var resp spec.PostRecvResp
	bad, err := qp.Device.Ops.PostRecv(b.Task(), qp.RealQP, wrs)
	uobjPutRead(o, b)
	if err != nil {
		resp.BadWR = badWR(bad, len(wrs))
	}
	if err2 := response(b, &resp); err2 != nil {
		return err2
	}
	return err
}

// uverbsPostSRQRecv posts receive work requests to an SRQ. It models
// ib_uverbs_post_srq_recv in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: those of unmarshallRecv, of the lookup, and of the driver.
func uverbsPostSRQRecv(b *kernel.Bundle) error {
	var cmd spec.PostSRQRecv
	it, err := requestStart(b, &cmd)
	if err != nil {
		return err
	}
	wrs, err := unmarshallRecv(&it, cmd.WRCount, cmd.WQESize, cmd.SGECount)
	if err != nil {
		return err
	}
	srq, o, err := uobjGetObjRead[*core.SRQ](b, spec.UVERBS_OBJECT_SRQ, cmd.SRQHandle)
	if err != nil {
		return err
	}
	var resp spec.PostSRQRecvResp
	bad, err := srq.Device.Ops.PostSRQRecv(b.Task(), srq, wrs)
	uobjPutRead(o, b)
	if err != nil {
		resp.BadWR = badWR(bad, len(wrs))
	}
	if err2 := response(b, &resp); err2 != nil {
		return err2
	}
	return err
}
