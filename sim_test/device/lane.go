//go:build linux

package device

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// A lane is how the player talks to one thread of an agent, or to one child of
// it: a socket for requests and replies, and one for memory that is loaded or
// stored. All lanes that a case may need are there from the start.
const (
	fdsPerLane = 2

	firstThread = 1 // lane 0 is that of the agent's first thread
	firstChild  = 9
	lanes       = 15

	firstInherited = 3   // descriptors of the lanes when the agent starts
	hiddenFDs      = 900 // and from then on: descriptors from here on are not the case's
)

// laneFD is the descriptor of a lane's requests in the agent; that of its
// memory comes next.
func laneFD(i int) uintptr { return uintptr(hiddenFDs + i*fdsPerLane) }

// agentEnv is set for an agent: to roleFirst, or after an exec to the number of
// the lane that it serves.
const (
	agentEnv  = "UVERBSIM_AGENT"
	roleFirst = "first"
)

// lane is the player's end. It is the caller of the thread at the other end.
type lane struct {
	n              int
	requests, data int
}

var _ caller = (*lane)(nil)

var errGone = errors.New("the process of the case is gone")

// sockets returns a pair whose descriptors an exec closes.
func sockets() (ours, theirs int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	return p[0], p[1], err
}

// newLane returns a lane and the two descriptors of its other end.
func newLane(n int) (l *lane, theirs [fdsPerLane]int, err error) {
	l = &lane{n: n}
	if l.requests, theirs[0], err = sockets(); err != nil {
		return nil, theirs, err
	}
	if l.data, theirs[1], err = sockets(); err != nil {
		unix.Close(l.requests)
		unix.Close(theirs[0])
		return nil, theirs, err
	}
	return l, theirs, nil
}

func (l *lane) close() {
	unix.Close(l.requests)
	unix.Close(l.data)
}

func (l *lane) call(nr uintptr, a args) (int64, error) {
	if err := l.send(nr, a); err != nil {
		return -1, err
	}
	return l.receive()
}

func (l *lane) send(nr uintptr, a args) error {
	b := binary.NativeEndian.AppendUint64(make([]byte, 0, requestSize), uint64(nr))
	for _, v := range a {
		b = binary.NativeEndian.AppendUint64(b, uint64(v))
	}
	if err := unix.Send(l.requests, b, unix.MSG_NOSIGNAL); err != nil {
		return fmt.Errorf("%w: %w", errGone, noErrno(err))
	}
	return nil
}

func (l *lane) receive() (int64, error) {
	var b [replySize]byte
	if n, err := restarted(func() (int, error) { return unix.Read(l.requests, b[:]) }); err != nil || n != len(b) {
		return -1, errGone
	}
	if errno := unix.Errno(binary.NativeEndian.Uint64(b[8:])); errno != 0 {
		return -1, errno
	}
	return int64(binary.NativeEndian.Uint64(b[:])), nil
}

// noErrno hides that an error is an errno, which would be taken for an answer.
func noErrno(err error) error { return errors.New(err.Error()) }

// restarted calls f again when a signal has interrupted it.
func restarted(f func() (int, error)) (int, error) {
	for {
		if n, err := f(); err != unix.EINTR {
			return n, err
		}
	}
}

func (l *lane) load(addr uint64, dst []byte) int {
	data := laneFD(l.n) + 1
	return eachPage(addr, dst, func(addr uint64, b []byte) bool {
		if _, err := l.call(unix.SYS_WRITE, args{data, uintptr(addr), uintptr(len(b))}); err != nil {
			return false
		}
		n, err := restarted(func() (int, error) { return unix.Read(l.data, b) })
		return err == nil && n == len(b)
	})
}

func (l *lane) store(addr uint64, src []byte) int {
	data := laneFD(l.n) + 1
	return eachPage(addr, src, func(addr uint64, b []byte) bool {
		if unix.Send(l.data, b, unix.MSG_NOSIGNAL) != nil {
			return false
		}
		_, err := l.call(unix.SYS_READ, args{data, uintptr(addr), uintptr(len(b))})
		return err == nil
	})
}
