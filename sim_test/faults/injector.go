package faults

import (
	"errors"
	"sync"
	"syscall"

	"uverbsim/rule"
	"uverbsim/trace"
)

// injector is the sink of a machine's threads. It knows the call that each is in,
// counts the steps of each, and makes some of them fail.
type injector struct {
	plan  map[callID][]int // steps that are to fail
	list  bool             // note the steps with their places
	quiet bool             // nothing is a step any more, as while the machine boots

	mu      sync.Mutex
	step    int           // of the case
	now     map[int]*call // by thread
	machine *call         // what the machine does itself: the steps of threads that are in no call are its
	made    map[int]int   // how many calls a thread has made
	calls   []*call       // in the order in which they began
}

// call is a Call while it is made.
type call struct {
	Call
	count int    // steps so far
	hits  []Step // those that were made to fail
	at    []int  // their numbers
}

// machineThread stands for the machine itself among threads.
const machineThread = 0

var (
	_ trace.Batcher  = (*injector)(nil)
	_ trace.Filter   = (*injector)(nil)
	_ trace.Injector = (*injector)(nil)
)

// Event implements trace.Sink.
func (*injector) Event(*trace.Task, *trace.Event) {}

// Events implements trace.Batcher.
func (*injector) Events(*trace.Task, []trace.Event) {}

// Wants implements trace.Filter: functions are kept by the thread itself.
func (*injector) Wants(k trace.Kind, _ bool) bool { return k == trace.Enter || k == trace.Leave }

// Fail implements trace.Injector.
func (j *injector) Fail(t *trace.Task, kind trace.Step, what string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.now[t.ID]
	if c == nil {
		c = j.machine
	}
	if c == nil || j.quiet {
		return false
	}
	n := c.count
	c.count++
	hit := false
	for _, m := range j.plan[c.id] {
		hit = hit || m == n
	}
	if !hit && !j.list {
		return false
	}
	s := Step{kind, what, t.Functions()}
	if j.list {
		c.Steps = append(c.Steps, s)
	}
	if hit {
		c.hits, c.at = append(c.hits, s), append(c.at, n)
	}
	return hit
}

// begin begins a call of a thread.
func (j *injector) begin(thread int, name string) *call {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &call{Call: Call{Name: name, Step: j.step, id: callID{thread, j.made[thread]}}}
	j.made[thread]++
	j.calls = append(j.calls, c)
	if thread == machineThread {
		j.machine = c
	} else {
		j.now[thread] = c
	}
	return c
}

// end ends it.
func (j *injector) end(c *call, ret int64, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	c.Answer = answerOf(ret, err)
	if c.id.thread == machineThread {
		j.machine = nil
	} else {
		delete(j.now, c.id.thread)
	}
}

// idle says whether a case of that many steps is through, and no call under way.
func (j *injector) idle(steps int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.step >= steps && len(j.now) == 0 && j.machine == nil
}

// at says which step of the case is played.
func (j *injector) at(step int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.step = step
}

func answerOf(ret int64, err error) Answer {
	if err == nil {
		return Answer{Ret: ret}
	}
	return Answer{-1, errnoOf(err)}
}

// errnoOf is the errno of an error, 0 of one that has none.
func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	var r *rule.Rule
	switch {
	case errors.As(err, &errno):
		return errno
	case errors.As(err, &r):
		return r.Errno
	}
	return 0
}
