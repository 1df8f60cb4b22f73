package kernel

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
)

// onCPUs returns a task on each of n different processors.
func onCPUs(n int) []*process.Task {
	tasks := make([]*process.Task, n)
	for i := range tasks {
		tasks[i] = &process.Task{CPU: i}
	}
	return tasks
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

// TestSRCUStorm: what is taken away before a Synchronize is not seen any more
// after it by anybody who had seen it before.
func TestSRCUStorm(t *testing.T) {
	const rounds = 200
	var s srcu
	s.init("srcu")
	var gone [rounds]atomic.Bool // after the Synchronize
	var current atomic.Int64     // what readers may use
	var wg sync.WaitGroup
	for _, task := range onCPUs(4) {
		wg.Go(func() {
			for current.Load() < rounds {
				key := s.ReadLock(task)
				if i := current.Load(); i < rounds && gone[i].Load() {
					t.Error("what a reader uses is gone")
				}
				s.ReadUnlock(task, key)
			}
		})
	}
	for i := range int64(rounds) {
		current.Store(i + 1)
		s.Synchronize(nil)
		gone[i].Store(true)
	}
	wg.Wait()
	require.Zero(t, s.inside())
}
