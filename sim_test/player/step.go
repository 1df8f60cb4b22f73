package player

import (
	"errors"
	"fmt"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"

	"uverbsim/casefile"
	"uverbsim/rule"
)

// step plays a step, wherever it is to be played.
func (p *player) step(s *casefile.Step) (StepResult, error) {
	_, join := s.Do.(*casefile.Join)
	switch {
	case s.Proc != "":
		return p.inChild(s)
	case s.Bg != "" && !join:
		return p.inBackground(s)
	}
	return p.do(s)
}

// do plays a step in this thread.
func (p *player) do(s *casefile.Step) (StepResult, error) {
	p.names, p.refused, p.stop = nil, nil, nil
	look := p.masks.Before(s, p.contents)
	g := new(casefile.Got)
	if err := p.act(s, g, look); err != nil {
		return StepResult{}, err
	}
	return StepResult{Got: g, Refused: p.refused}, p.stop
}

// act does what the step says and fills in the answer.
func (p *player) act(s *casefile.Step, g *casefile.Got, look *casefile.Look) error {
	var err error
	switch a := s.Do.(type) {
	case *casefile.Ioctl:
		return p.ioctl(a, g, look)
	case *casefile.Write:
		return p.write(a, g, look)
	case *casefile.Open:
		p.openNode(a, g)
	case *casefile.Close:
		err = p.close(a, g)
	case *casefile.ReadEvent:
		err = p.read(a, g, s.Mask["hex"])
	case *casefile.Poll:
		err = p.poll(a, g)
	case *casefile.Dup:
		err = p.dup(a, g)
	case *casefile.Bufs:
		p.names, g.Ret = a.Names, "0"

	case *casefile.Mmap:
		err = p.mmap(a, g)
	case *casefile.Munmap:
		err = p.munmap(a, g)
	case *casefile.Mprotect:
		err = p.mprotect(a, g)
	case *casefile.Remap:
		err = p.remap(a, g)
	case *casefile.Peek:
		err = p.peek(a, g, s.Mask["hex"])
	case *casefile.Poke:
		err = p.poke(a, g)

	case *casefile.Setuid:
		p.answer(g, 0, p.task.Setuid(uint32(a.UID)))
	case *casefile.Setgid:
		p.answer(g, 0, p.task.Setgid(uint32(a.GID)))
	case *casefile.Capset:
		err = p.capset(a, g)
	case *casefile.Rlimit:
		err = p.rlimit(a, g)
	case *casefile.FDs:
		p.answer(g, int64(len(p.task.FDs())-p.fds0), nil)
	case *casefile.Cgroup:
		p.cgroup(a, g)
	case *casefile.Fork:
		p.fork(a, g)

	case *casefile.Remove:
		p.answer(g, 0, p.m.Remove(p.task))
	case *casefile.Add:
		p.answer(g, 0, p.m.Add())
	case *casefile.Event:
		p.answer(g, 0, p.m.Event(a.Object, a.Index, a.Type))
	case *casefile.Hold:
		p.answer(g, 0, p.m.Hold(a.Type))
	case *casefile.Release:
		p.answer(g, 0, p.m.Release())
	case *casefile.DriverLog:
		text, logErr := p.m.DriverLog()
		p.answer(g, 0, logErr)
		g.Text = &text
	case *casefile.Netdev:
		p.answer(g, 0, p.m.Netdev(a.Type == "up"))
	case *casefile.Chmod:
		err = p.chmod(a, g)

	case *casefile.RxeRecv:
		err = p.rxeRecv(a, g)
	case *casefile.RxeSend:
		err = p.rxeSend(a, g)
	case *casefile.RxePoll:
		err = p.rxePoll(a, g)

	case *casefile.Join:
		err = p.join(s.Bg, a, g)
	case *casefile.Par:
		err = p.par(a, g)
	case *casefile.Sleep:
		p.sleep(a, g)

	default:
		return fmt.Errorf("%q of another process than a child", s.Op())
	}
	if err != nil {
		return err
	}
	if bufs := look.Report(p.names, p.contents); bufs != nil {
		g.Bufs = bufs
	}
	return nil
}

// answer writes down what a system call returned and says whether it
// succeeded. An error that is no errno is kept, to end the case.
func (p *player) answer(g *casefile.Got, ret int64, err error) bool {
	errno, ok := errnoOf(err)
	if !ok {
		p.stop = err
		return false
	}
	p.refused = err
	name := errnoName(errno)
	g.Errno = &name
	if errno != 0 {
		g.Ret = "-1"
		return false
	}
	g.Ret = casefile.Int(ret)
	return true
}

// answerNew is answer for a call that returns an address or a descriptor,
// which is not compared.
func (p *player) answerNew(g *casefile.Got, err error) bool {
	ok := p.answer(g, 0, err)
	if ok {
		g.Ret = casefile.Any
	}
	return ok
}

// errnoOf is the errno behind the error of a target; false when there is none.
func errnoOf(err error) (syscall.Errno, bool) {
	if err == nil {
		return 0, true
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno, true
	}
	var r *rule.Rule
	if errors.As(err, &r) {
		return r.Errno, true
	}
	return 0, false
}

// errnoName is an errno's name in the case format, "" for 0.
func errnoName(e syscall.Errno) string {
	switch e {
	case 0:
		return ""
	case syscall.EAGAIN:
		return "EAGAIN"
	case syscall.EOPNOTSUPP:
		return "EOPNOTSUPP"
	}
	if name := unix.ErrnoName(e); name != "" {
		return name
	}
	return strconv.Itoa(int(e))
}
