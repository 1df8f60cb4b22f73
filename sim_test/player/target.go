package player

import (
	"fmt"
	"time"

	"uverbsim/casefile"
)

// Target is what cases are played on. Boot may be called by several goroutines
// at once.
type Target interface {
	// Boot returns a machine on which nothing has happened yet, with the one
	// device that the case wants.
	Boot(c *casefile.Case) (Machine, error)
}

// Unplayable is the error of an operation that a target does not have.
type Unplayable struct {
	Op     string // in the words of the case format
	Reason string
}

func (u *Unplayable) Error() string { return fmt.Sprintf("cannot play %s: %s", u.Op, u.Reason) }

// Machine is a kernel with one RDMA device. Its methods, but for Process, are
// what no user process could do; the errors of those that have one are an
// errno, a *rule.Rule, or an *Unplayable.
type Machine interface {
	// Process returns the task of the process that plays the case: root, with
	// all capabilities, descriptors 0 to 2 open, and nothing else.
	Process() Task

	// Remove takes the device away, for that task, and returns when it is gone.
	Remove(by Task) error
	// Add brings the device back, as the case wants it.
	Add() error
	// Netdev takes the device's network device up or down.
	Netdev(up bool) error
	// Chmod sets the mode of the device node.
	Chmod(mode uint32) error

	// Event has the driver raise an event; Hold makes callers of one of its
	// operations wait there until Release; DriverLog returns and forgets the
	// names of the operations that were called.
	Event(object string, index int, typ string) error
	Hold(op string) error
	Release() error
	DriverLog() (string, error)

	// Patience is how long a background step may take before it counts as
	// blocked.
	Patience() time.Duration
	// Shutdown ends all processes and whatever they wait for.
	Shutdown()
}

// Task is a thread of a user process; its methods are system calls. Their
// errors are an errno or a *rule.Rule, or an *Unplayable. Addresses are the
// process's, lengths are in bytes, prot, flags and limits are the kernel's.
type Task interface {
	// Thread starts another thread of the process.
	Thread() Task

	Files
	Memory
	Identity

	// Fork returns the only thread of a child. Exec gives the process a new
	// memory. Exit ends the process without closing anything before.
	Fork() (Task, error)
	Exec() error
	Exit()
}

// Files are the system calls on descriptors.
type Files interface {
	// Open opens the device node, wherever it is now.
	Open(flags int) (fd int, err error)
	Close(fd int) error
	Ioctl(fd int, cmd uint32, arg uint64) (int64, error)
	Read(fd int, addr, n uint64) (int64, error)
	Write(fd int, addr, n uint64) (int64, error)
	SetNonblock(fd int) error
	// Poll asks for POLLIN and POLLOUT. A negative timeout waits for ever.
	Poll(fd int, timeout time.Duration) (revents uint16, err error)

	Dup(fd int) (int, error)
	Dup2(fd, to int) (int, error)
	Dup3(fd, to, flags int) (int, error)
	FcntlDupFD(fd, min int, cloexec bool) (int, error)
	// SendFD passes a descriptor to another process and returns its number
	// there.
	SendFD(fd int, to Task) (int, error)
	// FDs returns the descriptors that are open, in order.
	FDs() []int
}

// Memory is the process's address space.
type Memory interface {
	// Map maps n bytes of zeros, private, readable and writable, with an
	// unmapped page before and behind.
	Map(n uint64) (addr uint64, err error)
	Mmap(fd int, n uint64, prot, flags int, off uint64) (addr uint64, err error)
	Munmap(addr, n uint64) error
	Mprotect(addr, n uint64, prot int) error
	Mremap(addr, oldLen, newLen uint64, flags int) (uint64, error)

	// Load and Store access memory as the process's own instructions do, and
	// return how many bytes they came before a fault. Accesses of a single
	// byte are a single instruction.
	Load(addr uint64, dst []byte) int
	Store(addr uint64, src []byte) int
}

// Identity is who the process is and what it may have.
type Identity interface {
	Setuid(uid uint32) error
	Setgid(gid uint32) error
	// Capset takes those capabilities, by number, out of all three sets.
	Capset(drop []int) error
	Getrlimit(resource int) (cur, max uint64, err error)
	Setrlimit(resource int, cur, max uint64) error

	// EnterCgroup moves the process into a new RDMA control group with those
	// limits for the device; LeaveCgroup moves it to the root group. CgroupMax
	// sets limits of the group that it entered, CgroupCurrent returns what that
	// uses of the device, as rdma.current has it.
	EnterCgroup(max string) error
	CgroupMax(max string) error
	LeaveCgroup() error
	CgroupCurrent() (string, error)
}
