package core

import (
	"math"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// What a device may do with a page of memory that is paged on demand, in the low
// bits of its bus address (include/rdma/ib_umem_odp.h).
const (
	ODPReadAllowed  = 1 << 0     // ODP_READ_ALLOWED_BIT
	ODPWriteAllowed = 1 << 1     // ODP_WRITE_ALLOWED_BIT
	ODPDMAAddrMask  = ^uint64(3) // ODP_DMA_ADDR_MASK
)

// hpageShift is HPAGE_SHIFT: the huge pages of x86-64 have 2 MiB.
const hpageShift = 21

// maxPFNs is how many small pages memory may have: the kernel keeps a number of 8
// bytes for each (pfn_list), and no kvcalloc gives more than INT_MAX bytes.
const maxPFNs = math.MaxInt32 / 8

// DMA is what makes pages reachable for a device: the kernel's DMA API. Map
// returns the bus address of the first of pages that lie side by side then, and
// Unmap ends that for as many pages.
type DMA interface {
	Map(pages []*copyuser.Page) uint64
	Unmap(addr uint64, n int)
}

// UmemODP is a struct ib_umem_odp: memory of a user that is not pinned, but
// brought in when the device needs it, and taken from it when the user changes
// what is mapped. One for a whole address space, an implicit one, has no pages of
// its own, only children that have.
type UmemODP struct {
	Device     *Device
	Address    uint64 // where the user has it
	Length     uint64 // bytes
	Writable   bool   // the device may write
	IsImplicit bool

	// List has the bus address of each page with what the device may do in the low
	// bits, 0 where there is none; NPages says how many are not 0. They change with
	// the lock held alone.
	List   []uint64
	NPages int

	// Private is the driver's region; nil is none that has to be told.
	Private any

	mutex     trace.Mutex // umem_mutex
	dma       DMA
	mm        copyuser.MM
	notifier  copyuser.IntervalNotifier
	pageShift uint
}

// Invalidate is the driver's part when pages from start to end are to go: it takes
// them from the device and calls UnmapDMAPages, all with the lock held. The part
// that goes may be larger than the memory.
type Invalidate func(t *trace.Task, u *UmemODP, start, end uint64)

// AllocUmemODPImplicit makes the memory of the caller's whole address space. It
// models ib_umem_odp_alloc_implicit in drivers/infiniband/core/umem_odp.c.
//
// Errors: umem-odp/hugetlb, umem-odp/no-memory.
func AllocUmemODPImplicit(task *process.Task, dev *Device, dma DMA, access uint32) (*UmemODP, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_umem_odp_alloc_implicit").Leave()
	if access&AccessHugetlb != 0 {
		return nil, rule.UmemODPHugetlb
	}
	if t.Fail(trace.Alloc, "ib_umem_odp") {
		return nil, rule.UmemODPNoMemory
	}
	dev.umems.Add(1)
	return &UmemODP{Device: dev, Writable: access&accessWritable != 0, IsImplicit: true, dma: dma, mm: task.Mem,
		pageShift: copyuser.PageShift, mutex: trace.Mutex{Name: "umem_mutex"}}, nil
}

// AllocChild makes the memory of size bytes at addr, a part of the implicit u. It
// models ib_umem_odp_alloc_child in drivers/infiniband/core/umem_odp.c.
//
// Errors: umem-odp/child-owner, umem-odp/….
func (u *UmemODP) AllocChild(t *trace.Task, addr, size uint64, invalidate Invalidate) (*UmemODP, error) {
	defer t.Enter(trace.Uverbs, "ib_umem_odp_alloc_child").Leave()
	if t.Fail(trace.Alloc, "ib_umem_odp") {
		return nil, rule.UmemODPNoMemory
	}
	if !u.mm.MmgetNotZero() {
		return nil, rule.UmemODPChildOwner
	}
	defer u.mm.Mmput(kworker{})
	child := &UmemODP{Device: u.Device, Address: addr, Length: size, Writable: u.Writable, dma: u.dma, mm: u.mm,
		pageShift: copyuser.PageShift}
	if err := child.init(t, invalidate); err != nil {
		return nil, err
	}
	return child, nil
}

// GetUmemODP makes memory of size bytes at addr of the caller's, with those access
// rights. Nothing need be mapped there. It models ib_umem_odp_get in
// drivers/infiniband/core/umem_odp.c.
//
// Errors: umem-odp/….
func GetUmemODP(task *process.Task, dev *Device, dma DMA, addr, size uint64, access uint32, invalidate Invalidate) (*UmemODP, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_umem_odp_get").Leave()
	if t.Fail(trace.Alloc, "ib_umem_odp") {
		return nil, rule.UmemODPNoMemory
	}
	u := &UmemODP{Device: dev, Address: addr, Length: size, Writable: access&accessWritable != 0, dma: dma, mm: task.Mem,
		pageShift: copyuser.PageShift}
	if access&AccessHugetlb != 0 {
		u.pageShift = hpageShift
	}
	if err := u.init(t, invalidate); err != nil {
		return nil, err
	}
	return u, nil
}

// init models ib_init_umem_odp in drivers/infiniband/core/umem_odp.c.
//
// Errors: umem-odp/overflow, umem-odp/empty, umem-odp/no-memory.
func (u *UmemODP) init(t *trace.Task, invalidate Invalidate) error {
	defer t.EnterInlined(trace.Uverbs, "ib_init_umem_odp").Leave()
	u.mutex.Name = "umem_mutex"
	size := uint64(1) << u.pageShift
	end := u.Address + u.Length
	switch {
	case end < u.Address, (end+size-1)&^(size-1) < size:
		return rule.UmemODPOverflow
	case u.Start() == u.End():
		return rule.UmemODPEmpty
	}
	if (u.End()-u.Start())>>copyuser.PageShift > maxPFNs || t.Fail(trace.Alloc, "dma_list") {
		return rule.UmemODPNoMemory
	}
	u.List = make([]uint64, u.NumPages())
	u.notifier.Invalidate = func(t *trace.Task, start, end copyuser.Addr) { invalidate(t, u, uint64(start), uint64(end)) }
	u.mm.InsertNotifier(&u.notifier, copyuser.Addr(u.Start()), u.End()-u.Start())
	u.Device.umems.Add(1)
	return nil
}

// Start returns where the first page of the memory begins (ib_umem_start).
func (u *UmemODP) Start() uint64 { return u.Address &^ (1<<u.pageShift - 1) }

// End returns where its last page ends (ib_umem_end).
func (u *UmemODP) End() uint64 {
	mask := uint64(1)<<u.pageShift - 1
	return (u.Address + u.Length + mask) &^ mask
}

// PageShift returns the logarithm of the size of its pages.
func (u *UmemODP) PageShift() uint { return u.pageShift }

// NumPages returns how many they are (ib_umem_odp_num_pages).
func (u *UmemODP) NumPages() int { return int((u.End() - u.Start()) >> u.pageShift) }

// Lock takes umem_mutex, and Unlock gives it back.
func (u *UmemODP) Lock(t *trace.Task)   { u.mutex.Lock(t) }
func (u *UmemODP) Unlock(t *trace.Task) { u.mutex.Unlock(t) }

// MapDMAAndLock makes the pages of n bytes at virt reachable for the device and
// returns how many they are, with the lock held. With fault they are brought in,
// and may be used for what access says, ODPReadAllowed and ODPWriteAllowed;
// without it what is mapped at the moment is taken as it is. It models
// ib_umem_odp_map_dma_and_lock in drivers/infiniband/core/umem_odp.c.
//
// Errors: umem-odp/range, umem-odp/no-owner, umem-odp/page-order, hmm/…; the lock
// is not held then.
func (u *UmemODP) MapDMAAndLock(t *trace.Task, virt, n, access uint64, fault bool) (int, error) {
	defer t.Enter(trace.Uverbs, "ib_umem_odp_map_dma_and_lock").Leave()
	if virt < u.Start() || virt+n > u.End() || virt+n < virt {
		return 0, rule.UmemODPRange
	}
	mask := uint64(1)<<u.pageShift - 1
	from, to := virt&^mask, (virt+n+mask)&^mask
	found := make([]copyuser.RangePage, (to-from)>>copyuser.PageShift)
	for {
		seq, err := u.find(copyuser.Addr(from), found, fault, access)
		if err != nil {
			return 0, err
		}
		u.mutex.Lock(t)
		if !u.notifier.ReadRetry(seq) {
			break
		}
		u.mutex.Unlock(t)
	}
	if u.pageShift != copyuser.PageShift {
		return u.hugePages(t, found)
	}
	first := (from - u.Start()) >> u.pageShift
	for i, p := range found {
		if !fault {
			access = ODPReadAllowed
			if p.Write {
				access |= ODPWriteAllowed
			}
		}
		if p.Page != nil {
			u.mapPage(first+uint64(i), p.Page, access)
		}
	}
	return len(found), nil
}

// find finds the pages, and the sequence number that they are good with. The
// address space may end with it, which tells the notifier; so the lock is not held.
func (u *UmemODP) find(from copyuser.Addr, found []copyuser.RangePage, fault bool, access uint64) (seq uint64, err error) {
	if !u.mm.MmgetNotZero() {
		return 0, rule.UmemODPNoOwner
	}
	defer u.mm.Mmput(kworker{})
	seq = u.notifier.ReadBegin()
	return seq, u.mm.RangeFault(from, found, fault, access&ODPWriteAllowed != 0)
}

// kworker is the kernel's own thread, by which an address space ends whose last
// user is a page fault of a device (mmput_async).
type kworker struct{}

func (kworker) TraceTask() *trace.Task { return nil }
func (kworker) GetFile(file any)       { file.(*process.File).Get() }
func (kworker) PutFile(file any)       { file.(*process.File).Put(nil) }

// hugePages refuses pages of another size than the memory's: there are no huge
// ones in this model. It gives the lock back then.
func (u *UmemODP) hugePages(t *trace.Task, found []copyuser.RangePage) (int, error) {
	for _, p := range found {
		if p.Page != nil {
			u.mutex.Unlock(t)
			return 0, rule.UmemODPPageOrder
		}
	}
	return len(found) >> (u.pageShift - copyuser.PageShift), nil
}

// mapPage models ib_umem_odp_map_dma_single_page in
// drivers/infiniband/core/umem_odp.c.
func (u *UmemODP) mapPage(i uint64, p *copyuser.Page, access uint64) {
	if u.List[i] != 0 { // it was read-only, and is writable now
		u.List[i] = u.List[i]&ODPDMAAddrMask | access
		return
	}
	u.List[i] = u.dma.Map([]*copyuser.Page{p}) | access
	u.NPages++
}

// UnmapDMAPages takes the pages from virt to bound from the device, as far as they
// are of this memory. The caller holds the lock, and the device has no way to the
// pages any more. It models ib_umem_odp_unmap_dma_pages in
// drivers/infiniband/core/umem_odp.c.
func (u *UmemODP) UnmapDMAPages(t *trace.Task, virt, bound uint64) {
	defer t.Enter(trace.Uverbs, "ib_umem_odp_unmap_dma_pages").Leave()
	virt, bound = max(virt, u.Start()), min(bound, u.End())
	for ; virt < bound; virt += 1 << u.pageShift {
		i := (virt - u.Start()) >> u.pageShift
		if u.List[i] == 0 {
			continue
		}
		u.dma.Unmap(u.List[i]&ODPDMAAddrMask, 1)
		u.List[i] = 0
		u.NPages--
	}
}

// Release ends the memory. The device does not use it any more. It models
// ib_umem_odp_release in drivers/infiniband/core/umem_odp.c.
func (u *UmemODP) Release(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_umem_odp_release").Leave()
	u.Device.umems.Add(-1)
	if u.IsImplicit {
		return
	}
	u.mutex.Lock(t)
	u.UnmapDMAPages(t, u.Start(), u.End())
	u.mutex.Unlock(t)
	u.notifier.Remove()
}
