package kernel

import (
	"container/list"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// EventQueue is a struct ib_uverbs_event_queue: what a user reads from an
// event descriptor.
type EventQueue struct {
	lock   trace.Mutex
	closed bool // no event will come any more
	events list.List
	wait   process.WaitQueue

	shown int  // events that a reader sees elsewhere; see Show
	stale bool // one of them is gone
}

// event is a struct ib_uverbs_event. It is in the queue and, where it belongs
// to an object, in that object's own list too.
type event struct {
	desc    [16]byte
	size    int
	counter *uint32 // of the object, counts events read; nil for none

	shown   bool
	inQueue *list.Element
	inObj   *list.Element
	obj     *EventList
}

// EventList has the unread events of one object.
type EventList struct{ list list.List }

// Len returns how many there are.
func (l *EventList) Len() int { return l.list.Len() }

// init models ib_uverbs_init_event_queue.
func (q *EventQueue) init() {
	q.lock.Name = "ev_queue.lock"
	q.events.Init()
	q.closed, q.shown, q.stale = false, 0, false
	q.wait.Tell(nil)
}

// push adds an event and wakes who waits. A closed queue takes none, and one
// for which there is no memory is lost.
func (q *EventQueue) push(t *trace.Task, e *event) {
	q.lock.Lock(t)
	if q.closed || t.Fail(trace.Alloc, "ib_uverbs_event") {
		q.lock.Unlock(t)
		return
	}
	e.inQueue = q.events.PushBack(e)
	if e.obj != nil {
		e.inObj = e.obj.list.PushBack(e)
	}
	q.lock.Unlock(t)
	q.wait.WakeUp(t)
}

// remove takes the event out of both lists. The caller holds the lock.
func (q *EventQueue) remove(e *event) {
	q.events.Remove(e.inQueue)
	if e.shown {
		q.shown--
		q.stale = true
	}
	if e.obj != nil {
		e.obj.list.Remove(e.inObj)
	}
}

// drop removes an object's unread events.
func (q *EventQueue) drop(t *trace.Task, l *EventList) {
	q.lock.Lock(t)
	for e := l.list.Front(); e != nil; e = l.list.Front() {
		q.remove(e.Value.(*event))
	}
	q.lock.Unlock(t)
}

// free closes the queue and drops what is in it. It models
// ib_uverbs_free_event_queue in uverbs_std_types.c.
func (q *EventQueue) free(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_free_event_queue").Leave()
	q.lock.Lock(t)
	q.closed = true
	q.lock.Unlock(t)
	q.wait.WakeUp(t)
	q.lock.Lock(t)
	for e := q.events.Front(); e != nil; e = q.events.Front() {
		q.remove(e.Value.(*event))
	}
	q.lock.Unlock(t)
}

// Len returns how many events are unread.
func (q *EventQueue) Len() int {
	q.lock.Lock(nil)
	defer q.lock.Unlock(nil)
	return q.events.Len()
}

// ready says whether a read would not wait. The kernel looks without the lock.
func (q *EventQueue) ready(t *trace.Task) bool {
	t.Point(trace.Word, "look at", "event_list", trace.Reads, &q.lock)
	q.lock.Lock(nil)
	defer q.lock.Unlock(nil)
	return q.events.Len() > 0 || q.closed
}

// read hands the user the oldest event, of size bytes. One that cannot be
// written to the user is lost but counted; one for which the buffer is too
// small stays. It models ib_uverbs_event_read.
//
// Errors: event/closed, event/again, event/short, event/fault, EINTR.
func (q *EventQueue) read(task *process.Task, filp *process.File, buf copyuser.Addr, count uint64, size int) (int64, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_event_read").Leave()
	q.lock.Lock(t)
	for q.events.Len() == 0 {
		closed := q.closed
		q.lock.Unlock(t)
		if closed {
			return 0, rule.EventClosed
		}
		if filp.Nonblock() {
			return 0, rule.EventAgain
		}
		if err := task.WaitEventInterruptible(&q.wait, q.ready); err != nil {
			return 0, err
		}
		q.lock.Lock(t)
	}
	if uint64(size) > count {
		q.lock.Unlock(t)
		return 0, rule.EventShort
	}
	e := q.take()
	q.lock.Unlock(t)
	if !copyuser.CopyToUser(t, task.Mem, buf, e.desc[:size]) {
		return 0, rule.EventFault
	}
	return int64(size), nil
}

// take removes the oldest event as read. The caller holds the lock.
func (q *EventQueue) take() *event {
	e := q.events.Front().Value.(*event)
	q.remove(e)
	if e.counter != nil {
		*e.counter++
	}
	return e
}

// poll models ib_uverbs_event_poll.
func (q *EventQueue) poll(t *trace.Task) uint16 {
	defer t.Enter(trace.Uverbs, "ib_uverbs_event_poll").Leave()
	q.lock.Lock(t)
	defer q.lock.Unlock(t)
	if q.events.Len() > 0 {
		return process.POLLIN | process.POLLRDNORM
	}
	if q.closed {
		return process.POLLERR
	}
	return 0
}
