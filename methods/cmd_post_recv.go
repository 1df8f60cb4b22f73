package methods

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

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
