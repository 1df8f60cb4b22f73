package kernel

import "uverbsim/process"

// A live process reads its events from a pipe of the kernel that it really runs
// on. They stay in the queue here until it has read them, so that what the kernel
// counts as reported is what was read.

// QueueOf returns the queue that is read through an event descriptor of the core;
// nil for any other file.
func QueueOf(f *process.File) *EventQueue {
	switch f.Ops {
	case &CompEventFops:
		return &compFile(f).Queue
	case &AsyncEventFops:
		return &asyncFile(f).Queue
	}
	return nil
}

// Show calls show with each event that was not shown yet, the oldest first, until
// it returns false. The bytes are what a read would return; show must not keep
// them, nor call the queue.
func (q *EventQueue) Show(show func(desc []byte) bool) {
	q.lock.Lock(nil)
	defer q.lock.Unlock(nil)
	for at := q.events.Front(); at != nil; at = at.Next() {
		e := at.Value.(*event)
		if e.shown {
			continue
		}
		if !show(e.desc[:e.size]) {
			return
		}
		e.shown = true
		q.shown++
	}
}

// Shown returns how many events were shown and neither read nor dropped.
func (q *EventQueue) Shown() int {
	q.lock.Lock(nil)
	defer q.lock.Unlock(nil)
	return q.shown
}

// ReadShown is told that the user has read the n oldest events that were shown.
func (q *EventQueue) ReadShown(n int) {
	q.lock.Lock(nil)
	defer q.lock.Unlock(nil)
	stale := q.stale
	for range min(n, q.shown) {
		q.take()
	}
	q.stale = stale
}

// Hide says whether events were dropped that had been shown. If so, none counts
// as shown any more: the reader has to be shown those that are left.
func (q *EventQueue) Hide() bool {
	q.lock.Lock(nil)
	defer q.lock.Unlock(nil)
	if !q.stale {
		return false
	}
	for at := q.events.Front(); at != nil; at = at.Next() {
		at.Value.(*event).shown = false
	}
	q.shown, q.stale = 0, false
	return true
}

// Closed says whether no event will come any more.
func (q *EventQueue) Closed() bool {
	q.lock.Lock(nil)
	defer q.lock.Unlock(nil)
	return q.closed
}
