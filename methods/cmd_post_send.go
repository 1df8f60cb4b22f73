package methods

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

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
