package process_test

import (
	"io"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// TestDmaBuf: what lies in it is seen by its exporter, by importers, and through
// mappings, wherever it is moved.
func TestDmaBuf(t *testing.T) {
	const ps = copyuser.PageSize
	p := process.New(nil, process.Options{})
	task := p.MainTask()
	b := process.NewDmaBuf(2*ps + 1)
	require.EqualValues(t, 3*ps, b.Size())
	fd, err := b.Export(task, syscall.O_RDWR|syscall.O_CLOEXEC)
	require.NoError(t, err)
	got, f, err := task.GetDmaBuf(fd)
	require.NoError(t, err)
	require.Same(t, b, got)
	f.Put(task)

	at, err := task.Mmap(fd, 2*ps, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED, ps)
	require.NoError(t, err)
	_, err = task.Mmap(fd, 2*ps, syscall.PROT_READ, syscall.MAP_SHARED, 2*ps)
	require.ErrorIs(t, err, rule.DmabufMmapRange)
	require.NoError(t, task.Close(fd))
	child, err := p.Fork()
	require.NoError(t, err)
	require.NoError(t, task.Munmap(at, ps), "the rest is followed by itself")
	at += ps

	moves := 0
	var a *process.DmaBufAttachment
	a = b.Attach(nil, func(*trace.Task) { moves++; a.Unmap() })
	for round := range byte(3) {
		require.True(t, task.Mem.Store(at, []byte{round + 1}))
		a.Lock(nil)
		pages := a.Map()
		a.Unlock(nil)
		attached, mapped := b.Attachments()
		require.Equal(t, [2]int{1, 1}, [2]int{attached, mapped})
		pages[2].Store(1, []byte{round + 10})
		var seen [2]byte
		_, err := b.ReadAt(seen[:], 2*ps)
		require.NoError(t, err)
		require.Equal(t, [2]byte{round + 1, round + 10}, seen)
		require.True(t, b.Move(nil))
		require.True(t, child.MainTask().Mem.Load(at, seen[:]))
		require.Equal(t, [2]byte{round + 1, round + 10}, seen)
	}
	require.Equal(t, 3, moves)
	_, err = b.WriteAt([]byte{1, 2}, 3*ps-1)
	require.ErrorIs(t, err, io.ErrShortWrite)

	a.Lock(nil)
	a.Pin()
	a.Pin()
	a.Unlock(nil)
	require.False(t, b.Move(nil))
	a.Detach(nil)
	require.True(t, b.Move(nil))
	require.Equal(t, 3, moves, "nobody is told any more")
	child.Exit()
	p.Exit()
}

// TestGetDmaBuf: descriptors that are none of a dma-buf.
func TestGetDmaBuf(t *testing.T) {
	p := process.New(vfs(func(t *process.Task, path string, f int) (*process.File, error) {
		return process.NewFile(t, &process.FileOps{}, path, f)
	}), process.Options{})
	_, _, err := p.MainTask().GetDmaBuf(3)
	require.ErrorIs(t, err, rule.DmabufBad)
	fd, err := p.Open("/dev/x", syscall.O_RDWR)
	require.NoError(t, err)
	_, _, err = p.MainTask().GetDmaBuf(fd)
	require.ErrorIs(t, err, rule.DmabufForeign)
}
