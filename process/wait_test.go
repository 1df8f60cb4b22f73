package process_test

import (
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/trace"
)

// blocking is a file whose read waits for ready.
type blocking struct {
	queue   process.WaitQueue
	ready   atomic.Bool
	waiting chan struct{}
}

func newBlocking() (*blocking, *node) {
	b := &blocking{waiting: make(chan struct{}, 100)}
	return b, newNode(process.FileOps{
		Read: func(t *process.Task, _ *process.File, _ addr, _ uint64) (int64, error) {
			return 1, t.WaitEventInterruptible(&b.queue, func(*trace.Task) bool {
				b.waiting <- struct{}{}
				return b.ready.Load()
			})
		},
		Wait: func(*process.File) *process.WaitQueue { return &b.queue },
		Poll: func(*process.Task, *process.File) uint16 {
			b.waiting <- struct{}{}
			return 0
		},
	})
}

// wait returns when the reader has looked at its condition and waits.
func (b *blocking) wait() {
	<-b.waiting
	<-b.waiting
}

type answer struct {
	n   int64
	err error
}

func background(f func() (int64, error)) <-chan answer {
	c := make(chan answer, 1)
	go func() {
		n, err := f()
		c <- answer{n, err}
	}()
	return c
}

func TestWaitWoken(t *testing.T) {
	b, n := newBlocking()
	p := process.New(n, process.Options{})
	fd := open(t, p, 0)
	got := background(func() (int64, error) { return p.NewTask(nil).Read(fd, 0, 1) })
	b.wait()
	b.queue.WakeUp(nil) // for nothing
	b.wait()
	b.ready.Store(true)
	b.queue.WakeUp(nil)
	require.Equal(t, answer{1, nil}, <-got)
}

func TestWaitInterrupted(t *testing.T) {
	b, n := newBlocking()
	p := process.New(n, process.Options{})
	fd := open(t, p, 0)
	task := p.NewTask(nil)
	task.Interrupt() // it is in no system call: the handler runs at once
	got := background(func() (int64, error) { return task.Read(fd, 0, 1) })
	b.wait()
	select {
	case a := <-got:
		t.Fatal(a)
	case <-time.After(10 * time.Millisecond):
	}
	task.Interrupt()
	require.ErrorIs(t, (<-got).err, syscall.EINTR)

	got = background(func() (int64, error) {
		revents, err := task.Poll(fd, -1)
		return int64(revents), err
	})
	<-b.waiting
	task.Interrupt()
	require.ErrorIs(t, (<-got).err, syscall.EINTR)

	b.ready.Store(true)
	ret, err := task.Read(fd, 0, 1)
	require.NoError(t, err, "the signal is spent")
	require.Equal(t, int64(1), ret)
}

// TestWaitEvent: a wait that signals do not end.
func TestWaitEvent(t *testing.T) {
	var queue process.WaitQueue
	var ready atomic.Bool
	looked := make(chan struct{}, 10)
	ops := process.FileOps{Ioctl: func(t *process.Task, _ *process.File, _ uint32, _ addr) (int64, error) {
		t.WaitEvent(&queue, func(*trace.Task) bool {
			looked <- struct{}{}
			return ready.Load()
		})
		return 7, nil
	}}
	p := process.New(newNode(ops), process.Options{})
	fd := open(t, p, 0)
	got := background(func() (int64, error) { return p.Ioctl(fd, 0, 0) })
	<-looked
	<-looked
	p.Interrupt()
	ready.Store(true)
	queue.WakeUp(nil)
	require.Equal(t, answer{7, nil}, <-got)
}

// TestExitWaits: a call that no signal ends keeps the exiting process, its
// memory and its descriptors.
func TestExitWaits(t *testing.T) {
	var queue process.WaitQueue
	var ready atomic.Bool
	looked := make(chan struct{}, 10)
	n := newNode(process.FileOps{Ioctl: func(t *process.Task, _ *process.File, _ uint32, _ addr) (int64, error) {
		t.WaitEvent(&queue, func(*trace.Task) bool {
			looked <- struct{}{}
			return ready.Load()
		})
		return int64(t.FDCount()), nil
	}})
	p := process.New(n, process.Options{})
	fd := open(t, p, 0)
	a := buffer(t, p, "kept")
	call := background(func() (int64, error) { return p.NewTask(nil).Ioctl(fd, 0, 0) })
	<-looked
	<-looked
	exit := background(func() (int64, error) { p.Exit(); return 0, nil })
	select {
	case <-exit:
		t.Fatal("the exit did not wait")
	case <-time.After(20 * time.Millisecond):
	}
	require.Equal(t, "kept", text(t, p, a, 4))
	ready.Store(true)
	queue.WakeUp(nil)
	require.Equal(t, answer{1, nil}, <-call)
	<-exit
	require.Equal(t, []any{1}, n.released)
	require.False(t, p.Mem.Load(a, make([]byte, 1)))
}

// TestCloseWhileReading: the read holds the file, which is released when it
// returns.
func TestCloseWhileReading(t *testing.T) {
	b, n := newBlocking()
	p := process.New(n, process.Options{})
	fd := open(t, p, 0)
	got := background(func() (int64, error) { return p.NewTask(nil).Read(fd, 0, 1) })
	b.wait()
	require.NoError(t, p.Close(fd))
	require.Empty(t, n.released)
	b.ready.Store(true)
	b.queue.WakeUp(nil)
	require.Equal(t, answer{1, nil}, <-got)
	require.Equal(t, []any{1}, n.released)
}

// TestExitInterrupts: an exit ends the waits of the other threads first.
func TestExitInterrupts(t *testing.T) {
	b, n := newBlocking()
	p := process.New(n, process.Options{})
	fd := open(t, p, 0)
	task := p.NewTask(nil)
	read := background(func() (int64, error) { return task.Read(fd, 0, 1) })
	b.wait()
	poll := background(func() (int64, error) {
		revents, err := p.NewTask(nil).Poll(fd, -1)
		return int64(revents), err
	})
	<-b.waiting
	p.Exit()
	require.ErrorIs(t, (<-read).err, syscall.EINTR)
	require.ErrorIs(t, (<-poll).err, syscall.EINTR)
	require.Equal(t, []any{1}, n.released)
	_, err := task.Read(fd, 0, 1)
	require.ErrorIs(t, err, syscall.EBADF)
}
