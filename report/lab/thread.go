package lab

import (
	"time"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// thread is a thread of the program, which counts its system calls and what it
// does to its memory by itself.
type thread struct {
	*process.Task
	calls int
	user  Accesses
	word  [8]byte // what is loaded and stored goes through it
}

var _ verbs.System = (*thread)(nil)

// ioctl makes an RDMA_VERBS_IOCTL.
func (t *thread) ioctl(fd int, r *request) error {
	_, err := t.Ioctl(fd, spec.RDMA_VERBS_IOCTL, r.at)
	return err
}

// single makes calls one by one.
func (t *thread) single(fd int, calls []*request) error {
	for _, r := range calls {
		if err := t.ioctl(fd, r); err != nil {
			return err
		}
	}
	return nil
}

// Open implements verbs.System.
func (t *thread) Open(path string, flags int) (int, error) {
	t.calls++
	return t.Task.Open(path, flags)
}

// Close implements verbs.System.
func (t *thread) Close(fd int) error {
	t.calls++
	return t.Task.Close(fd)
}

// Ioctl implements verbs.System.
func (t *thread) Ioctl(fd int, cmd uint32, arg copyuser.Addr) (int64, error) {
	t.calls++
	return t.Task.Ioctl(fd, cmd, arg)
}

// Read implements verbs.System.
func (t *thread) Read(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	t.calls++
	return t.Task.Read(fd, buf, n)
}

// Write implements verbs.System.
func (t *thread) Write(fd int, buf copyuser.Addr, n uint64) (int64, error) {
	t.calls++
	return t.Task.Write(fd, buf, n)
}

// Poll implements verbs.System.
func (t *thread) Poll(fd int, timeout time.Duration) (uint16, error) {
	t.calls++
	return t.Task.Poll(fd, timeout)
}

// Mmap implements verbs.System.
func (t *thread) Mmap(fd int, n uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	t.calls++
	return t.Task.Mmap(fd, n, prot, flags, off)
}

// Munmap implements verbs.System.
func (t *thread) Munmap(at copyuser.Addr, n uint64) error {
	t.calls++
	return t.Task.Munmap(at, n)
}

// Load implements verbs.System.
func (t *thread) Load(from copyuser.Addr, dst []byte) bool {
	t.user.Loads++
	t.user.LoadedBytes += len(dst)
	return t.Task.Load(from, dst)
}

// Store implements verbs.System.
func (t *thread) Store(to copyuser.Addr, src []byte) bool {
	t.user.Stores++
	t.user.StoredBytes += len(src)
	return t.Task.Store(to, src)
}
