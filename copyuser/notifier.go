package copyuser

import (
	"sync"
	"sync/atomic"

	"uverbsim/trace"
)

// IntervalNotifier lets somebody who holds no pin keep up with what is mapped in
// a range of an address space: struct mmu_interval_notifier of
// include/linux/mmu_notifier.h. Its methods may be called by several goroutines
// at once.
type IntervalNotifier struct {
	// Invalidate is called before pages of the range are taken away, get other
	// protection, or are replaced by copies; the part of it that changes may begin
	// and end outside of the range. When it returns the owner uses none of the
	// pages that it found there. It must not call the address space: mmap_lock is
	// held.
	Invalidate func(t *trace.Task, start, end Addr)

	mm         *AddressSpace
	start, end Addr

	mu     sync.Mutex
	over   sync.Cond // active became 0
	active int       // invalidations under way
	seq    uint64    // that have begun
}

// notifiers are those of an address space.
type notifiers struct {
	n    atomic.Int32
	mu   sync.Mutex
	list []*IntervalNotifier
}

// InsertNotifier models mmu_interval_notifier_insert in mm/mmu_notifier.c: the
// notifier is told of the n bytes from start on.
func (m *AddressSpace) InsertNotifier(in *IntervalNotifier, start Addr, n uint64) {
	in.mm, in.start, in.end = m, start, start+Addr(n)
	in.over.L = &in.mu
	m.mmapLock.DownWrite(nil) // nothing changes half-way
	defer m.mmapLock.UpWrite(nil)
	m.notifiers.mu.Lock()
	defer m.notifiers.mu.Unlock()
	m.notifiers.list = append(m.notifiers.list, in)
	m.notifiers.n.Add(1)
}

// Remove models mmu_interval_notifier_remove in mm/mmu_notifier.c: when it
// returns Invalidate is not called any more, nor under way.
func (in *IntervalNotifier) Remove() {
	s := &in.mm.notifiers
	s.mu.Lock()
	kept := s.list[:0]
	for _, other := range s.list {
		if other != in {
			kept = append(kept, other)
		}
	}
	clear(s.list[len(kept):])
	s.n.Add(int32(len(kept) - len(s.list)))
	s.list = kept
	s.mu.Unlock()
	in.mu.Lock()
	defer in.mu.Unlock()
	in.wait()
}

// wait waits until no invalidation is under way. The caller holds mu.
func (in *IntervalNotifier) wait() {
	for in.active > 0 {
		in.over.Wait()
	}
}

// ReadBegin models mmu_interval_read_begin in mm/mmu_notifier.c: it waits for the
// end of an invalidation, and returns what ReadRetry is asked with.
func (in *IntervalNotifier) ReadBegin() uint64 {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.wait()
	return in.seq
}

// ReadRetry models mmu_interval_read_retry in include/linux/mmu_notifier.h: it is
// true if what was found since ReadBegin may be outdated. The caller holds the
// lock that its Invalidate takes.
func (in *IntervalNotifier) ReadRetry(seq uint64) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.seq != seq
}

// invalidating models mmu_notifier_invalidate_range_start and _end in
// include/linux/mmu_notifier.h around change, which changes what is mapped from
// start to end. The caller holds the mmap_lock, and not the ptl.
func (m *AddressSpace) invalidating(t *trace.Task, start, end Addr, change func()) {
	told := m.tell(t, start, end)
	change()
	for _, in := range told {
		in.mu.Lock()
		if in.active--; in.active == 0 {
			in.over.Broadcast()
		}
		in.mu.Unlock()
	}
}

// tell tells the notifiers of a range, and returns them.
func (m *AddressSpace) tell(t *trace.Task, start, end Addr) (told []*IntervalNotifier) {
	s := &m.notifiers
	if s.n.Load() == 0 {
		return nil
	}
	s.mu.Lock()
	for _, in := range s.list {
		if in.start < end && start < in.end {
			in.mu.Lock()
			in.active++
			in.seq++
			in.mu.Unlock()
			told = append(told, in)
		}
	}
	s.mu.Unlock()
	for _, in := range told {
		in.Invalidate(t, start, end)
	}
	return told
}
