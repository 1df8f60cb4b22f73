package live

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
)

// TestAllocs holds the copies and the device's accesses to no allocation.
func TestAllocs(t *testing.T) {
	p := start(t)
	p.mmap(t, free, 2, rw, unix.MAP_PRIVATE)
	s := p.space(t)
	pin := pinned(t, s, free, 2*ps)
	page := pin.Pages()[0]
	var mem copyuser.Memory = s
	buf := make([]byte, 256)
	for name, f := range map[string]func(){
		"call": func() {
			s.Begin()
			mem.CopyIn(buf[:24], free)
			mem.CopyIn(buf[:160], free+24)
		},
		"CopyOut":    func() { mem.CopyOut(free, buf) },
		"Clear":      func() { mem.Clear(free, 2*ps) },
		"GetUint64":  func() { s.Begin(); mem.GetUint64(free) },
		"PutUint16":  func() { mem.PutUint16(free, 1) },
		"PutUint64":  func() { mem.PutUint64(free, 1) },
		"DMA read":   func() { page.Load(0, buf) },
		"DMA write":  func() { page.Store(0, buf) },
		"completion": func() { page.Store(0, buf[:64]) },
	} {
		t.Run(name, func(t *testing.T) {
			require.Zero(t, testing.AllocsPerRun(100, f))
		})
	}
}

func benchSpace(b *testing.B, pages uint64) *Space {
	p := start(b)
	p.mmap(b, free, pages, rw, unix.MAP_PRIVATE)
	return p.space(b)
}

// BenchmarkCall reads the header and ten attributes of an ioctl.
func BenchmarkCall(b *testing.B) {
	s := benchSpace(b, 1)
	buf := make([]byte, 160)
	b.ReportAllocs()
	for b.Loop() {
		s.Begin()
		s.CopyIn(buf[:24], free)
		s.CopyIn(buf, free+24)
	}
}

func BenchmarkPutUint64(b *testing.B) {
	s := benchSpace(b, 1)
	b.ReportAllocs()
	for b.Loop() {
		s.PutUint64(free, 1)
	}
}

func BenchmarkDMA(b *testing.B) {
	s := benchSpace(b, 2)
	pin, err := s.Pin(free, 2*ps, true)
	require.NoError(b, err)
	for name, f := range map[string]func([]byte, int64) (int, error){"read": pin.ReadAt, "write": pin.WriteAt} {
		for _, n := range []int{8, 64, 4096} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				buf := make([]byte, n)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := f(buf, 0); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func BenchmarkPin(b *testing.B) {
	for _, size := range []uint64{4 << 10, 1 << 20, 1 << 30} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := benchSpace(b, size/ps)
			b.ReportAllocs()
			for b.Loop() {
				pin, err := s.Pin(free, size, true)
				if err != nil {
					b.Fatal(err)
				}
				pin.Unpin()
			}
		})
	}
}

func BenchmarkMapping(b *testing.B) {
	s := benchSpace(b, 1)
	b.Run("query", func(b *testing.B) {
		for b.Loop() {
			s.query(free, free+ps)
		}
	})
	b.Run("text", func(b *testing.B) {
		for b.Loop() {
			s.parseMaps(free, free+ps)
		}
	})
}

// BenchmarkBare is what the system calls alone cost.
func BenchmarkBare(b *testing.B) {
	s := benchSpace(b, 1)
	buf := make([]byte, 64)
	b.Run("process_vm_readv", func(b *testing.B) {
		for b.Loop() {
			s.vmRead(buf, free)
		}
	})
	b.Run("process_vm_writev", func(b *testing.B) {
		local, remote := []unix.Iovec{{Base: &buf[0], Len: 8}}, []unix.RemoteIovec{{Base: uintptr(free), Len: 8}}
		for b.Loop() {
			if _, err := unix.ProcessVMWritev(s.pid, local, remote, 0); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("pwrite", func(b *testing.B) {
		for b.Loop() {
			if _, err := unix.Pwrite(s.mem, buf, int64(free)); err != nil {
				b.Fatal(err)
			}
		}
	})
}
