package live

import (
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/rule"
)

// RangeFault models hmm_range_fault in mm/hmm.c; see AddressSpace.RangeFault. What
// is mapped counts as present. Its errors are the rules hmm/….
func (s *Space) RangeFault(from copyuser.Addr, pages []copyuser.RangePage, fault, write bool) error {
	from = from.PageDown()
	maps := s.mappings(from, from+copyuser.Addr(len(pages))<<copyuser.PageShift)
	found := s.pages(from, len(pages))
	for i := range pages {
		a := from + copyuser.Addr(i)<<copyuser.PageShift
		for len(maps) > 0 && maps[0].end <= a {
			maps = maps[1:]
		}
		pages[i] = copyuser.RangePage{}
		err := s.walkPage(maps, a, fault, write)
		switch {
		case err == nil:
			pages[i] = copyuser.RangePage{Page: found[i], Write: maps[0].prot&unix.PROT_WRITE != 0}
		case fault:
			return err
		}
	}
	return nil
}

// walkPage models hmm_vma_walk_pmd and what it calls, for one page: the error says
// why it cannot be had. The first of maps holds the page, or lies behind it.
func (s *Space) walkPage(maps []mapping, a copyuser.Addr, fault, write bool) error {
	switch {
	case len(maps) == 0 || maps[0].start > a:
		return rule.HMMUnmapped
	case maps[0].prot&unix.PROT_READ == 0, s.device(&maps[0]):
		return rule.HMMArea
	case fault && write && maps[0].prot&unix.PROT_WRITE == 0:
		return rule.HMMWrite
	case !s.probe(a):
		return rule.HMMFault
	}
	return nil
}
