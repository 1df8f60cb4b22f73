package copyuser

// The page size of the modelled machine (include/vdso/page.h, x86-64).
const (
	PageShift = 12
	PageSize  = 1 << PageShift
	pageMask  = PageSize - 1
)

// TaskSizeMax is the first address above a user's memory: TASK_SIZE_MAX of
// arch/x86/include/asm/page_64.h with four levels of page tables.
const TaskSizeMax Addr = 0x7ffffffff000

// Addr is an address in a user's memory, as a system call hands it over: any
// 64-bit number.
type Addr uint64

// Add returns a+n; it returns false if that overflows.
func (a Addr) Add(n uint64) (Addr, bool) {
	end := a + Addr(n)
	return end, end >= a
}

// PageOffset returns how far a lies behind the start of its page.
func (a Addr) PageOffset() int { return int(a & pageMask) }

// PageDown returns the start of the page that a lies in.
func (a Addr) PageDown() Addr { return a &^ pageMask }

// pageAlign rounds a length up to whole pages (PAGE_ALIGN); it wraps to 0 as
// the kernel's does.
func pageAlign(n uint64) uint64 { return (n + pageMask) &^ pageMask }

// AccessOK models access_ok in arch/x86/include/asm/uaccess_64.h: whether the
// n bytes from a lie in the user's half of the address space. It says nothing
// about what is mapped there.
func AccessOK(a Addr, n uint64) bool {
	end, ok := a.Add(n)
	return ok && end <= TaskSizeMax
}
