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
	goesOn   outcome = iota // the kernel does it
	returns                 // value, or errno if that is not 0
	answered                // it has been already
)

func value(v int64) answer          { return answer{how: returns, value: v} }
func fails(errno unix.Errno) answer { return answer{how: returns, errno: errno} }

// nr is the handler of each system call that the filter sends here.
var nr = map[int32]func(*call) answer{
	unix.SYS_IOCTL:      (*call).ioctl,
	unix.SYS_MMAP:       (*call).mmap,
	unix.SYS_MUNMAP:     (*call).munmap,
	unix.SYS_MREMAP:     (*call).munmap,
	unix.SYS_OPEN:       func(c *call) answer { return c.openat(unix.AT_FDCWD, c.Args[0], c.Args[1]) },
	unix.SYS_OPENAT:     func(c *call) answer { return c.openat(int32(c.Args[0]), c.Args[1], c.Args[2]) },
	unix.SYS_OPENAT2:    (*call).openat2,
	unix.SYS_STAT:       func(c *call) answer { return c.stat(unix.AT_FDCWD, c.Args[0], c.Args[1], 0) },
	unix.SYS_LSTAT:      func(c *call) answer { return c.stat(unix.AT_FDCWD, c.Args[0], c.Args[1], unix.AT_SYMLINK_NOFOLLOW) },
	unix.SYS_FSTAT:      func(c *call) answer { return c.fstat(int32(c.Args[0]), c.Args[1]) },
	unix.SYS_NEWFSTATAT: (*call).newfstatat,
	unix.SYS_STATX:      (*call).statx,
	unix.SYS_ACCESS:     func(c *call) answer { return c.access(unix.AT_FDCWD, c.Args[0], c.Args[1], 0) },
	unix.SYS_FACCESSAT:  func(c *call) answer { return c.access(int32(c.Args[0]), c.Args[1], c.Args[2], 0) },
	unix.SYS_FACCESSAT2: func(c *call) answer { return c.access(int32(c.Args[0]), c.Args[1], c.Args[2], int(c.Args[3])) },
	unix.SYS_READLINK:   func(c *call) answer { return c.readlink(unix.AT_FDCWD, c.Args[0], c.Args[1], c.Args[2]) },
	unix.SYS_READLINKAT: func(c *call) answer { return c.readlink(int32(c.Args[0]), c.Args[1], c.Args[2], c.Args[3]) },
	unix.SYS_WRITE:      (*call).write,
	unix.SYS_EXECVE:     (*call).execve,
	unix.SYS_EXECVEAT:   (*call).execve,
}

// answer answers the call. A fault of ours costs the program this one call.
func (c *call) answer() {
	defer func() {
		if r := recover(); r != nil {
			c.report("system call %d of thread %d: %v\n%s", c.Nr, c.PID, r, debug.Stack())
			c.send(fails(unix.EIO))
		}
		c.file, c.client, c.refused = nil, nil, nil
	}()
	handle := nr[c.Nr]
	if handle == nil {
		c.send(answer{})
		return
	}
	c.send(handle(c))
}

func (c *call) send(a answer) {
	var err error
	switch {
	case a.how == answered:
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
