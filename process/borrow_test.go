package process_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
)

// opened is what a file of these tests has: whether it was released, and by whom.
type opened struct {
	releases atomic.Int32
	by       atomic.Pointer[process.Task]
}

// opener makes files whose ioctl is a test's.
type opener struct{ ops *process.FileOps }

func newOpener(ioctl func(t *process.Task, o *opened)) opener {
	return opener{&process.FileOps{
		Ioctl: func(t *process.Task, f *process.File, _ uint32, _ addr) (int64, error) {
			ioctl(t, f.Private.(*opened))
			return 0, nil
		},
		Release: func(t *process.Task, f *process.File) {
			o := f.Private.(*opened)
			o.releases.Add(1)
			o.by.Store(t)
		},
	}}
}

func (o opener) Open(t *process.Task, _ string, flags int) (*process.File, error) {
	return process.NewFile(t, o.ops, new(opened), flags)
}

// TestCloseDuringCalls: a file whose descriptor is closed, or given to another
// file, while calls are under way is released once, when the last of them
// returns, by the task that made it.
func TestCloseDuringCalls(t *testing.T) {
	closes := map[string]func(t *process.Task, fd, other int) error{
		"close": func(t *process.Task, fd, _ int) error { return t.Close(fd) },
		"dup2": func(t *process.Task, fd, other int) error {
			_, err := t.Dup2(other, fd)
			return err
		},
	}
	for name, end := range closes {
		for _, shared := range []bool{false, true} { // both calls are one task's
			t.Run(name, func(t *testing.T) {
				inside := make(chan *opened)
				leave := make(chan struct{})
				p := process.New(newOpener(func(_ *process.Task, o *opened) {
					inside <- o
					<-leave
				}), process.Options{})
				fd, err := p.Open("", syscall.O_RDWR)
				require.NoError(t, err)
				other, err := p.Open("", syscall.O_RDWR)
				require.NoError(t, err)
				callers := []*process.Task{p.NewTask(nil), p.NewTask(nil)}
				if shared {
					callers[1] = callers[0]
				}
				var o *opened
				returned := make(chan struct{})
				for _, c := range callers {
					go func() {
						if _, err := c.Ioctl(fd, 1, 0); err != nil {
							t.Error(err)
						}
						returned <- struct{}{}
					}()
					o = <-inside
				}
				require.NoError(t, end(p.MainTask(), fd, other))
				require.Zero(t, o.releases.Load(), "two calls are under way")
				leave <- struct{}{}
				<-returned
				require.Zero(t, o.releases.Load(), "one call is under way")
				leave <- struct{}{}
				<-returned
				require.Equal(t, int32(1), o.releases.Load())
				require.Contains(t, callers, o.by.Load())
			})
		}
	}
}

// TestBorrowStorm: threads call on one file until its last descriptor is gone,
// which happens at any point of a call. No call sees a file that was released, and
// each is released once.
func TestBorrowStorm(t *testing.T) {
	const rounds = 500
	p := process.New(newOpener(func(_ *process.Task, o *opened) {
		if o.releases.Load() != 0 {
			t.Error("a call on a file that was released")
		}
	}), process.Options{})
	callers := []*process.Task{p.NewTask(nil), p.NewTask(nil)}
	callers = append(callers, callers[0]) // two of the threads are one task
	closer := p.NewTask(nil)
	for i := range rounds {
		fd, err := p.Open("", syscall.O_RDWR)
		require.NoError(t, err)
		f := p.MainTask().Fget(fd)
		o := f.Private.(*opened)
		f.Put(nil)
		var wg sync.WaitGroup
		var calling sync.WaitGroup
		for _, c := range callers {
			calling.Add(1)
			wg.Go(func() {
				for n := 0; ; n++ {
					if _, err := c.Ioctl(fd, 1, 0); err != nil {
						break
					}
					if n == 0 {
						calling.Done()
					}
					if n%8 == 7 {
						runtime.Gosched()
					}
				}
			})
		}
		calling.Wait()
		if i%2 == 0 {
			to, err := closer.Dup(fd)
			require.NoError(t, err)
			require.NoError(t, closer.Close(to))
		}
		require.NoError(t, closer.Close(fd))
		wg.Wait()
		require.Equal(t, int32(1), o.releases.Load())
	}
}
