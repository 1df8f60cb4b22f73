package lab

import (
	"time"

	"uverbsim/process"
	"uverbsim/trace"
)

// lockUse is a lock that a call takes.
type lockUse struct {
	name  string
	times int
	// Whether another thread that makes the same call waits as long as this one
	// has the lock: one with the same open file, and one with a file of its own.
	sameFile, otherFile bool
}

// lockList is a sink that writes down which locks are taken, in order.
type lockList struct{ uses []lockUse }

// Event implements trace.Sink.
func (l *lockList) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind != trace.Lock {
		return
	}
	for i := range l.uses {
		if l.uses[i].name == e.Name {
			l.uses[i].times++
			return
		}
	}
	l.uses = append(l.uses, lockUse{name: e.Name, times: 1})
}

// holder is a sink that stops its thread when it has taken a lock for the first
// time, until it may go on.
type holder struct {
	lock       string
	held, goOn chan struct{}
	was        bool
}

// Event implements trace.Sink.
func (h *holder) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Lock && e.Name == h.lock && !h.was {
		h.was = true
		close(h.held)
		<-h.goOn
	}
}

// patience is how long a call may take before it counts as waiting. Nothing in
// the model but a lock takes that long.
const patience = 100 * time.Millisecond

// waits says whether a call has to wait while another one, which is stopped, has
// a lock. Both have to be new for each try.
func waits(p *process.Process, lock string, first, second func(*thread) error) (bool, error) {
	h := &holder{lock: lock, held: make(chan struct{}), goOn: make(chan struct{})}
	firstDone, secondDone := make(chan error, 1), make(chan error, 1)
	go func() { firstDone <- first(&thread{Task: p.NewTask(trace.NewTask(1, h))}) }()
	<-h.held
	go func() { secondDone <- second(&thread{Task: p.NewTask(nil)}) }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	waited := false
	select {
	case err := <-secondDone:
		secondDone <- err
	case <-timer.C:
		waited = true
	}
	close(h.goOn)
	err := <-firstDone
	if err2 := <-secondDone; err == nil {
		err = err2
	}
	return waited, err
}
