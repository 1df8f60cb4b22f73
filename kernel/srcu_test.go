package kernel

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/trace"
)

// onCPUs returns a task on each of n different processors.
func onCPUs(n int) []*process.Task {
	tasks := make([]*process.Task, n)
	for i := range tasks {
		tasks[i] = &process.Task{CPU: i}
	}
	return tasks
}

// inside returns how many readers there are.
func (s *srcu) inside() (n int64) {
	for i := range s.readers {
		n += s.readers[i].n[0].Load() + s.readers[i].n[1].Load()
	}
	return n
}

func TestSRCUSynchronizeWaitsForReaders(t *testing.T) {
	for _, where := range onCPUs(process.NrCPUs) {
		var s srcu
		s.init("srcu")
		key := s.ReadLock(where)
		done := make(chan struct{})
		go func() {
			s.Synchronize(nil)
			close(done)
		}()
		select {
		case <-done:
			t.Fatal("returned with a reader inside")
		case <-time.After(5 * time.Millisecond):
		}
		// A reader that comes later neither waits nor is waited for.
		late := s.ReadLock(where)
		s.ReadUnlock(where, late)
		s.ReadUnlock(where, key)
		<-done
		require.Zero(t, s.inside())
	}
}

// lateReader stops a reader that has read the index before it is counted.
type lateReader struct{ reached, goOn chan struct{} }

func (lateReader) Event(*trace.Task, *trace.Event) {}

func (l lateReader) Before(_ *trace.Task, p *trace.Point) {
	if p.Verb == "srcu_read_lock, counted" {
		l.reached <- struct{}{}
		<-l.goOn
	}
}

// TestSRCULateReader: a reader that read the index before or during a Synchronize,
// and is counted when that is over, is waited for by the next one.
func TestSRCULateReader(t *testing.T) {
	for name, during := range map[string]bool{"before": false, "during": true} {
		t.Run(name, func(t *testing.T) {
			var s srcu
			s.init("srcu")
			l := lateReader{make(chan struct{}), make(chan struct{})}
			late := &process.Task{CPU: 1, Trace: trace.NewTask(1, l)}
			keys := make(chan uint32)
			read := func() {
				go func() { keys <- s.ReadLock(late) }()
				<-l.reached
			}
			first := make(chan struct{})
			if during {
				other := onCPUs(1)[0]
				key := s.ReadLock(other)
				go func() { s.Synchronize(nil); close(first) }()
				for s.index.Load() == key {
					runtime.Gosched()
				}
				read()
				s.ReadUnlock(other, key)
			} else {
				read()
				go func() { s.Synchronize(nil); close(first) }()
			}
			<-first
			l.goOn <- struct{}{}
			key := <-keys
			second := make(chan struct{})
			go func() { s.Synchronize(nil); close(second) }()
			select {
			case <-second:
				t.Fatal("returned with a reader inside")
			case <-time.After(5 * time.Millisecond):
			}
			s.ReadUnlock(late, key)
			<-second
			require.Zero(t, s.inside())
		})
	}
}

// TestSRCUStorm: what is taken away before a Synchronize is not seen any more
// after it by anybody who had seen it before.
func TestSRCUStorm(t *testing.T) {
	const rounds = 200
	var s srcu
	s.init("srcu")
	var gone [rounds]atomic.Bool // after the Synchronize
	var current atomic.Int64     // what readers may use
	var seen atomic.Int64        // how often one has looked what that is
	var wg sync.WaitGroup
	for _, task := range onCPUs(4) {
		wg.Go(func() {
			for current.Load() < rounds {
				key := s.ReadLock(task)
				i := current.Load()
				seen.Add(1)
				runtime.Gosched()
				if i < rounds && gone[i].Load() {
					t.Error("what a reader uses is gone")
				}
				s.ReadUnlock(task, key)
			}
		})
	}
	for i := range int64(rounds) {
		for n := seen.Load(); seen.Load() == n; { // somebody is inside, most likely
			runtime.Gosched()
		}
		current.Store(i + 1)
		s.Synchronize(nil)
		gone[i].Store(true)
	}
	wg.Wait()
	require.Zero(t, s.inside())
}
