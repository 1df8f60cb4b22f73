package process

import (
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// Mmap models mmap(2) without an address: in arch/x86/kernel/sys_x86_64.c and
// ksys_mmap_pgoff in mm/mmap.c. With MAP_ANONYMOUS the descriptor does not
// matter. Length and offset count bytes. Its errors are the rules
// mmap/… and fd/bad, and those of the file.
func (t *Task) Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	return t.MmapAt(0, fd, length, prot, flags, off)
}

// MmapAt is Mmap with an address: a hint, or with MAP_FIXED an order.
func (t *Task) MmapAt(at copyuser.Addr, fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	t.enter()
	defer t.leave()
	if off%copyuser.PageSize != 0 {
		return 0, rule.MmapOffsetUnaligned
	}
	req := copyuser.MmapRequest{Addr: at, Length: length, Prot: prot, Flags: flags, Pgoff: off >> copyuser.PageShift}
	if flags&syscall.MAP_ANONYMOUS == 0 {
		f := t.Fget(fd)
		if f == nil {
			return 0, rule.FDBad
		}
		defer f.Put(t)
		req.File, req.Readable, req.Writable = f, f.Readable(), f.Writable()
		if f.Ops.Mmap != nil {
			req.Map = func(a *copyuser.Area) error { return f.Ops.Mmap(t, f, a) }
		}
	}
	start, err := t.Mem.Mmap(t, req)
	return start, interrupted(err)
}

// Munmap models munmap(2). Its errors are the rules munmap/….
func (t *Task) Munmap(a copyuser.Addr, n uint64) error {
	t.enter()
	defer t.leave()
	return t.Mem.Munmap(t, a, n)
}

// Mprotect models mprotect(2). Its errors are the rules mprotect/….
func (t *Task) Mprotect(a copyuser.Addr, n uint64, prot int) error {
	t.enter()
	defer t.leave()
	return t.Mem.Mprotect(t, a, n, prot)
}

// Mremap models mremap(2) without a new address. Its errors are the rules
// mremap/….
func (t *Task) Mremap(old copyuser.Addr, oldLen, newLen uint64, flags int) (copyuser.Addr, error) {
	t.enter()
	defer t.leave()
	return t.Mem.Mremap(t, old, oldLen, newLen, flags, 0)
}
