package lab

import (
	"fmt"
	"runtime"
	"slices"
	"time"
)

// variant is a way to do something that is to be measured beside others.
type variant struct {
	run  func() error
	reps int // how often run is run in a round; measure finds it
	took []time.Duration
}

// roundTime is about how long a variant runs in one round: short, so that all
// have had their turn before the machine is busy with something else.
const roundTime = 200 * time.Microsecond

// measure runs the variants in turns and returns the median of each, in
// nanoseconds for one run, and how far they may be off, in percent: the most by
// which the medians of every other round and of the rounds between them differ. In
// every round each variant has its turn, and each round begins with another one, so
// that what slows the machine down for a while slows all of them.
func measure(rounds int, runs ...func() error) (ns []float64, noise float64, err error) {
	vs := make([]*variant, len(runs))
	for i, run := range runs {
		vs[i] = &variant{run: run}
		if err := vs[i].calibrate(); err != nil {
			return nil, 0, err
		}
	}
	runtime.GC()
	for r := range rounds {
		for i := range vs {
			if err := vs[(r+i)%len(vs)].round(); err != nil {
				return nil, 0, err
			}
		}
	}
	ns = make([]float64, len(vs))
	for i, v := range vs {
		noise = max(noise, v.noise())
		ns[i] = float64(median(v.took)) / float64(v.reps)
	}
	return ns, noise, nil
}

// noise is by how many percent the medians of the two halves of the rounds differ.
func (v *variant) noise() float64 {
	if len(v.took) < 2 {
		return 0
	}
	var halves [2][]time.Duration
	for i, d := range v.took {
		halves[i%2] = append(halves[i%2], d)
	}
	a, b := float64(median(halves[0])), float64(median(halves[1]))
	return 100 * (max(a, b)/min(a, b) - 1)
}

// noiseNote says what to think of small differences between measured times.
func noiseNote(percent float64) string {
	return fmt.Sprintf("A difference of less than %.1f %%, up or down, says nothing: by so much every other round and those "+
		"between them differ for one and the same way.", max(percent, 0.1))
}

// calibrate finds how often the variant is to be run in a round. What it is judged
// by is the fastest of a few, in which nothing came between.
func (v *variant) calibrate() error {
	const tries = 5
	for v.reps = 1; ; v.reps *= 2 {
		v.took = v.took[:0]
		for range tries {
			if err := v.round(); err != nil {
				return err
			}
		}
		fastest := slices.Min(v.took)
		v.took = v.took[:0]
		if fastest >= roundTime/2 || v.reps >= 1<<20 {
			return nil
		}
	}
}

// round runs the variant once to warm the caches up, and then as often as it is to
// be measured.
func (v *variant) round() error {
	if err := v.run(); err != nil {
		return err
	}
	start := time.Now()
	for range v.reps {
		if err := v.run(); err != nil {
			return err
		}
	}
	v.took = append(v.took, time.Since(start))
	return nil
}

// median sorts its argument.
func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// allocs returns how many allocations of the Go heap a run makes, and of how many
// bytes, as the average of many. They are those of the model and of the library,
// not of the kernel.
func allocs(run func() error) (n, bytes float64, err error) {
	const times = 50
	if err := run(); err != nil {
		return 0, 0, err
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		if err := run(); err != nil {
			return 0, 0, err
		}
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / times, float64(after.TotalAlloc-before.TotalAlloc) / times, nil
}
