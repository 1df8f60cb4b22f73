package interpose

import (
	"sync"

	"uverbsim/process"
	"uverbsim/trace"
)

// tasks are the tasks of a process of the machine, which are lent to calls: a task
// serves one at a time.
type tasks struct {
	proc *process.Process
	sink trace.Sink // nil is none

	mu     sync.Mutex
	spare  []*process.Task
	traces map[int]*trace.Task // by thread
}

// lend returns a task for a call of a thread; 0 is no thread of a program's.
func (p *tasks) lend(tid int, of *call) *process.Task {
	p.mu.Lock()
	defer p.mu.Unlock()
	var t *process.Task
	if n := len(p.spare); n > 0 {
		t = p.spare[n-1]
		p.spare = p.spare[:n-1]
	} else {
		t = p.proc.NewTask(nil)
	}
	t.Call = of
	switch {
	case p.sink == nil:
	case tid != 0:
		t.Trace = p.traceOf(tid)
	case t.Trace == nil:
		t.Trace = trace.NewTask(0, p.sink)
	}
	return t
}

// traceOf returns what the calls of a thread are reported under. The caller holds the
// lock.
func (p *tasks) traceOf(tid int) *trace.Task {
	if p.traces[tid] == nil {
		if p.traces == nil {
			p.traces = map[int]*trace.Task{}
		}
		p.traces[tid] = trace.NewTask(tid, p.sink)
	}
	return p.traces[tid]
}

// giveBack takes a task back.
func (p *tasks) giveBack(t *process.Task) {
	t.Call = nil
	p.mu.Lock()
	p.spare = append(p.spare, t)
	p.mu.Unlock()
}

// asSystem does something that no program does, with a task for it.
func (s *Supervisor) asSystem(do func(*process.Task)) {
	t := s.system.lend(0, nil)
	defer s.system.giveBack(t)
	do(t)
}
