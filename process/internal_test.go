package process

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/trace"
)

// looks counts how often a task looks a descriptor up.
type looks struct{ n atomic.Int32 }

func (*looks) Event(*trace.Task, *trace.Event) {}
func (l *looks) Before(_ *trace.Task, p *trace.Point) {
	if p.Kind == trace.Handle {
		l.n.Add(1)
	}
}

// TestFgetLastReference: a file whose last reference is gone, but which is in
// the table for a moment longer, is looked up again and then not found.
func TestFgetLastReference(t *testing.T) {
	p := New(nil, Options{})
	task := p.MainTask()
	f, err := NewAnonFile(task, &FileOps{}, nil, 0)
	require.NoError(t, err)
	fd, err := task.GetUnusedFD(false)
	require.NoError(t, err)
	task.FDInstall(fd, f)
	f.refs.Store(0)
	got := make(chan *File, 1)
	l := new(looks)
	go func() { got <- p.NewTask(trace.NewTask(1, l)).Fget(fd) }()
	for l.n.Load() < 2 && len(got) == 0 {
		runtime.Gosched()
	}
	require.Empty(t, got)
	p.files.take(fd)
	require.Nil(t, <-got)
	require.Zero(t, f.Refs())
}

// TestCallsEnd: whatever a system call answers, its task is in none behind it, so a
// file that is put then is released at once.
func TestCallsEnd(t *testing.T) {
	p := New(nil, Options{})
	task, other := p.MainTask(), New(nil, Options{}).MainTask()
	for name, call := range map[string]func(){
		"read":        func() { _, _ = task.Read(9, 0, 0) },
		"write":       func() { _, _ = task.Write(9, 0, 0) },
		"ioctl":       func() { _, _ = task.Ioctl(9, 0, 0) },
		"setnonblock": func() { _ = task.SetNonblock(9, true) },
		"poll":        func() { _, _ = task.Poll(9, 0) },
		"mmap":        func() { _, _ = task.Mmap(9, 0, 0, 0, 0) },
		"munmap":      func() { _ = task.Munmap(0, 0) },
		"mprotect":    func() { _ = task.Mprotect(0, 0, 0) },
		"mremap":      func() { _, _ = task.Mremap(0, 0, 0, 0) },
		"close":       func() { _ = task.Close(9) },
		"dup":         func() { _, _ = task.Dup(9) },
		"dup2":        func() { _, _ = task.Dup2(9, 10) },
		"dup3":        func() { _, _ = task.Dup3(9, 10, 0) },
		"fcntl":       func() { _, _ = task.FcntlDupFD(9, 0, false) },
		"sendfd":      func() { _, _ = task.SendFD(9, other) },
		"setuid":      func() { _ = task.Setuid(0) },
		"setgid":      func() { _ = task.Setgid(0) },
		"capset":      func() { _ = task.Capset() },
		"setrlimit":   func() { _ = task.SetRlimit(-1, Rlimit{}) },
		"fork":        func() { _, _ = task.Fork() },
		"exec":        func() { _ = task.Exec() },
		"in a call":   func() { task.InCall(func() { require.Equal(t, int32(1), task.depth.Load()) }) },
	} {
		call()
		require.Zero(t, task.depth.Load(), name)
	}
	task.Exit()
	require.Zero(t, task.depth.Load())
	require.Zero(t, other.depth.Load())
}

// TestStrip: the end of a text is stripped of what the kernel takes for space (_ctype
// in lib/ctype.c), and of nothing else.
func TestStrip(t *testing.T) {
	for c := 1; c < 256; c++ {
		want := "max" + string([]byte{byte(c)})
		if c >= '\t' && c <= '\r' || c == ' ' || c == 0xa0 {
			want = "max"
		}
		require.Equal(t, want, strip("max"+string([]byte{byte(c)})), "%#x", c)
	}
	require.Equal(t, "a b", strip("a b \t\n\x00c"))
}
