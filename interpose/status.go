package interpose

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"uverbsim/process"
)

// status is /proc/PID/status.
type status []byte

// readStatus reads that of a process or a thread.
func readStatus(pid int) (status, error) {
	path := "/proc/" + strconv.Itoa(pid) + "/status"
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer unix.Close(fd)
	text := make([]byte, 0, 4096)
	for {
		n, err := unix.Read(fd, text[len(text):cap(text)])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if n == 0 {
			return text, nil
		}
		if text = text[:len(text)+n]; len(text) == cap(text) { // many groups
			text = slices.Grow(text, len(text))
		}
	}
}

// field returns the words of a line.
func (s status) field(name string) [][]byte {
	for line := range bytes.Lines(s) {
		if rest, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return bytes.Fields(rest)
		}
	}
	return nil
}

// tgidOf returns the process of a thread.
func tgidOf(tid int) (int, error) {
	s, err := readStatus(tid)
	if err != nil {
		return 0, err
	}
	f := s.field("Tgid:")
	if len(f) != 1 {
		return 0, fmt.Errorf("/proc/%d/status has no Tgid", tid)
	}
	return strconv.Atoi(string(f[0]))
}

// cred returns the credentials.
func (s status) cred() (c process.Cred) {
	s.numbers("Uid:", 10, func(i int, n uint64) { *[]*uint32{&c.UID, &c.EUID, &c.SUID, new(uint32)}[i] = uint32(n) })
	s.numbers("Gid:", 10, func(i int, n uint64) { *[]*uint32{&c.GID, &c.EGID, &c.SGID, new(uint32)}[i] = uint32(n) })
	s.numbers("CapInh:", 16, func(_ int, n uint64) { c.Inheritable = process.CapSet(n) })
	s.numbers("CapPrm:", 16, func(_ int, n uint64) { c.Permitted = process.CapSet(n) })
	s.numbers("CapEff:", 16, func(_ int, n uint64) { c.Effective = process.CapSet(n) })
	return c
}

// numbers calls f for each number of a line, of which there are four at most.
func (s status) numbers(name string, base int, f func(i int, n uint64)) {
	for i, word := range s.field(name) {
		if n, err := strconv.ParseUint(string(word), base, 64); err == nil && i < 4 {
			f(i, n)
		}
	}
}
