package bench

import (
	"errors"
	"fmt"
	"syscall"
)

// step is one system call, which lies ready in the program's memory, and what it is
// answered. A call that is measured is a few of them.
type step struct {
	op      op
	fd      int
	cmd     uint32 // of an ioctl
	addr, n uint64
	want    syscall.Errno // 0: it succeeds
}

type op uint8

const (
	opIoctl op = iota
	opWrite
	opOpen // the descriptor that it returns is to be fd
	opClose
)

// but is the same step where it is answered with an errno.
func (s step) but(want syscall.Errno) step {
	s.want = want
	return s
}

// on is the same step on another file.
func (s step) on(fd int) step {
	s.fd = fd
	return s
}

// do makes the system call.
func (s *step) do(t Task) error {
	switch s.op {
	case opIoctl:
		_, err := t.Ioctl(s.fd, s.cmd, s.addr)
		return err
	case opWrite:
		_, err := t.Write(s.fd, s.addr, s.n)
		return err
	case opOpen:
		fd, err := t.Open(syscall.O_RDWR | syscall.O_CLOEXEC)
		if err == nil && fd != s.fd {
			return errOtherFD
		}
		return err
	default:
		return t.Close(s.fd)
	}
}

var errOtherFD = errors.New("the file has another descriptor than the one before it had: somebody else has opened one")

// check says whether an answer is the one that the step is to have.
func (s *step) check(err error) error {
	switch {
	case s.want == 0 && err != nil:
		return fmt.Errorf("refused: %w", err)
	case s.want != 0 && !errors.Is(err, s.want):
		return fmt.Errorf("answered with %v instead of %v", answer(err), s.want)
	}
	return nil
}

func answer(err error) any {
	if err == nil {
		return "success"
	}
	return err
}

// try makes the system calls once and looks at each answer.
func (p *program) try(steps ...step) error {
	for i := range steps {
		if p.err != nil {
			return p.err
		}
		if err := steps[i].check(steps[i].do(p.Task)); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return p.err
}

// errAnswer ends a round in which an answer was a refusal where it should not, or the
// other way round.
var errAnswer = errors.New("an answer has changed from one call to the next")

// repeat makes the system calls n times. It looks only whether each succeeds that is to.
func repeat(t Task, steps []step, n int) error {
	for range n {
		for i := range steps {
			s := &steps[i]
			if err := s.do(t); (err != nil) != (s.want != 0) {
				return fmt.Errorf("%w: step %d: %v", errAnswer, i, answer(err))
			}
		}
	}
	return nil
}
