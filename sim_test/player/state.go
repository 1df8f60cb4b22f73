package player

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"

	"uverbsim/casefile"
)

// player is one thread or process of a case while it is played.
type player struct {
	m    Machine
	task Task
	c    *casefile.Case
	rep  int // which repetition

	together func(threads []Task, plays []func())  // Options.Together
	played   func(thread, step int, r *StepResult) // Options.Played

	bufs  map[string]*region // of the process
	masks *casefile.Masks
	syms  map[string]symbol
	maps  map[string]mapping
	open  map[string]int // descriptors by name, to be closed at the end
	fds0  int            // descriptors that were open at the start

	bgs  map[string]*background
	kids map[string]*player

	names   []string // the buffers that the step's pointers name
	refused error    // why the step's call was refused
	stop    error    // why the step could not be played
}

// symbol is a saved handle or descriptor.
type symbol struct {
	n  uint64
	fd bool
}

// mapping is a piece of the device that a case has mapped.
type mapping struct{ addr, size uint64 }

func newPlayer(m Machine, c *casefile.Case, rep int) *player {
	t := m.Process()
	return &player{m: m, task: t, c: c, rep: rep, fds0: len(t.FDs()),
		bufs: map[string]*region{}, masks: new(casefile.Masks), syms: map[string]symbol{},
		maps: map[string]mapping{}, open: map[string]int{}, bgs: map[string]*background{}, kids: map[string]*player{}}
}

// prepare makes the case's buffers: first all of them, then the addresses in
// them, then their protections.
func (p *player) prepare() error {
	names := slices.Sorted(maps.Keys(p.c.Bufs))
	for _, name := range names {
		b := p.c.Bufs[name]
		r, err := newRegion(p.task, b.Bytes(), b.Edge)
		if err != nil {
			return fmt.Errorf("buffer %s: %w", name, err)
		}
		p.bufs[name] = r
	}
	for _, name := range names {
		if err := p.finish(name, p.c.Bufs[name]); err != nil {
			return fmt.Errorf("buffer %s: %w", name, err)
		}
	}
	return nil
}

func (p *player) finish(name string, b *casefile.Buf) error {
	r := p.bufs[name]
	if len(b.Reloc) > 0 {
		data, _ := r.contents(p.task)
		if err := p.masks.Relocate(name, b, data, p); err != nil {
			return err
		}
		if err := r.fill(p.task, data); err != nil {
			return err
		}
	}
	return r.protect(p.task, protOf(b.Prot))
}

// end lets go whoever is held and closes what the case left open, the last
// first.
func (p *player) end() {
	p.m.Release() // the driver may hold nobody
	fds := slices.Sorted(maps.Values(p.open))
	for _, fd := range slices.Backward(slices.Compact(fds)) {
		p.task.Close(fd) // the case may have closed it under another name
	}
}

// The player is the casefile.Env of its case.

// BufAddr implements casefile.Env.
func (p *player) BufAddr(name string) (uint64, bool) {
	r := p.bufs[name]
	if r == nil {
		return 0, false
	}
	return r.addr, true
}

// BufNumber implements casefile.Env.
func (p *player) BufNumber(name string, off, size int) (uint64, bool) {
	b, ok := p.contents(name)
	if !ok || off < 0 || off+size > len(b) {
		return 0, false
	}
	return number(b[off:], size), true
}

// Symbol implements casefile.Env.
func (p *player) Symbol(name string) (uint64, bool, bool) {
	s, ok := p.syms[name]
	return s.n, s.fd, ok
}

// MapAddr implements casefile.Env.
func (p *player) MapAddr(name string) (uint64, bool) {
	m, ok := p.maps[name]
	return m.addr, ok
}

// contents is the casefile.Contents of the process.
func (p *player) contents(name string) ([]byte, bool) {
	r := p.bufs[name]
	if r == nil {
		return nil, false
	}
	return r.contents(p.task)
}

// number is a little-endian number of 4 or 8 bytes.
func number(b []byte, size int) uint64 {
	if size == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// fd is a descriptor by its name.
func (p *player) fd(name string) (int, error) {
	s, ok := p.syms[name]
	if !ok || !s.fd {
		return -1, fmt.Errorf("no descriptor %q: the call that was to return it did not", name)
	}
	return int(s.n), nil
}

func (p *player) addFD(name string, fd int) {
	if name != "" {
		p.syms[name] = symbol{uint64(fd), true}
		p.open[name] = fd
	}
}

func (p *player) mapped(name string) (mapping, error) {
	m, ok := p.maps[name]
	if !ok {
		return m, fmt.Errorf("no mapping %q: the mmap that was to make it failed", name)
	}
	return m, nil
}

// value works out a value that names no buffer to report.
func (p *player) value(v *casefile.Value) (uint64, error) {
	r, err := v.Resolve(p)
	return r.N, err
}

// pointer works out a value whose buffers the answer reports.
func (p *player) pointer(v *casefile.Value) (uint64, error) {
	r, err := v.Resolve(p)
	p.names = append(p.names, r.Bufs...)
	return r.N, err
}
