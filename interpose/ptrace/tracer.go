package ptrace

import (
	"errors"
	"sync"

	"golang.org/x/sys/unix"

	"uverbsim/interpose/watch"
)

// tracer is one program with its children. All but kill runs on one thread.
type tracer struct {
	w       watch.Watcher
	o       Options
	first   int // the program
	status  unix.WaitStatus
	threads map[int]*thread
	opened  uint64 // open files, so far
	drivers map[string]uint32

	mu        sync.Mutex // held by kill, and by the thread where processes changes
	processes map[int]*process
	over      bool
}

func newTracer(w watch.Watcher, o Options) *tracer {
	return &tracer{w: w, o: o, threads: map[int]*thread{}, drivers: map[string]uint32{}, processes: map[int]*process{}}
}

// loop takes what the threads report until none is left. It waits for the
// children of this thread only: others of this process are not its own.
func (t *tracer) loop() error {
	for {
		var ws unix.WaitStatus
		tid, err := unix.Wait4(-1, &ws, unix.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.ECHILD):
			return nil
		case err != nil:
			return err
		}
		if ws.Stopped() {
			err = t.stopped(tid, ws)
		} else {
			t.ended(tid, ws)
		}
		if err != nil && !errors.Is(err, unix.ESRCH) { // one that was killed meanwhile says so yet
			return err
		}
	}
}

// syscallStop is the signal of a stop after a system call: PTRACE_O_TRACESYSGOOD.
const syscallStop = unix.SIGTRAP | 0x80

// stopped takes a stop and lets the thread go on.
func (t *tracer) stopped(tid int, ws unix.WaitStatus) error {
	th := t.adopt(tid, nil)
	sig := ws.StopSignal()
	switch event := int(ws) >> 16; event {
	case 0:
		if sig == syscallStop {
			if err := t.leave(th); err != nil {
				return err
			}
			break
		}
		return th.resume(sig)
	case unix.PTRACE_EVENT_STOP:
		switch sig {
		case unix.SIGSTOP, unix.SIGTSTP, unix.SIGTTIN, unix.SIGTTOU:
			return listen(tid)
		}
	case unix.PTRACE_EVENT_SECCOMP:
		if err := t.enter(th); err != nil {
			return err
		}
	case unix.PTRACE_EVENT_FORK, unix.PTRACE_EVENT_VFORK, unix.PTRACE_EVENT_CLONE:
		child, err := unix.PtraceGetEventMsg(tid)
		if err != nil {
			return err
		}
		t.adopt(int(child), th.process)
	case unix.PTRACE_EVENT_EXEC:
		former, err := unix.PtraceGetEventMsg(tid)
		if err != nil {
			return err
		}
		th = t.executed(th, int(former))
	}
	return th.resume(0)
}

// listen leaves a thread in its process's stop, until a SIGCONT.
func listen(tid int) error {
	if _, _, errno := unix.Syscall6(unix.SYS_PTRACE, unix.PTRACE_LISTEN, uintptr(tid), 0, 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// resume lets a thread go on with a signal, to the end of its system call if that
// is watched.
func (th *thread) resume(sig unix.Signal) error {
	if th.pending != nil {
		return unix.PtraceSyscall(th.tid, int(sig))
	}
	return unix.PtraceCont(th.tid, int(sig))
}

// ended takes the end of a thread; that of its process is the end of the first one,
// which the kernel tells last.
func (t *tracer) ended(tid int, ws unix.WaitStatus) {
	if tid == t.first {
		t.status = ws
	}
	th := t.threads[tid]
	if th == nil {
		return
	}
	t.abandon(th)
	delete(t.threads, tid)
	if p := th.process; tid == p.pid {
		t.exited(p, ws)
	}
}

// kill kills all processes, and those that they may still make.
func (t *tracer) kill() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, p := range t.processes {
		p.kill()
	}
}
