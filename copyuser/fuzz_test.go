package copyuser_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"syscall"
	"testing"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/sim_test/watchdog"
)

// The fuzzed space: everything happens in a few pages from flatBase.
const (
	flatBase  copyuser.Addr = 0x100000
	flatPages               = 12
	flatSize                = flatPages * ps
)

// flatPage is a page of the model: what is mapped there, nil for nothing.
type flatPage struct {
	data   *[ps]byte
	prot   int
	shared bool
}

// flat is the reference: an address space as an array of pages, none of which
// knows of areas, page tables or laziness.
type flat [flatPages]*flatPage

func (f *flat) at(a copyuser.Addr, need int) (*flatPage, int) {
	if a < flatBase || a >= flatBase+flatSize {
		return nil, 0
	}
	p := f[(a-flatBase)/ps]
	if p == nil || p.prot&need == 0 {
		return nil, 0
	}
	return p, a.PageOffset()
}

// copyIn and copyOut go byte by byte.
func (f *flat) copyIn(dst []byte, from copyuser.Addr) int {
	for i := range dst {
		p, off := f.at(from+copyuser.Addr(i), rw|syscall.PROT_EXEC)
		if p == nil {
			return i
		}
		dst[i] = p.data[off]
	}
	return len(dst)
}

func (f *flat) copyOut(to copyuser.Addr, src []byte) int {
	for i := range src {
		p, off := f.at(to+copyuser.Addr(i), syscall.PROT_WRITE)
		if p == nil {
			return i
		}
		p.data[off] = src[i]
	}
	return len(src)
}

// pages returns which pages a range covers; it may reach beyond the space.
func (f *flat) pages(a copyuser.Addr, n uint64) (from, to int) {
	from = int(a-flatBase) / ps
	to = from + int((n+ps-1)/ps)
	return from, to
}

func (f *flat) mprotect(a copyuser.Addr, n uint64, prot int) (ok bool) {
	from, to := f.pages(a, n)
	for i := from; i < to; i++ {
		if i >= flatPages || f[i] == nil {
			return false
		}
		f[i].prot = prot
	}
	return true
}

func (f *flat) munmap(a copyuser.Addr, n uint64) {
	from, to := f.pages(a, n)
	for i := from; i < min(to, flatPages); i++ {
		f[i] = nil
	}
}

func (f *flat) fork() *flat {
	var child flat
	for i, p := range f {
		if p == nil {
			continue
		}
		dup := *p
		if !p.shared {
			data := *p.data
			dup.data = &data
		}
		child[i] = &dup
	}
	return &child
}

// pinnable says whether a range could be pinned, as the protections have it.
func (f *flat) pinnable(a copyuser.Addr, n uint64, write bool) bool {
	need := syscall.PROT_READ
	if write {
		need = syscall.PROT_WRITE
	}
	for at := a.PageDown(); at < a+copyuser.Addr(n); at += ps {
		if p, _ := f.at(at, need); p == nil {
			return false
		}
	}
	return true
}

// script takes numbers off the fuzzer's bytes; an empty one gives zeros.
type script []byte

func (s *script) next(n uint64) uint64 {
	var b [2]byte
	*s = (*s)[copy(b[:], *s):]
	return uint64(binary.LittleEndian.Uint16(b[:])) % n
}

func (s *script) page() copyuser.Addr { return flatBase + copyuser.Addr(s.next(flatPages))*ps }

var prots = []int{0, ro, syscall.PROT_WRITE, rw, syscall.PROT_EXEC, rw, rw, rw | syscall.PROT_EXEC}

// FuzzAddressSpace plays mmap, munmap, mprotect, mremap, fork and copies to an
// address space and to the flat model. Both must answer alike, always.
func FuzzAddressSpace(f *testing.F) {
	for _, seed := range [][]byte{
		{}, bytes.Repeat([]byte{0, 0, 1, 0, 4, 0, 3, 0, 0, 0}, 20), pattern(400), bytes.Repeat(pattern(7), 60),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, program []byte) {
		watchdog.On(t)
		play(t, program)
	})
}

// TestRandomPrograms plays what the fuzzer would, without searching.
func TestRandomPrograms(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		program := make([]byte, 1500)
		for i := range program {
			program[i] = byte(random.Uint32())
		}
		play(t, program)
	}
}

func play(t *testing.T, program []byte) {
	s := script(program)
	spaces := []*copyuser.AddressSpace{copyuser.NewAddressSpace()}
	models := []*flat{new(flat)}
	for len(s) > 0 {
		i := int(s.next(uint64(len(spaces))))
		m, model := spaces[i], models[i]
		switch op := s.next(10); op {
		case 0:
			playMmap(t, &s, m, model)
		case 1:
			a, n := s.page(), s.next(4*ps)+1
			model.munmap(a, n)
			if err := m.Munmap(nil, a, n); err != nil {
				t.Fatal(err)
			}
		case 2:
			a, n, prot := s.page(), s.next(4*ps)+1, prots[s.next(8)]
			if want, err := model.mprotect(a, n, prot), m.Mprotect(nil, a, n, prot); want != (err == nil) {
				t.Fatalf("mprotect %#x %d: %v", a, n, err)
			}
		case 3:
			playPin(t, &s, m, model)
		case 4:
			playMremap(t, &s, m, model)
		case 5:
			if len(spaces) < 4 {
				child, err := m.Fork(nil)
				if err != nil {
					t.Fatal(err)
				}
				spaces, models = append(spaces, child.(*copyuser.AddressSpace)), append(models, model.fork())
			}
		default:
			playCopy(t, &s, m, model)
		}
	}
	for i, m := range spaces {
		comparePages(t, m, models[i])
	}
}

func playMmap(t *testing.T, s *script, m *copyuser.AddressSpace, model *flat) {
	a, n, prot, shared := s.page(), s.next(3)+1, prots[s.next(8)], s.next(2) == 1
	n = min(n, uint64(flatBase+flatSize-a)/ps)
	flags := syscall.MAP_PRIVATE
	if shared {
		flags = syscall.MAP_SHARED
	}
	got, err := m.Mmap(nil, copyuser.MmapRequest{Addr: a, Length: n * ps, Prot: prot, Flags: flags | syscall.MAP_FIXED})
	if err != nil || got != a {
		t.Fatal(got, err)
	}
	from, to := model.pages(a, n*ps)
	for i := from; i < to; i++ {
		model[i] = &flatPage{data: new([ps]byte), prot: prot, shared: shared}
	}
}

// playMremap moves pages. Where areas end the model does not know: it follows
// the answer, but what a refused call leaves is told.
func playMremap(t *testing.T, s *script, m *copyuser.AddressSpace, model *flat) {
	old, to, n := s.page(), s.page(), s.next(3)+1
	n = min(n, uint64(flatBase+flatSize-to)/ps, uint64(flatBase+flatSize-old)/ps)
	_, err := m.Mremap(nil, old, n*ps, n*ps, copyuser.MREMAP_MAYMOVE|copyuser.MREMAP_FIXED, to)
	from, dst := int(old-flatBase)/ps, int(to-flatBase)/ps
	switch {
	case model[from] == nil:
		if !errors.Is(err, rule.MremapUnmapped) {
			t.Fatal(err)
		}
		return
	case old+copyuser.Addr(n*ps) > to && to+copyuser.Addr(n*ps) > old:
		if !errors.Is(err, rule.MremapOverlap) {
			t.Fatal(err)
		}
		return
	}
	model.munmap(to, n*ps)
	if err != nil {
		if !errors.Is(err, rule.MremapBeyondArea) {
			t.Fatal(err)
		}
		return
	}
	for i := range int(n) {
		if model[from+i] == nil {
			t.Fatal("a page was moved that is not there")
		}
		model[dst+i], model[from+i] = model[from+i], nil
	}
}

func playPin(t *testing.T, s *script, m *copyuser.AddressSpace, model *flat) {
	a, n, write := s.page()+copyuser.Addr(s.next(ps)), s.next(2*ps)+1, s.next(2) == 1
	pin, err := m.Pin(a, n, write)
	if want := model.pinnable(a, n, write); want != (err == nil) {
		// A page that is there can be pinned for reading if it can be read at
		// all, which on x86 it can if it can be written or executed.
		if write || want || !readableAll(model, a, n) {
			t.Fatalf("pin %#x %d, write %v: %v", a, n, write, err)
		}
	}
	if err != nil {
		return
	}
	defer pin.Unpin()
	got, want := make([]byte, n), make([]byte, n)
	if write {
		if _, err := pin.WriteAt(pattern(int(n)), int64(a.PageOffset())); err != nil {
			t.Fatal(err)
		}
		model.copyOut(a, pattern(int(n)))
	}
	if _, err := pin.ReadAt(got, int64(a.PageOffset())); err != nil {
		t.Fatal(err)
	}
	model.copyIn(want, a)
	if !bytes.Equal(got, want) {
		t.Fatal("the pin has other pages than the process")
	}
}

func readableAll(model *flat, a copyuser.Addr, n uint64) bool {
	for at := a.PageDown(); at < a+copyuser.Addr(n); at += ps {
		if p, _ := model.at(at, rw|syscall.PROT_EXEC); p == nil {
			return false
		}
	}
	return true
}

func playCopy(t *testing.T, s *script, m *copyuser.AddressSpace, model *flat) {
	a, n := s.page()+copyuser.Addr(s.next(ps)), s.next(3*ps)
	got, want := make([]byte, n), make([]byte, n)
	switch s.next(5) {
	case 0:
		if g, w := m.CopyIn(got, a), model.copyIn(want, a); g != w || !bytes.Equal(got, want) {
			t.Fatalf("copy in %#x %d: %d, not %d", a, n, g, w)
		}
	case 1:
		src := pattern(int(n))
		if g, w := m.CopyOut(a, src), model.copyOut(a, src); g != w {
			t.Fatalf("copy out %#x %d: %d, not %d", a, n, g, w)
		}
	case 2:
		if g, w := m.Clear(a, n), model.copyOut(a, want); g != uint64(w) {
			t.Fatalf("clear %#x %d: %d, not %d", a, n, g, w)
		}
	case 3:
		var raw [8]byte
		v, ok := m.GetUint64(a)
		if w := model.copyIn(raw[:], a) == 8; w != ok || ok && v != binary.LittleEndian.Uint64(raw[:]) {
			t.Fatalf("get %#x: %#x %v", a, v, ok)
		}
	case 4:
		var raw [8]byte
		binary.LittleEndian.PutUint64(raw[:], n*0x0101010101010101)
		before := *model
		fits := true
		for i := range raw {
			p, _ := before.at(a+copyuser.Addr(i), syscall.PROT_WRITE)
			fits = fits && p != nil
		}
		if fits {
			model.copyOut(a, raw[:])
		}
		if ok := m.PutUint64(a, n*0x0101010101010101); ok != fits {
			t.Fatalf("put %#x: %v", a, ok)
		}
	}
}

// comparePages compares all that can be read.
func comparePages(t *testing.T, m *copyuser.AddressSpace, model *flat) {
	for a := flatBase - ps; a < flatBase+flatSize+ps; a += ps {
		got, want := make([]byte, ps), make([]byte, ps)
		if g, w := m.CopyIn(got, a), model.copyIn(want, a); g != w || !bytes.Equal(got, want) {
			t.Fatalf("page %#x: %d bytes, not %d, or others", a, g, w)
		}
	}
}
