package copyuser

import "sync"

// shmem are the pages of shared memory of no file: what shmem_zero_setup in
// mm/shmem.c makes.
type shmem struct {
	mu    sync.Mutex
	pages map[uint64]*Page // by page offset
}

// shmemOps models shmem_anon_vm_ops in mm/shmem.c.
var shmemOps = &AreaOps{Fault: shmemFault}

// shmemFault models shmem_fault in mm/shmem.c.
func shmemFault(a *Area, i int) (*Page, bool) {
	s := a.Private.(*shmem)
	s.mu.Lock()
	defer s.mu.Unlock()
	off := a.Pgoff + uint64(i)
	p := s.pages[off]
	if p == nil {
		if s.pages == nil {
			s.pages = map[uint64]*Page{}
		}
		p = NewPage()
		s.pages[off] = p
	}
	return p, true
}
