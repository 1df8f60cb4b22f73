package core

import (
	"slices"
	"sort"
)

// freeOffsets are the page offsets that no entry has: runs in order that do not
// touch. There is one more of them than there are holes between entries, however
// many entries there are.
type freeOffsets struct {
	runs  []offsetRun
	ready bool // runs is what is free; before, everything is
}

// offsetRun is a run of offsets, without its end.
type offsetRun struct{ first, end uint64 }

// endOfOffsets is the last of the 32 bits' offsets, which is never taken.
const endOfOffsets = 1<<32 - 1

// at returns the index of the first run that ends behind an offset.
func (f *freeOffsets) at(offset uint64) int {
	if !f.ready {
		f.runs, f.ready = []offsetRun{{0, endOfOffsets}}, true
	}
	return sort.Search(len(f.runs), func(i int) bool { return f.runs[i].end > offset })
}

// find returns the lowest n free offsets that begin in [min, max]. The range may
// run past max.
func (f *freeOffsets) find(min, max, n uint64) (uint64, bool) {
	for i := f.at(min); i < len(f.runs); i++ {
		r := f.runs[i]
		if r.first < min {
			r.first = min
		}
		if r.first > max {
			break
		}
		if r.end-r.first >= n {
			return r.first, true
		}
	}
	return 0, false
}

// take takes n offsets that are free.
func (f *freeOffsets) take(first, n uint64) {
	if n == 0 {
		return
	}
	i := f.at(first)
	r := f.runs[i]
	var left []offsetRun
	if r.first < first {
		left = append(left, offsetRun{r.first, first})
	}
	if first+n < r.end {
		left = append(left, offsetRun{first + n, r.end})
	}
	f.runs = slices.Replace(f.runs, i, i+1, left...)
}

// give gives back n offsets that were taken, and joins them with the runs that
// they touch.
func (f *freeOffsets) give(first, n uint64) {
	if n == 0 {
		return
	}
	r := offsetRun{first, first + n}
	i := f.at(first)
	from, to := i, i
	if i > 0 && f.runs[i-1].end == r.first {
		from, r.first = i-1, f.runs[i-1].first
	}
	if i < len(f.runs) && f.runs[i].first == r.end {
		to, r.end = i+1, f.runs[i].end
	}
	f.runs = slices.Replace(f.runs, from, to, r)
}
