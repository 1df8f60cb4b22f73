package rxe

import (
	"uverbsim/spec"
	"uverbsim/trace"
)

// completeSend takes the oldest element out of the send queue and posts its
// completion, if it has one. It models do_complete and make_send_cqe in
// drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) completeSend(t *trace.Task, w *sendWQE) {
	defer t.EnterInlined(module, "do_complete").Leave()
	w.q.advanceConsumer(fromClient)
	if qp.sqSigType == signalAllWR || w.WR.SendFlags&spec.IB_SEND_SIGNALED != 0 || w.Status != spec.IB_WC_SUCCESS {
		qp.scq.post(t, qp.sendWC(w), false)
	}
	if qp.req.waitFence {
		qp.req.waitFence, qp.req.again = false, true
	}
}

// sendWC is the completion of an element.
func (qp *rxeQP) sendWC(w *sendWQE) *spec.WC {
	wc := &spec.WC{WRID: w.WR.WRID, Status: w.Status, QPNum: qp.ib.QPNum}
	if w.Status != spec.IB_WC_SUCCESS {
		return wc
	}
	wc.Opcode, wc.ByteLen = wcOpcode(w.WR.Opcode), w.DMA.Length
	switch w.WR.Opcode {
	case spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, spec.IB_UVERBS_WR_SEND_WITH_IMM:
		wc.WCFlags = spec.IB_WC_WITH_IMM
	}
	return wc
}

// wcOpcode models wr_to_wc_opcode in drivers/infiniband/sw/rxe/rxe_comp.c, for
// what can complete well. What it is asked for stands in the user's memory.
func wcOpcode(opcode uint32) uint32 {
	if opcode < uint32(len(wcOpcodes)) {
		return wcOpcodes[opcode]
	}
	return 0xff
}

var wcOpcodes = [...]uint32{
	spec.IB_UVERBS_WR_RDMA_WRITE:           spec.IB_WC_RDMA_WRITE,
	spec.IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:  spec.IB_WC_RDMA_WRITE,
	spec.IB_UVERBS_WR_SEND:                 spec.IB_WC_SEND,
	spec.IB_UVERBS_WR_SEND_WITH_IMM:        spec.IB_WC_SEND,
	spec.IB_UVERBS_WR_RDMA_READ:            spec.IB_WC_RDMA_READ,
	spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:   spec.IB_WC_COMP_SWAP,
	spec.IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD: spec.IB_WC_FETCH_ADD,
}
