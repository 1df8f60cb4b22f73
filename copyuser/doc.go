// Package copyuser models a user's memory, as the kernel reaches it.
//
// Memory is what most other packages use: copies from and to the user that stop
// at the first byte that is not there, get_user and put_user, clear_user, and
// pinned pages. CopyFromUser and its siblings are the same as the modelled
// functions call them: they report to the trace and can be made to fail.
//
// MM is all that the system calls and the drivers ask of a process's memory.
// AddressSpace is that of a simulated process: areas (mm/vma.c,
// mm/mmap.c, mm/mprotect.c, mm/mremap.c), the page table under them
// (mm/memory.c), fork (dup_mmap in kernel/fork.c) and pins (mm/gup.c). Who finds
// pages without a pin (mm/hmm.c) is told before they change (mm/mmu_notifier.c).
// The areas are kept in a B-tree, which only system calls and page faults look at.
// A copy walks the page table without a lock, as the processor does, and then
// holds the lock of the one page that it copies.
//
// Bytes is a single buffer that faults past its end.
//
// Left out are huge pages, swap, page cache and the files in it, areas that
// grow by themselves, protection keys, sealed and locked areas, mmap_min_addr,
// overcommit and its limits, MREMAP_DONTUNMAP, and userfaultfd. Every mapping
// whose address the kernel chooses has an unmapped page before and after it,
// which Linux does not promise.
package copyuser
