//go:build linux

package device

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// agent is the process that plays a case, with its children.
type agent struct {
	cmd   *exec.Cmd
	lanes [lanes]*lane

	nextThread, nextChild int
	children              []int // pidfds
}

// greetLimit is how long an agent may take to start.
const greetLimit = 20 * time.Second

// startAgent starts this program again, as an agent.
func startAgent() (_ *agent, err error) {
	a := &agent{nextThread: firstThread, nextChild: firstChild}
	a.cmd = exec.Command("/proc/self/exe")
	a.cmd.Env = append(os.Environ(), agentEnv+"="+roleFirst,
		// The runtime shall not interrupt threads that serve, nor run out of
		// processors while all of them wait in a call.
		"GODEBUG=asyncpreemptoff=1", "GOMAXPROCS="+strconv.Itoa(2*lanes),
		// Nor shall the C library open a file, which would take a descriptor
		// of the case's: a new thread counts the processors for its arenas.
		"MALLOC_ARENA_MAX=1")
	defer func() {
		for _, f := range a.cmd.ExtraFiles {
			f.Close()
		}
		if err != nil {
			a.end()
		}
	}()
	for i := range a.lanes {
		l, theirs, err := newLane(i)
		if err != nil {
			return nil, noErrno(err)
		}
		a.lanes[i] = l
		for _, fd := range theirs {
			a.cmd.ExtraFiles = append(a.cmd.ExtraFiles, os.NewFile(uintptr(fd), "lane"))
		}
	}
	if err := a.cmd.Start(); err != nil {
		return nil, noErrno(err)
	}
	if err := a.lanes[0].greeted(); err != nil {
		return nil, err
	}
	return a, nil
}

// greeted waits for the other end's greeting.
func (l *lane) greeted() error {
	p := []unix.PollFd{{Fd: int32(l.requests), Events: unix.POLLIN}}
	n, err := restarted(func() (int, error) { return unix.Poll(p, int(greetLimit/time.Millisecond)) })
	if err != nil || n == 0 {
		return errors.New("no agent starts: the program does not call ServeAgent first")
	}
	_, err = l.receive()
	return err
}

func (a *agent) pid() int { return a.cmd.Process.Pid }

// thread returns the lane of a thread that does nothing yet.
func (a *agent) thread() (*lane, error) {
	if a.nextThread == firstChild {
		return nil, fmt.Errorf("a case has %d threads at most", firstChild-firstThread)
	}
	a.nextThread++
	return a.lanes[a.nextThread-1], nil
}

// child returns the lane that a child is to serve.
func (a *agent) child() (*lane, error) {
	if a.nextChild == lanes {
		return nil, fmt.Errorf("a case has %d child processes at most", lanes-firstChild)
	}
	a.nextChild++
	return a.lanes[a.nextChild-1], nil
}

// end kills the agent and its children, and returns when all that they had
// open is closed.
func (a *agent) end() {
	for _, fd := range a.children {
		unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0) // it may have exited
		awaitExit(fd)
		unix.Close(fd)
	}
	if a.cmd.Process != nil {
		a.cmd.Process.Kill() // it may have exited
		a.cmd.Wait()         // it was killed
	}
	for _, l := range a.lanes {
		if l != nil {
			l.close()
		}
	}
}

func awaitExit(pidfd int) {
	p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	restarted(func() (int, error) { return unix.Poll(p, int(greetLimit/time.Millisecond)) }) // it is gone or will not go
}
