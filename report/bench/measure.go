package bench

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"time"
)

// Options say how calls are measured.
type Options struct {
	Calls []Call
	// Rounds is how many there are, and Time how long each side has its turn in one.
	Rounds int
	Time   time.Duration
	// Progress, if set, is told how many rounds are done.
	Progress func(done int)
}

// The usual options.
const (
	DefaultRounds = 15
	DefaultTime   = 10 * time.Millisecond
)

// Total is how many rounds a driver takes.
func (o *Options) Total() int { return len(o.Calls) * o.Rounds }

// Result is what a call costs.
type Result struct {
	Driver, Call string
	Model        Times
	Node         Times // empty without one
	Loop         Times // of the calibration loop, once around
	Allocs       float64
	Bytes        float64
}

// Measure measures the calls of a driver's device on the model, and on a node unless
// that is nil. The garbage collector runs as it does in any Go program (GOGC=100),
// whatever the environment says: what the model leaves to it is part of what it costs.
func Measure(driver string, id uint32, model, node Task, o Options) (results []Result, err error) {
	defer debug.SetGCPercent(debug.SetGCPercent(100))
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sides, err := open(id, model, node)
	defer func() {
		for _, p := range sides {
			if e := p.close(); err == nil {
				err = e
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	for i, c := range o.Calls {
		r, err := measure(c, sides, &o, i*o.Rounds)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		r.Driver = driver
		results = append(results, *r)
	}
	return results, nil
}

// open makes the programs: the model's and, with a node, its.
func open(driver uint32, model, node Task) (sides []*program, err error) {
	p, err := newProgram(model, driver)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", sideNames[0], err)
	}
	sides = append(sides, p)
	if node != nil {
		if p, err = newProgram(node, driver); err != nil {
			return sides, fmt.Errorf("%s: %w", sideNames[1], err)
		}
		sides = append(sides, p)
	}
	return sides, nil
}

// runner is what has its turns in the rounds.
type runner struct {
	repeat func(n int) error
	reps   int
	took   []float64 // nanoseconds of one
}

// measure measures one call.
func measure(c Call, sides []*program, o *Options, done int) (*Result, error) {
	loop := newLoop()
	runners := []*runner{{repeat: func(n int) error { loop.repeat(n); return nil }}}
	prepared := make([][]step, len(sides))
	for i, p := range sides {
		prepared[i] = c.prepare(p)
		runners = append(runners, &runner{repeat: func(n int) error {
			if err := repeat(p.Task, prepared[i], n); err != nil {
				return fmt.Errorf("%s: %w", sideNames[i], err)
			}
			return nil
		}})
	}
	if err := tryAll(sides, prepared); err != nil {
		return nil, err
	}
	for _, r := range runners {
		if err := r.calibrate(o.Time); err != nil {
			return nil, err
		}
	}
	res := &Result{Call: c.Name}
	var err error
	if res.Allocs, res.Bytes, err = allocs(runners[1].repeat); err != nil {
		return nil, err
	}
	for round := range o.Rounds {
		for i := range runners {
			r := runners[(round+i)%len(runners)]
			if r != runners[1] && res.Allocs >= 1 {
				runtime.GC() // what the model has left is not to be cleared away in the turn of another
			}
			if err := r.round(); err != nil {
				return nil, err
			}
		}
		if o.Progress != nil {
			o.Progress(done + round + 1)
		}
	}
	res.Loop, res.Model = Times{runners[0].took}, Times{runners[1].took}
	if len(runners) > 2 {
		res.Node = Times{runners[2].took}
	}
	return res, tryAll(sides, prepared) // the answers are what they were
}

// tryAll makes the call once on each side and looks at the answers.
func tryAll(sides []*program, prepared [][]step) error {
	for i, p := range sides {
		if err := p.try(prepared[i]...); err != nil {
			return fmt.Errorf("%s: %w", sideNames[i], err)
		}
	}
	return nil
}

var sideNames = []string{"the model", "the node"}

// calibrate finds how often a round repeats.
func (r *runner) calibrate(want time.Duration) error {
	const most = 1 << 30
	for r.reps = 1; ; {
		start := time.Now()
		if err := r.repeat(r.reps); err != nil {
			return err
		}
		took := max(time.Since(start), 1)
		if took >= want/2 || r.reps >= most {
			r.reps = max(1, min(most, int(float64(r.reps)*float64(want)/float64(took))))
			return nil
		}
		r.reps *= 2
	}
}

// round is a turn. What came before has left the caches to others, so a few go
// unmeasured.
func (r *runner) round() error {
	const warm = 16
	if err := r.repeat(min(r.reps, warm)); err != nil {
		return err
	}
	start := time.Now()
	if err := r.repeat(r.reps); err != nil {
		return err
	}
	r.took = append(r.took, float64(time.Since(start).Nanoseconds())/float64(r.reps))
	return nil
}

// allocs returns how many allocations of the Go heap a call makes and of how many
// bytes: the least of a few tries, for the runtime allocates, too.
func allocs(repeat func(int) error) (n, bytes float64, err error) {
	const tries, times = 5, 100
	var counts, sizes []float64
	for range tries {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := repeat(times); err != nil {
			return 0, 0, err
		}
		runtime.ReadMemStats(&after)
		counts = append(counts, float64(after.Mallocs-before.Mallocs)/times)
		sizes = append(sizes, float64(after.TotalAlloc-before.TotalAlloc)/times)
	}
	return slices.Min(counts), slices.Min(sizes), nil
}
