package kernel

import (
	"encoding/binary"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// Sizes of struct ib_uverbs_comp_event_desc and struct
// ib_uverbs_async_event_desc, in bytes.
const (
	compEventSize  = 8
	asyncEventSize = 16
)

// CompletionEventFile is a struct ib_uverbs_completion_event_file: a
// completion channel. It is the Ext of its object.
type CompletionEventFile struct {
	Object *uobject.Object
	Queue  EventQueue
}

// Init readies the queue of a new channel (ib_uverbs_init_event_queue).
func (c *CompletionEventFile) Init(t *trace.Task, o *uobject.Object) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_init_event_queue").Leave()
	c.Object = o
	c.Queue.init()
}

// Reset makes it as new.
func (c *CompletionEventFile) Reset() { *c = CompletionEventFile{} }

// Free closes the channel (uverbs_completion_event_file_destroy_uobj in
// uverbs_std_types.c).
func (c *CompletionEventFile) Free(t *trace.Task) { c.Queue.free(t) }

// AsyncEventFile is a struct ib_uverbs_async_event_file. It is the Ext of its
// object.
type AsyncEventFile struct {
	Object *uobject.Object
	Queue  EventQueue

	handler core.EventHandler
}

// Reset makes it as new.
func (a *AsyncEventFile) Reset() { *a = AsyncEventFile{} }

// The operations of the two kinds of event descriptors.
var (
	CompEventFops = process.FileOps{Read: compEventRead, Poll: compEventPoll, Wait: compEventWait,
		Release: uobject.FDRelease}
	AsyncEventFops = process.FileOps{Read: asyncEventRead, Poll: asyncEventPoll, Wait: asyncEventWait,
		Release: asyncEventRelease}
)

func compFile(f *process.File) *CompletionEventFile {
	return f.Private.(*uobject.Object).Ext.(*CompletionEventFile)
}

func asyncFile(f *process.File) *AsyncEventFile {
	return f.Private.(*uobject.Object).Ext.(*AsyncEventFile)
}

// compEventRead models ib_uverbs_comp_event_read.
func compEventRead(task *process.Task, f *process.File, buf copyuser.Addr, n uint64) (int64, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_comp_event_read").Leave()
	got, err := compFile(f).Queue.read(task, f, buf, n, compEventSize)
	if err != nil {
		refuse(t, err)
	}
	return got, err
}

// compEventPoll models ib_uverbs_comp_event_poll.
func compEventPoll(task *process.Task, f *process.File) uint16 {
	defer task.Trace.Enter(trace.Uverbs, "ib_uverbs_comp_event_poll").Leave()
	return compFile(f).Queue.poll(task.Trace)
}

func compEventWait(f *process.File) *process.WaitQueue { return &compFile(f).Queue.wait }

// asyncEventRead models ib_uverbs_async_event_read.
func asyncEventRead(task *process.Task, f *process.File, buf copyuser.Addr, n uint64) (int64, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_async_event_read").Leave()
	got, err := asyncFile(f).Queue.read(task, f, buf, n, asyncEventSize)
	if err != nil {
		refuse(t, err)
	}
	return got, err
}

// asyncEventPoll models ib_uverbs_async_event_poll.
func asyncEventPoll(task *process.Task, f *process.File) uint16 {
	defer task.Trace.Enter(trace.Uverbs, "ib_uverbs_async_event_poll").Leave()
	return asyncFile(f).Queue.poll(task.Trace)
}

func asyncEventWait(f *process.File) *process.WaitQueue { return &asyncFile(f).Queue.wait }

// asyncEventRelease lets the queue live until the descriptor goes, so that the
// user still learns of the device's end. It models uverbs_async_event_release
// in uverbs_std_types_async_fd.c.
func asyncEventRelease(task *process.Task, f *process.File) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "uverbs_async_event_release").Leave()
	o, ok := f.Private.(*uobject.Object)
	if !ok {
		uobject.FDRelease(task, f)
		return
	}
	o.Get(t)
	uobject.FDRelease(task, f)
	o.Ext.(*AsyncEventFile).Queue.free(t)
	o.Put(t)
}

// Init readies a new async event file, makes it the file's default if it is
// the first, and takes the device's events. It models
// ib_uverbs_init_async_event_file.
func (a *AsyncEventFile) Init(b *Bundle, o *uobject.Object) {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "ib_uverbs_init_async_event_file").Leave()
	a.Object = o
	a.Queue.init()
	f := b.file
	f.UcontextLock.Lock(t)
	if f.DefaultAsync(t) == nil {
		o.Get(t)
		t.Point(trace.Word, "store", "default_async_file", trace.Writes, &f.defaultAsync)
		f.defaultAsync.Store(a)
	}
	f.UcontextLock.Unlock(t)
	a.handler.Handle = a.handle
	b.context.Device.RegisterEventHandler(b.task, &a.handler)
}

// handle takes an event of the device or of a port. It models
// ib_uverbs_event_handler.
func (a *AsyncEventFile) handle(t *trace.Task, e *core.Event) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_event_handler").Leave()
	a.AsyncHandler(t, uint64(e.Port), e.Type, nil, nil)
}

// Destroy ends the taking of events; when the device goes the user is told by
// a last one. It models uverbs_async_event_destroy_uobj in
// uverbs_std_types_async_fd.c.
func (a *AsyncEventFile) Destroy(o *uobject.Object, why uobject.RemoveReason, attrs uobject.Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(trace.Uverbs, "uverbs_async_event_destroy_uobj").Leave()
	o.Context().(*core.Ucontext).Device.UnregisterEventHandler(attrs.Task(), &a.handler)
	if why == uobject.RemoveDriverRemove {
		a.AsyncHandler(t, 0, spec.IB_EVENT_DEVICE_FATAL, nil, nil)
	}
}

// AsyncHandler queues an event: element is the user's handle of the object, or
// a port. list and counter are the object's, nil for a port. A nil file takes
// no event. It models ib_uverbs_async_handler.
func (a *AsyncEventFile) AsyncHandler(t *trace.Task, element uint64, eventType uint32, list *EventList, counter *uint32) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_async_handler").Leave()
	if a == nil {
		return
	}
	e := &event{size: asyncEventSize, counter: counter, obj: list}
	binary.LittleEndian.PutUint64(e.desc[:], element)
	binary.LittleEndian.PutUint32(e.desc[8:], eventType)
	a.Queue.push(t, e)
}
