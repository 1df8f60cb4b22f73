package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// takeReceive takes the next posted receive for a message: of the queue pair's
// own queue, of its shared one, or of the one that the packet names.
func (d *Device) takeReceive(q *qp, p *packet) result {
	in := &q.resp.recv
	if in.active { // it was taken for a message that was cut off
		in.list = sgl{segs: in.segs}
		return performed
	}
	s := q.srq
	if q.service == ifc.MLX5_QP_ST_XRC {
		if s = d.xrcSRQ(q, p); s == nil {
			return invalid
		}
	}
	if s != nil {
		return d.takeShared(q, s)
	}
	if q.rq.entries == 0 {
		return invalid
	}
	ok, err := d.receivable(q)
	switch {
	case err != nil:
		return inoperative
	case !ok:
		return notReady
	}
	wqe, err := d.fetchRecv(q, q.rq.ci, &in.wqe)
	if err != nil {
		return inoperative
	}
	in.active, in.to, in.userIndex, in.srq, in.index = true, q.rcq, q.receiveIndex(nil), nil, q.rq.ci
	in.segs, in.list = wqe, sgl{segs: wqe}
	q.rq.ci++
	return performed
}

// xrcSRQ is the shared queue that a packet to a target of XRC names, nil if the
// target's domain has no such queue.
func (d *Device) xrcSRQ(q *qp, p *packet) *srq {
	if s := d.srqOf(p.srqn); s != nil && s.xrcd == q.xrcd && s.cq != nil {
		return s
	}
	return nil
}

// takeShared takes the next receive of a shared queue.
func (d *Device) takeShared(q *qp, s *srq) result {
	in := &q.resp.recv
	segs, index, ok, err := d.srqNext(s, in.wqe[:])
	switch {
	case err != nil:
		d.srqError(s)
		return inoperative
	case !ok:
		return notReady
	}
	in.active, in.to, in.userIndex, in.srq, in.index = true, q.rcq, q.receiveIndex(s), s, index
	if q.service == ifc.MLX5_QP_ST_XRC {
		in.to = s.cq
	}
	in.segs, in.list = segs, sgl{segs: segs}
	d.srqTake(s)
	return performed
}

// noUserIndex stands for none (MLX5_IB_DEFAULT_UIDX in
// drivers/infiniband/hw/mlx5/mlx5_ib.h).
const noUserIndex = 0xffffff

var capCQEVersion = ifc.Must("cmd_hca_cap").Field("cqe_version")

// indexes says whether completions of something with that user index have it.
// Without one, and with completions of version 0, they have the number of the
// shared queue that a receive came from, and 0 for a queue pair's own.
func (d *Device) indexes(user uint32) bool {
	return user != noUserIndex && d.cap(capCQEVersion) != 0
}

// receiveIndex is what the completion of a receive has for a user index; s is the
// shared queue that the receive is of, nil for the queue pair's own.
func (q *qp) receiveIndex(s *srq) uint32 {
	switch {
	case s != nil && q.service == ifc.MLX5_QP_ST_XRC && s.indexed:
		return s.userIndex
	case q.service != ifc.MLX5_QP_ST_XRC && q.indexed:
		return q.userIndex
	case s != nil:
		return s.n
	}
	return 0
}

// dropReceives forgets the receives of a shared queue that ends. Those of queue
// pairs that it was made for keep it from ending, but targets of XRC take one by the
// way.
func (d *Device) dropReceives(s *srq) {
	for _, o := range d.objects[kindQP].live {
		if q := o.as.(*qp); q.resp.recv.srq == s {
			q.resp.recv = receive{}
		}
	}
}

// scatterReceive writes what came to the receive's memory.
func (d *Device) scatterReceive(in *receive, who user, p []byte) result {
	if in.srq != nil {
		who.pd = in.srq.pd
	}
	was := in.list
	switch d.scatter(&in.list, who, p) {
	case keyOK:
		return performed
	case keyNotPresent:
		in.list = was
		return absent
	case keyBounds:
		if _, left := in.list.next(1); !left {
			return tooLong
		}
	}
	return badMemory
}

// completeReceive completes the receive that is in use.
func (d *Device) completeReceive(q *qp, p *packet, c *Completion) result {
	in := &q.resp.recv
	in.active = false
	c.WQECounter, c.Solicited = in.index, p.solicited
	d.completionSource(p, c)
	if !d.completeFor(q, in.to, in.userIndex, c) {
		return badCompletion
	}
	return performed
}

// What a datagram's completion says of the headers before the data, in the word
// with the other end's number. On Ethernet two bits tell the kind of network
// header (MLX5_CQE_ROCE_L3_HEADER_TYPE_* in include/linux/mlx5/device.h) where
// InfiniBand has the service level.
const (
	cqeGRH     = 1 << 28
	cqeL3Shift = 24
	l3IPv6     = 1
	l3IPv4     = 2
)

// completionSource says where a message came from.
func (d *Device) completionSource(p *packet, c *Completion) {
	c.FlagsRQPN = p.source
	if p.service != ifc.MLX5_QP_ST_UD && p.service != ifc.MLX5_QP_ST_QP1 {
		return
	}
	l3 := uint32(l3IPv6)
	if isIPv4(&p.to) {
		l3 = l3IPv4
	}
	c.FlagsRQPN |= cqeGRH | l3<<cqeL3Shift
}

// failReceive completes the receive that is in use with an error.
func (d *Device) failReceive(q *qp, syndrome uint8) {
	in := &q.resp.recv
	if !in.active {
		return
	}
	in.active = false
	c := failure(ifc.MLX5_CQE_RESP_ERR, syndrome, in.index)
	d.completeFor(q, in.to, in.userIndex, &c)
}
