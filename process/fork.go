package process

import (
	"uverbsim/copyuser"
)

// Fork models fork(2): copy_process in kernel/fork.c. The child has one task,
// which reports to where t reports; credentials that say the same and are its
// own; the same open files; a copy of the memory; the same limits, control group
// and network namespace. Its error is the rule fork/no-memory.
func (t *Task) Fork() (*Process, error) {
	t.enter()
	defer t.leave()
	cred, limits := *t.Cred(), *t.limits.Load()
	mem, err := t.Mem.Fork(t)
	if err != nil {
		return nil, err
	}
	child := New(t.vfs, Options{Cred: &cred, Limits: &limits, Cgroup: t.Cgroup(), NetNS: t.NetNS(), Trace: t.Trace, Mem: mem})
	child.files.dup(&t.files)
	return child, nil
}

// Exec models execve(2): begin_new_exec in fs/exec.c. Descriptors that are
// marked for it are closed, the memory is new and empty, and so are the
// credentials. No other task of the process may be in a system call.
func (t *Task) Exec() error {
	t.enter()
	defer t.leave()
	for _, fd := range t.files.installed(true) {
		if f := t.take(fd); f != nil {
			f.Put(t)
		}
	}
	old := t.Mem
	t.Process.Mem = copyuser.NewAddressSpace()
	old.Mmput(t)
	t.execCred()
	return nil
}

// Exit models exit_group(2): do_exit in kernel/exit.c. Waits of other threads
// are interrupted, and when the last system call of the process has returned,
// its memory goes, then its descriptors in rising order; then the files that
// nobody else holds are released, the last first. A second Exit does nothing.
func (t *Task) Exit() {
	t.enter()
	if t.exiting.Swap(true) {
		t.leave()
		return
	}
	close(t.killed)
	t.awaitOthers()
	t.Mem.Mmput(t)
	for _, fd := range t.FDs() {
		if f := t.take(fd); f != nil {
			f.Put(t)
		}
	}
	t.leave()
}

// awaitOthers returns when no system call but this one is under way.
func (t *Task) awaitOthers() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.busy() {
		t.left.Wait()
	}
}

func (t *Task) busy() bool {
	for _, other := range t.tasks {
		calls := other.depth.Load()
		if other == t {
			calls--
		}
		if calls > 0 {
			return true
		}
	}
	return false
}
