package seccomp

import (
	"errors"
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// Notif is struct seccomp_notif, include/uapi/linux/seccomp.h: a system call
// that waits for its answer.
type Notif struct {
	ID                 uint64
	PID                uint32 // of the thread: a TID, not the process's id
	Flags              uint32
	Nr                 int32
	Arch               uint32
	InstructionPointer uint64
	Args               [6]uint64
}

var (
	// ErrGone: no task is left under the listener's filter.
	ErrGone = errors.New("seccomp: no task with this filter is left")
	// ErrTaskGone: the task no longer waits for this answer, because it was
	// killed, or, before Linux 5.19, a signal interrupted it. What the call
	// did is for nobody.
	ErrTaskGone = errors.New("seccomp: the task no longer waits for this answer")
)

// Listener receives the notified system calls of a process tree. Its methods,
// but for Close, may be called by any number of goroutines at once.
type Listener struct {
	file *os.File
	fd   int

	// Before Linux 6.11 nothing wakes a receiver when the last task is gone:
	// there, one receiver at a time polls, and then receives what is sure to
	// be there.
	pollFirst bool
	turn      sync.Mutex
	poll      [1]unix.PollFd
}

// NewListener makes a Listener of the file that Install or RecvFile returned.
// It owns the file.
func NewListener(f *os.File) *Listener {
	return &Listener{file: f, fd: int(f.Fd()), pollFirst: !kernelAtLeast(6, 11)}
}

// File returns the listener's file, to be sent to another process.
func (l *Listener) File() *os.File { return l.file }

// Close closes the file. No other method may be running. Calls that wait for an
// answer, and all notified calls from then on, fail with ENOSYS.
func (l *Listener) Close() error { return l.file.Close() }

// Recv waits for the next system call. The only error to be expected is
// ErrGone, after which nothing will come.
//
// RECV's EINTR means that a signal came to this thread, and its ENOENT that the
// task was killed before its call was taken, or, from Linux 6.11 on, that no
// task is left: Recv goes on waiting but in the last case.
func (l *Listener) Recv(n *Notif) error {
	if l.pollFirst {
		return l.recvPolled(n)
	}
	for {
		err := l.recv(n)
		if err != unix.ENOENT {
			return err
		}
		if l.Gone() {
			return ErrGone
		}
	}
}

func (l *Listener) recvPolled(n *Notif) error {
	l.turn.Lock()
	defer l.turn.Unlock()
	for {
		l.poll[0] = unix.PollFd{Fd: int32(l.fd), Events: unix.POLLIN}
		_, err := unix.Poll(l.poll[:], -1)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return err
		case l.poll[0].Revents&unix.POLLIN == 0:
			return ErrGone
		}
		if err := l.recv(n); err != unix.ENOENT {
			return err
		}
	}
}

// recv is one RECV, repeated when a signal interrupts it.
func (l *Listener) recv(n *Notif) error {
	for {
		*n = Notif{} // the kernel refuses memory that is not zero
		switch errno := ioctlRecv(l.fd, n); errno {
		case 0:
			return nil
		case unix.EINTR:
		default:
			return errno
		}
	}
}

// Send answers a call: with errno, or with val when errno is 0. ErrTaskGone is
// no error of the caller's.
func (l *Listener) Send(id uint64, val int64, errno unix.Errno) error {
	return l.send(notifResp{id: id, val: val, error: -int32(errno)})
}

// Continue lets the kernel run the call. It reads the call's memory then, which
// may differ from what was there when the call was looked at.
func (l *Listener) Continue(id uint64) error {
	return l.send(notifResp{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
}

func (l *Listener) send(r notifResp) error {
	for {
		switch errno := ioctlSend(l.fd, &r); errno {
		case 0:
			return nil
		case unix.EINTR:
		case unix.ENOENT, unix.EINPROGRESS:
			return ErrTaskGone
		default:
			return errno
		}
	}
}

// Valid says whether the task still waits for the answer to this call. What was
// read by the thread's id before is then the thread's, and not of another that
// got its id.
func (l *Listener) Valid(id uint64) bool {
	errno := ioctlIDValid(l.fd, id)
	for errno == unix.EINTR {
		errno = ioctlIDValid(l.fd, id)
	}
	return errno == 0
}

// AddFD gives the task, which goes on waiting, a descriptor of the open file
// fd, and returns its number there. It is closed on exec if cloexec.
func (l *Listener) AddFD(id uint64, fd int, cloexec bool) (int, error) {
	a := notifAddFD{id: id, srcfd: uint32(fd)}
	if cloexec {
		a.newfdFlags = unix.O_CLOEXEC
	}
	for {
		switch n, errno := ioctlAddFD(l.fd, &a); errno {
		case 0:
			return n, nil
		case unix.EINTR: // the kernel has taken the request back
		case unix.ENOENT, unix.EINPROGRESS, unix.ESRCH:
			return -1, ErrTaskGone
		default:
			return -1, errno
		}
	}
}

// AddFDSend gives the task a descriptor of the open file fd and answers the
// call with its number.
//
// It takes two steps. Of the kernel's one step for both (SECCOMP_ADDFD_FLAG_SEND)
// a signal to this thread, as the Go scheduler sends them, can leave an answer of
// 0 and no descriptor.
//
// An error other than ErrTaskGone, as EMFILE, leaves the call unanswered.
func (l *Listener) AddFDSend(id uint64, fd int, cloexec bool) (int, error) {
	n, err := l.AddFD(id, fd, cloexec)
	if err != nil {
		return n, err
	}
	return n, l.Send(id, int64(n), 0)
}

// SyncWakeUp asks the kernel to run an answered task on the CPU that answered
// it, which is several times faster, and says whether it can: Linux 6.6 and
// newer.
func (l *Listener) SyncWakeUp() bool {
	return ioctlSetFlags(l.fd, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP) == 0
}

// Gone says whether no task is left under the filter. Before Linux 6.11 a
// process that has ended is one until its parent has waited for it.
func (l *Listener) Gone() bool {
	gone, _ := l.pollGone(0)
	return gone
}

// pollGone waits for POLLHUP alone, which poll reports unasked. A signal ends the wait
// as its time does.
func (l *Listener) pollGone(timeout int) (bool, error) {
	fds := [1]unix.PollFd{{Fd: int32(l.fd)}}
	_, err := unix.Poll(fds[:], timeout)
	if err == unix.EINTR {
		err = nil
	}
	return fds[0].Revents&unix.POLLHUP != 0, err
}
