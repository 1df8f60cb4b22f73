package casefile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Difference is a member of an answer that is not as it should be.
type Difference struct {
	Path string // from the answer down: attrs[1].data, bufs.resp, par[0][2].errno
	Want string
	Got  string
}

// absent stands in a Difference for a member or element that is not there.
const absent = "absent"

// String says the difference in one line. Of long hex text it gives the bytes
// from the first that differs.
func (d Difference) String() string {
	want, got, at := d.Want, d.Got, ""
	if len(want) == len(got) && len(want) > 48 {
		if i := firstDifferentByte(want, got); i >= 0 {
			at = fmt.Sprintf(" at byte %d", i)
			want, got = window(want, i), window(got, i)
		}
	}
	return fmt.Sprintf("%s%s: want %s, got %s", d.Path, at, show(want), show(got))
}

func show(s string) string {
	if s == "" {
		return `""`
	}
	return s
}

// window is 16 bytes of hex text from the i-th byte on.
func window(s string, i int) string {
	s = s[2*i:]
	if len(s) > 32 {
		return s[:32] + "…"
	}
	return s
}

// firstDifferentByte is the byte, two digits each, at which two texts of the
// same length differ, or -1.
func firstDifferentByte(x, y string) int {
	for i := 0; i+2 <= len(x); i += 2 {
		if a, b := x[i:i+2], y[i:i+2]; a != b && a != AnyByte && b != AnyByte {
			return i / 2
		}
	}
	if len(x)%2 == 1 && x[len(x)-1] != y[len(y)-1] {
		return len(x) / 2
	}
	return -1
}

// same compares two texts or numbers: Any on either side matches everything,
// AnyByte in texts of the same length one byte.
func same(x, y string) bool {
	if x == y || x == Any || y == Any {
		return true
	}
	if len(x) != len(y) || !strings.Contains(x, AnyByte) && !strings.Contains(y, AnyByte) {
		return false
	}
	return firstDifferentByte(x, y) < 0
}

// Compare returns where got is not the answer that is wanted, in the order of
// the members; nothing when it is. A member on one side alone is a difference.
// Wildcards count on both sides.
func Compare(want, got *Got) []Difference {
	var d differences
	d.got("", want, got)
	return d
}

// Same says whether Compare finds nothing.
func Same(want, got *Got) bool { return len(Compare(want, got)) == 0 }

type differences []Difference

func (d *differences) add(path, want, got string) {
	*d = append(*d, Difference{strings.TrimPrefix(path, "."), want, got})
}

func (d *differences) text(path, want, got string) {
	if !same(want, got) {
		d.add(path, want, got)
	}
}

// member compares what may be left out.
func member[T ~string](d *differences, path string, want, got *T) {
	switch {
	case want == nil && got == nil:
	case want == nil:
		d.add(path, absent, show(string(*got)))
	case got == nil:
		d.add(path, show(string(*want)), absent)
	default:
		d.text(path, string(*want), string(*got))
	}
}

// elements compares lists: their elements when they are equally long.
func elements[T any](d *differences, path string, want, got []T, f func(path string, want, got *T)) {
	if len(want) != len(got) {
		d.add(path, "length "+strconv.Itoa(len(want)), "length "+strconv.Itoa(len(got)))
		return
	}
	for i := range want {
		f(path+"["+strconv.Itoa(i)+"]", &want[i], &got[i])
	}
}

func (d *differences) got(path string, want, got *Got) {
	d.text(path+".ret", string(want.Ret), string(got.Ret))
	member(d, path+".errno", want.Errno, got.Errno)
	elements(d, path+".attrs", want.Attrs, got.Attrs, func(path string, w, g *GotAttr) {
		d.text(path+".flags", string(w.Flags), string(g.Flags))
		d.text(path+".data", w.Data, g.Data)
	})
	d.bufs(path+".bufs", want.Bufs, got.Bufs)
	member(d, path+".revents", want.Revents, got.Revents)
	member(d, path+".hex", want.Hex, got.Hex)
	member(d, path+".text", want.Text, got.Text)
	elements(d, path+".wc", want.WC, got.WC, func(path string, w, g *WC) {
		gf := g.fields()
		for i, f := range w.fields() {
			d.text(path+"."+f.key, string(*f.n), string(*gf[i].n))
		}
	})
	elements(d, path+".par", want.Par, got.Par, func(path string, w, g *[]Got) {
		elements(d, path, *w, *g, d.got)
	})
}

func (d *differences) bufs(path string, want, got map[string]string) {
	names := slices.Collect(maps.Keys(want))
	for n := range got {
		if _, ok := want[n]; !ok {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		w, inWant := want[n]
		g, inGot := got[n]
		switch {
		case !inWant:
			d.add(path+"."+n, absent, g)
		case !inGot:
			d.add(path+"."+n, w, absent)
		default:
			d.text(path+"."+n, w, g)
		}
	}
}

// CompareAny is Compare for a set of answers: nothing when got is one of them,
// else where it differs from the one that it is nearest to, the first of those
// that differ in the fewest members.
func CompareAny(want []Outcome, got *Got) []Difference {
	var nearest []Difference
	for i := range want {
		d := Compare(&want[i].Got, got)
		if len(d) == 0 {
			return nil
		}
		if nearest == nil || len(d) < len(nearest) {
			nearest = d
		}
	}
	return nearest
}

// Compare compares an answer with what the step is recorded to be answered:
// with Got, or with the set GotAny. A step that is not recorded allows any.
func (s *Step) Compare(got *Got) []Difference {
	if s.Got != nil {
		return Compare(s.Got, got)
	}
	return CompareAny(s.GotAny, got)
}

// outcomes are the answers that a recorded step has, whichever way it has
// them.
func (s *Step) outcomes() []Outcome {
	if s.Got != nil {
		return []Outcome{{1, *s.Got}}
	}
	return s.GotAny
}

// SameAnswers says whether two recordings of a step agree: single answers must
// be the same; where one side has a set, each answer of one side, whichever,
// must be among the other's.
func SameAnswers(a, b *Step) bool {
	x, y := a.outcomes(), b.outcomes()
	return among(x, y) || among(y, x)
}

// among says whether each of the answers is one of the others.
func among(answers, others []Outcome) bool {
	for i := range answers {
		if !slices.ContainsFunc(others, func(o Outcome) bool { return Same(&answers[i].Got, &o.Got) }) {
			return false
		}
	}
	return true
}
