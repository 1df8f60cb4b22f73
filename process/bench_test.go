package process_test

import (
	"syscall"
	"testing"

	"uverbsim/process"
)

// TestAllocs: a refused ioctl allocates nothing on its way through the VFS.
func TestAllocs(t *testing.T) {
	p, fd := benchProcess(t)
	for name, f := range map[string]func(){
		"ioctl":          func() { _, _ = p.Ioctl(fd, 1, 0) },
		"ioctl, refused": func() { _, _ = p.Ioctl(fd, 0, 0) },
		"ioctl, bad fd":  func() { _, _ = p.Ioctl(99, 0, 0) },
		"write":          func() { _, _ = p.Write(fd, 0, 1) },
		"read":           func() { _, _ = p.Read(fd, 0, 1) },
		"poll":           func() { _, _ = p.Poll(fd, 0) },
	} {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func benchProcess(t testing.TB) (*process.Process, int) {
	op := func(*process.Task, *process.File, addr, uint64) (int64, error) { return 0, nil }
	n := newNode(process.FileOps{
		Ioctl: func(_ *process.Task, _ *process.File, cmd uint32, _ addr) (int64, error) {
			if cmd == 0 {
				return 0, syscall.EINVAL
			}
			return 0, nil
		},
		Read: op, Write: op,
	})
	p := process.New(n, process.Options{})
	fd, err := p.Open("dev", syscall.O_RDWR)
	if err != nil {
		t.Fatal(err)
	}
	return p, fd
}

func BenchmarkIoctl(b *testing.B) {
	p, fd := benchProcess(b)
	b.ReportAllocs()
	for b.Loop() {
		_, _ = p.Ioctl(fd, 1, 0)
	}
}

// BenchmarkIoctlParallel has a task for each goroutine and one open file.
func BenchmarkIoctlParallel(b *testing.B) {
	p, fd := benchProcess(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		task := p.NewTask(nil)
		for pb.Next() {
			_, _ = task.Ioctl(fd, 1, 0)
		}
	})
}

func BenchmarkOpenClose(b *testing.B) {
	p, _ := benchProcess(b)
	b.ReportAllocs()
	for b.Loop() {
		fd, err := p.Open("dev", syscall.O_RDWR)
		if err != nil {
			b.Fatal(err)
		}
		_ = p.Close(fd)
	}
}

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		process.New(nil, process.Options{})
	}
}

func BenchmarkFork(b *testing.B) {
	p, _ := benchProcess(b)
	buffer(b, p, "some memory")
	b.ReportAllocs()
	for b.Loop() {
		child, err := p.Fork()
		if err != nil {
			b.Fatal(err)
		}
		child.Exit()
	}
}
