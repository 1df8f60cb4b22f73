package process

import (
	"sync"
	"sync/atomic"
	"syscall"

	"uverbsim/rule"
	"uverbsim/trace"
)

// fdTable are the descriptors of a process: struct files_struct of
// include/linux/fdtable.h.
type fdTable struct {
	// fd has the files. It is read without the lock and replaced when it grows.
	fd atomic.Pointer[[]atomic.Pointer[File]]

	mu      sync.Mutex // file_lock
	open    []bool     // taken, though a file may not be installed yet
	cloexec []bool
	next    int // no lower one is free
}

// slots returns the files; the slice may be empty.
func (d *fdTable) slots() []atomic.Pointer[File] {
	if s := d.fd.Load(); s != nil {
		return *s
	}
	return nil
}

// lookup returns the file of a descriptor, or nil.
func (d *fdTable) lookup(fd int) *File {
	if s := d.slots(); fd >= 0 && fd < len(s) {
		return s[fd].Load()
	}
	return nil
}

// alloc models alloc_fd in fs/file.c: it takes the lowest free descriptor that
// is not below start. It returns -1 if there is none below end.
func (d *fdTable) alloc(start int, end uint64, cloexec bool) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	fd := max(start, d.next)
	for fd < len(d.open) && d.open[fd] {
		fd++
	}
	if uint64(fd) >= end {
		return -1
	}
	d.grow(fd)
	if start <= d.next {
		d.next = fd + 1
	}
	d.open[fd], d.cloexec[fd] = true, cloexec
	return fd
}

// grow models expand_files in fs/file.c. The caller holds the lock.
func (d *fdTable) grow(fd int) {
	n := len(d.open)
	if fd < n {
		return
	}
	n = max(64, 2*n, fd+1)
	slots := make([]atomic.Pointer[File], n)
	for i, old := 0, d.slots(); i < len(old); i++ {
		slots[i].Store(old[i].Load())
	}
	d.fd.Store(&slots)
	d.open = append(d.open, make([]bool, n-len(d.open))...)
	d.cloexec = append(d.cloexec, make([]bool, n-len(d.cloexec))...)
}

// free gives a descriptor back that has no file. The caller holds the lock.
func (d *fdTable) free(fd int) {
	d.open[fd] = false
	d.next = min(d.next, fd)
}

// take removes the file of a descriptor and gives the descriptor back. It returns
// nil if there is no file.
func (d *fdTable) take(fd int) *File {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.lookup(fd)
	if f != nil {
		d.slots()[fd].Store(nil)
		d.free(fd)
	}
	return f
}

// installed returns the descriptors that have a file, in order; with
// cloexecOnly those that exec closes.
func (d *fdTable) installed(cloexecOnly bool) (fds []int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for fd := range d.slots() {
		if d.lookup(fd) != nil && (!cloexecOnly || d.cloexec[fd]) {
			fds = append(fds, fd)
		}
	}
	return fds
}

// dup models dup_fd in fs/file.c: it fills the table of a child. Descriptors
// without a file are free there.
func (d *fdTable) dup(from *fdTable) {
	from.mu.Lock()
	defer from.mu.Unlock()
	for fd := range from.slots() {
		f := from.lookup(fd)
		if f == nil {
			continue
		}
		d.grow(fd)
		d.slots()[fd].Store(f.Get())
		d.open[fd], d.cloexec[fd] = true, from.cloexec[fd]
	}
	for d.next < len(d.open) && d.open[d.next] {
		d.next++
	}
}

// atSlot is a scheduling point at the place of a descriptor, which is looked at
// without the lock.
func (t *Task) atSlot(verb string, e trace.Effect, fd int) {
	if t.Trace != nil { // each call comes by here: this much of it is inlined
		t.pointAtSlot(verb, e, fd)
	}
}

func (t *Task) pointAtSlot(verb string, e trace.Effect, fd int) {
	if t.Trace.Scheduled() {
		t.Trace.PointAt(&trace.Point{Kind: trace.Handle, Verb: verb, Name: "fd", Access: t.files.slot(e, fd)})
	}
}

// inTable is the scheduling point of a section under file_lock that changes which
// descriptors are free and, unless fd is -1, what that one has.
func (t *Task) inTable(verb string, fd int) {
	if !t.Trace.Scheduled() {
		return
	}
	p := trace.Point{Kind: trace.Handle, Verb: verb, Name: "fd", Access: trace.Access{Effect: trace.Writes, On: &t.files.next}}
	if fd >= 0 {
		p.Also = t.files.slot(trace.Writes, fd)
	}
	t.Trace.PointAt(&p)
}

func (d *fdTable) slot(e trace.Effect, fd int) trace.Access {
	return trace.Access{Effect: e, On: &d.fd, N: uint64(fd)}
}

// fdget models fdget in include/linux/file.h: it returns the file of a descriptor
// for as long as the system call lasts, or nil. The call borrows the reference
// that the descriptor has, so threads that call on one file share no counter. Who
// takes the file out of the table hands the borrowers references of their own
// (lend).
//
// Nobody is left without. A borrower notes the file and then looks at the table
// again; a taker empties the table and then looks at the notes. Go's atomic
// operations have one order that all see, so either the borrower finds that it came
// too late, or the taker finds its note. Which of several descriptors of the file it
// was borrowed by makes no difference: whatever taker comes first turns the note into
// a reference, and it is the one who clears the note that says what became of it.
//
// A call of the task that comes while another one borrows takes a reference. So a
// task's calls on a file have as many references as they are, less the one that
// borrows, if one does.
func (t *Task) fdget(fd int) *File {
	if t.host == nil {
		t.atSlot("look up", trace.Reads, fd)
		f := t.files.lookup(fd)
		if f == nil {
			return nil
		}
		t.Trace.Point(trace.Ref, "fdget", "file", trace.Writes, &t.borrowed)
		if t.borrowed.CompareAndSwap(0, f.id) {
			// Whoever takes the file out of the table looks for borrowers after
			// that: it sees this one, or this one sees that it came too late.
			t.atSlot("look again", trace.Reads, fd)
			if t.files.lookup(fd) == f {
				return f
			}
			t.fdput(f)
		}
	}
	return t.Fget(fd)
}

// fdput models fdput in include/linux/file.h. Of two calls of one task on one
// file it does not matter which has borrowed it and which has a reference.
func (t *Task) fdput(f *File) {
	t.Trace.Point(trace.Ref, "fdput", "file", trace.Writes, &t.borrowed)
	if !t.borrowed.CompareAndSwap(f.id, 0) {
		f.Put(t)
	}
}

// lend gives every call that has borrowed the file from a descriptor of the
// process a reference. The caller has taken the file out of the table, with the
// reference that the descriptor had; so there is one as long as this lasts. A thread
// that is not among the tasks yet begins its first call with an emptied table.
func (t *Task) lend(f *File) {
	t.lockTasks()
	defer t.unlockTasks()
	for _, other := range t.tasks {
		t.Trace.Point(trace.Ref, "lend, look", "file", trace.Reads, &other.borrowed)
		if other.borrowed.Load() != f.id {
			continue
		}
		f.Get()
		t.Trace.Point(trace.Ref, "lend", "file", trace.Writes, &other.borrowed)
		if !other.borrowed.CompareAndSwap(f.id, 0) {
			f.refs.Add(-1) // the call was over; the caller's is not the last one
		}
	}
}

func (t *Task) lockTasks() {
	if t.Trace.Scheduled() {
		t.Trace.PointAt(&trace.Point{Kind: trace.Lock, Verb: "lock", Name: "tasks", Access: trace.Access{Effect: trace.Writes, On: &t.Process.mu},
			Ready: func() bool {
				if !t.mu.TryLock() {
					return false
				}
				t.mu.Unlock()
				return true
			}})
	}
	t.mu.Lock()
}

func (t *Task) unlockTasks() {
	if t.Trace.Scheduled() {
		t.Trace.PointAt(&trace.Point{Kind: trace.Unlock, Verb: "unlock", Name: "tasks",
			Access: trace.Access{Effect: trace.Writes, On: &t.Process.mu}, Frees: true, Quiet: true})
	}
	t.mu.Unlock()
}

// take removes the file of a descriptor and gives the descriptor back:
// file_close_fd_locked in fs/file.c. It returns nil if there is no file, and else
// the reference that the descriptor had.
func (t *Task) take(fd int) *File {
	t.inTable("close", fd)
	f := t.files.take(fd)
	if f != nil {
		t.lend(f)
	}
	return f
}

// Fget models fget in fs/file.c: it returns the file of a descriptor with one
// more reference, or nil. A descriptor that is reserved has no file yet. It is
// taken without a lock: a file whose last reference goes in between has left
// the table, which is looked at again.
func (t *Task) Fget(fd int) *File {
	if t.host != nil {
		return t.host.Fget(t, fd)
	}
	for {
		t.atSlot("look up", trace.Reads, fd)
		f := t.files.lookup(fd)
		if f == nil || f.GetNotZero() {
			return f
		}
	}
}

// GetUnusedFD models get_unused_fd_flags in fs/file.c: it reserves the lowest
// free descriptor. Its error is the rule fd/none-free.
func (t *Task) GetUnusedFD(cloexec bool) (int, error) {
	if t.Trace.Fail(trace.FD, "get_unused_fd_flags") {
		return -1, rule.FDNoneFree
	}
	fd, err := t.allocFD(cloexec)
	if err != nil {
		return -1, err
	}
	t.Trace.Note(trace.Handle, "fd", uint64(fd), 1, 0)
	return fd, nil
}

func (t *Task) allocFD(cloexec bool) (int, error) {
	if t.host != nil {
		return t.host.GetUnusedFD(t, cloexec)
	}
	t.inTable("reserve", -1)
	fd := t.files.alloc(0, t.Rlimit(RLIMIT_NOFILE), cloexec)
	if fd < 0 {
		return -1, rule.FDNoneFree
	}
	return fd, nil
}

// PutUnusedFD models put_unused_fd in fs/file.c: it gives a reserved descriptor
// back.
func (t *Task) PutUnusedFD(fd int) {
	if t.host != nil {
		t.host.PutUnusedFD(t, fd)
	} else {
		t.inTable("give back", fd)
		t.files.mu.Lock()
		t.files.free(fd)
		t.files.mu.Unlock()
	}
	t.Trace.Note(trace.Handle, "fd", uint64(fd), 0, 0)
}

// FDInstall models fd_install in fs/file.c: a reserved descriptor gets its
// file, whose reference it takes over.
func (t *Task) FDInstall(fd int, f *File) {
	if t.host != nil {
		t.host.FDInstall(t, fd, f)
		return
	}
	t.inTable("install", fd)
	t.files.mu.Lock()
	defer t.files.mu.Unlock()
	if !t.files.open[fd] || t.files.lookup(fd) != nil {
		panic("process: a file was installed at a descriptor that is not reserved")
	}
	t.files.slots()[fd].Store(f)
}

// FDs returns the descriptors that are open, in order: /proc/self/fd.
func (p *Process) FDs() []int { return p.files.installed(false) }

// FDCount returns how many descriptors are open.
func (p *Process) FDCount() int { return len(p.FDs()) }

// Close models close(2) in fs/open.c. Its error is the rule fd/bad.
func (t *Task) Close(fd int) error {
	t.enter()
	defer t.leave()
	f := t.take(fd)
	if f == nil {
		return rule.FDBad
	}
	t.Trace.Note(trace.Handle, "fd", uint64(fd), 0, 0)
	f.Put(t)
	return nil
}

// Dup models dup(2) in fs/file.c. Its errors are the rules fd/bad and
// fd/none-free.
func (t *Task) Dup(fd int) (int, error) {
	t.enter()
	defer t.leave()
	f := t.Fget(fd)
	if f == nil {
		return -1, rule.FDBad
	}
	to, err := t.GetUnusedFD(false)
	if err != nil {
		f.Put(t)
		return -1, err
	}
	t.FDInstall(to, f)
	return to, nil
}

// FcntlDupFD models fcntl(2) with F_DUPFD or F_DUPFD_CLOEXEC: f_dupfd in
// fs/file.c. The new descriptor is not below min. Its errors are the rules
// fd/bad, fd/dupfd-min and fd/none-free.
func (t *Task) FcntlDupFD(fd, min int, cloexec bool) (int, error) {
	t.enter()
	defer t.leave()
	f := t.Fget(fd)
	if f == nil {
		return -1, rule.FDBad
	}
	nofile := t.Rlimit(RLIMIT_NOFILE)
	if min < 0 || uint64(min) >= nofile {
		f.Put(t)
		return -1, rule.FDDupfdMin
	}
	t.inTable("reserve", -1)
	to := t.files.alloc(min, nofile, cloexec)
	if to < 0 {
		f.Put(t)
		return -1, rule.FDNoneFree
	}
	t.Trace.Note(trace.Handle, "fd", uint64(to), 1, 0)
	t.FDInstall(to, f)
	return to, nil
}

// Dup2 models dup2(2) in fs/file.c. Its errors are the rules fd/bad,
// fd/dup-target and fd/dup-busy.
func (t *Task) Dup2(fd, to int) (int, error) {
	t.enter()
	defer t.leave()
	if fd != to {
		return t.dupTo(fd, to, false)
	}
	if t.files.lookup(fd) == nil {
		return -1, rule.FDBad
	}
	return fd, nil
}

// Dup3 models dup3(2): ksys_dup3 in fs/file.c. Its errors are the rules
// fd/dup3-flags, fd/dup3-same, fd/dup-target, fd/bad and fd/dup-busy.
func (t *Task) Dup3(fd, to, flags int) (int, error) {
	t.enter()
	defer t.leave()
	switch {
	case flags&^syscall.O_CLOEXEC != 0:
		return -1, rule.FDDup3Flags
	case fd == to:
		return -1, rule.FDDup3Same
	}
	return t.dupTo(fd, to, flags != 0)
}

// dupTo models do_dup2 in fs/file.c: what the target had is closed.
func (t *Task) dupTo(fd, to int, cloexec bool) (int, error) {
	if to < 0 || uint64(to) >= t.Rlimit(RLIMIT_NOFILE) {
		return -1, rule.FDDupTarget
	}
	d := &t.files
	t.inTable("dup2", to)
	d.mu.Lock()
	f, old := d.lookup(fd), d.lookup(to)
	switch {
	case f == nil:
		d.mu.Unlock()
		return -1, rule.FDBad
	case old == nil && to < len(d.open) && d.open[to]:
		d.mu.Unlock()
		return -1, rule.FDDupBusy
	}
	d.grow(to)
	d.slots()[to].Store(f.Get())
	d.open[to], d.cloexec[to] = true, cloexec
	d.mu.Unlock()
	t.Trace.Note(trace.Handle, "fd", uint64(to), 1, 0)
	if old != nil {
		t.lend(old)
		old.Put(t)
	}
	return to, nil
}

// SendFD models the passing of a descriptor over a Unix socket: scm_fp_copy in
// net/core/scm.c here and receive_fd in fs/file.c there. It returns the
// descriptor that the other process gets for the same open file. Its errors are
// the rules fd/bad and fd/none-free.
func (t *Task) SendFD(fd int, to *Task) (int, error) {
	t.enter()
	defer t.leave()
	f := t.Fget(fd)
	if f == nil {
		return -1, rule.FDBad
	}
	got, err := to.GetUnusedFD(false)
	if err != nil {
		f.Put(t)
		return -1, err
	}
	to.FDInstall(got, f)
	return got, nil
}
