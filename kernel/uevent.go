package kernel

import (
	"encoding/binary"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// UEvent is a struct ib_uevent_object without its uobject: what an object
// whose events the user can read has for that. It is the first member of the
// Ext of such objects.
type UEvent struct {
	EventsReported uint32 // how many the user has read

	eventFile atomic.Pointer[AsyncEventFile] // where its events go, nil for nowhere
	events    EventList
}

// EventFile returns where the object's events go, nil for nowhere.
func (u *UEvent) EventFile(t *trace.Task) *AsyncEventFile {
	t.Point(trace.Word, "load", "event_file", trace.Reads, &u.eventFile)
	return u.eventFile.Load()
}

// SetEventFile has the object's events go to a, to which it takes over a reference. An
// event of an object that the driver has made and that has no file yet is lost.
func (u *UEvent) SetEventFile(t *trace.Task, a *AsyncEventFile) {
	t.Point(trace.Word, "store", "event_file", trace.Writes, &u.eventFile)
	u.eventFile.Store(a)
}

// Handle queues an event of the object. It models uverbs_uobj_event.
func (u *UEvent) Handle(t *trace.Task, o *uobject.Object, e *core.Event) {
	u.EventFile(t).AsyncHandler(t, o.UserHandle.Load(), e.Type, &u.events, &u.EventsReported)
}

// Release drops the object's unread events and its hold on the event file. It
// models ib_uverbs_release_uevent.
func (u *UEvent) Release(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_release_uevent").Leave()
	a := u.EventFile(t)
	if a == nil {
		return
	}
	a.Queue.drop(t, &u.events)
	a.Object.Put(t)
}

// UCQ is a struct ib_ucq_object without its uobject: the Ext of a CQ.
type UCQ struct {
	UEvent
	CompEventsReported uint32 // completion events that the user has read

	compEvents EventList
}

// Reset makes it as new.
func (u *UCQ) Reset() { *u = UCQ{} }

// CompHandler queues a completion event on the CQ's channel; the driver calls
// it. It models ib_uverbs_comp_handler.
func CompHandler(t *trace.Task, cq *core.CQ) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_comp_handler").Leave()
	channel, ok := cq.Context.(*CompletionEventFile)
	if !ok {
		return
	}
	u := cq.Object.Ext.(*UCQ)
	e := &event{size: compEventSize, counter: &u.CompEventsReported, obj: &u.compEvents}
	binary.LittleEndian.PutUint64(e.desc[:], cq.Object.UserHandle.Load())
	channel.Queue.push(t, e)
}

// CQEventHandler queues an async event of a CQ; the driver calls it. It models
// ib_uverbs_cq_event_handler.
func CQEventHandler(t *trace.Task, e *core.Event) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_cq_event_handler").Leave()
	o := e.CQ.Object
	o.Ext.(*UCQ).Handle(t, o, e)
}

// ReleaseUCQ drops what a destroyed CQ has in its channel, which may be nil,
// and in its event file. It models ib_uverbs_release_ucq.
func ReleaseUCQ(t *trace.Task, channel *CompletionEventFile, u *UCQ) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_release_ucq").Leave()
	if channel != nil {
		channel.Queue.drop(t, &u.compEvents)
		channel.Object.Put(t)
	}
	u.UEvent.Release(t)
}

// AsyncEvent returns the event file that an attribute names, else the file's
// default one, with a reference; nil if there is neither. It models
// ib_uverbs_get_async_event in uverbs.h.
func (b *Bundle) AsyncEvent(id uint16) *AsyncEventFile {
	a := b.file.DefaultAsync(b.Trace())
	if o, err := b.Object(id); err == nil {
		a = o.Ext.(*AsyncEventFile)
	}
	if a != nil {
		a.Object.Get(b.Trace())
	}
	return a
}
