package interpose

import (
	"errors"
	"syscall"

	"uverbsim/interpose/seccomp"
)

// Run starts a program, answers its system calls and those of all processes that
// come of it, and returns when the last one is gone, with how the program itself
// ended. The errors are those of seccomp.Launch.
func (s *Supervisor) Run(spec seccomp.Spec) (syscall.WaitStatus, error) {
	p, err := seccomp.Launch(spec)
	if err != nil {
		return 0, err
	}
	if err := seccomp.Reach(p.Process.Pid); err != nil {
		p.Stop()
		return 0, errors.Join(err, p.Listener.Close())
	}
	served := make(chan struct{})
	go func() {
		defer close(served)
		s.Serve(p.Listener)
	}()
	status, err := goAndWait(p)
	<-served
	return status, err
}

// goAndWait lets a launched program go, and returns how it ended.
func goAndWait(p *seccomp.Launched) (syscall.WaitStatus, error) {
	if err := p.Go(); err != nil {
		return 0, err
	}
	state, err := p.Process.Wait()
	if err != nil {
		return 0, err
	}
	return state.Sys().(syscall.WaitStatus), nil
}
