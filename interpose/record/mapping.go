package record

import (
	"syscall"

	"uverbsim/casefile"
	"uverbsim/interpose/watch"
)

// mapping is a mapping of a device file. Its address is 0 where that is not
// known, since the kernel chose it after the call was seen.
type mapping struct {
	addr, length uint64
	file, offset uint64
	name         string
}

// mmap adds an mmap of a device file.
func (s *session) mmap(c *watch.Call) {
	if !s.room() {
		return
	}
	p := s.party(c.PID)
	a := &casefile.Mmap{FD: s.device(p, c.File), As: s.name("map"), Off: hex(c.Offset), Len: int(c.Length), Prot: letters(c.Prot)}
	if off, ok := s.offsets[c.Offset]; ok && p.proc == "" {
		a.Off = off
	}
	if c.Flags&syscall.MAP_PRIVATE != 0 {
		a.Flags = "private"
	}
	s.addFor(p.proc, a, answer(c, true))
	if c.Err == nil {
		p.maps = append(p.maps, mapping{uint64(c.Ret), c.Length, c.File, c.Offset, a.As})
	}
}

// letters are those of a protection.
func letters(prot int) string {
	var b []byte
	for _, p := range []struct {
		bit    int
		letter byte
	}{{syscall.PROT_READ, 'r'}, {syscall.PROT_WRITE, 'w'}, {syscall.PROT_EXEC, 'x'}} {
		if prot&p.bit != 0 {
			b = append(b, p.letter)
		}
	}
	if b == nil {
		return "none"
	}
	return string(b)
}

// munmap adds a munmap of a mapping, or of its beginning, which is known by its
// address or by what it shows. Of any other memory it is not the case's business.
func (s *session) munmap(c *watch.Call) {
	p := s.parties[c.PID]
	if p == nil || c.Err != nil {
		return
	}
	for i := range p.maps {
		m := &p.maps[len(p.maps)-1-i] // the latest that lay there
		there := m.addr == c.Addr
		if m.addr == 0 {
			there = m.file == c.File && m.offset == c.Offset
		}
		if !there || m.length == 0 {
			continue
		}
		if s.room() {
			a := &casefile.Munmap{Map: m.name}
			if c.Length < m.length {
				a.Len = int(c.Length)
			}
			s.addFor(p.proc, a, done("0"))
		}
		m.length = 0
		return
	}
}
