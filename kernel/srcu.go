package kernel

import (
	"sync"
	"sync/atomic"

	"uverbsim/process"
	"uverbsim/trace"
)

// srcu is a struct srcu_struct: readers never wait, and Synchronize waits for
// those that were there before it.
//
// A reader reads the index and counts itself under that, in two steps. A reader that
// counted itself before a Synchronize began is under one of the two indexes, and
// Synchronize awaits both, so it is waited for. One that counts itself later loads
// after that what was stored before the Synchronize, and need not be: Go's atomic
// operations have one order that all see. The index is turned so that new readers
// come under the one that is not awaited at the moment, and cannot hold Synchronize
// up for ever.
type srcu struct {
	name    string
	index   atomic.Uint32
	waiting atomic.Int32 // Synchronize is to be woken
	sync    sync.Mutex   // one Synchronize at a time
	empty   sync.Mutex   // guards cond
	cond    *sync.Cond

	_       [128]byte // what is above is only read as long as no device is removed
	readers [process.NrCPUs]srcuReaders
}

// srcuReaders are the readers on one processor, by the index that they came
// with (struct srcu_data). A task stays on its processor, so it leaves where it
// entered and no count is ever below zero.
type srcuReaders struct {
	n [2]atomic.Int64
	_ [112]byte
}

func (s *srcu) init(name string) {
	s.name = name
	s.cond = sync.NewCond(&s.empty)
}

// ReadLock enters and returns the key to leave with (srcu_read_lock).
func (s *srcu) ReadLock(task *process.Task) uint32 {
	if t := task.Trace; t != nil {
		return s.tracedReadLock(t, task.CPU)
	}
	key := s.index.Load() & 1
	s.readers[task.CPU].n[key].Add(1)
	return key
}

func (s *srcu) tracedReadLock(t *trace.Task, cpu int) uint32 {
	t.Before(trace.Lock, "srcu_read_lock", s.name, trace.Reads, &s.index)
	key := s.index.Load() & 1
	t.Point(trace.Lock, "srcu_read_lock, counted", s.name, trace.Counts, &s.readers)
	s.readers[cpu].n[key].Add(1)
	t.Note(trace.Lock, s.name, 0, 0, 0)
	return key
}

// ReadUnlock leaves (srcu_read_unlock).
func (s *srcu) ReadUnlock(task *process.Task, key uint32) {
	t := task.Trace
	if t != nil {
		s.beforeUnlock(t)
	}
	if s.readers[task.CPU].n[key].Add(-1) == 0 && s.waiting.Load() != 0 {
		s.empty.Lock()
		s.cond.Broadcast()
		s.empty.Unlock()
	}
	t.Note(trace.Unlock, s.name, 0, 0, 0)
}

func (s *srcu) beforeUnlock(t *trace.Task) {
	if s.waiting.Load() != 0 {
		t.Flush()
	}
	if t.Scheduled() {
		t.PointAt(&trace.Point{Kind: trace.Unlock, Verb: "srcu_read_unlock", Name: s.name,
			Access: trace.Access{Effect: trace.Counts, On: &s.readers}, Frees: true})
	}
}

// Synchronize returns when all that had entered before have left
// (synchronize_srcu). It is told of a count that became 0 after waiting was set;
// whoever leaves looks at waiting after the count, and wakes it up under the lock
// that it looks at the counts with.
func (s *srcu) Synchronize(t *trace.Task) {
	t.Before(trace.Lock, "synchronize_srcu", s.name, trace.Nothing, s)
	s.sync.Lock()
	defer s.sync.Unlock()
	s.waiting.Store(1)
	defer s.waiting.Store(0)
	for range 2 {
		t.Point(trace.Lock, "synchronize_srcu, flip", s.name, trace.Writes, &s.index)
		old := (s.index.Add(1) - 1) & 1
		if t.Scheduled() {
			t.PointAt(&trace.Point{Kind: trace.Lock, Verb: "synchronize_srcu, wait", Name: s.name,
				Access: trace.Access{Effect: trace.Reads, On: &s.readers}, Ready: func() bool { return s.none(old) }})
		}
		s.empty.Lock()
		for i := range s.readers {
			for s.readers[i].n[old].Load() != 0 {
				s.cond.Wait()
			}
		}
		s.empty.Unlock()
	}
}

// none says whether no reader is left that came with that index.
func (s *srcu) none(index uint32) bool {
	for i := range s.readers {
		if s.readers[i].n[index].Load() != 0 {
			return false
		}
	}
	return true
}
