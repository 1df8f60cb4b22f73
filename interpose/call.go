package interpose

import (
	"errors"
	"runtime/debug"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/seccomp"
)

// call is a system call of a program that waits for its answer.
type call struct {
	seccomp.Notif
	*session

	// Of a call on an injected file.
	fd     int32
	file   injected
	client *client

	refused error        // why the machine has refused it
	pending []*eventFile // made for descriptors that are reserved

	path [unix.PathMax]byte
}

// answer is how a call ends.
type answer struct {
	how   outcome
	value int64
	errno unix.Errno
}

type outcome uint8

const (
	goesOn  outcome = iota // the kernel does it
	returns                // value, or errno if that is not 0
)

func value(v int64) answer          { return answer{how: returns, value: v} }
func fails(errno unix.Errno) answer { return answer{how: returns, errno: errno} }

// handlers answer the system calls that the filter sends here.
var handlers = map[int32]func(*call) answer{
	seccomp.NrIoctl:      (*call).ioctl,
	seccomp.NrMmap:       (*call).mmap,
	seccomp.NrMunmap:     (*call).munmap,
	seccomp.NrMremap:     (*call).mremap,
	seccomp.NrOpen:       func(c *call) answer { return c.openat(unix.AT_FDCWD, c.Args[0], c.Args[1]) },
	seccomp.NrOpenat:     func(c *call) answer { return c.openat(int32(c.Args[0]), c.Args[1], c.Args[2]) },
	seccomp.NrOpenat2:    (*call).openat2,
	seccomp.NrStat:       func(c *call) answer { return c.stat(unix.AT_FDCWD, c.Args[0], c.Args[1], 0) },
	seccomp.NrLstat:      func(c *call) answer { return c.stat(unix.AT_FDCWD, c.Args[0], c.Args[1], unix.AT_SYMLINK_NOFOLLOW) },
	seccomp.NrFstat:      func(c *call) answer { return c.fstat(int32(c.Args[0]), c.Args[1]) },
	seccomp.NrNewfstatat: (*call).newfstatat,
	seccomp.NrStatx:      (*call).statx,
	seccomp.NrAccess:     func(c *call) answer { return c.access(unix.AT_FDCWD, c.Args[0], c.Args[1], 0) },
	seccomp.NrFaccessat:  func(c *call) answer { return c.access(int32(c.Args[0]), c.Args[1], c.Args[2], 0) },
	seccomp.NrFaccessat2: func(c *call) answer { return c.access(int32(c.Args[0]), c.Args[1], c.Args[2], int(c.Args[3])) },
	seccomp.NrReadlink:   func(c *call) answer { return c.readlink(unix.AT_FDCWD, c.Args[0], c.Args[1], c.Args[2]) },
	seccomp.NrReadlinkat: func(c *call) answer { return c.readlink(int32(c.Args[0]), c.Args[1], c.Args[2], c.Args[3]) },
	seccomp.NrGetxattr:   (*call).getxattr,
	seccomp.NrLgetxattr:  (*call).getxattr,
	seccomp.NrListxattr:  (*call).listxattr,
	seccomp.NrLlistxattr: (*call).listxattr,
	seccomp.NrWrite:      (*call).write,
	seccomp.NrSeccomp:    (*call).seccomp,
	seccomp.NrExecve:     (*call).execve,
	seccomp.NrExecveat:   (*call).execve,
}

// answer answers the call. A fault of ours costs the program this one call.
func (c *call) answer() {
	defer func() {
		if r := recover(); r != nil {
			c.report("system call %d of thread %d: %v\n%s", c.Nr, c.PID, r, debug.Stack())
			if f, ok := c.file.(*deviceFile); ok {
				f.damaged.Store(true)
			}
			c.send(fails(unix.EIO))
		}
		for _, e := range c.pending {
			e.abandon()
		}
		c.file, c.client, c.refused, c.pending = nil, nil, nil, nil
	}()
	handle := handlers[c.Nr]
	if handle == nil {
		c.send(answer{})
		return
	}
	c.send(handle(c))
}

func (c *call) send(a answer) {
	var err error
	switch {
	case a.how == goesOn:
		err = c.l.Continue(c.ID)
	case a.errno != 0:
		err = c.l.Send(c.ID, 0, a.errno)
	default:
		err = c.l.Send(c.ID, a.value, 0)
	}
	if err != nil && !errors.Is(err, seccomp.ErrTaskGone) {
		c.report("answer system call %d of thread %d: %v", c.Nr, c.PID, err)
	}
}
