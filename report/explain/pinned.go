package explain

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
)

// pins says whether a rule is on memory that is to be pinned.
func pins(id string) bool {
	return strings.HasPrefix(id, "pin/") || strings.HasPrefix(id, "umem/") || strings.HasPrefix(id, "umem-odp/")
}

// buffer is memory that is to be pinned.
type buffer struct {
	at   Value  // the member of the request, or the attribute, that has its address
	size uint64 // in bytes, if it is known
}

// addressNames are what functions call the address of memory that they are handed.
var addressNames = []string{"addr", "start", "virt", "from"}

// buffer is the memory that a check is on, as callers handed it down. Its member has
// no name if none is known.
func (r *request) buffer(it *item) (b buffer) {
	sized := false
	for e := it.env; e != nil && e.caller != nil; e = e.caller {
		for i := 0; i+1 < len(e.binds); i += 2 {
			if e.binds[i] == "size" && !sized {
				if v := e.caller.eval(e.binds[i+1]); v.kind == numeric && v.n.IsUint64() {
					b.size, sized = v.n.Uint64(), true
				}
			}
			if !slices.Contains(addressNames, e.binds[i]) || b.at.Name != "" {
				continue
			}
			for _, name := range namesIn(e.binds[i+1]) {
				_, v := r.lookup("drivers/", -1, "", name)
				if v == nil {
					v = r.assigned(&item{env: e.caller}, name)
				}
				if v != nil {
					b.at = *v
					break
				}
			}
		}
	}
	return b
}

// pinned is the name of the member that has the address of what a check is on.
func (r *request) pinned(it *item) string { return r.buffer(it).at.Name }

const pageSize = 4096

// unmappedValues say which memory could not be pinned, and which of its pages is not
// mapped.
func (r *request) unmappedValues(it *item) []Value {
	b := r.buffer(it)
	if b.at.Name == "" {
		return nil
	}
	out := []Value{b.at}
	if b.size > 0 {
		out = append(out, text("its length", "%d bytes", b.size))
	}
	if page, of, ok := b.hole(r.call.Mapped); ok && badAddress(b.at.n) == "" {
		out = append(out, text("not mapped", "the page at %#x, the %s of %d", page*pageSize, ordinal(page-b.at.n/pageSize), of))
	}
	return out
}

// hole is the first page that is not mapped, and how many pages there are.
func (b *buffer) hole(mapped [][2]uint64) (page, of uint64, found bool) {
	first, last := b.at.n/pageSize, (b.at.n+max(b.size, 1)-1)/pageSize
	if !b.at.known || mapped == nil || last < first {
		return 0, 0, false
	}
	page = first
	for _, m := range mapped {
		if from, to := m[0]/pageSize, m[1]/pageSize; from <= page && page < to {
			page = to
		}
	}
	return page, last - first + 1, page <= last
}

// ordinal counts from 0: "first", "2nd".
func ordinal(n uint64) string {
	switch n++; {
	case n == 1:
		return "first"
	case n%100/10 != 1 && n%10 == 1:
		return fmt.Sprintf("%dst", n)
	case n%100/10 != 1 && n%10 == 2:
		return fmt.Sprintf("%dnd", n)
	case n%100/10 != 1 && n%10 == 3:
		return fmt.Sprintf("%drd", n)
	}
	return fmt.Sprintf("%dth", n)
}

// wholeBuffer says how much memory has to be mapped, and by which member it goes.
func wholeBuffer(r *request, it *item) []string {
	if it == nil {
		return nil
	}
	b := r.buffer(it)
	switch {
	case b.at.Name == "":
		return nil
	case b.size == 0:
		return []string{fmt.Sprintf("%s is the address that is meant.", b.at.Name)}
	}
	return []string{fmt.Sprintf("%s is the address that is meant: all pages of the %d bytes from there.", b.at.Name, b.size)}
}

// roundUp is roundup_pow_of_two of a number.
func roundUp(v value) value {
	if !v.n.IsUint64() || v.n.Sign() == 0 || v.n.BitLen() > 63 {
		return value{}
	}
	return num(1 << bits.Len64(v.n.Uint64()-1))
}
