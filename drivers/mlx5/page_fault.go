package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// How a page fault is handled (MLX5_PF_FLAGS_* in
// drivers/infiniband/hw/mlx5/odp.c).
const (
	pfDowngrade = 1 << 1 // bring pages in for reading
	pfSnapshot  = 1 << 2 // take what is mapped, and bring nothing in
	pfEnable    = 1 << 3 // the key begins to serve
)

// pagefaultRealMR brings in the pages of n bytes at va and gives them to the
// region's key. It returns how many they are, and adds to mapped the bytes that can
// be used. It models pagefault_real_mr in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: umem-odp/…, hmm/…, mlx5-umr/….
func (d *Device) pagefaultRealMR(t *trace.Task, r *mr, va, n uint64, mapped *uint32, flags int) (int, error) {
	defer t.Enter(moduleIB, "pagefault_real_mr").Leave()
	access := uint64(core.ODPReadAllowed)
	if r.odp.Writable && flags&pfDowngrade == 0 {
		access |= core.ODPWriteAllowed
	}
	pages, err := r.odp.MapDMAAndLock(t, va, n, access, flags&pfSnapshot == 0)
	if err != nil {
		return 0, err
	}
	update := 0
	if flags&pfEnable != 0 {
		update = updXLTEnable
	}
	shift := r.odp.PageShift()
	err = d.umrUpdateXLT(t, r, (va-r.odp.Start())>>shift, uint64(pages), shift, update)
	r.odp.Unlock(t)
	if err != nil {
		return 0, err
	}
	if mapped != nil {
		usable := uint64(pages)<<shift - va&(1<<shift-1)
		*mapped += uint32(min(usable, n))
	}
	return pages << (shift - adapterPageShift), nil
}

// pagefaultImplicitMR is the same for a region of a whole address space. It models
// pagefault_implicit_mr in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: mlx5-odp/address, mlx5-odp/child-no-memory, umem-odp/…, hmm/…,
// mlx5-mr/no-memory, mlx5-umr/…, mlx5-cmd/….
func (d *Device) pagefaultImplicitMR(t *trace.Task, imr *mr, va, n uint64, mapped *uint32, flags int) (pages int, err error) {
	defer t.Enter(moduleIB, "pagefault_implicit_mr").Leave()
	if va >= imrSize || imrSize-va < n {
		return 0, rule.MLX5ODPAddress
	}
	first, end := uint64(imrKSMEntries), uint64(0) // children that were made
	for n > 0 && err == nil {
		i := va >> imrMTTShift
		child := imr.children.get(i)
		if child == nil {
			if child, err = d.implicitGetChild(t, imr, i); err != nil {
				break
			}
			first, end = min(first, i), i+1
		}
		part := min(n, (i+1)<<imrMTTShift-va)
		var got int
		got, err = d.pagefaultRealMR(t, child, va, part, mapped, flags)
		pages += got
		va, n = va+part, n-part
	}
	if end == 0 {
		return pages, err
	}
	// Children that were made are told to the adapter, whatever became of the rest.
	imr.odp.Lock(t)
	updated := d.umrUpdateXLT(t, imr, first, end-first, 0, updXLTIndirect)
	imr.odp.Unlock(t)
	if updated != nil {
		return 0, updated
	}
	return pages, err
}

// pagefaultMR brings in the pages of n bytes at an address of a region. It models
// pagefault_mr in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: mlx5-odp/address, mlx5-odp/child-no-memory, umem-odp/…, hmm/…, mlx5-dmabuf/…,
// mlx5-mr/…, mlx5-umr/…, mlx5-cmd/….
func (d *Device) pagefaultMR(t *trace.Task, r *mr, addr, n uint64, mapped *uint32, flags int) (int, error) {
	defer t.EnterInlined(moduleIB, "pagefault_mr").Leave()
	switch {
	case addr < r.ib.IOVA:
		return 0, rule.MLX5ODPAddress
	case r.dmabuf != nil:
		return d.pagefaultDmabufMR(t, r, n, mapped, flags)
	case r.odp.IsImplicit:
		return d.pagefaultImplicitMR(t, r, addr, n, mapped, flags)
	}
	va := r.odp.Address + (addr - r.ib.IOVA)
	if va < r.odp.Address || va >= r.odp.End() || r.odp.End()-va < n {
		return 0, rule.MLX5ODPAddress
	}
	return d.pagefaultRealMR(t, r, va, n, mapped, flags)
}

// segment is a piece of memory that a page fault is about.
type segment struct {
	key     uint32
	addr, n uint64
	depth   uint64
}

// pagefaultSegment brings in the memory of a segment, of which the first bytes may
// be done: committed is 0 afterwards. Keys that are none of regions paged on demand
// count as brought in. It models pagefault_single_data_segment in
// drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: mlx5-odp/…, umem-odp/…, hmm/…, mlx5-dmabuf/…, mlx5-mr/…, mlx5-umr/…,
// mlx5-cmd/….
func (d *Device) pagefaultSegment(t *trace.Task, s segment, committed, mapped *uint32) error {
	defer t.Enter(moduleIB, "pagefault_single_data_segment").Leave()
	done := uint64(*committed)
	*committed = 0
	s.addr, s.n = s.addr+done, s.n-done
	for todo := []segment{s}; len(todo) > 0; {
		s, todo = todo[len(todo)-1], todo[:len(todo)-1]
		more, err := d.pagefaultKey(t, s, mapped)
		if err != nil {
			return err
		}
		todo = append(todo, more...)
	}
	return nil
}

// pagefaultKey brings in the memory of a segment, or finds the segments that it
// stands for.
func (d *Device) pagefaultKey(t *trace.Task, s segment, mapped *uint32) ([]segment, error) {
	k := d.odpKeys.get(s.key)
	if k == nil {
		if mapped != nil {
			*mapped += uint32(s.n)
		}
		return nil, nil
	}
	defer k.put()
	switch {
	case k.mr == nil:
		return d.pagefaultIndirect(t, k, s)
	case k.key != s.key:
		return nil, rule.MLX5ODPKeyVariant
	}
	pages, err := d.pagefaultMR(t, k.mr, s.addr, s.n, mapped, 0)
	if err != nil {
		return nil, err
	}
	if whole := (alignUp(s.addr+s.n, 1<<adapterPageShift) - s.addr&^(1<<adapterPageShift-1)) >> adapterPageShift; uint64(pages) < whole {
		return nil, rule.MLX5ODPAddress
	}
	return nil, nil
}

var (
	queryMkeyStart = ifc.Must("query_mkey_out").Field("memory_key_mkey_entry.start_addr")
	queryMkeyKLMs  = ifc.Must("query_mkey_out").Field("bsf0_klm0_pas_mtt0_1").Byte()
)

// pagefaultIndirect asks the adapter what a key stands for.
func (d *Device) pagefaultIndirect(t *trace.Task, k *odpKey, s segment) (found []segment, err error) {
	if s.depth >= d.caps.get(capMaxIndirection) {
		return nil, rule.MLX5ODPIndirection
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_MKEY, 0, 0)
	defer d.giveBack(m)
	m.out = zeros(m.out, queryMkeyKLMs+klmSize*max(k.entries, 2))
	m.setNumber(k.key >> 8)
	if err := d.exec(t, m.in, m.out); err != nil {
		return nil, err
	}
	off, n := s.addr-queryMkeyStart.Get(m.out), s.n
	for i := 0; n > 0 && i < k.entries; i++ {
		e := m.out[queryMkeyKLMs+klmSize*i:]
		count := uint64(be.Uint32(e))
		if off >= count {
			off -= count
			continue
		}
		part := min(n, count-off)
		found = append(found, segment{key: be.Uint32(e[4:]), addr: be.Uint64(e[8:]) + off, n: part, depth: s.depth + 1})
		n, off = n-part, 0
	}
	return found, nil
}

// wholeSegment is how many bytes a data segment has that says 0.
const wholeSegment = 1 << 31

// pagefaultSegments brings in the memory of a work request's data segments. It
// returns how many bytes can be used, and how many there are that are not committed
// yet. It models pagefault_data_segments in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: those of pagefaultSegment.
func (d *Device) pagefaultSegments(t *trace.Task, wqe []byte, committed uint32, isRecv bool) (mapped, total uint32, err error) {
	defer t.Enter(moduleIB, "pagefault_data_segments").Leave()
	const inlineSeg, inlineMask = 1 << 31, 0x3ff
	for len(wqe) >= dataSegSize {
		count, key, addr := be.Uint32(wqe), be.Uint32(wqe[4:]), be.Uint64(wqe[8:])
		if count&inlineSeg != 0 {
			n := count & inlineMask
			committed -= min(n, committed)
			wqe = wqe[min(len(wqe), int(alignUp(uint64(n)+4, dataSegSize))):]
			continue
		}
		wqe = wqe[dataSegSize:]
		if isRecv && count == 0 && key == d.mkeys.terminateScatterList && addr == 0 {
			break
		}
		total += count - min(count, committed)
		n := uint64(count)
		if n == 0 {
			n = wholeSegment
		}
		if n <= uint64(committed) {
			committed -= uint32(n)
			continue
		}
		if err := d.pagefaultSegment(t, segment{key: key, addr: addr, n: n}, &committed, &mapped); err != nil {
			return mapped, total, err
		}
	}
	return mapped, total, nil
}

// pfault handles one page fault, and lets the adapter go on. It models
// mlx5_ib_pfault in drivers/infiniband/hw/mlx5/odp.c.
func (d *Device) pfault(t *trace.Task, f *hw.PageFault) {
	defer t.EnterInlined(moduleIB, "mlx5_ib_pfault").Leave()
	switch f.Subtype {
	case hw.PageFaultWQE:
		d.wqePfault(t, f)
	case hw.PageFaultRDMA:
		d.rdmaPfault(t, f)
	default:
		d.pageFaultResume(t, f, true)
	}
}

// rdmaPfault is about memory that the other end names. It models
// mlx5_ib_mr_rdma_pfault_handler in drivers/infiniband/hw/mlx5/odp.c. The adapter
// always says how much is to be accessed.
func (d *Device) rdmaPfault(t *trace.Task, f *hw.PageFault) {
	defer t.Enter(moduleIB, "mlx5_ib_mr_rdma_pfault_handler").Leave()
	done := uint64(min(f.BytesCommitted, f.OpLen))
	var committed uint32
	err := d.pagefaultSegment(t, segment{key: f.RKey, addr: f.VA + uint64(f.BytesCommitted), n: uint64(f.OpLen) - done}, &committed, nil)
	d.pageFaultResume(t, f, err != nil)
}

// wqePfault is about memory that a work request names. It models
// mlx5_ib_mr_wqe_pfault_handler in drivers/infiniband/hw/mlx5/odp.c.
func (d *Device) wqePfault(t *trace.Task, f *hw.PageFault) {
	defer t.Enter(moduleIB, "mlx5_ib_mr_wqe_pfault_handler").Leave()
	segs, isRecv, ok := d.faultedSegments(f)
	if segs == nil && !ok {
		return // the queue is gone
	}
	failed := true
	if ok && len(segs) > 0 {
		mapped, total, err := d.pagefaultSegments(t, segs, f.BytesCommitted, isRecv)
		failed = err != nil || total > mapped
	}
	d.pageFaultResume(t, f, failed)
}

// pageFaultResume models mlx5_ib_page_fault_resume in
// drivers/infiniband/hw/mlx5/odp.c.
func (d *Device) pageFaultResume(t *trace.Task, f *hw.PageFault, failed bool) {
	defer t.EnterInlined(moduleIB, "mlx5_ib_page_fault_resume").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_PAGE_FAULT_RESUME, 0, 0)
	defer d.giveBack(m)
	number := f.Token
	if f.Subtype == hw.PageFaultWQE {
		number = f.WQNum
	}
	resumeError.Set(m.in, bit(failed))
	resumeType.Set(m.in, uint64(f.Type))
	resumeNumber.Set(m.in, uint64(number))
	resumeToken.Set(m.in, uint64(f.Token))
	d.exec(t, m.in, m.out) // as the kernel does
}

var (
	resumeError  = ifc.Must("page_fault_resume_in").Field("page_fault_info.trans_page_fault_info.error")
	resumeType   = ifc.Must("page_fault_resume_in").Field("page_fault_info.trans_page_fault_info.page_fault_type")
	resumeNumber = ifc.Must("page_fault_resume_in").Field("page_fault_info.trans_page_fault_info.wq_number")
	resumeToken  = ifc.Must("page_fault_resume_in").Field("page_fault_info.trans_page_fault_info.fault_token")
)
