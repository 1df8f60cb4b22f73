package uobject

import (
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// atOnce is how long threads are at work at once: what one of them loses shows when
// they have met often enough.
const atOnce = 200 * time.Millisecond

// TestLocksAtOnce: of many that lock one object at once none is lost, and who has it
// alone has it alone.
func TestLocksAtOnce(t *testing.T) {
	const threads, times = 4, 1000
	end := time.Now().Add(atOnce)
	r := newRig(t)
	o := r.make(idA, "a")
	var readers, writers, together, alone atomic.Int64
	var all sync.WaitGroup
	for i := range threads {
		all.Go(func() {
			for time.Now().Before(end) {
				for n := range times {
					if (n+i)%8 == 0 {
						if o.tryLock(nil, LookupWrite) == nil {
							alone.Add(1)
							if writers.Add(1) > 1 || readers.Load() > 0 {
								together.Add(1)
							}
							writers.Add(-1)
							o.unlock(nil, LookupWrite)
						}
						continue
					}
					if o.tryLock(nil, LookupRead) == nil {
						readers.Add(1)
						if writers.Load() > 0 {
							together.Add(1)
						}
						readers.Add(-1)
						o.unlock(nil, LookupRead)
					}
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, o.Usecnt())
	require.Zero(t, together.Load())
	require.NotZero(t, alone.Load())
}

// TestReferencesAtOnce: of many that take and drop references at once none is lost.
func TestReferencesAtOnce(t *testing.T) {
	const threads, times = 4, 1000
	end := time.Now().Add(atOnce)
	r := newRig(t)
	o := r.make(idA, "a")
	var all sync.WaitGroup
	for range threads {
		all.Go(func() {
			for time.Now().Before(end) {
				for range times {
					if got, err := LookupGet(r.types[idA], o.ID(), LookupDestroy, r.attrs); err == nil {
						got.Get(nil)
						got.Put(nil)
						LookupPut(got, LookupDestroy, r.attrs)
					}
				}
			}
		})
	}
	all.Wait()
	require.Equal(t, int32(2), o.Refs(), "the handle's and the list's")
	require.Equal(t, 1, r.file.Alive())
}
