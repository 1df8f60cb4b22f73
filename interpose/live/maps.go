package live

import (
	"bytes"
	"strconv"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

// mapping is a run of pages that the process has mapped alike: a line of
// /proc/PID/maps.
type mapping struct {
	start, end copyuser.Addr
	prot       int  // PROT_*
	shared     bool // MAP_SHARED
	file       bool // has an inode: a file or shared memory

	id     FileID // of file
	offset uint64 // of start in the file, in bytes
}

// FileID is the identity of a file: st_dev and st_ino of stat(2).
type FileID struct{ Dev, Ino uint64 }

// Mapping is a run of pages that a process has mapped of a file, as its own kernel
// sees it.
type Mapping struct {
	Start, End copyuser.Addr
	File       FileID // zero for memory of no file
	Offset     uint64 // of Start in the file, in bytes
}

// Mappings returns what is mapped from start to end, in order. The first and the last
// may reach beyond.
func (s *Space) Mappings(start, end copyuser.Addr) (found []Mapping) {
	for _, m := range s.mappings(start, end) {
		found = append(found, Mapping{m.start, m.end, m.id, m.offset})
	}
	return found
}

// mapping returns what is mapped at a.
func (s *Space) mapping(a copyuser.Addr) (mapping, bool) {
	a = a.PageDown()
	found := s.mappings(a, a+copyuser.PageSize)
	if len(found) == 0 {
		return mapping{}, false
	}
	return found[0], true
}

// mappings returns what is mapped from start to end, in order. The first and the
// last may reach beyond. A memory without users has none.
func (s *Space) mappings(start, end copyuser.Addr) []mapping {
	if found, ok := s.query(start, end); ok {
		return found
	}
	return s.parseMaps(start, end)
}

// query is mappings by PROCMAP_QUERY; false is a kernel without it.
func (s *Space) query(start, end copyuser.Addr) (found []mapping, ok bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for start < end {
		q, errno := queryMaps(s.maps, uint64(start))
		switch {
		case errno == unix.ENOTTY:
			return nil, false
		case errno != 0 || copyuser.Addr(q.start) >= end: // ENOENT: no more
			return found, true
		}
		m := mapping{
			start: copyuser.Addr(q.start), end: copyuser.Addr(q.end),
			shared: q.flags&procmapShared != 0, file: q.inode != 0,
		}
		if m.file {
			m.id, m.offset = FileID{unix.Mkdev(q.devMajor, q.devMinor), q.inode}, q.offset
		}
		for _, p := range []struct {
			flag uint64
			prot int
		}{{procmapReadable, unix.PROT_READ}, {procmapWritable, unix.PROT_WRITE}, {procmapExecutable, unix.PROT_EXEC}} {
			if q.flags&p.flag != 0 {
				m.prot |= p.prot
			}
		}
		found = append(found, m)
		start = m.end
	}
	return found, true
}

// parseMaps is mappings by the text of the file.
func (s *Space) parseMaps(start, end copyuser.Addr) (found []mapping) {
	for line := range bytes.Lines(s.readMaps()) {
		m, ok := parseLine(line)
		if ok && m.end > start && m.start < end {
			found = append(found, m)
		}
	}
	return found
}

// readMaps returns the whole text.
func (s *Space) readMaps() (text []byte) {
	s.parse.Lock()
	defer s.parse.Unlock()
	s.mu.RLock()
	defer s.mu.RUnlock()
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Pread(s.maps, buf, int64(len(text)))
		if err != nil || n <= 0 {
			return text
		}
		text = append(text, buf[:n]...)
	}
}

// parseLine parses "start-end rwxp offset device inode path". False is a line of
// something else, or of what is not the user's.
func parseLine(line []byte) (m mapping, ok bool) {
	fields := bytes.Fields(line)
	if len(fields) < 5 || len(fields[1]) < 4 {
		return m, false
	}
	from, to, _ := bytes.Cut(fields[0], []byte("-"))
	start, err1 := strconv.ParseUint(string(from), 16, 64)
	end, err2 := strconv.ParseUint(string(to), 16, 64)
	if err1 != nil || err2 != nil || copyuser.Addr(start) >= copyuser.TaskSizeMax {
		return m, false
	}
	m = mapping{start: copyuser.Addr(start), end: copyuser.Addr(end)}
	rights := fields[1]
	for i, prot := range []int{unix.PROT_READ, unix.PROT_WRITE, unix.PROT_EXEC} {
		if rights[i] != '-' {
			m.prot |= prot
		}
	}
	m.shared = rights[3] == 's'
	if string(fields[4]) == "0" {
		return m, true
	}
	m.file = true
	m.id, m.offset, ok = parseFile(fields[2], fields[3], fields[4])
	return m, ok
}

// parseFile parses offset, device ("major:minor") and inode of a line.
func parseFile(offset, device, inode []byte) (id FileID, at uint64, ok bool) {
	major, minor, _ := bytes.Cut(device, []byte(":"))
	var n [4]uint64
	for i, f := range []struct {
		text []byte
		base int
	}{{offset, 16}, {major, 16}, {minor, 16}, {inode, 10}} {
		var err error
		if n[i], err = strconv.ParseUint(string(f.text), f.base, 64); err != nil {
			return FileID{}, 0, false
		}
	}
	return FileID{unix.Mkdev(uint32(n[1]), uint32(n[2])), n[3]}, n[0], true
}
