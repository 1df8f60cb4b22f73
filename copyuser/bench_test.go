package copyuser_test

import (
	"strconv"
	"testing"

	"uverbsim/copyuser"
)

// TestAllocs holds the copy path to no allocation at all.
func TestAllocs(t *testing.T) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(t, m, 2)
	buf := make([]byte, 256)
	across := a + copyuser.PageSize - 128
	m.CopyOut(a, make([]byte, 2*copyuser.PageSize))
	var mem copyuser.Memory = m
	for name, f := range map[string]func(){
		"CopyFromUser":    func() { copyuser.CopyFromUser(nil, mem, buf, a) },
		"across pages":    func() { copyuser.CopyFromUser(nil, mem, buf, across) },
		"CopyToUser":      func() { copyuser.CopyToUser(nil, mem, a, buf) },
		"GetUser64":       func() { copyuser.GetUser64(nil, mem, a+8) },
		"PutUser16":       func() { copyuser.PutUser16(nil, mem, a+2, 1) },
		"PutUser32":       func() { copyuser.PutUser32(nil, mem, a+4, 1) },
		"PutUser64":       func() { copyuser.PutUser64(nil, mem, a+8, 1) },
		"ClearUser":       func() { copyuser.ClearUser(nil, mem, a, 100) },
		"IsBufferCleared": func() { copyuser.IsBufferCleared(nil, mem, a+16, 64) },
	} {
		t.Run(name, func(t *testing.T) {
			if n := testing.AllocsPerRun(100, f); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func BenchmarkCopyIn(b *testing.B) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(b, m, 2)
	m.CopyOut(a, make([]byte, copyuser.PageSize))
	for _, n := range []int{8, 24, 64, 256, 4096} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var mem copyuser.Memory = m
			dst := make([]byte, n)
			b.ReportAllocs()
			for b.Loop() {
				mem.CopyIn(dst, a)
			}
		})
	}
}

func BenchmarkCopyOut(b *testing.B) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(b, m, 2)
	for _, n := range []int{8, 256} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			var mem copyuser.Memory = m
			src := make([]byte, n)
			b.ReportAllocs()
			for b.Loop() {
				mem.CopyOut(a, src)
			}
		})
	}
}

func BenchmarkGetUser64(b *testing.B) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(b, m, 1)
	var mem copyuser.Memory = m
	b.ReportAllocs()
	for b.Loop() {
		copyuser.GetUser64(nil, mem, a)
	}
}

func BenchmarkPutUser16(b *testing.B) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(b, m, 1)
	var mem copyuser.Memory = m
	b.ReportAllocs()
	for b.Loop() {
		copyuser.PutUser16(nil, mem, a, 3)
	}
}

// BenchmarkCopyInParallel has each goroutine copy from a page of its own.
func BenchmarkCopyInParallel(b *testing.B) {
	m := copyuser.NewAddressSpace()
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		a := mapAnon(b, m, 1)
		dst := make([]byte, 64)
		for pb.Next() {
			m.CopyIn(dst, a)
		}
	})
}

func BenchmarkIsBufferCleared(b *testing.B) {
	m := copyuser.NewAddressSpace()
	a := mapAnon(b, m, 1)
	b.ReportAllocs()
	for b.Loop() {
		copyuser.IsBufferCleared(nil, m, a, 16)
	}
}

// BenchmarkNewAddressSpace is what a process costs that maps and touches one
// page.
func BenchmarkNewAddressSpace(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		m := copyuser.NewAddressSpace()
		m.PutUint64(mapAnon(b, m, 1), 1)
	}
}

func BenchmarkMmapMunmap(b *testing.B) {
	m := copyuser.NewAddressSpace()
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Munmap(nil, mapAnon(b, m, 1), copyuser.PageSize); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkPin is what a DMA of the device costs.
func BenchmarkPin(b *testing.B) {
	m := copyuser.NewAddressSpace()
	pin, err := m.Pin(mapAnon(b, m, 2), 2*copyuser.PageSize, true)
	if err != nil {
		b.Fatal(err)
	}
	buf := make([]byte, 64)
	for name, f := range map[string]func([]byte, int64) (int, error){"ReadAt": pin.ReadAt, "WriteAt": pin.WriteAt} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := f(buf, 64); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
