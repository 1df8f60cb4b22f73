// Package onlooker shows a watch.Watcher the system calls of modelled processes,
// as a supervisor of live programs shows it theirs.
package onlooker

import (
	"strings"
	"sync"
	"time"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// Machine is where the processes run; its open files are counted from 1.
type Machine struct {
	Watcher watch.Watcher
	Kernel  *spec.Kernel
	Device  *kernel.Device
	// Settle, when set, is called after each call, for the device to do all
	// that it has to do.
	Settle func()

	mu    sync.Mutex
	files uint64
	opens map[uint64]int // descriptors of each open device file
}

// System is a process whose calls on device files are watched. It is a
// verbs.System.
type System struct {
	*process.Process
	m *Machine

	mu   sync.Mutex
	fds  map[int]uint64 // device files by descriptor
	maps map[copyuser.Addr]uint64
}

var _ verbs.System = (*System)(nil)

// Watch returns the process with its calls watched.
func (m *Machine) Watch(p *process.Process) *System {
	return &System{Process: p, m: m, fds: map[int]uint64{}, maps: map[copyuser.Addr]uint64{}}
}

func (s *System) file(fd int) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fds[fd]
}

// call shows a call on a device file.
func (s *System) call(c *watch.Call, do func() (int64, error)) (int64, error) {
	c.PID, c.TID, c.Mem = s.PID, s.PID, s.Mem
	c.Kernel, c.Device, c.Driver = s.m.Kernel, s.m.Device, s.m.Device.API.DriverID
	c.Begun = time.Now()
	s.m.Watcher.Enter(c)
	c.Ret, c.Err = do()
	c.Took = time.Since(c.Begun)
	s.m.Watcher.Leave(c)
	if s.m.Settle != nil {
		s.m.Settle()
	}
	return c.Ret, c.Err
}

// Open implements verbs.System.
func (s *System) Open(path string, flags int) (int, error) {
	if !strings.HasPrefix(path, "/dev/infiniband/") {
		return s.Process.Open(path, flags)
	}
	s.m.mu.Lock()
	s.m.files++
	file := s.m.files
	if s.m.opens == nil {
		s.m.opens = map[uint64]int{}
	}
	s.m.opens[file] = 1
	s.m.mu.Unlock()
	c := &watch.Call{Name: "open", Path: path, OpenFlags: flags, FD: -1, File: file}
	fd, err := s.call(c, func() (int64, error) {
		fd, err := s.Process.Open(path, flags)
		return int64(fd), err
	})
	if err == nil {
		s.mu.Lock()
		s.fds[int(fd)] = file
		s.mu.Unlock()
	}
	return int(fd), err
}

// Close implements verbs.System. Of a device file only the last close is shown.
func (s *System) Close(fd int) error {
	file := s.file(fd)
	if file == 0 {
		return s.Process.Close(fd)
	}
	s.mu.Lock()
	delete(s.fds, fd)
	s.mu.Unlock()
	if !s.m.lastClose(file) {
		return s.Process.Close(fd)
	}
	_, err := s.call(&watch.Call{Name: "close", FD: -1, File: file}, func() (int64, error) { return 0, s.Process.Close(fd) })
	return err
}

func (m *Machine) lastClose(file uint64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opens[file]--
	return m.opens[file] == 0
}

// Fork returns a child that is watched as well.
func (s *System) Fork() (*System, error) {
	p, err := s.Process.Fork()
	if err != nil {
		return nil, err
	}
	child := s.m.Watch(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	for fd, file := range s.fds {
		child.fds[fd] = file
		s.m.opens[file]++
	}
	return child, nil
}

// Adopt says that a descriptor is for the same file as one of another process,
// which has passed it.
func (s *System) Adopt(fd int, from *System, as int) {
	file := from.file(as)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m.mu.Lock()
	defer s.m.mu.Unlock()
	s.fds[fd] = file
	s.m.opens[file]++
}

// Exit ends the process and shows that, then the last close of what it alone
// had open.
func (s *System) Exit() {
	s.mu.Lock()
	files := s.fds
	s.fds = map[int]uint64{}
	s.mu.Unlock()
	s.Process.Exit()
	c := &watch.Call{Name: "exit", PID: s.PID, TID: s.PID, FD: -1}
	s.m.Watcher.Enter(c)
	s.m.Watcher.Leave(c)
	for _, file := range files {
		if s.m.lastClose(file) {
			c := &watch.Call{Name: "close", PID: s.PID, TID: s.PID, FD: -1, File: file}
			s.m.Watcher.Enter(c)
			s.m.Watcher.Leave(c)
		}
	}
}

// Ioctl implements verbs.System.
func (s *System) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	file := s.file(fd)
	if file == 0 {
		return s.Process.Ioctl(fd, cmd, arg)
	}
	return s.call(&watch.Call{Name: "ioctl", FD: fd, File: file, Cmd: cmd, Arg: arg},
		func() (int64, error) { return s.Process.Ioctl(fd, cmd, arg) })
}

// Write implements verbs.System.
func (s *System) Write(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	file := s.file(fd)
	if file == 0 {
		return s.Process.Write(fd, buf, n)
	}
	return s.call(&watch.Call{Name: "write", FD: fd, File: file, Addr: uint64(buf), Length: n},
		func() (int64, error) { return s.Process.Write(fd, buf, n) })
}

// Mmap implements verbs.System.
func (s *System) Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	file := s.file(fd)
	if file == 0 {
		return s.Process.Mmap(fd, length, prot, flags, off)
	}
	addr, err := s.call(&watch.Call{Name: "mmap", FD: fd, File: file, Length: length, Prot: prot, Flags: flags, Offset: off},
		func() (int64, error) {
			a, err := s.Process.Mmap(fd, length, prot, flags, off)
			return int64(a), err
		})
	if err == nil {
		s.mu.Lock()
		s.maps[copyuser.Addr(addr)] = file
		s.mu.Unlock()
	}
	return copyuser.Addr(addr), err
}

// Munmap implements verbs.System.
func (s *System) Munmap(addr copyuser.Addr, length uint64) error {
	s.mu.Lock()
	file := s.maps[addr]
	delete(s.maps, addr)
	s.mu.Unlock()
	if file == 0 {
		return s.Process.Munmap(addr, length)
	}
	_, err := s.call(&watch.Call{Name: "munmap", FD: -1, File: file, Addr: uint64(addr), Length: length},
		func() (int64, error) { return 0, s.Process.Munmap(addr, length) })
	return err
}
