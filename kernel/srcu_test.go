package kernel

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSRCUSynchronizeWaitsForReaders(t *testing.T) {
	var s srcu
	s.init("srcu")
	key := s.ReadLock(nil)
	done := make(chan struct{})
	go func() {
		s.Synchronize(nil)
		close(done)
	}()
	select {
	case <-done:
		t.Fatal("returned with a reader inside")
	case <-time.After(20 * time.Millisecond):
	}
	// A reader that comes later neither waits nor is waited for.
	late := s.ReadLock(nil)
	s.ReadUnlock(nil, late)
	s.ReadUnlock(nil, key)
	<-done
	require.Zero(t, s.readers[0].Load())
	require.Zero(t, s.readers[1].Load())
}

func TestSRCUStorm(t *testing.T) {
	var s srcu
	s.init("srcu")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 2000 {
				s.ReadUnlock(nil, s.ReadLock(nil))
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			s.Synchronize(nil)
		}
	})
	wg.Wait()
}
