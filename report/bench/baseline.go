package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
)

// Baseline is what calls cost at some time, in calibration loops.
type Baseline struct {
	LoopVersion int    `json:"loop_version"`
	Go          string `json:"go"`   // with which it was measured
	Arch        string `json:"arch"` // likewise
	// Calls are by driver and name: "rxe ioctl/cq".
	Calls map[string]Cost `json:"calls"`
}

// Cost is that of a call on the model.
type Cost struct {
	Loops  float64 `json:"loops"`
	Allocs float64 `json:"allocs"`
}

func (r *Result) key() string { return r.Driver + " " + r.Call }

// NewBaseline returns what a report says as a baseline.
func NewBaseline(r *Report) *Baseline {
	b := &Baseline{LoopVersion: LoopVersion, Go: r.Go, Arch: r.Arch, Calls: map[string]Cost{}}
	for i := range r.Results {
		res := &r.Results[i]
		b.Calls[res.key()] = Cost{round(res.Loops(), 100), round(res.Allocs, 1)}
	}
	return b
}

// Write writes the baseline, the same for the same figures.
func (b *Baseline) Write(w io.Writer) error { return encode(w, b) }

// ReadBaseline reads what Write has written. Name is the file's, for errors.
func ReadBaseline(r io.Reader, name string) (*Baseline, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	b := new(Baseline)
	if err := d.Decode(b); err != nil {
		return nil, fmt.Errorf("%s is no baseline: %w", name, err)
	}
	if b.LoopVersion != LoopVersion {
		return nil, fmt.Errorf("%s counts in loops of version %d, and the calibration loop now is of version %d: "+
			"the baseline has to be made anew", name, b.LoopVersion, LoopVersion)
	}
	for _, key := range slices.Sorted(maps.Keys(b.Calls)) {
		if b.Calls[key].Loops <= 0 {
			return nil, fmt.Errorf("%s: %s takes %v loops", name, key, b.Calls[key].Loops)
		}
	}
	return b, nil
}

// Change is a call that does not cost what it did.
type Change struct {
	Key      string
	Was, Is  Cost
	Baseline bool // it is in the baseline
}

// Slower and Allocates say that it takes more of time, by more than the threshold, or of memory.
func (c Change) Slower(threshold float64) bool {
	return c.Baseline && c.Is.Loops > c.Was.Loops*(1+threshold)
}

// Allocates is described with Slower.
func (c Change) Allocates() bool { return c.Baseline && c.Is.Allocs > c.Was.Allocs }

// Compare returns, of what was measured, the calls that are slower than the baseline by
// more than a threshold (0.3: 30 %), that allocate more often, that are faster by more
// than the threshold, and that the baseline does not have, in the report's order.
func (b *Baseline) Compare(r *Report, threshold float64) (worse, better, unknown []Change) {
	for i := range r.Results {
		res := &r.Results[i]
		was, ok := b.Calls[res.key()]
		c := Change{res.key(), was, Cost{round(res.Loops(), 100), round(res.Allocs, 1)}, ok}
		switch {
		case !ok:
			unknown = append(unknown, c)
		case c.Slower(threshold) || c.Allocates():
			worse = append(worse, c)
		case c.Is.Loops*(1+threshold) < was.Loops || c.Is.Allocs < was.Allocs:
			better = append(better, c)
		}
	}
	return worse, better, unknown
}

// String is a line without its end.
func (c Change) String() string {
	if !c.Baseline {
		return fmt.Sprintf("%s: %.2f loops, %.0f allocations", c.Key, c.Is.Loops, c.Is.Allocs)
	}
	return fmt.Sprintf("%s: %.2f loops instead of %.2f (%+.0f %%), %.0f allocations instead of %.0f",
		c.Key, c.Is.Loops, c.Was.Loops, 100*(c.Is.Loops/c.Was.Loops-1), c.Is.Allocs, c.Was.Allocs)
}

// WriteComparison says what Compare has found.
func (b *Baseline) WriteComparison(w io.Writer, r *Report, threshold float64) (worse int, err error) {
	slow, fast, unknown := b.Compare(r, threshold)
	for _, part := range []struct {
		title   string
		changes []Change
	}{
		{fmt.Sprintf("worse than the baseline, by more than %.0f %% or by an allocation", 100*threshold), slow},
		{fmt.Sprintf("better than the baseline, by more than %.0f %% or by an allocation", 100*threshold), fast},
		{"not in the baseline", unknown},
	} {
		if len(part.changes) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "\n%s:\n", part.title); err != nil {
			return 0, err
		}
		for _, c := range part.changes {
			if _, err := fmt.Fprintf(w, "  %v\n", c); err != nil {
				return 0, err
			}
		}
	}
	if known := len(r.Results) - len(unknown); known > 0 {
		_, err = fmt.Fprintf(w, "\n%d of %d calls are as fast as the baseline has them\n", known-len(slow), known)
	}
	return len(slow) + len(unknown), err
}

// Again returns the calls of a driver that a comparison found slower, so that they can
// be measured once more: on a machine that others use, a call may have had bad luck.
func (b *Baseline) Again(r *Report, driver string, threshold float64) (calls []Call) {
	for i := range r.Results {
		res := &r.Results[i]
		c := Change{Was: b.Calls[res.key()], Is: Cost{Loops: res.Loops()}, Baseline: b.Calls[res.key()].Loops > 0}
		if res.Driver != driver || !c.Slower(threshold) {
			continue
		}
		for _, known := range Calls {
			if known.Name == res.Call {
				calls = append(calls, known)
			}
		}
	}
	return calls
}

// Add adds the rounds of another measurement of calls that the report has.
func (r *Report) Add(more []Result) {
	for _, m := range more {
		for i := range r.Results {
			res := &r.Results[i]
			if res.key() == m.key() {
				res.Model.Rounds = append(res.Model.Rounds, m.Model.Rounds...)
				res.Node.Rounds = append(res.Node.Rounds, m.Node.Rounds...)
				res.Loop.Rounds = append(res.Loop.Rounds, m.Loop.Rounds...)
				res.Allocs, res.Bytes = min(res.Allocs, m.Allocs), min(res.Bytes, m.Bytes)
			}
		}
	}
}
