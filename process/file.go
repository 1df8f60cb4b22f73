package process

import (
	"sync/atomic"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/trace"
)

// FileOps are the operations of an open file: struct file_operations of
// include/linux/fs.h. Any may be nil. The address of a FileOps is its identity,
// by which the kernel recognizes files of a kind.
type FileOps struct {
	// Read and Write have a buffer of n bytes that lies in the user's half of
	// the address space. They return how many bytes they took.
	Read  func(t *Task, f *File, buf copyuser.Addr, n uint64) (int64, error)
	Write func(t *Task, f *File, buf copyuser.Addr, n uint64) (int64, error)
	// Ioctl is unlocked_ioctl. The user gets ENOTTY for its ENOIOCTLCMD.
	Ioctl func(t *Task, f *File, cmd uint32, arg copyuser.Addr) (int64, error)
	// Poll returns what the file is ready for, POLL….
	Poll func(t *Task, f *File) uint16
	// Wait returns the queue that is woken when the answer of Poll may have
	// changed: what poll hands to poll_wait. Without it poll sees no change.
	Wait func(f *File) *WaitQueue
	// Mmap fills a new area. The mmap_lock is held for writing.
	Mmap func(t *Task, f *File, a *copyuser.Area) error
	// Fasync turns the sending of SIGIO on or off.
	Fasync func(t *Task, f *File, on bool) error
	// Release is called once, when the last reference is gone.
	Release func(t *Task, f *File)
}

// File is an open file: struct file of include/linux/fs.h. Descriptors,
// mappings and running system calls hold references to it.
type File struct {
	Ops     *FileOps
	Private any   // private_data
	Cred    *Cred // f_cred: of whoever opened it

	id    uint64 // that no other file has; not 0
	flags atomic.Int32
	refs  atomic.Int64
}

var lastFile atomic.Uint64

// accessMode models OPEN_FMODE in include/linux/fs.h.
func accessMode(flags int) (read, write bool) {
	switch flags & syscall.O_ACCMODE {
	case syscall.O_RDONLY:
		return true, false
	case syscall.O_WRONLY:
		return false, true
	case syscall.O_RDWR:
		return true, true
	}
	return false, false
}

// NewFile returns an open file with one reference and the caller's credentials,
// for the use of a VFS: alloc_empty_file in fs/file_table.c. Flags are those of
// open(2). Its error is the rule file/no-memory.
func NewFile(t *Task, ops *FileOps, private any, flags int) (*File, error) {
	if t.Trace.Fail(trace.File, "alloc_empty_file") {
		return nil, rule.FileAlloc
	}
	return newFile(t, ops, private, flags), nil
}

// NewAnonFile models anon_inode_getfile in fs/anon_inodes.c: an open file that
// no path names, with one reference. Of the flags, the access mode and
// O_NONBLOCK count. Its error is the rule file/no-memory.
func NewAnonFile(t *Task, ops *FileOps, private any, flags int) (*File, error) {
	if t.Trace.Fail(trace.File, "anon_inode_getfile") {
		return nil, rule.FileAlloc
	}
	return newFile(t, ops, private, flags&(syscall.O_ACCMODE|syscall.O_NONBLOCK)), nil
}

func newFile(t *Task, ops *FileOps, private any, flags int) *File {
	f := &File{Ops: ops, Private: private, Cred: t.Cred(), id: lastFile.Add(1)}
	const opening = syscall.O_CREAT | syscall.O_EXCL | syscall.O_NOCTTY | syscall.O_TRUNC | syscall.O_CLOEXEC
	f.flags.Store(int32(flags &^ opening))
	f.refs.Store(1)
	return f
}

// Flags returns the O_* flags: f_flags.
func (f *File) Flags() int { return int(f.flags.Load()) }

// Nonblock reports whether O_NONBLOCK is set.
func (f *File) Nonblock() bool { return f.Flags()&syscall.O_NONBLOCK != 0 }

func (f *File) setFlag(flag int32, on bool) {
	if on {
		f.flags.Or(flag)
	} else {
		f.flags.And(^flag)
	}
}

// Readable reports whether the file was opened for reading: FMODE_READ.
func (f *File) Readable() bool {
	r, _ := accessMode(f.Flags())
	return r
}

// Writable reports whether the file was opened for writing: FMODE_WRITE.
func (f *File) Writable() bool {
	_, w := accessMode(f.Flags())
	return w
}

// Refs models file_count in include/linux/fs.h.
func (f *File) Refs() int64 { return f.refs.Load() }

// Get models get_file in include/linux/fs.h: it takes one more reference of
// someone who holds one, and returns f.
func (f *File) Get() *File {
	f.refs.Add(1)
	return f
}

// GetNotZero models get_file_rcu: it takes a reference unless the last one is
// gone already.
func (f *File) GetNotZero() bool {
	for {
		n := f.refs.Load()
		if n == 0 {
			return false
		}
		if f.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// Put models fput in fs/file_table.c: it gives a reference back. When the last
// one goes, the file is released: at once by a task that is in no system call,
// otherwise when the task's system call returns. T may be nil.
func (f *File) Put(t *Task) {
	if t != nil {
		t.Trace.Point(trace.Ref, "fput", "file", trace.Drops, &f.refs)
	}
	n := f.refs.Add(-1)
	if n == 0 && t != nil {
		t.Trace.Turned(trace.Writes)
	}
	switch {
	case n > 0:
	case n < 0:
		panic("process: a file was put once too often")
	case t != nil && t.depth.Load() > 0:
		t.taskWorkAdd(f)
	default:
		f.release(t)
	}
}

// release models __fput in fs/file_table.c.
func (f *File) release(t *Task) {
	if f.Flags()&syscall.O_ASYNC != 0 && f.Ops.Fasync != nil {
		_ = f.Ops.Fasync(t, f, false)
	}
	if f.Ops.Release != nil {
		f.Ops.Release(t, f)
	}
}
