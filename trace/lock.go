package trace

import (
	"sync"
	"sync/atomic"
)

// Mutex is a kernel mutex or spinlock: a sync.Mutex that passes through the
// seam under its kernel name.
type Mutex struct {
	Name string
	mu   sync.Mutex
}

// Lock takes the lock.
func (m *Mutex) Lock(t *Task) {
	if t != nil {
		m.before(t, Access{})
	}
	m.mu.Lock()
	t.Note(Lock, m.Name, 0, 0, 0)
}

// LockFor is Lock for a section that also does something to what others look at
// without the lock.
func (m *Mutex) LockFor(t *Task, also Access) {
	if t != nil {
		m.before(t, also)
	}
	m.mu.Lock()
	t.Note(Lock, m.Name, 0, 0, 0)
}

func (m *Mutex) before(t *Task, also Access) {
	t.Flush()
	if t.sched != nil {
		t.sched.Before(t, &Point{Kind: Lock, Verb: "lock", Name: m.Name, Access: Access{Effect: Writes, On: m}, Also: also, Ready: m.free})
	}
}

// free says whether the lock can be had.
func (m *Mutex) free() bool {
	if !m.mu.TryLock() {
		return false
	}
	m.mu.Unlock()
	return true
}

// Held says whether somebody holds the lock.
func (m *Mutex) Held() bool { return !m.free() }

// Unlock releases the lock. Nobody can try a Mutex, so it is no choice whether
// somebody else goes on just before or just behind that.
func (m *Mutex) Unlock(t *Task) {
	if t != nil {
		t.Flush()
		if t.sched != nil {
			t.sched.Before(t, &Point{Kind: Unlock, Verb: "unlock", Name: m.Name, Access: Access{Effect: Writes, On: m}, Frees: true, Quiet: true})
		}
	}
	m.mu.Unlock()
	t.Note(Unlock, m.Name, 0, 0, 0)
}

// RWSem is a kernel rw_semaphore: a sync.RWMutex that passes through the seam
// under its kernel name.
type RWSem struct {
	Name    string
	mu      sync.RWMutex
	writers atomic.Int32 // writers of a Scheduler that wait
}

// DownRead takes the semaphore shared (down_read).
func (s *RWSem) DownRead(t *Task) {
	if t != nil {
		t.Flush()
		if t.sched != nil {
			s.point(t, Lock, "down_read", Counts, s.freeForReader)
		}
	}
	s.mu.RLock()
	t.Note(Lock, s.Name, 0, 0, 0)
}

func (s *RWSem) point(t *Task, k Kind, verb string, e Effect, ready func() bool) {
	t.sched.Before(t, &Point{Kind: k, Verb: verb, Name: s.Name, Access: Access{Effect: e, On: s}, Ready: ready, Frees: k == Unlock})
}

func (s *RWSem) freeForReader() bool {
	if !s.mu.TryRLock() {
		return false
	}
	s.mu.RUnlock()
	return true
}

func (s *RWSem) freeForWriter() bool {
	if !s.mu.TryLock() {
		return false
	}
	s.mu.Unlock()
	return true
}

// Held says whether somebody holds the semaphore, shared or exclusively.
func (s *RWSem) Held() bool { return !s.freeForWriter() }

// TryDownRead takes the semaphore shared if no writer holds or awaits it
// (down_read_trylock).
func (s *RWSem) TryDownRead(t *Task) bool {
	if t != nil {
		t.Flush()
		if t.sched != nil {
			s.point(t, Lock, "down_read_trylock", Counts, nil)
			if s.writers.Load() > 0 {
				t.Turned(Reads)
				return false
			}
		}
	}
	if !s.mu.TryRLock() {
		t.Turned(Reads)
		return false
	}
	t.Note(Lock, s.Name, 0, 0, 0)
	return true
}

// UpRead releases a shared hold (up_read).
func (s *RWSem) UpRead(t *Task) {
	s.up(t, "up_read", Counts)
	s.mu.RUnlock()
	t.Note(Unlock, s.Name, 0, 0, 0)
}

func (s *RWSem) up(t *Task, verb string, e Effect) {
	if t != nil {
		t.Flush()
		if t.sched != nil {
			s.point(t, Unlock, verb, e, nil)
		}
	}
}

// DownWrite takes the semaphore exclusively (down_write). With a Scheduler a reader
// that comes while a writer waits goes before it, as one may in the kernel, but is
// not had by a trylock.
func (s *RWSem) DownWrite(t *Task) {
	if t != nil {
		t.Flush()
		if t.sched != nil {
			s.waitForWrite(t)
		}
	}
	s.mu.Lock()
	t.Note(Lock, s.Name, 1, 0, 0)
}

func (s *RWSem) waitForWrite(t *Task) {
	s.point(t, Lock, "down_write", Writes, nil)
	if s.freeForWriter() {
		return
	}
	s.writers.Add(1)
	s.point(t, Lock, "down_write, queued", Writes, s.freeForWriter)
	s.writers.Add(-1)
}

// UpWrite releases an exclusive hold (up_write).
func (s *RWSem) UpWrite(t *Task) {
	s.up(t, "up_write", Writes)
	s.mu.Unlock()
	t.Note(Unlock, s.Name, 1, 0, 0)
}

// Lockable is a Mutex or an RWSem.
type Lockable interface {
	Held() bool
	name() string
}

func (m *Mutex) name() string { return m.Name }
func (s *RWSem) name() string { return s.Name }

// Held returns the names of those locks that somebody holds.
func Held(locks ...Lockable) (names []string) {
	for _, l := range locks {
		if l.Held() {
			names = append(names, l.name())
		}
	}
	return names
}
