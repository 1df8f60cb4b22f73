package core

import "uverbsim/trace"

// PD is a struct ib_pd, a protection domain.
type PD struct {
	Device *Device
	Driver any
	Usecnt Usecnt // objects that live in it
}

// XRCD is a struct ib_xrcd, a domain of shared receive queues and XRC targets.
type XRCD struct {
	Device *Device
	Driver any
	Usecnt Usecnt
	Inode  any // the file that it is shared through, nil if none

	tgtQPsRwsem trace.RWSem // a shared QP is opened, or loses its last handle
	tgtQPs      tgtQPs
}

// tgtQPs is the xarray of the XRC target QPs of a domain by their number (tgt_qps).
// It has a lock of its own, since a new QP comes without tgt_qps_rwsem.
type tgtQPs struct {
	mu  trace.Mutex // xa_lock
	qps map[uint32]*QP
}

func (x *tgtQPs) load(t *trace.Task, num uint32) *QP {
	x.mu.Lock(t)
	defer x.mu.Unlock(t)
	return x.qps[num]
}

func (x *tgtQPs) store(t *trace.Task, qp *QP) {
	x.mu.Lock(t)
	defer x.mu.Unlock(t)
	if x.qps == nil {
		x.qps = map[uint32]*QP{}
	}
	x.qps[qp.QPNum] = qp
}

func (x *tgtQPs) erase(t *trace.Task, num uint32) {
	x.mu.Lock(t)
	defer x.mu.Unlock(t)
	delete(x.qps, num)
}

func (x *tgtQPs) empty(t *trace.Task) bool {
	x.mu.Lock(t)
	defer x.mu.Unlock(t)
	return len(x.qps) == 0
}
