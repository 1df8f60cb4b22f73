package verbs

import (
	"fmt"
	"syscall"
	"time"

	"uverbsim/copyuser"
)

// System is the process that a program runs in: the system calls that the
// library makes, and the loads and stores of the program's own instructions.
// *process.Process and *process.Task are systems.
//
// Errors of the system calls hold errors.Is for the errno that the C library
// would report. Load and Store are false where the program would get SIGSEGV or
// SIGBUS. One that lies within 64 bytes from a multiple of 64 on is never half
// done for a device that looks on.
type System interface {
	Open(path string, flags int) (fd int, err error)
	Close(fd int) error
	Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error)
	Read(fd int, buf copyuser.Addr, n uint64) (int64, error)
	Write(fd int, buf copyuser.Addr, n uint64) (int64, error)
	// Poll asks one descriptor for POLLIN and POLLOUT; a negative timeout waits
	// for ever.
	Poll(fd int, timeout time.Duration) (revents uint16, err error)
	Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error)
	Munmap(addr copyuser.Addr, length uint64) error

	Load(from copyuser.Addr, dst []byte) bool
	Store(to copyuser.Addr, src []byte) bool
}

// Fault is the error of a load or a store of the program's own that its memory
// does not allow: the program would get a signal.
type Fault struct {
	Addr  copyuser.Addr
	Write bool
}

// Error says what was accessed.
func (f *Fault) Error() string {
	if f.Write {
		return fmt.Sprintf("verbs: SIGSEGV: a store to %#x", uint64(f.Addr))
	}
	return fmt.Sprintf("verbs: SIGSEGV: a load from %#x", uint64(f.Addr))
}

// Is makes errors.Is(err, syscall.EFAULT) hold.
func (f *Fault) Is(target error) bool { return target == syscall.EFAULT }

// Load reads the program's memory. Its error is a *Fault.
func Load(sys System, from copyuser.Addr, dst []byte) error {
	if !sys.Load(from, dst) {
		return &Fault{Addr: from}
	}
	return nil
}

// Store writes the program's memory. Its error is a *Fault.
func Store(sys System, to copyuser.Addr, src []byte) error {
	if !sys.Store(to, src) {
		return &Fault{Addr: to, Write: true}
	}
	return nil
}

// Alloc maps n bytes of zeros for the program, readable and writable, from the
// start of a page. Its errors are those of mmap.
func Alloc(sys System, n uint64) (copyuser.Addr, error) {
	const prot = syscall.PROT_READ | syscall.PROT_WRITE
	return sys.Mmap(-1, n, prot, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
}
