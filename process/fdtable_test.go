package process_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/process"
	"uverbsim/rule"
)

func nofile(t *testing.T, p *process.Process, n uint64) {
	t.Helper()
	require.NoError(t, p.SetRlimit(process.RLIMIT_NOFILE, process.Rlimit{Cur: n, Max: n}))
}

// TestLowestFree: a descriptor is the lowest that is free.
func TestLowestFree(t *testing.T) {
	p := process.New(newNode(process.FileOps{}), process.Options{})
	for want := range 200 {
		require.Equal(t, want, open(t, p, syscall.O_RDWR))
	}
	for _, fd := range []int{150, 3, 77} {
		require.NoError(t, p.Close(fd))
	}
	require.Equal(t, 197, p.FDCount())
	require.Equal(t, 3, open(t, p, 0))
	require.Equal(t, 77, open(t, p, 0))
	require.Equal(t, 150, open(t, p, 0))
	require.Equal(t, 200, open(t, p, 0))
}

// TestReserved: a reserved descriptor is taken, but has no file until one is
// installed.
func TestReserved(t *testing.T) {
	p := process.New(newNode(process.FileOps{}), process.Options{})
	task := p.MainTask()
	fd, err := task.GetUnusedFD(true)
	require.NoError(t, err)
	require.Zero(t, fd)
	require.Nil(t, task.Fget(fd))
	require.ErrorIs(t, p.Close(fd), rule.FDBad)
	_, err = p.Dup(fd)
	require.ErrorIs(t, err, rule.FDBad)
	require.Zero(t, p.FDCount())
	require.Equal(t, 1, open(t, p, 0))
	_, err = p.Dup2(1, fd)
	require.ErrorIs(t, err, rule.FDDupBusy)

	task.PutUnusedFD(fd)
	require.Equal(t, 0, open(t, p, 0))

	fd, err = task.GetUnusedFD(false)
	require.NoError(t, err)
	f, err := process.NewAnonFile(task, &process.FileOps{}, "mine", syscall.O_RDWR)
	require.NoError(t, err)
	task.FDInstall(fd, f)
	require.Equal(t, []int{0, 1, 2}, p.FDs())
	got := task.Fget(fd)
	require.Same(t, f, got)
	require.Equal(t, int64(2), f.Refs())
	got.Put(task)
	require.Panics(t, func() { task.FDInstall(fd, f) })
	require.Panics(t, func() { task.FDInstall(fd+1, f) })
}

func TestNoFile(t *testing.T) {
	n := newNode(process.FileOps{})
	p := process.New(n, process.Options{})
	nofile(t, p, 2)
	open(t, p, 0)
	fd := open(t, p, 0)
	_, err := p.Open("dev", 0)
	require.ErrorIs(t, err, syscall.EMFILE)
	require.Equal(t, 2, n.opened, "the descriptor comes first")
	_, err = p.Open("none", 0)
	require.ErrorIs(t, err, syscall.EMFILE)
	_, err = p.Dup(fd)
	require.ErrorIs(t, err, rule.FDNoneFree)
	_, err = p.FcntlDupFD(fd, 1, false)
	require.ErrorIs(t, err, rule.FDNoneFree)
	_, err = p.FcntlDupFD(fd, 2, false)
	require.ErrorIs(t, err, rule.FDDupfdMin)
	_, err = p.Dup2(fd, 2)
	require.ErrorIs(t, err, rule.FDDupTarget)
	require.NoError(t, p.Close(fd))
	_, err = p.Open("none", 0)
	require.ErrorIs(t, err, syscall.ENOENT)
	require.Equal(t, fd, open(t, p, 0), "the failed open gave its descriptor back")
	require.Equal(t, []any{2}, n.released, "no other reference was lost")

	p = withFailing(n, "get_unused_fd_flags")
	_, err = p.Open("dev", 0)
	require.ErrorIs(t, err, rule.FDNoneFree)
}

func TestBadFD(t *testing.T) {
	p := process.New(newNode(process.FileOps{}), process.Options{})
	closed := open(t, p, syscall.O_RDWR)
	require.NoError(t, p.Close(closed))
	buf := buffer(t, p, "")
	for _, fd := range []int{closed, -1, 63, 64, 1 << 20, 1 << 31, -1 << 31} {
		for name, call := range map[string]func() error{
			"close": func() error { return p.Close(fd) },
			"dup":   func() error { _, err := p.Dup(fd); return err },
			"dup2":  func() error { _, err := p.Dup2(fd, 5); return err },
			"same":  func() error { _, err := p.Dup2(fd, fd); return err },
			"dup3":  func() error { _, err := p.Dup3(fd, 5, 0); return err },
			"fcntl": func() error { _, err := p.FcntlDupFD(fd, 0, false); return err },
			"send":  func() error { _, err := p.SendFD(fd, p); return err },
			"flags": func() error { return p.SetNonblock(fd, true) },
			"ioctl": func() error { _, err := p.Ioctl(fd, process.FIOCLEX, 0); return err },
			"read":  func() error { _, err := p.Read(fd, buf, 1); return err },
			"write": func() error { _, err := p.Write(fd, buf, 1); return err },
			"mmap":  func() error { _, err := p.Mmap(fd, ps, rw, syscall.MAP_SHARED, 0); return err },
		} {
			require.ErrorIs(t, call(), rule.FDBad, "%s of %d", name, fd)
		}
	}
	require.Zero(t, p.FDCount())
}

// TestDup: all descriptors of a file are the same open file, which is released
// with the last.
func TestDup(t *testing.T) {
	n := newNode(process.FileOps{})
	p := process.New(n, process.Options{})
	fd := open(t, p, syscall.O_RDWR)
	dup, err := p.Dup(fd)
	require.NoError(t, err)
	require.Equal(t, 1, dup)
	high, err := p.FcntlDupFD(fd, 100, true)
	require.NoError(t, err)
	require.Equal(t, 100, high)
	to, err := p.Dup3(fd, 50, syscall.O_CLOEXEC)
	require.NoError(t, err)
	require.Equal(t, 50, to)
	same, err := p.Dup2(to, to)
	require.NoError(t, err)
	require.Equal(t, to, same)
	require.Equal(t, []int{0, 1, 50, 100}, p.FDs())
	other := open(t, p, 0)
	require.Equal(t, 2, other, "the lower ones are free still")
	require.NoError(t, p.Close(other))
	n.released = nil
	for _, fd := range []int{0, 100, 1} {
		require.NoError(t, p.Close(fd))
		require.Empty(t, n.released)
	}
	require.NoError(t, p.Close(50))
	require.Equal(t, []any{1}, n.released)
}

// TestDupOver: what the target had is closed.
func TestDupOver(t *testing.T) {
	n := newNode(process.FileOps{})
	p := process.New(n, process.Options{})
	first, second := open(t, p, 0), open(t, p, 0)
	_, err := p.Dup2(first, second)
	require.NoError(t, err)
	require.Equal(t, []any{2}, n.released)
	require.NoError(t, p.Close(first))
	require.NoError(t, p.Close(second))
	require.Equal(t, []any{2, 1}, n.released)
}

func TestDup3Errors(t *testing.T) {
	p := process.New(newNode(process.FileOps{}), process.Options{})
	fd := open(t, p, 0)
	for _, c := range []struct {
		name          string
		fd, to, flags int
		want          error
	}{
		{"other flag", fd, 5, syscall.O_NONBLOCK, rule.FDDup3Flags},
		{"other flag, same", fd, fd, syscall.O_NONBLOCK, rule.FDDup3Flags},
		{"same", fd, fd, 0, rule.FDDup3Same},
		{"same, not open", 9, 9, 0, rule.FDDup3Same},
		{"beyond the limit", fd, 1024, 0, rule.FDDupTarget},
		{"negative", fd, -1, 0, rule.FDDupTarget},
		{"not open", 9, 5, 0, rule.FDBad},
	} {
		_, err := p.Dup3(c.fd, c.to, c.flags)
		require.ErrorIs(t, err, c.want, c.name)
	}
	require.Equal(t, []int{fd}, p.FDs())
}

// TestSendFD: the other process gets a descriptor of its own for the same file.
func TestSendFD(t *testing.T) {
	n := newNode(process.FileOps{})
	p, q := process.New(n, process.Options{}), process.New(n, process.Options{})
	open(t, q, 0)
	fd := open(t, p, 0)
	got, err := p.SendFD(fd, q)
	require.NoError(t, err)
	require.Equal(t, 1, got)
	f := q.MainTask().Fget(got)
	require.Same(t, p.Cred(), f.Cred, "the opener's credentials")
	f.Put(nil)
	require.NoError(t, p.Close(fd))
	require.Empty(t, n.released)
	require.NoError(t, q.Close(got))
	require.Equal(t, []any{2}, n.released)

	fd = open(t, p, 0)
	nofile(t, q, 1)
	_, err = p.SendFD(fd, q)
	require.ErrorIs(t, err, syscall.EMFILE)
	require.NoError(t, p.Close(fd))
	require.Equal(t, []any{2, 3}, n.released, "the failed passing keeps no reference")
}

// TestParallelFDs: opens, closes and uses of the same few descriptors. Every
// file is released once, and none is used afterwards.
func TestParallelFDs(t *testing.T) {
	var mu sync.Mutex
	gone := map[any]int{}
	ops := process.FileOps{Ioctl: func(_ *process.Task, f *process.File, _ uint32, _ addr) (int64, error) {
		mu.Lock()
		defer mu.Unlock()
		if gone[f] != 0 {
			t.Error("a file was used that is released")
		}
		return 0, nil
	}}
	n := vfs(func(t *process.Task, _ string, flags int) (*process.File, error) {
		return process.NewFile(t, &ops, nil, flags)
	})
	ops.Release = func(_ *process.Task, f *process.File) {
		mu.Lock()
		defer mu.Unlock()
		gone[f]++
	}
	p := process.New(n, process.Options{})
	const rounds = 500
	var opened atomic.Int64
	var wg sync.WaitGroup
	for range 3 {
		task := p.NewTask(nil)
		wg.Go(func() {
			for range rounds {
				switch _, err := task.Open("", syscall.O_RDWR); {
				case err == nil:
					opened.Add(1)
				case !errors.Is(err, syscall.EMFILE):
					t.Error(err)
				}
			}
		})
		wg.Go(func() {
			for i := range rounds {
				_, _ = p.Ioctl(i%7, 0, 0)
				_, _ = p.Dup2(i%5, 90)
			}
		})
		wg.Go(func() {
			for i := range rounds {
				_ = p.Close(i % 7)
			}
		})
	}
	wg.Wait()
	p.Exit()
	once := int64(0)
	for _, times := range gone {
		if times == 1 {
			once++
		}
	}
	require.Equal(t, opened.Load(), once)
	require.Equal(t, int(once), len(gone))
	require.Zero(t, p.FDCount())
}
