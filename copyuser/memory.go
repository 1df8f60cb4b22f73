package copyuser

import "uverbsim/trace"

// Memory is a user's memory as the kernel reaches it. An AddressSpace is one;
// Bytes is one for tests of a single buffer.
//
// The methods may be called by several goroutines at once. None of them keeps
// the slice it was given. An address that is not the user's, or whose page
// does not permit the access, is a fault; bytes before the fault are copied,
// bytes behind it are not.
type Memory interface {
	// CopyIn models copy_from_user: it copies len(dst) bytes from the user's
	// memory and returns how many it copied before a fault.
	CopyIn(dst []byte, from Addr) int

	// CopyOut models copy_to_user: it copies src to the user's memory and
	// returns how many bytes it copied before a fault.
	CopyOut(to Addr, src []byte) int

	// Clear models clear_user: it zeroes n bytes and returns how many it
	// zeroed before a fault.
	Clear(to Addr, n uint64) uint64

	// GetUint64 models get_user of a __u64: it returns the number at from, in
	// the machine's byte order (little endian); false is a fault.
	GetUint64(from Addr) (uint64, bool)

	// PutUint16, PutUint32 and PutUint64 model put_user: they store v, little
	// endian; false is a fault.
	PutUint16(to Addr, v uint16) bool
	PutUint32(to Addr, v uint32) bool
	PutUint64(to Addr, v uint64) bool

	// Pin models pin_user_pages_fast with FOLL_LONGTERM: it pins the whole
	// pages that hold the n bytes at from, for writing if write is set. It
	// pins all of them or none; the error is a rule whose errno is EFAULT.
	Pin(from Addr, n uint64, write bool) (*Pin, error)
}

// MM is a user's memory as the system calls and the drivers know it: struct
// mm_struct of include/linux/mm_types.h. An AddressSpace is one. What another
// implementation has in common with it, the account of pinned memory, the areas
// and the notifiers, it may leave to one.
type MM interface {
	Memory

	// Mmap, Munmap, Mprotect and Mremap are the system calls; Fork is what
	// fork(2) does to memory.
	Mmap(cur Current, req MmapRequest) (Addr, error)
	Munmap(cur Current, a Addr, n uint64) error
	Mprotect(cur Current, a Addr, n uint64, prot int) error
	Mremap(cur Current, old Addr, oldLen, newLen uint64, flags int, to Addr) (Addr, error)
	Fork(cur Current) (MM, error)

	// Areas returns how many areas there are; MmapReadLock keeps them as they
	// are.
	Areas() int
	MmapReadLock(t *trace.Task)
	MmapReadUnlock(t *trace.Task)

	// MmgetNotZero takes a use of the memory, unless the last is gone, and
	// Mmput gives one back.
	MmgetNotZero() bool
	Mmput(cur Current)

	// PinForced is like Pin for writing, with FOLL_FORCE. PinnedPages counts
	// the pages of all pins, and PinnedVM is the account that the limit of
	// locked memory is checked against.
	PinForced(from Addr, n uint64) (*Pin, error)
	PinnedPages() int
	PinnedVM() int64
	AddPinnedVM(pages int64) int64
	SubPinnedVM(pages int64)

	// RangeFault finds pages without pinning them, and InsertNotifier has a
	// notifier told before they change.
	RangeFault(from Addr, pages []RangePage, fault, write bool) error
	InsertNotifier(in *IntervalNotifier, start Addr, n uint64)

	// Load and Store are what the process's own instructions do; false is a
	// signal.
	Load(from Addr, dst []byte) bool
	Store(to Addr, src []byte) bool
}
