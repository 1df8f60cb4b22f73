package ptrace

import (
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

const verbsIoctl = spec.RDMA_VERBS_IOCTL

// args are the arguments of a system call.
type args [6]uint64

// fd is an argument that is a descriptor: the kernel looks at its lower half.
func (a *args) fd(i int) int { return int(int32(a[i])) }

// calls are what to do at each system call that the filter stops. They return nil
// if it is of no interest.
var calls = map[uint64]func(t *tracer, th *thread, a *args) *pending{
	unix.SYS_OPEN: func(t *tracer, th *thread, a *args) *pending {
		return t.open(th, unix.AT_FDCWD, a[0], int(int32(a[1])))
	},
	unix.SYS_OPENAT: func(t *tracer, th *thread, a *args) *pending {
		return t.open(th, a.fd(0), a[1], int(int32(a[2])))
	},
	unix.SYS_OPENAT2: func(t *tracer, th *thread, a *args) *pending {
		flags, _ := memory(th.tid).GetUint64(copyuser.Addr(a[2])) // struct open_how begins with them
		return t.open(th, a.fd(0), a[1], int(flags))
	},
	unix.SYS_IOCTL: func(t *tracer, th *thread, a *args) *pending {
		f := t.file(th, a.fd(0))
		if f == nil || !f.device {
			return nil
		}
		c := t.call(th, "ioctl", a.fd(0), f)
		c.Cmd, c.Arg = uint32(a[1]), copyuser.Addr(a[2])
		return &pending{call: c}
	},
	unix.SYS_MMAP: func(t *tracer, th *thread, a *args) *pending {
		f := t.file(th, a.fd(4))
		if f == nil || !f.device {
			return nil
		}
		c := t.call(th, "mmap", a.fd(4), f)
		c.Addr, c.Length, c.Prot, c.Flags, c.Offset = a[0], a[1], int(a[2]), int(a[3]), a[5]
		return &pending{call: c}
	},
	unix.SYS_READ:  transfer("read"),
	unix.SYS_WRITE: transfer("write"),
	unix.SYS_CLOSE: func(t *tracer, th *thread, a *args) *pending {
		f := t.file(th, a.fd(0))
		if f == nil {
			return nil
		}
		p := &pending{done: func(int64) {
			// It is closed whatever the call returns. Another thread may have got its
			// number for a new file before this end was seen.
			if fds := th.process.files.fds; fds[a.fd(0)] == f {
				delete(fds, a.fd(0))
			}
		}}
		if !f.device || t.descriptors(f) == 1 {
			p.call = t.call(th, "close", a.fd(0), f)
			f.closed = true
		}
		return p
	},
	unix.SYS_CLOSE_RANGE: func(t *tracer, th *thread, a *args) *pending {
		if len(th.process.files.fds) == 0 {
			return nil
		}
		return &pending{done: func(int64) { t.prune(th) }}
	},
	unix.SYS_DUP:   func(t *tracer, th *thread, a *args) *pending { return t.dup(th, a.fd(0)) },
	unix.SYS_FCNTL: func(t *tracer, th *thread, a *args) *pending { return t.dup(th, a.fd(0)) },
	unix.SYS_DUP2:  onto,
	unix.SYS_DUP3:  onto,
}

// call begins to tell of a call.
func (t *tracer) call(th *thread, name string, fd int, f *openFile) *watch.Call {
	th.process.used = true
	c := &watch.Call{
		PID: th.process.pid, TID: th.tid, Name: name, FD: fd,
		Mem: memory(th.tid), Kernel: t.o.Kernel, Driver: spec.RDMA_DRIVER_UNKNOWN, Begun: time.Now(),
	}
	if f != nil {
		c.Path, c.File, c.Driver = f.path, f.number, f.driver
	}
	return c
}

// open is a call that opens a device node, by the name that it has.
func (t *tracer) open(th *thread, dirfd int, path uint64, flags int) *pending {
	p, ok := memory(th.tid).text(copyuser.Addr(path))
	if !ok {
		return nil
	}
	if p, ok = t.node(th, dirfd, p); !ok {
		return nil
	}
	c := t.call(th, "open", -1, nil)
	c.Path, c.OpenFlags, c.Driver = p, flags, t.driver(p)
	return &pending{call: c, done: func(ret int64) {
		if ret < 0 {
			return
		}
		link, ok := fdLink(th.tid, int(ret))
		if !ok {
			link = p // it has been killed meanwhile
		}
		if t.isNode(link) {
			f := t.newFile(link, true)
			th.process.files.fds[int(ret)] = f
			c.File = f.number
		}
	}}
}

func transfer(name string) func(*tracer, *thread, *args) *pending {
	return func(t *tracer, th *thread, a *args) *pending {
		f := t.file(th, a.fd(0))
		if f == nil {
			return nil
		}
		c := t.call(th, name, a.fd(0), f)
		c.Addr, c.Length = a[1], a[2]
		return &pending{call: c}
	}
}

// dup is a call that copies a descriptor.
func (t *tracer) dup(th *thread, from int) *pending {
	f := t.file(th, from)
	if f == nil {
		return nil
	}
	return &pending{done: func(ret int64) {
		if ret < 0 {
			return
		}
		fds := th.process.files.fds
		before := fds[int(ret)]
		fds[int(ret)] = f
		if before != nil && before != f {
			t.lost(th, before)
		}
	}}
}

// onto is a call that copies a descriptor onto another one, which it closes.
func onto(t *tracer, th *thread, a *args) *pending {
	if p := t.dup(th, a.fd(0)); p != nil {
		return p
	}
	if th.process.files.fds[a.fd(1)] == nil {
		return nil
	}
	return &pending{done: func(int64) { t.prune(th) }}
}

// enter takes a system call that the filter has stopped.
func (t *tracer) enter(th *thread) error {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(th.tid, &regs); err != nil {
		return err
	}
	begin := calls[regs.Orig_rax]
	if begin == nil {
		return nil // another filter's, which the program has
	}
	th.pending = begin(t, th, &args{regs.Rdi, regs.Rsi, regs.Rdx, regs.R10, regs.R8, regs.R9})
	if p := th.pending; p != nil {
		if p.call != nil {
			t.w.Enter(p.call)
		}
		p.at = time.Now()
	}
	return nil
}

// The errors by which the kernel tells itself that a call that a signal has
// interrupted may begin again: include/linux/errno.h. The program sees EINTR, or
// a second call.
const (
	eRestartSys   = 512
	eRestartBlock = 516
)

// leave takes the end of a system call.
func (t *tracer) leave(th *thread) error {
	p := th.pending
	th.pending = nil
	if p == nil {
		return nil
	}
	took := time.Since(p.at)
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(th.tid, &regs); err != nil {
		th.pending = p
		return err
	}
	t.finish(p, int64(regs.Rax), took)
	return nil
}

// maxErrno is MAX_ERRNO in include/linux/err.h.
const maxErrno = 4095

func (t *tracer) finish(p *pending, ret int64, took time.Duration) {
	if p.done != nil {
		p.done(ret)
	}
	c := p.call
	if c == nil {
		return
	}
	c.Took, c.Ret = took, ret
	if ret < 0 && ret >= -maxErrno {
		errno := syscall.Errno(-ret)
		if errno >= eRestartSys && errno <= eRestartBlock {
			errno = syscall.EINTR
		}
		c.Ret, c.Err = -1, errno
	}
	t.w.Leave(c)
}

// abandon ends the system call of a thread that has ended in it.
func (t *tracer) abandon(th *thread) {
	if p := th.pending; p != nil {
		th.pending, p.done = nil, nil
		t.finish(p, -int64(syscall.EINTR), time.Since(p.at))
	}
}
