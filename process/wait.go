package process

import (
	"sync"
	"syscall"

	"uverbsim/trace"
)

// ERESTARTSYS is what a wait returns that a signal ended. It never leaves the
// kernel: the system call is EINTR then. include/linux/errno.h.
const ERESTARTSYS = syscall.Errno(512)

// WaitQueue is where tasks wait for something to happen: wait_queue_head_t of
// include/linux/wait.h. The zero value is ready.
type WaitQueue struct {
	mu   sync.Mutex
	wake chan struct{} // closed by the next WakeUp; nil if nobody waits
	tell func()
}

// WakeUp models wake_up_interruptible: it wakes all who wait, so that they look
// at their condition again.
func (q *WaitQueue) WakeUp(t *trace.Task) {
	if t.Scheduled() {
		t.PointAt(&trace.Point{Kind: trace.Unlock, Verb: "wake_up", Name: "wait queue",
			Access: trace.Access{Effect: trace.Writes, On: q}, Frees: true})
	}
	q.mu.Lock()
	tell := q.tell
	if q.wake != nil {
		close(q.wake)
		q.wake = nil
	}
	q.mu.Unlock()
	if tell != nil {
		tell()
	}
}

// Tell has tell called by every WakeUp, in place of what was before; nil is
// nobody. It models an entry with a function of its own
// (init_waitqueue_func_entry).
func (q *WaitQueue) Tell(tell func()) {
	q.mu.Lock()
	q.tell = tell
	q.mu.Unlock()
}

// prepare is next for a task that is going to wait.
func (q *WaitQueue) prepare(t *trace.Task) <-chan struct{} {
	t.Point(trace.Lock, "prepare_to_wait", "wait queue", trace.Writes, q)
	return q.next()
}

// schedule is where a task waits for its channel, or for a signal.
func (t *Task) schedule(q *WaitQueue, wake <-chan struct{}, interruptible bool) {
	if !t.Trace.Scheduled() {
		return
	}
	t.Trace.PointAt(&trace.Point{Kind: trace.Lock, Verb: "schedule", Name: "wait queue",
		Access: trace.Access{Effect: trace.Reads, On: q},
		Ready: func() bool {
			select {
			case <-wake:
				return true
			default:
				return interruptible && (len(t.signal) > 0 || t.exiting.Load())
			}
		}})
}

// next returns a channel that the next WakeUp closes.
func (q *WaitQueue) next() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.wake == nil {
		q.wake = make(chan struct{})
	}
	return q.wake
}

// WaitEventInterruptible models wait_event_interruptible: it returns nil when
// the condition holds, which is looked at now and after each WakeUp, and
// ERESTARTSYS when a signal comes first.
func (t *Task) WaitEventInterruptible(q *WaitQueue, condition func(t *trace.Task) bool) error {
	for !condition(t.Trace) {
		t.Trace.Flush()
		wake := q.prepare(t.Trace)
		if condition(t.Trace) {
			break
		}
		t.schedule(q, wake, true)
		select {
		case <-wake:
		case <-t.signal:
			return ERESTARTSYS
		case <-t.killed:
			return ERESTARTSYS
		}
	}
	return nil
}

// WaitEvent models wait_event: it returns when the condition holds, whatever
// signals come.
func (t *Task) WaitEvent(q *WaitQueue, condition func(t *trace.Task) bool) {
	for !condition(t.Trace) {
		t.Trace.Flush()
		wake := q.prepare(t.Trace)
		if condition(t.Trace) {
			break
		}
		t.schedule(q, wake, false)
		<-wake
	}
}

// Interrupt sends the task a signal that has a handler: an interruptible wait
// of the system call that it is in ends. Outside of a system call it does
// nothing.
func (t *Task) Interrupt() {
	if t.depth.Load() == 0 {
		return
	}
	select {
	case t.signal <- struct{}{}:
	default:
	}
	t.signalled.Store(true)
}
