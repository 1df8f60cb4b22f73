package kernel

import (
	"encoding/binary"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// cq is a thing that sends its completion events to a channel and its other
// events to an async event file.
func (p *parser) cq(tb testing.TB, channel, async int, handle uint64) (*core.CQ, *UCQ) {
	tb.Helper()
	p.newThing(tb)
	var newest *uobject.Object
	for o := range p.file.Objects.Objects(nil) {
		newest = o
		break
	}
	newest.UserHandle.Store(handle)
	u := newest.Ext.(*UCQ)
	c := &core.CQ{Object: newest}
	if channel >= 0 {
		f := p.p.MainTask().Fget(channel)
		ch := compFile(f)
		f.Put(p.p.MainTask())
		ch.Object.Get(nil)
		c.Context = ch
	}
	if async >= 0 {
		f := p.p.MainTask().Fget(async)
		a := asyncFile(f)
		f.Put(p.p.MainTask())
		a.Object.Get(nil)
		u.SetEventFile(nil, a)
	}
	return c, u
}

// read reads n bytes from a descriptor into the tests' data.
func (p *parser) read(fd int, n uint64) ([]byte, error) {
	got, err := p.p.Read(fd, p.data(), n)
	if err != nil {
		return nil, err
	}
	b := make([]byte, got)
	p.p.Load(p.data(), b)
	return b, nil
}

func (p *parser) nonblock(tb testing.TB, fd int) {
	tb.Helper()
	require.NoError(tb, p.p.SetNonblock(fd, true))
}

// eventRefusal is a read of an event descriptor that is refused.
type eventRefusal struct {
	name string
	want *rule.Rule
	do   func(tb testing.TB, p *parser) error
}

func eventRefusals() []eventRefusal {
	return []eventRefusal{
		{"again", rule.EventAgain, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, channel)
			p.nonblock(tb, fd)
			_, err := p.read(fd, 8)
			return err
		}},
		{"again, async", rule.EventAgain, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, async)
			p.nonblock(tb, fd)
			_, err := p.read(fd, 16)
			return err
		}},
		{"empty before short", rule.EventAgain, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, channel)
			p.nonblock(tb, fd)
			_, err := p.read(fd, 0)
			return err
		}},
		{"short", rule.EventShort, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, channel)
			c, _ := p.cq(tb, fd, -1, 1)
			CompHandler(nil, c)
			_, err := p.read(fd, 7)
			return err
		}},
		{"short, async", rule.EventShort, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, async)
			p.d.IBDevice().DispatchEvent(nil, &core.Event{Type: 1})
			_, err := p.read(fd, 15)
			return err
		}},
		{"fault", rule.EventFault, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, channel)
			c, _ := p.cq(tb, fd, -1, 1)
			CompHandler(nil, c)
			_, err := p.p.Read(fd, nowhere, 8)
			return err
		}},
		{"closed with the device", rule.EventClosed, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, channel)
			removed(tb, p)
			_, err := p.read(fd, 8)
			return err
		}},
		{"closed with the file", rule.EventClosed, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, channel)
			require.NoError(tb, p.p.Close(p.fd))
			_, err := p.read(fd, 8)
			return err
		}},
		{"closed comes before again", rule.EventClosed, func(tb testing.TB, p *parser) error {
			fd := p.newFD(tb, channel)
			p.nonblock(tb, fd)
			removed(tb, p)
			_, err := p.read(fd, 0)
			return err
		}},
	}
}

func TestEventReadRefuses(t *testing.T) {
	for _, tc := range eventRefusals() {
		t.Run(tc.name, func(t *testing.T) { require.Equal(t, error(tc.want), tc.do(t, newParser(t, nil))) })
	}
}

// TestCompEvents: events come in their order, each by one read, and are counted
// when they are read, even if the user's buffer is bad.
func TestCompEvents(t *testing.T) {
	p := newParser(t, nil)
	fd := p.newFD(t, channel)
	one, u1 := p.cq(t, fd, -1, 0x1111111111111111)
	two, u2 := p.cq(t, fd, -1, 2)
	poll := func() uint16 {
		got, err := p.p.Poll(fd, 0)
		require.NoError(t, err)
		return got
	}
	require.Zero(t, poll())
	for _, c := range []*core.CQ{one, two, one} {
		CompHandler(nil, c)
	}
	require.Equal(t, uint16(process.POLLIN), poll())
	got, err := p.read(fd, 100)
	require.NoError(t, err)
	require.Equal(t, binary.LittleEndian.AppendUint64(nil, 0x1111111111111111), got)
	_, err = p.read(fd, 7)
	require.Equal(t, error(rule.EventShort), err)
	_, err = p.p.Read(fd, nowhere, 8)
	require.Equal(t, error(rule.EventFault), err, "the event of two is lost")
	require.Equal(t, []uint32{1, 1}, []uint32{u1.CompEventsReported, u2.CompEventsReported})
	require.Equal(t, uint16(process.POLLIN), poll())

	// A CQ that goes takes its unread events along.
	CompHandler(nil, two)
	ch := one.Context.(*CompletionEventFile)
	require.Equal(t, 2, ch.Queue.Len())
	ReleaseUCQ(nil, ch, u1)
	require.Equal(t, 1, ch.Queue.Len())
	got, err = p.read(fd, 8)
	require.NoError(t, err)
	require.Equal(t, uint64(2), binary.LittleEndian.Uint64(got))
	require.Zero(t, poll())
	require.Equal(t, uint32(1), u1.CompEventsReported)
	require.Equal(t, uint32(2), u2.CompEventsReported)
}

// TestCompEventsWithoutChannel: a CQ without a channel has no events, and a
// closed channel takes none.
func TestCompEventsWithoutChannel(t *testing.T) {
	p := newParser(t, nil)
	alone, u := p.cq(t, -1, -1, 1)
	CompHandler(nil, alone)
	ReleaseUCQ(nil, nil, u)

	fd := p.newFD(t, channel)
	c, u := p.cq(t, fd, -1, 1)
	ch := c.Context.(*CompletionEventFile)
	CompHandler(nil, c)
	require.NoError(t, p.p.Close(fd))
	require.Zero(t, ch.Queue.Len(), "closed with its events")
	CompHandler(nil, c)
	require.Zero(t, ch.Queue.Len())
	require.Equal(t, int32(1), ch.Object.Refs(), "the CQ's")
	ReleaseUCQ(nil, ch, u)
	require.Zero(t, ch.Object.Refs())
}

// TestEventWithoutMemory: an event for which there is no memory is lost.
func TestEventWithoutMemory(t *testing.T) {
	p := newParser(t, nil)
	fd := p.newFD(t, channel)
	c, _ := p.cq(t, fd, -1, 1)
	CompHandler(trace.NewTask(1, breaks("ib_uverbs_event")), c)
	require.Zero(t, c.Context.(*CompletionEventFile).Queue.Len())
}

// TestAsyncEvents: port events carry the port, an object's its user handle; only
// an object's are counted and go with it.
func TestAsyncEvents(t *testing.T) {
	p := newParser(t, nil)
	fd := p.newFD(t, async)
	dev := p.d.IBDevice()
	require.Equal(t, 1, dev.EventHandlers())
	c, u := p.cq(t, -1, fd, 0xabc)
	dev.DispatchEvent(nil, &core.Event{Type: spec.IB_EVENT_PORT_ACTIVE, Port: 3})
	dev.DispatchEvent(nil, &core.Event{Type: core.EventGIDChange, Port: 3}) // kept by the cache
	CQEventHandler(nil, &core.Event{Type: spec.IB_EVENT_CQ_ERR, CQ: c})
	CQEventHandler(nil, &core.Event{Type: spec.IB_EVENT_CQ_ERR, CQ: c})
	event := func(element uint64, typ uint32) []byte {
		b := binary.LittleEndian.AppendUint64(nil, element)
		return append(binary.LittleEndian.AppendUint32(b, typ), 0, 0, 0, 0)
	}
	got, err := p.read(fd, 16)
	require.NoError(t, err)
	require.Equal(t, event(3, spec.IB_EVENT_PORT_ACTIVE), got)
	require.Zero(t, u.EventsReported)
	got, err = p.read(fd, 16)
	require.NoError(t, err)
	require.Equal(t, event(0xabc, spec.IB_EVENT_CQ_ERR), got)
	require.Equal(t, uint32(1), u.EventsReported)
	a := u.EventFile(nil)
	require.Equal(t, 1, a.Queue.Len())
	u.Release(nil)
	require.Zero(t, a.Queue.Len())

	require.NoError(t, p.p.Close(fd))
	require.Zero(t, dev.EventHandlers())
	require.Equal(t, int32(1), a.Object.Refs(), "the file's default")
	dev.DispatchEvent(nil, &core.Event{Type: spec.IB_EVENT_PORT_ACTIVE, Port: 1})
	a.AsyncHandler(nil, 1, 1, nil, nil)
	require.Zero(t, a.Queue.Len(), "closed")
	require.NoError(t, p.p.Close(p.fd))
	require.Zero(t, a.Object.Refs())
}

// TestDefaultAsync: the first file that was made is the default for ever, even
// once its descriptor is closed.
func TestDefaultAsync(t *testing.T) {
	p := newParser(t, nil)
	take := func() (a *AsyncEventFile) {
		p.handle = func(b *Bundle) error { a = b.AsyncEvent(attrFD); return nil }
		p.put(t, p.mem, thing, methodAttrs)
		require.NoError(t, p.ioctl())
		p.handle = func(*Bundle) error { return nil }
		return a
	}
	require.Nil(t, take())
	first := p.newFD(t, async)
	second := p.newFD(t, async)
	def := p.file.DefaultAsync(nil)
	require.NotNil(t, def)
	require.Same(t, def, take())
	require.NoError(t, p.p.Close(first))
	require.Same(t, def, take())
	require.Equal(t, int32(3), def.Object.Refs(), "the file's, and what was taken twice")
	require.NoError(t, p.p.Close(second))
	var u UEvent
	u.SetEventFile(nil, def)
	u.Release(nil)
	u.Release(nil)
	require.Equal(t, int32(1), def.Object.Refs())
}

// TestAsyncAfterRemoval: the user gets the events that came before, then one
// that says the device is gone; a read then waits for what never comes, until
// the descriptor is closed.
func TestAsyncAfterRemoval(t *testing.T) {
	p := newParser(t, nil)
	fd := p.newFD(t, async)
	dev := p.d.IBDevice()
	dev.DispatchEvent(nil, &core.Event{Type: spec.IB_EVENT_PORT_ERR, Port: 1})
	removed(t, p)
	require.Zero(t, dev.EventHandlers())
	p.nonblock(t, fd)
	for _, want := range []uint32{spec.IB_EVENT_PORT_ERR, spec.IB_EVENT_DEVICE_FATAL} {
		got, err := p.read(fd, 16)
		require.NoError(t, err)
		require.Equal(t, want, binary.LittleEndian.Uint32(got[8:]))
	}
	_, err := p.read(fd, 16)
	require.Equal(t, error(rule.EventAgain), err)
	got, err := p.p.Poll(fd, 0)
	require.NoError(t, err)
	require.Zero(t, got)
	require.NoError(t, p.p.Close(fd))
	require.NoError(t, p.p.Close(p.fd))
}

// TestBlockingRead: a read waits for an event, for the end of its channel, or
// for a signal.
func TestBlockingRead(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(p *parser, c *core.CQ, reader *process.Task)
		want error
	}{
		{"event", func(p *parser, c *core.CQ, _ *process.Task) { CompHandler(nil, c) }, nil},
		{"removal", func(p *parser, _ *core.CQ, _ *process.Task) { removed(t, p) }, rule.EventClosed},
		{"close of the file", func(p *parser, _ *core.CQ, _ *process.Task) { p.p.Close(p.fd) }, rule.EventClosed},
		{"signal", func(_ *parser, _ *core.CQ, reader *process.Task) { reader.Interrupt() }, rule.Interrupted},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := newParser(t, nil)
			fd := p.newFD(t, channel)
			c, _ := p.cq(t, fd, -1, 1)
			reader := p.p.NewTask(nil)
			got := make(chan error)
			go func() {
				_, err := reader.Read(fd, p.data(), 8)
				got <- err
			}()
			select {
			case err := <-got:
				t.Fatalf("did not wait: %v", err)
			case <-time.After(20 * time.Millisecond):
			}
			tc.end(p, c, reader)
			err := <-got
			if tc.want == nil {
				require.NoError(t, err)
			} else {
				require.Equal(t, tc.want, err)
			}
		})
	}
}

// TestPollClosed: a closed queue is an error to poll once it is empty.
func TestPollClosed(t *testing.T) {
	p := newParser(t, nil)
	fd := p.newFD(t, channel)
	c, _ := p.cq(t, fd, -1, 1)
	CompHandler(nil, c)
	done := make(chan uint16)
	require.NoError(t, p.p.Close(p.fd))
	go func() {
		got, _ := p.p.NewTask(nil).Poll(fd, -1)
		done <- got
	}()
	require.Equal(t, uint16(process.POLLERR), <-done)
}

// TestFDNeedsContext: an event descriptor cannot be made before the context,
// and its attribute stays as it was.
func TestFDNeedsContext(t *testing.T) {
	p := newParser(t, nil)
	p.file.ucontext.Store(nil)
	before := p.state(t)
	p.put(t, p.mem, channel, methodFD, spec.IoctlAttr{Data: 77})
	require.Equal(t, error(rule.ContextNone), p.ioctl())
	require.Equal(t, uint64(77), p.answer(t, 0).Data)
	require.Equal(t, before, p.state(t))
}

// TestForeignFD: descriptors that are not channels of this file are refused,
// whatever they are.
func TestForeignFD(t *testing.T) {
	p := newParser(t, nil)
	asyncFD := p.newFD(t, async)
	other := *p
	other.rig = &rig{m: p.m, d: p.d, p: p.p, mem: p.mem}
	other.fd, other.file = p.open(t, p.p)
	otherChannel := other.newFD(t, channel)
	require.NoError(t, p.p.Close(other.fd))
	for _, fd := range []int{p.fd, asyncFD, otherChannel} {
		p.put(t, p.mem, thing, methodAttrs, spec.IoctlAttr{AttrID: attrFD, Data: uint64(fd)})
		require.Equal(t, error(rule.ObjectFDForeign), p.ioctl())
	}
	fd := p.newFD(t, channel)
	dup, err := p.p.Dup(fd)
	require.NoError(t, err)
	require.NoError(t, p.p.Close(fd))
	p.put(t, p.mem, thing, methodAttrs, spec.IoctlAttr{AttrID: attrFD, Data: uint64(dup)})
	require.NoError(t, p.ioctl())
}

// TestChannelOutlivesFile: event descriptors keep the device's struct alive
// when the file is closed.
func TestChannelOutlivesFile(t *testing.T) {
	p := newParser(t, nil)
	fd := p.newFD(t, channel)
	dup, err := p.p.Dup(fd)
	require.NoError(t, err)
	require.NoError(t, p.p.Close(p.fd))
	require.Equal(t, int64(1), p.file.ref.Load())
	require.NoError(t, p.p.Close(fd))
	require.Equal(t, int64(2), p.d.refs.Load())
	require.NoError(t, p.p.Close(dup))
	require.Zero(t, p.file.ref.Load())
	require.Equal(t, int64(1), p.d.refs.Load())
	_, err = p.p.Read(fd, nowhere, 8)
	require.ErrorIs(t, err, syscall.EBADF)
}
