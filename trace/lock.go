package trace

import "sync"

// Mutex is a kernel mutex or spinlock: a sync.Mutex that passes through the
// seam under its kernel name.
type Mutex struct {
	Name string
	mu   sync.Mutex
}

// Lock takes the lock.
func (m *Mutex) Lock(t *Task) {
	t.Before(Lock, m.Name)
	m.mu.Lock()
	t.Note(Lock, m.Name, 0, 0, 0)
}

// Unlock releases the lock.
func (m *Mutex) Unlock(t *Task) {
	t.Flush()
	m.mu.Unlock()
	t.Note(Unlock, m.Name, 0, 0, 0)
}

// RWSem is a kernel rw_semaphore: a sync.RWMutex that passes through the seam
// under its kernel name.
type RWSem struct {
	Name string
	mu   sync.RWMutex
}

// DownRead takes the semaphore shared (down_read).
func (s *RWSem) DownRead(t *Task) {
	t.Before(Lock, s.Name)
	s.mu.RLock()
	t.Note(Lock, s.Name, 0, 0, 0)
}

// TryDownRead takes the semaphore shared if no writer holds or awaits it
// (down_read_trylock).
func (s *RWSem) TryDownRead(t *Task) bool {
	t.Before(Lock, s.Name)
	if !s.mu.TryRLock() {
		return false
	}
	t.Note(Lock, s.Name, 0, 0, 0)
	return true
}

// UpRead releases a shared hold (up_read).
func (s *RWSem) UpRead(t *Task) {
	t.Flush()
	s.mu.RUnlock()
	t.Note(Unlock, s.Name, 0, 0, 0)
}

// DownWrite takes the semaphore exclusively (down_write).
func (s *RWSem) DownWrite(t *Task) {
	t.Before(Lock, s.Name)
	s.mu.Lock()
	t.Note(Lock, s.Name, 1, 0, 0)
}

// UpWrite releases an exclusive hold (up_write).
func (s *RWSem) UpWrite(t *Task) {
	t.Flush()
	s.mu.Unlock()
	t.Note(Unlock, s.Name, 1, 0, 0)
}
