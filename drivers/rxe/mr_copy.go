package rxe

import (
	"encoding/binary"

	"uverbsim/spec"
	"uverbsim/trace"
)

// lookupType is an enum rxe_mr_lookup_type of
// drivers/infiniband/sw/rxe/rxe_verbs.h: by which of its keys a region is meant.
type lookupType uint8

const (
	lookupLocal lookupType = iota
	lookupRemote
)

// lookupMR returns the region of that key, with a reference, if it is one of
// the PD's and gives those rights; else nil. It models lookup_mr in
// drivers/infiniband/sw/rxe/rxe_mr.c.
func (d *rxeDev) lookupMR(t *trace.Task, pd *rxePD, access, key uint32, by lookupType) *rxeMR {
	defer t.Enter(module, "lookup_mr").Leave()
	mr, _ := d.mrPool.get(t, key>>8).(*rxeMR)
	if mr == nil {
		return nil
	}
	if !mr.grants(d.kernel, pd, access, key, by) {
		mr.put(t)
		return nil
	}
	return mr
}

func (mr *rxeMR) grants(k *spec.Kernel, pd *rxePD, access, key uint32, by lookupType) bool {
	own := mr.ib.LKey
	if by == lookupRemote {
		own = mr.ib.RKey
	}
	mr.lock.Lock()
	defer mr.lock.Unlock()
	has := access&mr.access == access || access&mr.access != 0 && !k.Has(spec.RxeMRAllRights)
	return own == key && mr.pd == pd && has && mr.state == mrValid
}

// inRange models mr_check_range in drivers/infiniband/sw/rxe/rxe_mr.c.
func (mr *rxeMR) inRange(iova, length uint64) bool {
	first, size := mr.ib.IOVA, mr.ib.Length
	return iova >= first && length <= size && iova-first <= size-length
}

// copy moves data into the region or out of it; false is a place outside. It
// models rxe_mr_copy in drivers/infiniband/sw/rxe/rxe_mr.c.
func (mr *rxeMR) copy(t *trace.Task, iova uint64, data []byte, in bool) bool {
	defer t.Enter(module, "rxe_mr_copy").Leave()
	if len(data) == 0 {
		return true
	}
	if !mr.inRange(iova, uint64(len(data))) {
		return false
	}
	off := int64(iova-mr.ib.IOVA) + int64(mr.umem.Offset())
	var err error
	if in {
		_, err = mr.umem.Pin.WriteAt(data, off)
	} else {
		_, err = mr.umem.Pin.ReadAt(data, off)
	}
	return err == nil
}

// atomic does an atomic operation and returns what was there before. It models
// rxe_mr_do_atomic_op in drivers/infiniband/sw/rxe/rxe_mr.c.
func (d *rxeDev) atomic(t *trace.Task, mr *rxeMR, m *message) (orig uint64, next respState) {
	defer t.Enter(module, "rxe_mr_do_atomic_op").Leave()
	if m.addr&7 != 0 {
		return 0, respErrMisalignedAtomic
	}
	d.atomicOps.Lock(t)
	defer d.atomicOps.Unlock(t)
	var b [8]byte
	if !mr.copy(t, m.addr, b[:], false) {
		return 0, respErrRkeyViolation
	}
	orig = binary.LittleEndian.Uint64(b[:])
	value := orig + m.compareAdd
	if m.opcode == spec.IB_UVERBS_WR_ATOMIC_CMP_AND_SWP {
		if orig != m.compareAdd {
			return orig, respAcknowledge
		}
		value = m.swap
	}
	binary.LittleEndian.PutUint64(b[:], value)
	mr.copy(t, m.addr, b[:], true)
	return orig, respAcknowledge
}

// copyResult is how a copy by a scatter or gather list went.
type copyResult uint8

const (
	copyDone    copyResult = iota
	copyInvalid            // -EINVAL: too long, or a key that is not good
	copyNoSpace            // -ENOSPC: the list ends before
)

// sgList is a scatter or gather list and how far it was used: a struct
// rxe_dma_info of include/uapi/rdma/rdma_user_rxe.h.
type sgList struct {
	dma  spec.RxeDMAInfo
	sges []spec.RxeSGE
}

// copyData moves data from or to the places in the list, and goes on where the
// last call ended. It models copy_data in drivers/infiniband/sw/rxe/rxe_mr.c.
func (d *rxeDev) copyData(t *trace.Task, pd *rxePD, access uint32, l *sgList, data []byte, in bool) copyResult {
	defer t.Enter(module, "copy_data").Leave()
	if len(data) == 0 {
		return copyDone
	}
	if uint64(len(data)) > uint64(l.dma.Resid) {
		return copyInvalid
	}
	for len(data) > 0 {
		if l.dma.CurSGE >= l.dma.NumSGE {
			return copyNoSpace
		}
		sge := l.sges[l.dma.CurSGE]
		if l.dma.SGEOffset >= sge.Length {
			l.dma.CurSGE++
			l.dma.SGEOffset = 0
			continue
		}
		n := min(len(data), int(sge.Length-l.dma.SGEOffset))
		if !d.copySGE(t, pd, access, &sge, l.dma.SGEOffset, data[:n], in) {
			return copyInvalid
		}
		l.dma.SGEOffset += uint32(n)
		l.dma.Resid -= uint32(n)
		data = data[n:]
	}
	return copyDone
}

// reaches says whether the first n bytes of the list are all registered, so
// that no more is copied than there is.
func (d *rxeDev) reaches(t *trace.Task, pd *rxePD, l *sgList, n uint32) bool {
	for _, sge := range l.sges {
		if n == 0 {
			break
		}
		c := min(n, sge.Length)
		if c == 0 {
			continue
		}
		mr := d.lookupMR(t, pd, 0, sge.Lkey, lookupLocal)
		if mr == nil {
			return false
		}
		ok := mr.inRange(sge.Addr, uint64(c))
		mr.put(t)
		if !ok {
			return false
		}
		n -= c
	}
	return n == 0
}

func (d *rxeDev) copySGE(t *trace.Task, pd *rxePD, access uint32, sge *spec.RxeSGE, off uint32, data []byte, in bool) bool {
	mr := d.lookupMR(t, pd, access, sge.Lkey, lookupLocal)
	if mr == nil {
		return false
	}
	defer mr.put(t)
	return mr.copy(t, sge.Addr+uint64(off), data, in)
}
