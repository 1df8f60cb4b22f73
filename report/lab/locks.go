package lab

import (
	"sync"
	"time"

	"uverbsim/process"
	"uverbsim/trace"
)

// lockUse is a lock that a call takes.
type lockUse struct {
	name  string
	times int
	// What is done while the call has it.
	pins, firmware int
	// Whether another thread that makes the same call waits as long as this one
	// has the lock: one with the same open file, and one with a file of its own.
	sameFile, otherFile bool
}

// lockList is a sink that writes down which locks are taken, in order.
type lockList struct {
	uses []lockUse
	held []int // indices of those that are held now
}

// Event implements trace.Sink.
func (l *lockList) Event(_ *trace.Task, e *trace.Event) {
	switch e.Kind {
	case trace.Lock:
		l.take(e.Name)
	case trace.Unlock:
		for i := len(l.held) - 1; i >= 0; i-- {
			if l.uses[l.held[i]].name == e.Name {
				l.held = append(l.held[:i], l.held[i+1:]...)
				return
			}
		}
	case trace.Firmware:
		for _, i := range l.held {
			l.uses[i].firmware++
		}
	}
}

func (l *lockList) take(name string) {
	for i := range l.uses {
		if l.uses[i].name == name {
			l.uses[i].times++
			l.held = append(l.held, i)
			return
		}
	}
	l.held = append(l.held, len(l.uses))
	l.uses = append(l.uses, lockUse{name: name, times: 1})
}

// Fail implements trace.Injector: it counts what is pinned.
func (l *lockList) Fail(_ *trace.Task, s trace.Step, _ string) bool {
	if s == trace.Pin {
		for _, i := range l.held {
			l.uses[i].pins++
		}
	}
	return false
}

// holder is a sink that stops its thread when it has taken a lock for the first
// time, until it may go on.
type holder struct {
	lock       string
	held, goOn chan struct{}
	once       sync.Once
}

// Event implements trace.Sink.
func (h *holder) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Lock && e.Name == h.lock {
		h.once.Do(func() {
			close(h.held)
			<-h.goOn
		})
	}
}

// arrival is a sink that says when its thread is about to take a lock for the
// first time.
type arrival struct {
	lock string
	here chan struct{}
	once sync.Once
}

// Event implements trace.Sink.
func (a *arrival) Event(*trace.Task, *trace.Event) {}

// Before implements trace.Scheduler.
func (a *arrival) Before(_ *trace.Task, p *trace.Point) {
	if p.Kind == trace.Lock && p.Name == a.lock {
		a.once.Do(func() { close(a.here) })
	}
}

// patience is how long a call that has arrived at a lock may take to its end
// before it counts as waiting.
const patience = 50 * time.Millisecond

// waits says whether a call has to wait while another one, which is stopped, has
// a lock. Each takes the lock when nobody is in the way.
func waits(p *process.Process, lock string, first, second func(*thread) error) (bool, error) {
	h := &holder{lock: lock, held: make(chan struct{}), goOn: make(chan struct{})}
	a := &arrival{lock: lock, here: make(chan struct{})}
	firstDone, secondDone := make(chan error, 1), make(chan error, 1)
	go func() { firstDone <- first(&thread{Task: p.NewTask(trace.NewTask(1, h))}) }()
	<-h.held
	go func() { secondDone <- second(&thread{Task: p.NewTask(trace.NewTask(2, a))}) }()
	<-a.here
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
