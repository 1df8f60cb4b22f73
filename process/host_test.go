package process_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
)

// someHost is a kernel with one file behind one descriptor.
type someHost struct {
	fd    int
	file  *process.File
	calls []string
	cred  process.Cred
}

var _ process.Host = (*someHost)(nil)

func (h *someHost) said(what string) { h.calls = append(h.calls, what) }

func (h *someHost) Fget(_ *process.Task, fd int) *process.File {
	h.said("fget")
	if fd == h.fd && h.file != nil && h.file.GetNotZero() {
		return h.file
	}
	return nil
}

func (h *someHost) GetUnusedFD(_ *process.Task, cloexec bool) (int, error) {
	h.said("get")
	if !cloexec {
		return -1, syscall.EMFILE
	}
	return 41, nil
}

func (h *someHost) PutUnusedFD(*process.Task, int) { h.said("put") }

func (h *someHost) FDInstall(_ *process.Task, fd int, f *process.File) {
	h.said("install")
	h.fd, h.file = fd, f
}

func (h *someHost) Cred() *process.Cred {
	h.said("cred")
	return &h.cred
}

func (h *someHost) Rlimit(r process.Resource) process.Rlimit {
	h.said("rlimit")
	return process.Rlimit{Cur: uint64(r), Max: 100}
}

// TestHost asks a live process's kernel for all that is not here.
func TestHost(t *testing.T) {
	h := &someHost{fd: 7, cred: process.Cred{UID: 5, Effective: 9}}
	p := process.New(nil, process.Options{PID: 1234, Host: h})
	task := p.MainTask()
	ioctls := 0
	f, err := process.NewFile(task, &process.FileOps{Ioctl: func(*process.Task, *process.File, uint32, addr) (int64, error) {
		ioctls++
		return 3, nil
	}}, nil, syscall.O_RDWR)
	require.NoError(t, err)
	h.calls = nil

	fd, err := task.GetUnusedFD(true)
	require.NoError(t, err)
	require.Equal(t, 41, fd)
	_, err = task.GetUnusedFD(false)
	require.ErrorIs(t, err, syscall.EMFILE)
	task.FDInstall(fd, f)
	task.PutUnusedFD(40)
	require.Equal(t, []string{"get", "get", "install", "put"}, h.calls)

	n, err := task.Ioctl(41, 1, 0)
	require.NoError(t, err)
	require.Equal(t, int64(3), n)
	require.Equal(t, 1, ioctls)
	_, err = task.Ioctl(7, 1, 0)
	require.Error(t, err, "a descriptor that the host has no file of")
	require.Equal(t, 1, ioctls)

	require.Equal(t, uint32(5), task.Cred().UID)
	h.cred.UID = 6
	require.Equal(t, uint32(6), task.Cred().UID, "as it is now")
	require.Equal(t, uint64(process.RLIMIT_MEMLOCK), task.Getrlimit(process.RLIMIT_MEMLOCK).Cur)

	// The host closes its descriptors; the exit here leaves its file alone.
	task.Exit()
	require.True(t, f.GetNotZero())
	f.Put(task)
	f.Put(task)
}

// TestTell: who is told hears of every wake-up, the last one who asked alone, also
// when nobody waits, and may call the queue.
func TestTell(t *testing.T) {
	var q process.WaitQueue
	q.WakeUp(nil) // nobody is told
	first, second := 0, 0
	q.Tell(func() { first++ })
	q.WakeUp(nil)
	q.WakeUp(nil)
	q.Tell(func() {
		second++
		q.Tell(nil)
	})
	q.WakeUp(nil)
	q.WakeUp(nil)
	require.Equal(t, []int{2, 1}, []int{first, second})
}

// TestTellWakes: that somebody is told does not keep others from waking.
func TestTellWakes(t *testing.T) {
	b, n := newBlocking()
	told := make(chan struct{}, 8)
	b.queue.Tell(func() { told <- struct{}{} })
	p := process.New(n, process.Options{})
	fd := open(t, p, 0)
	got := background(func() (int64, error) { return p.NewTask(nil).Read(fd, 0, 1) })
	b.wait()
	b.ready.Store(true)
	b.queue.WakeUp(nil)
	require.Equal(t, answer{1, nil}, <-got)
	<-told
}
