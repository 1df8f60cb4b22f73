package casefile

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// Masks keeps, while a case is played, which bytes of its buffers are not
// compared: those in a masked range that a step changed, from then on, and the
// addresses that were put into a buffer at the start, as long as they stand
// there. A masked range that no step changed is reported as it is, so that
// "nothing was written" stays visible.
type Masks struct {
	changed map[string][]Range
	placed  map[string][]placed
}

type placed struct {
	at   int
	addr [8]byte
}

// Contents returns the bytes of a buffer now, whatever its protection; false
// when the case has unmapped it.
type Contents func(buf string) (b []byte, ok bool)

// Relocate puts the addresses that a buffer begins with into its bytes, b.
// It is called once for each buffer, when the addresses of all are known.
func (m *Masks) Relocate(name string, buf *Buf, b []byte, env Env) error {
	for i := range buf.Reloc {
		r := &buf.Reloc[i]
		v, err := r.Value.Resolve(env)
		if err != nil {
			return err
		}
		r.put(b, v.N)
		if v.Varies {
			if m.placed == nil {
				m.placed = map[string][]placed{}
			}
			p := placed{at: r.At}
			binary.LittleEndian.PutUint64(p.addr[:], v.N)
			m.placed[name] = append(m.placed[name], p)
		}
	}
	return nil
}

// Look is what a step's masked buffers held before it.
type Look struct {
	m      *Masks
	ranges map[string][]Range
	before map[string][]byte
}

// Before looks at the masked buffers; it is called before a step is played.
// Masked is what the step's Mask says, and what a descriptor is saved from.
func (m *Masks) Before(s *Step, now Contents) *Look {
	l := &Look{m: m}
	add := func(name string, r ...Range) {
		if l.ranges == nil {
			l.ranges, l.before = map[string][]Range{}, map[string][]byte{}
		}
		if b, ok := now(name); ok {
			l.ranges[name] = append(l.ranges[name], r...)
			l.before[name] = slices.Clone(b)
		}
	}
	for name, r := range s.Mask {
		if name != "hex" {
			add(name, r...)
		}
	}
	for _, ref := range savedFDs(s.Do) {
		if ref.Buf != "" {
			add(ref.Buf, Range{ref.Off, ref.Size})
		}
	}
	return l
}

func savedFDs(a Action) map[string]Ref {
	switch a := a.(type) {
	case *Ioctl:
		return a.SaveFD
	case *Write:
		return a.SaveFD
	}
	return nil
}

// Report is the "bufs" of the step's answer: the bytes of the named buffers
// after it; nil when none are named. It is called once, after the step, even
// when none are.
func (l *Look) Report(names []string, now Contents) map[string]string {
	for name, ranges := range l.ranges {
		if b, ok := now(name); ok {
			l.note(name, ranges, b)
		}
	}
	if len(names) == 0 {
		return nil
	}
	out := make(map[string]string, len(names))
	for _, name := range names {
		b, ok := now(name)
		if !ok {
			out[name] = Unmapped
			continue
		}
		ranges := slices.Clip(l.m.changed[name])
		for _, p := range l.m.placed[name] {
			if bytes.Equal(b[p.at:p.at+8], p.addr[:]) {
				ranges = append(ranges, Range{p.at, 8})
			}
		}
		out[name] = MaskHex(b, ranges)
	}
	return out
}

// note remembers the masked ranges that the step changed.
func (l *Look) note(name string, ranges []Range, after []byte) {
	before := l.before[name]
	for _, r := range ranges {
		lo, hi := min(r.Off, len(after)), min(r.Off+r.Len, len(after))
		if lo < hi && !bytes.Equal(before[lo:hi], after[lo:hi]) {
			if l.m.changed == nil {
				l.m.changed = map[string][]Range{}
			}
			l.m.changed[name] = append(l.m.changed[name], Range{lo, hi - lo})
		}
	}
}

// Twin is the masks of another thread or process: what is known so far, and
// from then on its own.
func (m *Masks) Twin() *Masks {
	t := &Masks{placed: m.placed, changed: make(map[string][]Range, len(m.changed))}
	for name, r := range m.changed {
		t.changed[name] = slices.Clip(r)
	}
	return t
}

// Absorb takes over what a thread's steps have changed. Of two threads that
// changed the same buffer the one with more counts.
func (m *Masks) Absorb(t *Masks) {
	for name, r := range t.changed {
		if len(r) > len(m.changed[name]) {
			if m.changed == nil {
				m.changed = map[string][]Range{}
			}
			m.changed[name] = r
		}
	}
}
