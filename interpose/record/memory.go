package record

import (
	"fmt"

	"uverbsim/casefile"
	"uverbsim/copyuser"
)

// memory is the memory of programs that the kernel pins: whole pages, each range
// of them a buffer of zeros.
type memory struct {
	ranges []pages
	n      int
}

// pages are a range of pages of a process.
type pages struct {
	pid        int
	start, end uint64
	buf        string
}

const pageSize = copyuser.PageSize

// The largest memory that becomes a buffer, and the end of what can be a user's.
const (
	maxMemory = 1 << 30
	userEnd   = 1 << 47
)

// place returns the n bytes of memory at an address as a value of the case; false
// if that is no memory that a buffer can stand for.
func (m *memory) place(c *casefile.Case, pid int, at, n uint64) (casefile.Value, bool) {
	if at == 0 || n == 0 || n > maxMemory || at >= userEnd-n {
		return casefile.Value{}, false // the number itself will do
	}
	start, end := at&^(pageSize-1), (at+n+pageSize-1)&^uint64(pageSize-1)
	for _, p := range m.ranges {
		if p.pid == pid && p.start <= start && end <= p.end {
			return casefile.PtrTo(p.buf, int64(at-p.start)), true
		}
	}
	p := pages{pid, start, end, m.name()}
	m.ranges = append(m.ranges, p)
	c.Bufs[p.buf] = &casefile.Buf{Len: int(end - start)}
	return casefile.PtrTo(p.buf, int64(at-start)), true
}

func (m *memory) name() string {
	m.n++
	return fmt.Sprint("memory", m.n)
}

// faulty returns memory in which a call met a fault: as much of it as can be
// read, and read-only if that is all of it.
func (m *memory) faulty(c *casefile.Case, mem copyuser.Memory, at, n uint64) (casefile.Value, bool) {
	if mem == nil || at == 0 || n == 0 || n > maxMemory || at >= userEnd-n {
		return casefile.Value{}, false
	}
	start, end := at&^(pageSize-1), (at+n+pageSize-1)&^uint64(pageSize-1)
	readable := start
	for b := [1]byte{}; readable < end && mem.CopyIn(b[:], copyuser.Addr(readable)) == 1; {
		readable += pageSize
	}
	if readable == start {
		nowhere := casefile.Value{Kind: casefile.Bad, Name: "unmapped"}
		return casefile.Value{Kind: casefile.Plus, Sum: &[2]casefile.Value{nowhere, hex(at - start)}}, true
	}
	buf := &casefile.Buf{Len: int(readable - start)}
	if readable == end {
		buf.Prot = "r"
	}
	name := m.name()
	c.Bufs[name] = buf
	return casefile.PtrTo(name, int64(at-start)), true
}
