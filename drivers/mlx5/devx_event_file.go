package mlx5

import (
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// devxEventFile is a struct devx_async_event_file: a descriptor from which a user
// reads events. It is the Ext of its object.
type devxEventFile struct {
	dev      *Device
	omitData bool // an event is only its subscription's cookie, and there once
	subs     []*devxSubscription

	lock      trace.Mutex
	pending   []devxEvent // event_list
	overflow  bool        // is_overflow_err: an event was lost
	destroyed bool        // is_destroyed
	wait      process.WaitQueue
}

// Subscriptions returns how many there are, of which each has a reference on the
// descriptor's object. No call may be under way.
func (f *devxEventFile) Subscriptions() int { return len(f.subs) }

// Unread returns how many events its user has not read.
func (f *devxEventFile) Unread() int {
	f.lock.Lock(nil)
	defer f.lock.Unlock(nil)
	return len(f.pending)
}

// devxEvent is one event that the user has not read: what it reads, and with
// omitData the subscription that may be told of again then.
type devxEvent struct {
	data []byte
	sub  *devxSubscription
}

// devxEventType is a descriptor that is asked for events.
var devxEventType = uobject.TypeAttrs{
	New:       func() any { return new(devxEventFile) },
	DestroyFD: devxEventDestroy,
	FileOps: &process.FileOps{
		Read: devxEventRead, Poll: devxEventPoll,
		Wait:    func(f *process.File) *process.WaitQueue { return &devxEventFileOf(f).wait },
		Release: uobject.FDRelease,
	},
	FDFlags: syscall.O_RDONLY,
}

func devxEventFileOf(f *process.File) *devxEventFile {
	return f.Private.(*uobject.Object).Ext.(*devxEventFile)
}

// cookieSize is the length of struct mlx5_ib_uapi_devx_async_event_hdr, which an
// event begins with.
const cookieSize = 8

// deliver puts an event into the file of its subscription. It models
// deliver_event in drivers/infiniband/hw/mlx5/devx.c.
func (s *devxSubscription) deliver(t *trace.Task, eqe []byte) {
	defer t.EnterInlined(moduleIB, "deliver_event").Leave()
	if s.queue(t, eqe) {
		s.file.wait.WakeUp(t)
	}
}

// queue is the part of deliver under the file's lock. It says whether there is
// something new to read.
func (s *devxSubscription) queue(t *trace.Task, eqe []byte) bool {
	f := s.file
	f.lock.Lock(t)
	defer f.lock.Unlock(t)
	switch {
	case f.omitData && (s.queued || f.destroyed):
		return false
	case !f.omitData && t.Fail(trace.Alloc, "devx_async_event_data"):
		f.overflow = true
		return false
	case f.destroyed:
		return false
	}
	e := devxEvent{data: make([]byte, cookieSize, cookieSize+hw.EQESize)}
	le.PutUint64(e.data, s.cookie)
	if f.omitData {
		e.sub, s.queued = s, true
	} else {
		e.data = append(e.data, eqe...)
	}
	f.pending = append(f.pending, e)
	return true
}

// ready says whether a read would not wait.
func (f *devxEventFile) ready(t *trace.Task) bool {
	t.Point(trace.Word, "look at", "event_list", trace.Reads, &f.lock)
	f.lock.Lock(nil)
	defer f.lock.Unlock(nil)
	return len(f.pending) > 0 || f.destroyed
}

// devxEventRead hands the user the oldest event. It models devx_async_event_read
// in drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/event-read-….
func devxEventRead(task *process.Task, filp *process.File, buf copyuser.Addr, count uint64) (int64, error) {
	t := task.Trace
	defer t.Enter(moduleIB, "devx_async_event_read").Leave()
	f := devxEventFileOf(filp)
	f.lock.Lock(t)
	if f.overflow {
		f.overflow = false
		f.lock.Unlock(t)
		return refuseRead(t, rule.MLX5DevxEventReadOverflow)
	}
	for len(f.pending) == 0 {
		f.lock.Unlock(t)
		if filp.Nonblock() {
			return refuseRead(t, rule.MLX5DevxEventReadAgain)
		}
		if err := task.WaitEventInterruptible(&f.wait, f.ready); err != nil {
			return 0, err
		}
		f.lock.Lock(t)
		if f.destroyed {
			f.lock.Unlock(t)
			return refuseRead(t, rule.MLX5DevxEventReadClosed)
		}
	}
	e := f.pending[0]
	if uint64(len(e.data)) > count {
		f.lock.Unlock(t)
		return refuseRead(t, rule.MLX5DevxEventReadShort)
	}
	f.pending = f.pending[1:]
	if e.sub != nil {
		e.sub.queued = false
	}
	f.lock.Unlock(t)
	if !copyuser.CopyToUser(t, task.Mem, buf, e.data) {
		return refuseRead(t, rule.MLX5DevxEventReadFault)
	}
	return int64(len(e.data)), nil
}

// refuseRead reports the rule by which a read was refused.
func refuseRead(t *trace.Task, r *rule.Rule) (int64, error) {
	t.Note(trace.Refuse, r.ID, uint64(r.Errno), 0, 0)
	return 0, r
}

// What poll says of a descriptor whose device has gone.
const pollRDHUP = 0x2000 // POLLRDHUP of include/uapi/asm-generic/poll.h

// pollReady is the answer of poll for a file that has something to read, or will
// never have any more.
func pollReady(some, destroyed bool) uint16 {
	switch {
	case destroyed:
		return process.POLLIN | process.POLLRDNORM | pollRDHUP
	case some:
		return process.POLLIN | process.POLLRDNORM
	}
	return 0
}

// devxEventPoll models devx_async_event_poll in drivers/infiniband/hw/mlx5/devx.c.
func devxEventPoll(task *process.Task, filp *process.File) uint16 {
	t := task.Trace
	defer t.Enter(moduleIB, "devx_async_event_poll").Leave()
	f := devxEventFileOf(filp)
	f.lock.Lock(t)
	defer f.lock.Unlock(t)
	return pollReady(len(f.pending) > 0, f.destroyed)
}

// devxEventDestroy ends the subscriptions of the descriptor and drops what was
// not read. It models devx_async_event_destroy_uobj in
// drivers/infiniband/hw/mlx5/devx.c.
func devxEventDestroy(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "devx_async_event_destroy_uobj").Leave()
	f := o.Ext.(*devxEventFile)
	f.lock.Lock(t)
	f.destroyed = true
	f.pending = nil
	f.lock.Unlock(t)
	f.wait.WakeUp(t)

	table := &f.dev.devxEvents
	table.mu.Lock(t)
	defer table.mu.Unlock(t)
	for _, s := range f.subs {
		table.cleanup(s)
		o.Put(t)
	}
	f.subs = nil
}
