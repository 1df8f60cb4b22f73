package process

import (
	"time"

	"uverbsim/copyuser"
)

// The system calls of a process are those of its main task.

// Open is Task.Open of the main task.
func (p *Process) Open(path string, flags int) (int, error) { return p.main.Open(path, flags) }

// Close is Task.Close of the main task.
func (p *Process) Close(fd int) error { return p.main.Close(fd) }

// Dup is Task.Dup of the main task.
func (p *Process) Dup(fd int) (int, error) { return p.main.Dup(fd) }

// Dup2 is Task.Dup2 of the main task.
func (p *Process) Dup2(fd, to int) (int, error) { return p.main.Dup2(fd, to) }

// Dup3 is Task.Dup3 of the main task.
func (p *Process) Dup3(fd, to, flags int) (int, error) { return p.main.Dup3(fd, to, flags) }

// FcntlDupFD is Task.FcntlDupFD of the main task.
func (p *Process) FcntlDupFD(fd, min int, cloexec bool) (int, error) {
	return p.main.FcntlDupFD(fd, min, cloexec)
}

// SendFD is Task.SendFD between the main tasks of two processes.
func (p *Process) SendFD(fd int, to *Process) (int, error) { return p.main.SendFD(fd, to.main) }

// SetNonblock is Task.SetNonblock of the main task.
func (p *Process) SetNonblock(fd int, on bool) error { return p.main.SetNonblock(fd, on) }

// Ioctl is Task.Ioctl of the main task.
func (p *Process) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	return p.main.Ioctl(fd, cmd, arg)
}

// Read is Task.Read of the main task.
func (p *Process) Read(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	return p.main.Read(fd, buf, n)
}

// Write is Task.Write of the main task.
func (p *Process) Write(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	return p.main.Write(fd, buf, n)
}

// Poll is Task.Poll of the main task.
func (p *Process) Poll(fd int, timeout time.Duration) (uint16, error) {
	return p.main.Poll(fd, timeout)
}

// Mmap is Task.Mmap of the main task.
func (p *Process) Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	return p.main.Mmap(fd, length, prot, flags, off)
}

// Munmap is Task.Munmap of the main task.
func (p *Process) Munmap(a copyuser.Addr, n uint64) error { return p.main.Munmap(a, n) }

// Mprotect is Task.Mprotect of the main task.
func (p *Process) Mprotect(a copyuser.Addr, n uint64, prot int) error {
	return p.main.Mprotect(a, n, prot)
}

// Mremap is Task.Mremap of the main task.
func (p *Process) Mremap(old copyuser.Addr, oldLen, newLen uint64, flags int) (copyuser.Addr, error) {
	return p.main.Mremap(old, oldLen, newLen, flags)
}

// Fork is Task.Fork of the main task.
func (p *Process) Fork() (*Process, error) { return p.main.Fork() }

// Exec is Task.Exec of the main task.
func (p *Process) Exec() error { return p.main.Exec() }

// Exit is Task.Exit of the main task.
func (p *Process) Exit() { p.main.Exit() }

// Setuid is Task.Setuid of the main task.
func (p *Process) Setuid(uid uint32) error { return p.main.Setuid(uid) }

// Setgid is Task.Setgid of the main task.
func (p *Process) Setgid(gid uint32) error { return p.main.Setgid(gid) }

// Capset is Task.Capset of the main task.
func (p *Process) Capset(drop ...Cap) error { return p.main.Capset(drop...) }

// SetRlimit is Task.SetRlimit of the main task.
func (p *Process) SetRlimit(r Resource, l Rlimit) error { return p.main.SetRlimit(r, l) }

// Interrupt is Task.Interrupt of the main task.
func (p *Process) Interrupt() { p.main.Interrupt() }
