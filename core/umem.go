package core

import (
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Access rights of registered memory (enum ib_access_flags in
// include/rdma/ib_verbs.h).
const (
	AccessLocalWrite      = 1 << 0  // IB_ACCESS_LOCAL_WRITE
	AccessRemoteWrite     = 1 << 1  // IB_ACCESS_REMOTE_WRITE
	AccessRemoteRead      = 1 << 2  // IB_ACCESS_REMOTE_READ
	AccessRemoteAtomic    = 1 << 3  // IB_ACCESS_REMOTE_ATOMIC
	AccessMWBind          = 1 << 4  // IB_ACCESS_MW_BIND
	AccessZeroBased       = 1 << 5  // IB_ZERO_BASED
	AccessOnDemand        = 1 << 6  // IB_ACCESS_ON_DEMAND
	AccessHugetlb         = 1 << 7  // IB_ACCESS_HUGETLB
	AccessFlushGlobal     = 1 << 8  // IB_ACCESS_FLUSH_GLOBAL
	AccessFlushPersistent = 1 << 9  // IB_ACCESS_FLUSH_PERSISTENT
	AccessRelaxedOrdering = 1 << 20 // IB_ACCESS_RELAXED_ORDERING
	AccessOptional        = 0x3ff << 20
	AccessSupported       = 1<<10 - 1 | AccessOptional
)

// accessWritable has the rights that make the kernel pin for writing
// (ib_access_writable in include/rdma/ib_verbs.h).
const accessWritable = AccessLocalWrite | AccessRemoteWrite | AccessRemoteAtomic | AccessMWBind

// Umem is a struct ib_umem: pinned memory of a user.
type Umem struct {
	Device  *Device
	Address uint64 // where the user has it
	Length  uint64 // bytes
	Pin     *copyuser.Pin

	Writable bool // pinned for writing

	mm copyuser.MM
}

// NumPages returns how many pages of 4 KiB the memory touches
// (ib_umem_num_pages).
func (u *Umem) NumPages() int { return int(numPages(u.Address, u.Length)) }

// Offset returns where in its first page the memory begins (ib_umem_offset).
func (u *Umem) Offset() int { return copyuser.Addr(u.Address).PageOffset() }

func numPages(addr, size uint64) uint64 {
	const mask = copyuser.PageSize - 1
	return ((addr+size+mask)&^mask - addr&^mask) >> copyuser.PageShift
}

// GetUmem pins size bytes at addr of the caller's memory with those access
// rights, and charges the pages to its limit. It models ib_umem_get in
// drivers/infiniband/core/umem.c.
//
// Errors: umem/overflow, umem/no-mlock, umem/on-demand, umem/empty,
// umem/memlock-limit, umem/no-memory, and those of the pin.
func GetUmem(task *process.Task, dev *Device, addr, size uint64, access uint32) (*Umem, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_umem_get").Leave()
	const mask = copyuser.PageSize - 1
	end := addr + size
	if end < addr || (end+mask)&^mask < end {
		return nil, rule.UmemOverflow
	}
	if !task.CanDoMlock() {
		return nil, rule.UmemNoMlock
	}
	if access&AccessOnDemand != 0 {
		return nil, rule.UmemOnDemand
	}
	if t.Fail(trace.Alloc, "ib_umem") || t.Fail(trace.Alloc, "page_list") {
		return nil, rule.UmemNoMemory
	}
	n := numPages(addr, size)
	if n == 0 || n > 1<<32-1 {
		return nil, rule.UmemEmpty
	}
	mm := task.Mem
	limit := task.Rlimit(process.RLIMIT_MEMLOCK) >> copyuser.PageShift
	if pinned := mm.AddPinnedVM(int64(n)); uint64(pinned) > limit && !task.Capable(process.CAP_IPC_LOCK) {
		mm.SubPinnedVM(int64(n))
		return nil, rule.UmemMemlockLimit
	}
	pin, err := pinUser(t, dev.Kernel, mm, copyuser.Addr(addr).PageDown(), n<<copyuser.PageShift, access)
	if err != nil {
		mm.SubPinnedVM(int64(n))
		return nil, err
	}
	if t.Fail(trace.Alloc, "sg_append_table") || t.Fail(trace.Alloc, "dma_map") {
		pin.Unpin()
		mm.SubPinnedVM(int64(n))
		return nil, rule.UmemNoMemory
	}
	writable := access&accessWritable != 0
	dev.umems.Add(1)
	return &Umem{Device: dev, Address: addr, Length: size, Pin: pin, Writable: writable, mm: mm}, nil
}

// pinUser pins whole pages: of a buffer without a length but inside of a page
// there is one.
func pinUser(t *trace.Task, k *spec.Kernel, mm copyuser.MM, from copyuser.Addr, size uint64, access uint32) (*copyuser.Pin, error) {
	if t.Fail(trace.Pin, "pin_user_pages_fast") {
		return nil, rule.UmemNoMemory
	}
	writable := access&accessWritable != 0
	var pin *copyuser.Pin
	var err error
	if !writable && !k.Has(spec.UmemPinByAccess) {
		pin, err = mm.PinForced(from, size)
	} else {
		pin, err = mm.Pin(from, size, writable)
	}
	if err == nil && size > copyuser.PageSize && t.Fail(trace.PinPart, "pin_user_pages_fast") {
		pin.Unpin() // those of the pages that were pinned
		return nil, rule.UmemNoMemory
	}
	return pin, err
}

// CheckRereg says whether the memory, as it is pinned, can be used with other
// access rights. It models ib_umem_check_rereg in
// drivers/infiniband/core/umem.c; flags are IB_MR_REREG_….
//
// Errors: umem/rereg-read-only.
func (u *Umem) CheckRereg(t *trace.Task, flags, access uint32) error {
	defer t.Enter(trace.Uverbs, "ib_umem_check_rereg").Leave()
	if u == nil || flags&(spec.IB_MR_REREG_ACCESS|spec.IB_MR_REREG_TRANS) != spec.IB_MR_REREG_ACCESS {
		return nil
	}
	if access&accessWritable != 0 && !u.Writable {
		return rule.UmemReregReadOnly
	}
	return nil
}

// Release unpins the memory; nil is released already. It models
// ib_umem_release in drivers/infiniband/core/umem.c.
func (u *Umem) Release(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_umem_release").Leave()
	if u == nil {
		return
	}
	u.release(t)
	u.mm.SubPinnedVM(int64(u.NumPages()))
	u.Device.umems.Add(-1)
}

// release models __ib_umem_release in drivers/infiniband/core/umem.c.
func (u *Umem) release(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "__ib_umem_release").Leave()
	u.Pin.Unpin()
}
