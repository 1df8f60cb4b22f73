package transcript

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"uverbsim/spec"
)

// Options say what else Compare does not look at.
type Options struct {
	Ignore []Kind // Number, Traffic

	// Rename lets a device have given out other numbers, as one does that has
	// given out some before: but where one side has the same number twice, so
	// must the other.
	Rename bool
}

// Difference is a place where two programs differ.
type Difference struct {
	Call      string // what was called
	Line      int    // where the transcript has it; 0 where it has not
	N         int    // which call of the program it is, from 1
	What      string
	Want, Got string
}

// String says the difference in one line.
func (d Difference) String() string {
	where := fmt.Sprintf("call %d (%s)", d.N, d.Call)
	if d.Line > 0 {
		where += fmt.Sprintf(", line %d", d.Line)
	}
	return fmt.Sprintf("%s: %s: want %s, got %s", where, d.What, d.Want, d.Got)
}

// Compare returns where a program's calls are not those that are wanted: calls
// that one of the two alone has, and of the others what differs. Addresses,
// descriptors and what a program draws by lot are not compared.
func Compare(want, got []Call, opts Options) []Difference {
	c := comparison{ignore: append([]Kind{Address, Descriptor, Random}, opts.Ignore...), rename: opts.Rename, names: map[name]uint32{}}
	for _, p := range align(want, got) {
		switch {
		case p.got < 0:
			w := &want[p.want]
			c.at = Difference{Call: w.String(), Line: w.Line, N: p.want + 1}
			c.add("the call", "made", "not made")
		case p.want < 0:
			c.at = Difference{Call: got[p.got].String(), N: p.got + 1}
			c.add("the call", "not made", "made")
		default:
			c.call(&want[p.want], &got[p.got], p.got+1)
		}
	}
	return c.found
}

// pair are two calls of the same kind, by number; -1 is none.
type pair struct{ want, got int }

// align pairs the calls so that as many as can be are of the same kind, in their
// order.
func align(want, got []Call) []pair {
	// best[i][j] is how many pairs there are at most from want[i] and got[j] on.
	best := make([][]int, len(want)+1)
	for i := range best {
		best[i] = make([]int, len(got)+1)
	}
	for i := len(want) - 1; i >= 0; i-- {
		for j := len(got) - 1; j >= 0; j-- {
			best[i][j] = max(best[i+1][j], best[i][j+1])
			if alike(&want[i], &got[j]) {
				best[i][j] = max(best[i][j], best[i+1][j+1]+1)
			}
		}
	}
	var pairs []pair
	for i, j := 0, 0; i < len(want) || j < len(got); {
		switch {
		case i < len(want) && j < len(got) && alike(&want[i], &got[j]) && best[i][j] == best[i+1][j+1]+1:
			pairs = append(pairs, pair{i, j})
			i, j = i+1, j+1
		case j == len(got) || i < len(want) && best[i+1][j] >= best[i][j+1]:
			pairs = append(pairs, pair{i, -1})
			i++
		default:
			pairs = append(pairs, pair{-1, j})
			j++
		}
	}
	return pairs
}

// alike says whether two calls ask for the same thing.
func alike(a, b *Call) bool {
	if a.Mmap != nil || b.Mmap != nil {
		return a.Mmap != nil && b.Mmap != nil
	}
	x, y := a.Ioctl, b.Ioctl
	return x.Object == y.Object && x.Method == y.Method && x.Command() == y.Command()
}

type comparison struct {
	ignore []Kind
	rename bool
	names  map[name]uint32 // of a number on one side, the one on the other
	at     Difference
	found  []Difference
}

// name is a device's number on one side.
type name struct {
	space space
	got   bool
	n     uint32
}

// renamed says whether two numbers may stand for the same, and keeps that they
// do.
func (c *comparison) renamed(s space, want, got uint32) bool {
	w, g := name{s, false, want}, name{s, true, got}
	to, known := c.names[w]
	back, taken := c.names[g]
	if !known && !taken {
		c.names[w], c.names[g] = got, want
		return true
	}
	return known && taken && to == got && back == want
}

func (c *comparison) add(what, want, got string) {
	d := c.at
	d.What, d.Want, d.Got = what, want, got
	c.found = append(c.found, d)
}

func same[T comparable](c *comparison, what string, want, got T, show func(T) string) {
	if want != got {
		c.add(what, show(want), show(got))
	}
}

func number[T uint16 | uint32 | uint64 | int](n T) string { return fmt.Sprintf("%#x", n) }

func errnoText(e syscall.Errno) string {
	if e == 0 {
		return "success"
	}
	return message(e)
}

func (c *comparison) call(want, got *Call, n int) {
	c.at = Difference{Call: want.String(), Line: want.Line, N: n}
	same(c, "the result", want.Errno, got.Errno, errnoText)
	if want.Mmap != nil {
		same(c, "the length", want.Mmap.Length, got.Mmap.Length, number)
		same(c, "the offset", want.Mmap.Offset, got.Mmap.Offset, number)
		same(c, "the protection", want.Mmap.Prot, got.Mmap.Prot, number)
		return
	}
	w, g := want.Ioctl, got.Ioctl
	same(c, "the driver", w.Driver, g.Driver, number)
	if !slices.Equal(ids(w), ids(g)) {
		c.add("the attributes", fmt.Sprintf("%#x", ids(w)), fmt.Sprintf("%#x", ids(g)))
		return
	}
	k := about(w)
	for i := range w.Attrs {
		c.attr(&k, &w.Attrs[i], &g.Attrs[i])
	}
}

func ids(i *Ioctl) (ids []uint16) {
	for n := range i.Attrs {
		ids = append(ids, i.Attrs[n].ID)
	}
	return ids
}

func (c *comparison) attr(k *known, want, got *Attr) {
	name := number(want.ID)
	s := k.attr(want.ID)
	if s != nil && s.Name != "" {
		name = strings.TrimPrefix(strings.TrimPrefix(s.Name, "UVERBS_ATTR_"), "MLX5_IB_ATTR_")
	}
	same(c, name+": the length", want.Len, got.Len, number)
	same(c, name+": the flags", want.Flags, got.Flags, number)
	same(c, name+": the flags after the call", want.AfterFlags, got.AfterFlags, number)
	same(c, name+": the word behind them", want.Reserved, got.Reserved, number)
	if s != nil && (s.Type == spec.TypeFD || s.Type == spec.TypeRawFD) {
		return
	}
	out := s != nil && s.Type == spec.TypePtrOut
	if !out { // the room of an answer has whatever was there
		c.value(k, name, want.ID, &want.Before, &got.Before)
	}
	if !out || want.AfterFlags&spec.UVERBS_ATTR_F_VALID_OUTPUT != 0 {
		c.value(k, name+" after the call", want.ID, &want.After, &got.After)
	}
}

// value compares two values but for what is not to be compared.
func (c *comparison) value(k *known, what string, id uint16, want, got *Value) {
	w, g := slices.Clone(want.Bytes), slices.Clone(got.Bytes)
	for _, f := range k.fields {
		if f.attr != id {
			continue
		}
		switch {
		case slices.Contains(c.ignore, f.kind):
		case c.rename && f.kind == Number && f.at+4 <= min(len(w), len(g)):
			wn, gn := binary.LittleEndian.Uint32(w[f.at:]), binary.LittleEndian.Uint32(g[f.at:])
			if !c.renamed(f.space, wn, gn) {
				c.add(fmt.Sprintf("%s, the number at byte %d", what, f.at), number(wn), number(gn)+", which stands for another")
			}
		default:
			continue
		}
		if f.at == 0 && f.n == 8 && (len(w) <= 8 && len(g) <= 8) {
			return // the number itself, or all that it leads to
		}
		blank(w, f)
		blank(g, f)
	}
	switch {
	case want.Pointer != got.Pointer, !want.Pointer && want.Number != got.Number, len(w) != len(g):
		c.add(what, want.String(), got.String())
	case !bytes.Equal(w, g):
		at := 0
		for w[at] == g[at] {
			at++
		}
		end := min(at+16, len(w))
		c.add(fmt.Sprintf("%s, from byte %d", what, at), fmt.Sprintf("%x", w[at:end]), fmt.Sprintf("%x", g[at:end]))
	}
}

// blank clears a part of bytes.
func blank(b []byte, f field) {
	lo := min(f.at, len(b))
	clear(b[lo:min(f.at+f.n, len(b))])
}
