package interpose

import (
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/rule"
)

// mmap has the machine look at an mmap of a device file. What it shows is put into
// the sparse file, and the kernel maps that, at an address that it chooses.
func (c *call) mmap() answer {
	if c.Args[3]&unix.MAP_FIXED != 0 { // in place of what is there
		if cl := c.knownClient(int(c.PID)); cl != nil {
			c.unmapped(cl, c.Args[0], c.Args[1])
		}
	}
	if !c.find(int32(c.Args[4])) {
		return answer{}
	}
	f, ok := c.file.(*deviceFile)
	if !ok {
		return answer{}
	}
	if err := c.begin(); err != nil {
		return c.broken(err)
	}
	length, prot, flags, off := c.Args[1], int(int32(c.Args[2])), int(int32(c.Args[3])), c.Args[5]
	return c.watched(watch.Call{Name: "mmap", Addr: c.Args[0], Length: length, Prot: prot, Flags: flags, Offset: off}, func() answer {
		const place = unix.MAP_FIXED | unix.MAP_FIXED_NOREPLACE // is not known here
		if err := c.client.mapFile(c, f, length, prot, flags&^place, off); err != nil {
			c.refused = err
			return fails(rule.Errno(err))
		}
		return answer{}
	})
}

// mapFile maps part of a device file in the machine, and binds its pages.
func (cl *client) mapFile(c *call, f *deviceFile, length uint64, prot, flags int, off uint64) error {
	t := cl.lend(int(c.PID), c)
	defer cl.giveBack(t)
	at, err := t.Mmap(int(c.fd), length, prot, flags, off)
	if err != nil {
		return err
	}
	length = (length + copyuser.PageSize - 1) &^ (copyuser.PageSize - 1)
	pages, io := cl.pagesAt(at)
	for i, page := range pages {
		if err := f.bind(off>>copyuser.PageShift+uint64(i), page); err != nil {
			cl.unmap(at, length)
			return err
		}
	}
	f.mu.Lock()
	f.areas = append(f.areas, mapping{cl, at, off >> copyuser.PageShift, length, io})
	f.mu.Unlock()
	return nil
}

// pagesAt returns the pages of an area of the machine, all of which are there, and
// whether they are the device's and cannot be pinned. There are none if the process has
// been killed meanwhile.
func (cl *client) pagesAt(at copyuser.Addr) (pages []*copyuser.Page, io bool) {
	mm := cl.space()
	mm.MmapReadLock(nil)
	defer mm.MmapReadUnlock(nil)
	area := mm.Find(at)
	if area == nil {
		return nil, false
	}
	for i := range area.Pages() {
		pages = append(pages, area.PageAt(i))
	}
	return pages, area.Flags&(copyuser.VM_IO|copyuser.VM_PFNMAP) != 0
}

// unmap ends an area of the machine.
func (cl *client) unmap(at copyuser.Addr, length uint64) {
	if cl.gone.Load() {
		return // with all of its memory
	}
	if err := cl.proc.Munmap(at, length); err != nil {
		cl.s.report("process %d: unmap: %v", cl.tgid, err)
	}
}

// mremap refuses to let a mapping of a device file grow, as the kernel does with what
// the device's driver has filled (VM_DONTEXPAND), and lets the machine know of one that
// shrinks, or in whose place another one is moved. One that only moves stays the same to
// the machine.
func (c *call) mremap() answer {
	cl := c.knownClient(int(c.PID))
	if cl == nil {
		return answer{}
	}
	const mask = copyuser.PageSize - 1
	from, old, length, flags := copyuser.Addr(c.Args[0]), c.Args[1], c.Args[2], c.Args[3]
	kept := (length + mask) &^ mask
	if kept == 0 || uint64(from)&mask != 0 || invalidRemap(flags) {
		return answer{} // EINVAL: nothing is unmapped
	}
	if flags&unix.MREMAP_FIXED != 0 {
		c.unmapped(cl, c.Args[4], kept)
	}
	maps := cl.space().Mappings(from, from+1)
	if len(maps) == 0 {
		return answer{}
	}
	if _, ok := c.files.find(inode(maps[0].File)).(*deviceFile); !ok {
		return answer{}
	}
	if length > old {
		return fails(unix.EFAULT)
	}
	if kept < old {
		c.unmapped(cl, c.Args[0]+kept, old-kept)
	}
	return answer{}
}

// invalidRemap says whether mremap(2) knows no such flags: a place for the mapping is
// given only to one that may move.
func invalidRemap(flags uint64) bool {
	const place = unix.MREMAP_FIXED | unix.MREMAP_DONTUNMAP
	return flags&^(unix.MREMAP_MAYMOVE|place) != 0 || flags&unix.MREMAP_MAYMOVE == 0 && flags&place != 0
}

// munmap lets the machine know what of a device file is not mapped any more. That
// the kernel goes on with the call, it takes for granted.
func (c *call) munmap() answer {
	cl := c.knownClient(int(c.PID))
	if cl == nil {
		return answer{}
	}
	c.unmapped(cl, c.Args[0], c.Args[1])
	return answer{}
}

// unmapped ends what the machine has for a range of a client's memory. Where the range
// does not begin at a page the kernel unmaps nothing.
func (c *call) unmapped(cl *client, at, length uint64) {
	const mask = copyuser.PageSize - 1
	from, to := copyuser.Addr(at), copyuser.Addr((at+length+mask)&^mask)
	if at&mask != 0 {
		return
	}
	for _, m := range cl.space().Mappings(from, to) {
		f, ok := c.files.find(inode(m.File)).(*deviceFile)
		if !ok {
			continue
		}
		start, end := max(m.Start, from), min(m.End, to)
		c.file, c.client, c.fd = f, cl, -1
		w := watch.Call{Name: "munmap", Addr: uint64(start), Length: uint64(end - start), Offset: m.Offset + uint64(start-m.Start)}
		c.watched(w, func() answer {
			f.unmapped(cl, w.Offset>>copyuser.PageShift, w.Length)
			return answer{}
		})
	}
}

// unmapped ends what the machine has for a part of the file that a process has
// mapped. The process's kernel may have made one mapping of several that lie side by
// side.
func (f *deviceFile) unmapped(cl *client, pgoff, length uint64) {
	f.mu.Lock()
	var ended []mapping
	for length > 0 {
		n := uint64(copyuser.PageSize) // if nothing is known of it
		for i, m := range f.areas {
			if m.client != cl || pgoff < m.pgoff || pgoff >= m.pgoff+m.length>>copyuser.PageShift {
				continue
			}
			head := (pgoff - m.pgoff) << copyuser.PageShift
			n = min(length, m.length-head)
			ended = append(ended, m.part(head, n))
			f.areas = append(f.areas[:i], f.areas[i+1:]...)
			if head > 0 {
				f.areas = append(f.areas, m.part(0, head))
			}
			if tail := m.length - head - n; tail > 0 {
				f.areas = append(f.areas, m.part(head+n, tail))
			}
			break
		}
		pgoff, length = pgoff+n>>copyuser.PageShift, length-n
	}
	f.mu.Unlock()
	for _, m := range ended {
		cl.unmap(m.area, m.length)
	}
}
