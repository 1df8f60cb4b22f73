package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// shows collects what a queue shows, at most n events.
func shows(q *EventQueue, n int) (handles []uint64) {
	q.Show(func(desc []byte) bool {
		if len(handles) == n {
			return false
		}
		handles = append(handles, binary.LittleEndian.Uint64(desc))
		return true
	})
	return handles
}

// shown returns a channel's queue with those events of two CQs, the numbers of events
// that these have reported, and how to drop the events of one.
func shown(t *testing.T, events string) (q *EventQueue, reported func() [2]uint32, drop func(cq int)) {
	t.Helper()
	p := newParser(t, nil)
	fd := p.newFD(t, channel)
	f := p.p.MainTask().Fget(fd)
	q = QueueOf(f)
	f.Put(p.p.MainTask())
	require.NotNil(t, q)
	one, u1 := p.cq(t, fd, -1, 1)
	two, u2 := p.cq(t, fd, -1, 2)
	for _, which := range events {
		if which == '1' {
			CompHandler(nil, one)
		} else {
			CompHandler(nil, two)
		}
	}
	return q, func() [2]uint32 { return [2]uint32{u1.CompEventsReported, u2.CompEventsReported} }, func(cq int) {
		u := u1
		if cq == 2 {
			u = u2
		}
		q.drop(nil, &u.compEvents)
	}
}

// TestShow: events are shown once each, in order, and are counted as reported when
// they have been read.
func TestShow(t *testing.T) {
	q, reported, _ := shown(t, "12112")
	require.Equal(t, []uint64{1, 2}, shows(q, 2))
	require.Equal(t, 2, q.Shown())
	require.Equal(t, []uint64{1, 1, 2}, shows(q, 9), "the others")
	require.Empty(t, shows(q, 9), "no event twice")
	require.Equal(t, 5, q.Shown())
	require.Equal(t, [2]uint32{}, reported(), "shown is not read")
	q.ReadShown(3)
	require.Equal(t, [2]uint32{2, 1}, reported())
	require.Equal(t, 2, q.Shown())
	require.Equal(t, 2, q.Len())
	require.False(t, q.Hide(), "an event that was read was not dropped")
	q.ReadShown(100)
	require.Equal(t, [2]uint32{3, 2}, reported(), "no more than there were")
	q.ReadShown(0)
	require.Zero(t, q.Len())
}

// TestHide: when events that were shown go with their object, the reader is told,
// once, and shown the others again.
func TestHide(t *testing.T) {
	q, reported, drop := shown(t, "1212")
	require.Equal(t, []uint64{1, 2, 1}, shows(q, 3))
	q.ReadShown(1)
	drop(1)
	require.True(t, q.Hide())
	require.False(t, q.Hide(), "told once")
	require.Zero(t, q.Shown())
	require.Equal(t, []uint64{2, 2}, shows(q, 9))
	require.Equal(t, [2]uint32{1, 0}, reported())
}

// TestHideKeeps: that events were dropped is not forgotten when others are read.
func TestHideKeeps(t *testing.T) {
	q, _, drop := shown(t, "2112")
	shows(q, 9)
	drop(1)
	q.ReadShown(1)
	require.True(t, q.Hide())
	require.Equal(t, []uint64{2}, shows(q, 9))
}

// TestHideUnseen: events that go before they were shown are nobody's business.
func TestHideUnseen(t *testing.T) {
	q, _, drop := shown(t, "21")
	require.Equal(t, []uint64{2}, shows(q, 1))
	drop(1)
	require.False(t, q.Hide())
	require.Equal(t, 1, q.Shown())
}

// TestShownAreTaken: what was shown and is read otherwise no longer counts as shown.
func TestShownAreTaken(t *testing.T) {
	q, reported, _ := shown(t, "12")
	shows(q, 9)
	q.lock.Lock(nil)
	q.take()
	q.lock.Unlock(nil)
	require.Equal(t, [2]uint32{1, 0}, reported())
	require.Equal(t, 1, q.Shown())
}

// TestQueueOf: a device file has no queue, event files of both kinds have one, and a
// channel's is closed with the device.
func TestQueueOf(t *testing.T) {
	p := newParser(t, nil)
	task := p.p.MainTask()
	f := task.Fget(p.fd)
	require.Nil(t, QueueOf(f))
	f.Put(task)
	f = task.Fget(p.newFD(t, async))
	require.NotNil(t, QueueOf(f))
	f.Put(task)
	f = task.Fget(p.newFD(t, channel))
	q := QueueOf(f)
	f.Put(task)
	require.NotNil(t, q)
	require.False(t, q.Closed())
	removed(t, p)
	require.True(t, q.Closed())
}
