package live

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

// ErrFork is the error of Fork: the process forks by itself, and its child's
// memory is opened like any other.
var ErrFork = errors.New("live: the memory of a live process is not forked by the simulator")

// Space is the memory of a live process. What it embeds is the shadow: the areas
// that map the simulated device. Its methods may be called by several goroutines
// at once.
type Space struct {
	*copyuser.AddressSpace
	// IsDevice says whether what a file has at an offset is the simulated device's,
	// and cannot be pinned. Nil is never. It is set before the memory is used.
	IsDevice func(file FileID, offset uint64) bool

	pid    int
	thread atomic.Int32 // one that has the memory; the first may exit before others

	mu   sync.RWMutex // over the descriptors being open
	mem  int          // /proc/PID/mem, -1 once closed
	maps int          // /proc/PID/maps

	parse  sync.Mutex // one reader of maps as text
	window window
}

var _ copyuser.MM = (*Space)(nil)

// Open returns the memory that the process has now; pid is the number of its thread
// group. It needs what ptrace(2) needs: the same user and a process that may be
// dumped, or CAP_SYS_PTRACE.
func Open(pid int) (*Space, error) {
	s, err := openThread(pid, pid)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return s, err
	}
	for _, tid := range threads(pid) { // the first thread has exited
		if s, err := openThread(pid, tid); err == nil {
			return s, nil
		}
	}
	return nil, err
}

func openThread(pid, tid int) (*Space, error) {
	mem, err := open(tid, "mem", unix.O_RDWR)
	if err != nil {
		return nil, err
	}
	maps, err := open(tid, "maps", unix.O_RDONLY)
	if err != nil {
		_ = unix.Close(mem)
		return nil, err
	}
	s := &Space{AddressSpace: copyuser.NewAddressSpace(), pid: pid, mem: mem, maps: maps}
	s.thread.Store(int32(tid))
	return s, nil
}

// threads returns the threads of a process.
func threads(pid int) (tids []int) {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, e := range entries {
		if tid, err := strconv.Atoi(e.Name()); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// otherThread looks for a thread in the place of one that has exited. There is none
// if the memory has no users.
func (s *Space) otherThread(gone int32) bool {
	if !s.Alive() {
		return false
	}
	for _, tid := range threads(s.pid) {
		if int32(tid) != gone && hasMemory(tid) {
			return s.thread.CompareAndSwap(gone, int32(tid)) || s.thread.Load() != gone
		}
	}
	return false
}

// hasMemory reports whether a thread has yet to exit.
func hasMemory(tid int) bool {
	var b [1]byte
	local := [1]unix.Iovec{{Base: &b[0], Len: 1}}
	_, err := unix.ProcessVMReadv(tid, local[:], []unix.RemoteIovec{{Base: 0, Len: 1}}, 0)
	return err != unix.ESRCH
}

func open(pid int, file string, flags int) (int, error) {
	path := fmt.Sprintf("/proc/%d/%s", pid, file)
	fd, err := unix.Open(path, flags|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, &os.PathError{Op: "open", Path: path, Err: err}
	}
	return fd, nil
}

// Close gives the descriptors back. The device's accesses find nothing from then
// on; the shadow's areas are Mmput's to unmap.
func (s *Space) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mem >= 0 {
		_, _ = unix.Close(s.mem), unix.Close(s.maps)
		s.mem, s.maps = -1, -1
	}
}

// Alive reports whether somebody still runs on this memory. Nobody does after the
// end of the process and after execve(2), unless a child of vfork(2) or clone(2)
// shares it.
func (s *Space) Alive() bool {
	// Without users there is nothing to read, which is no error; with some there is
	// a byte or the lack of one.
	var b [1]byte
	n, err := s.pread(b[:], 0)
	return n == 1 || errors.Is(err, unix.EIO)
}

// Fork refuses; see ErrFork.
func (s *Space) Fork(copyuser.Current) (copyuser.MM, error) { return nil, ErrFork }

// pread and pwrite reach the memory whatever its protection is. No bytes and no
// error is a memory without users, EIO one that is not mapped.

func (s *Space) pread(dst []byte, from copyuser.Addr) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return unix.Pread(s.mem, dst, int64(from))
}

func (s *Space) pwrite(src []byte, to copyuser.Addr) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return unix.Pwrite(s.mem, src, int64(to))
}

// pwriteTail is pwrite, with the bytes of tail behind those of head, and after
// them: the file has no other way to write two buffers than one by one.
func (s *Space) pwriteTail(head, tail []byte, to copyuser.Addr) (int, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return unix.Pwritev(s.mem, [][]byte{head, tail}, int64(to))
}
