package watch

import (
	"time"

	"uverbsim/copyuser"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
)

// Call is a system call that a client makes on a device file or an event file,
// or its end. Which fields bear meaning depends on Name.
type Call struct {
	PID, TID int
	Name     string // "open", "ioctl", "mmap", "munmap", "close", "read", "write", "exit"

	// Path is what is opened, or what FD leads to where that is known: a
	// device node, or the name of an event file, "[infinibandevent]".
	Path      string
	OpenFlags int // open: O_RDWR and so on

	FD   int    // -1 if the call has none; open: the new one is Ret
	File uint64 // which open file it is, counted from 1 for the machine's life; 0 if none

	Cmd uint32        // ioctl
	Arg copyuser.Addr // ioctl

	// mmap and munmap; Addr and Length are the buffer of a read or a write.
	Addr, Length, Offset uint64
	Prot, Flags          int // mmap: PROT_READ, MAP_SHARED and so on

	// Mem is the caller's memory, good until Leave returns; nil where it
	// cannot be reached (exit, the close of a file whose owner is gone).
	Mem copyuser.Memory

	// Kernel is the machine's, and Driver the RDMA_DRIVER_ id of the device's
	// driver, RDMA_DRIVER_UNKNOWN if that is not known.
	Kernel *spec.Kernel
	Driver uint32
	Device *kernel.Device // nil if the call goes to a real device

	// Ioctl and Data are what TakeArgument made.
	Ioctl *Ioctl
	Data  *Data

	Begun time.Time
	Took  time.Duration // after the call

	// After the call: what it returned, and its error, which is a *rule.Rule
	// where the model refused it, else a syscall.Errno. Of an exit Ret is the
	// status, or less than 0 the signal that ended the process.
	Ret int64
	Err error
}

// Unknown is the Ret of an exit whose status is not known.
const Unknown = 1 << 32

// Watcher looks on. Enter comes before a call and Leave after it, both with the
// same *Call and on the same goroutine; the calls of several threads
// interleave, so that a Watcher locks what it keeps. Neither may change what it
// finds, nor keep Mem.
type Watcher interface {
	Enter(*Call)
	Leave(*Call)
}

// Watchers are several that look on, one after the other.
type Watchers []Watcher

// Enter tells all of them.
func (w Watchers) Enter(c *Call) {
	for _, one := range w {
		one.Enter(c)
	}
}

// Leave tells all of them.
func (w Watchers) Leave(c *Call) {
	for _, one := range w {
		one.Leave(c)
	}
}

// TakeArgument keeps what the call's argument leads to: Ioctl for an
// RDMA_VERBS_IOCTL, Data for a read or a write. A Watcher that wants it calls
// it in Enter; the first call counts.
func (c *Call) TakeArgument() {
	switch {
	case c.Mem == nil || c.Ioctl != nil || c.Data != nil:
	case c.Name == "ioctl" && c.Cmd == spec.RDMA_VERBS_IOCTL:
		c.Ioctl = TakeIoctl(c.Mem, c.Arg, c.Driver)
	case c.Name == "read", c.Name == "write":
		c.Data = takeData(c)
	}
}

// TakeAnswer adds to what TakeArgument kept what is there after the call. A
// Watcher that wants it calls it in Leave; the first call counts.
func (c *Call) TakeAnswer() {
	if c.Mem == nil {
		return
	}
	if c.Ioctl != nil && !c.Ioctl.finished {
		c.Ioctl.Finish(c.Mem)
	}
	if c.Data != nil && !c.Data.finished {
		c.Data.finish(c)
	}
}

// Rule returns the rule that refused the call, nil if none did or it is not
// known.
func (c *Call) Rule() *rule.Rule {
	r, _ := c.Err.(*rule.Rule)
	return r
}
