package kernel

import (
	"sync"
	"sync/atomic"

	"uverbsim/trace"
)

// srcu is a struct srcu_struct: readers never wait, and Synchronize waits for
// those that were there before it.
type srcu struct {
	name    string
	index   atomic.Uint32
	readers [2]atomic.Int64

	sync    sync.Mutex   // one Synchronize at a time
	waiting atomic.Int32 // Synchronize is to be woken
	empty   sync.Mutex   // guards cond
	cond    *sync.Cond
}

func (s *srcu) init(name string) {
	s.name = name
	s.cond = sync.NewCond(&s.empty)
}

// ReadLock enters and returns the key to leave with (srcu_read_lock).
func (s *srcu) ReadLock(t *trace.Task) uint32 {
	t.Before(trace.Lock, s.name)
	key := s.index.Load() & 1
	s.readers[key].Add(1)
	t.Note(trace.Lock, s.name, 0, 0, 0)
	return key
}

// ReadUnlock leaves (srcu_read_unlock).
func (s *srcu) ReadUnlock(t *trace.Task, key uint32) {
	if s.waiting.Load() != 0 {
		t.Flush()
	}
	if s.readers[key].Add(-1) == 0 && s.waiting.Load() != 0 {
		s.empty.Lock()
		s.cond.Broadcast()
		s.empty.Unlock()
	}
	t.Note(trace.Unlock, s.name, 0, 0, 0)
}

// Synchronize returns when all that had entered before have left
// (synchronize_srcu). A reader may have read the index and not yet counted
// itself, so both counts are awaited.
func (s *srcu) Synchronize(t *trace.Task) {
	t.Before(trace.Lock, s.name)
	s.sync.Lock()
	defer s.sync.Unlock()
	s.waiting.Store(1)
	defer s.waiting.Store(0)
	for range 2 {
		old := (s.index.Add(1) - 1) & 1
		s.empty.Lock()
		for s.readers[old].Load() != 0 {
			s.cond.Wait()
		}
		s.empty.Unlock()
	}
}
