package live

import (
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// Pin models pin_user_pages_fast with FOLL_LONGTERM in mm/gup.c; see
// copyuser.Memory, and the package for what a pin is here. Its errors are the
// rules pin/….
func (s *Space) Pin(from copyuser.Addr, n uint64, write bool) (*copyuser.Pin, error) {
	return s.pin(from, n, gup{write: write})
}

// PinForced is like Pin for writing, with FOLL_FORCE.
func (s *Space) PinForced(from copyuser.Addr, n uint64) (*copyuser.Pin, error) {
	return s.pin(from, n, gup{write: true, force: true})
}

// memory is what the machine has, in bytes: more cannot be pinned on any.
var memory = func() uint64 {
	var info unix.Sysinfo_t
	if err := unix.Sysinfo(&info); err != nil {
		return 1 << 40
	}
	return info.Totalram * uint64(info.Unit)
}()

// gup is what pages are pinned for: FOLL_WRITE and FOLL_FORCE of
// include/linux/mm_types.h.
type gup struct{ write, force bool }

func (s *Space) pin(from copyuser.Addr, n uint64, flags gup) (*copyuser.Pin, error) {
	if n == 0 {
		return s.PinPages(nil), nil
	}
	last, ok := from.Add(n - 1)
	if !ok {
		return nil, rule.PinWraps
	}
	if last >= copyuser.TaskSizeMax {
		return nil, rule.PinRange
	}
	start, end := from.PageDown(), last.PageDown()+copyuser.PageSize
	if uint64(end-start) > memory {
		return nil, rule.UmemNoMemory
	}
	at := start
	for _, m := range s.mappings(start, end) {
		if m.start > at {
			return nil, rule.PinUnmapped
		}
		to := min(m.end, end)
		if err := s.checkFlags(&m, flags); err != nil {
			return nil, err
		}
		if !s.probe(at) || m.file && !s.probe(to-1) {
			return nil, rule.PinFault
		}
		at = to
	}
	if at < end {
		return nil, rule.PinUnmapped
	}
	return s.PinPages(s.pages(start, int((end-start)>>copyuser.PageShift))), nil
}

// checkFlags models check_vma_flags in mm/gup.c.
func (s *Space) checkFlags(m *mapping, flags gup) error {
	switch {
	case s.device(m):
		return rule.PinIO
	case flags.write && m.prot&unix.PROT_WRITE == 0 && !(flags.force && !m.shared):
		return rule.PinWrite
	case !flags.write && m.prot&unix.PROT_READ == 0:
		return rule.PinRead
	}
	return nil
}

// device reports whether a mapping is of the simulated device.
func (s *Space) device(m *mapping) bool {
	return m.file && s.IsDevice != nil && s.IsDevice(m.id, m.offset)
}

// probe reports whether there is a page at a. A mapping of a file has none behind
// the file's end, and some mappings of devices have none at all.
func (s *Space) probe(a copyuser.Addr) bool {
	var b [1]byte
	n, _ := s.pread(b[:], a)
	return n == len(b)
}
