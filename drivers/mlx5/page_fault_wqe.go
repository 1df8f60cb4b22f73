package mlx5

import (
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/spec"
)

// Parts of a page fault's type (include/linux/mlx5/driver.h and device.h).
const (
	pfaultRequestor = 1 << 0 // MLX5_PFAULT_REQUESTOR
	wqePFTypeRMP    = 0      // MLX5_WQE_PF_TYPE_RMP
)

// faultedSegments reads the data segments of the work request that a page fault is
// about, and says whether it is a receive. Ok is false if they cannot be read; with
// no segments at all then the queue is gone.
func (d *Device) faultedSegments(f *hw.PageFault) (segs []byte, isRecv, ok bool) {
	if f.Type == wqePFTypeRMP {
		q := d.srqs.get(f.WQNum)
		if q == nil {
			return nil, true, false
		}
		segs, ok = q.readWQE(f.WQEIndex)
		return segs, true, ok
	}
	q := d.qps.get(f.WQNum)
	if q == nil {
		return nil, true, false
	}
	if f.Type&pfaultRequestor != 0 {
		segs, ok = q.readSQ(f.WQEIndex)
		return segs, false, ok
	}
	segs, ok = q.readRQ(f.WQEIndex)
	return segs, true, ok
}

// unreadable is what no segments are read from; it is not nil.
var unreadable = []byte{}

// readSQ reads a send work request and skips what stands before its data. It models
// mlx5_ib_read_wqe_sq in drivers/infiniband/hw/mlx5/qp.c and
// mlx5_ib_mr_initiator_pfault_handler in drivers/infiniband/hw/mlx5/odp.c.
func (q *qp) readSQ(index uint16) ([]byte, bool) {
	var b [1024]byte // the longest work request: 6 bits of segments
	start := int64(q.umem.Offset()) + int64(q.rq.count)<<q.rq.shift
	block := func(i int) int64 { return start + int64((int(index)+i)&int(q.sq.count-1))<<sendWQEShift }
	n := sendWQEBB
	for at := 0; at < n; at += sendWQEBB {
		if _, err := q.umem.Pin.ReadAt(b[at:at+sendWQEBB], block(at/sendWQEBB)); err != nil {
			return unreadable, false
		}
		n = int(be.Uint32(b[4:])&0x3f) * dataSegSize
	}
	return q.skipToData(b[:n])
}

// extendedAV is MLX5_EXTENDED_UD_AV: the address of a datagram's receiver has 48
// bytes and not 16.
const extendedAV = 1 << 31

func (q *qp) skipToData(wqe []byte) ([]byte, bool) {
	const segment, longAV = 16, 48
	if len(wqe) == 0 {
		return unreadable, false
	}
	opcode, at := wqe[3], ctrlSegSize
	if q.typ == spec.IB_QPT_XRC_INI {
		at += segment
	}
	if q.typ == spec.IB_QPT_UD || q.typ == qptDCI {
		if at+segment > len(wqe) {
			return unreadable, false
		}
		if be.Uint32(wqe[at+8:])&extendedAV != 0 {
			at += longAV
		} else {
			at += segment
		}
	}
	switch opcode {
	case ifc.MLX5_OPCODE_RDMA_WRITE, ifc.MLX5_OPCODE_RDMA_WRITE_IMM, ifc.MLX5_OPCODE_RDMA_READ:
		at += segment
	case ifc.MLX5_OPCODE_ATOMIC_CS, ifc.MLX5_OPCODE_ATOMIC_FA:
		at += 2 * segment
	}
	if at > len(wqe) {
		return unreadable, false
	}
	return wqe[at:], true
}

// readRQ reads a receive. It models mlx5_ib_read_wqe_rq in
// drivers/infiniband/hw/mlx5/qp.c and mlx5_ib_mr_responder_pfault_handler_rq in
// drivers/infiniband/hw/mlx5/odp.c.
func (q *qp) readRQ(index uint16) ([]byte, bool) {
	if q.flagsEn&spec.MLX5_QP_FLAG_SIGNATURE != 0 || q.rq.count == 0 {
		return unreadable, false
	}
	b := make([]byte, 1<<q.rq.shift)
	_, err := q.umem.Pin.ReadAt(b, int64(q.umem.Offset())+int64(int32(index)&(q.rq.count-1))<<q.rq.shift)
	return b, err == nil
}

// readWQE reads a receive of a shared queue. It models mlx5_ib_read_wqe_srq in
// drivers/infiniband/hw/mlx5/qp.c and mlx5_ib_mr_responder_pfault_handler_srq in
// drivers/infiniband/hw/mlx5/odp.c.
func (q *srq) readWQE(index uint16) ([]byte, bool) {
	b := make([]byte, q.stride)
	if _, err := q.umem.Pin.ReadAt(b, int64(q.umem.Offset())+int64(uint64(index)&(q.max-1)*q.stride)); err != nil {
		return unreadable, false
	}
	return b[srqNextSegSize:], true
}
