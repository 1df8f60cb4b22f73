package ptrace

import (
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/procstatus"
	"uverbsim/interpose/watch"
)

// process is one that is traced.
type process struct {
	pid   int
	pidfd int // for kill, which must not hit a later process of the same number; -1: none
	files *files
	used  bool // it has made a call that was watched
}

// thread is a thread of one.
type thread struct {
	tid     int
	process *process
	pending *pending // the system call that it is in, if its end is awaited
}

// pending is a system call between its begin and its end.
type pending struct {
	call *watch.Call     // nil: nobody is told of it
	done func(ret int64) // what it changes, if that is not nil
	at   time.Time       // when the thread went on into it
}

// adopt returns a thread, which may be new: made by a parent, or, if that is
// nil, by the process that /proc names. It returns nil for one that its parent
// tells of when its end has been told already.
func (t *tracer) adopt(tid int, parent *process) *thread {
	if th := t.threads[tid]; th != nil {
		return th
	}
	status, err := procstatus.Read(tid)
	pid := status.TGID
	if err != nil {
		if parent != nil {
			return nil
		}
		pid = tid // it has been killed, and what is left is to tell of that
	}
	p := t.processes[pid]
	if p == nil {
		if parent == nil && err == nil {
			parent = t.processes[status.PPID]
		}
		p = t.begun(pid, parent)
	}
	th := &thread{tid: tid, process: p}
	t.threads[tid] = th
	return th
}

// begun makes a new process.
func (t *tracer) begun(pid int, parent *process) *process {
	p := &process{pid: pid, files: inherit(pid, parent)}
	var err error
	if p.pidfd, err = unix.PidfdOpen(pid, 0); err != nil {
		p.pidfd = -1
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.processes[pid] = p
	if t.over {
		p.kill()
	}
	return p
}

func (p *process) kill() {
	if p.pidfd >= 0 {
		unix.PidfdSendSignal(p.pidfd, unix.SIGKILL, nil, 0) // one that has ended needs no more
	}
}

// executed takes an execve of a process whose first thread was that: all others are
// gone, and the one that made it, of the number former, has the number of the process.
// It returns the thread that is left.
func (t *tracer) executed(first *thread, former int) *thread {
	if former != first.tid {
		t.abandon(first)
	}
	p := first.process
	delete(t.threads, former)
	th := &thread{tid: p.pid, process: p}
	t.threads[p.pid] = th
	p.files = p.files.copy()
	t.prune(th)
	return th
}

// exited takes the end of a process.
func (t *tracer) exited(p *process, ws unix.WaitStatus) {
	t.mu.Lock()
	delete(t.processes, p.pid)
	if p.pidfd >= 0 {
		unix.Close(p.pidfd)
	}
	t.mu.Unlock()
	for _, f := range p.files.fds {
		t.lost(&thread{tid: p.pid, process: p}, f)
	}
	if !p.used {
		return
	}
	c := &watch.Call{PID: p.pid, TID: p.pid, Name: "exit", FD: -1, Kernel: t.o.Kernel, Begun: time.Now(), Ret: int64(ws.ExitStatus())}
	if ws.Signaled() {
		c.Ret = -int64(ws.Signal())
	}
	t.w.Enter(c)
	t.w.Leave(c)
}
