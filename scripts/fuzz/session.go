package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
	"text/tabwriter"
	"time"
)

// session runs targets in turns.
type session struct {
	options
	targets []*target
	log     io.Writer
	slice   func(context.Context, *target, turn) result

	mu      sync.Mutex
	start   time.Time
	elapsed time.Duration
}

// turn is how long a target may run: for a slice, or longer if it has then fuzzed for
// less than the least slice, since it goes through the inputs that it has first; but not
// longer than most.
type turn struct {
	slice, most time.Duration
}

// run returns when there is no more to do.
func (s *session) run(ctx context.Context) {
	s.start = time.Now()
	var wg sync.WaitGroup
	for range min(s.jobs, len(s.targets)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				t, turn := s.next()
				if t == nil {
					return
				}
				s.done(t, s.slice(ctx, t, turn))
			}
		})
	}
	wg.Wait()
	s.elapsed = time.Since(s.start)
}

// next is the target that has had the fewest turns, and for how long it may run; nil
// when it is over.
func (s *session) next() (*target, turn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := turn{s.options.slice, s.options.slice + overtime}
	once := s.time == 0 && s.executions == 0
	if s.time > 0 {
		left := s.time - time.Since(s.start)
		if left < leastSlice {
			return nil, turn{}
		}
		next = turn{s.share(left), min(next.most, left.Truncate(time.Second))}
	}
	once = once || s.executions > 0 && s.total() >= s.executions // each has one turn at least
	var best *target
	for _, t := range s.targets {
		if t.running || len(t.Failures) > 0 || once && t.spent > 0 {
			continue
		}
		if best == nil || t.spent < best.spent {
			best = t
		}
	}
	if best != nil {
		best.running = true
		best.spent++
	}
	return best, next
}

// share is a slice, or a shorter one if those who had no turn yet need it in the time
// that is left.
func (s *session) share(left time.Duration) time.Duration {
	waiting := time.Duration(0)
	for _, t := range s.targets {
		if t.spent == 0 {
			waiting++
		}
	}
	slice := s.options.slice
	if left >= slice*waiting {
		return slice
	}
	return min(slice, max(left*time.Duration(min(s.jobs, len(s.targets)))/waiting, leastSlice))
}

func (s *session) total() (n int64) {
	for _, t := range s.targets {
		n += t.Executions
	}
	return n
}

// done adds what came of a slice.
func (s *session) done(t *target, r result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.running = false
	t.Executions += r.Executions
	t.NewInteresting += r.NewInteresting
	t.Seconds += r.Seconds
	t.Failures = append(t.Failures, r.Failures...)
	fmt.Fprintf(s.log, "%8s  %-60s %9d executions %5.0f/s %5d new  %10d in all\n", time.Since(s.start).Truncate(time.Second), t,
		r.Executions, float64(r.Executions)/max(r.Seconds, 0.001), r.NewInteresting, s.total())
	for _, f := range r.Failures {
		fmt.Fprintf(s.log, "FAILED %s\n%s\n%s\n", t, kept(f), f.Output)
	}
}

func kept(f failure) string {
	if f.Input == "" {
		return "no input was kept"
	}
	return "the input is kept in " + f.Input
}

// status is the exit status. It names the targets that nothing is known of: they did
// not fail, and did not execute anything.
func (s *session) status() int {
	status := 0
	for _, t := range s.targets {
		switch {
		case len(t.Failures) > 0:
			status = 1
		case t.Executions == 0:
			fmt.Fprintf(s.log, "fuzz: %s: %s\n", t, idle(t))
			if status == 0 {
				status = 2
			}
		}
	}
	return status
}

func idle(t *target) string {
	if t.spent == 0 {
		return "no turn"
	}
	return fmt.Sprintf("not one execution in %.0fs", t.Seconds)
}

// summary is the JSON of what came of it.
type summary struct {
	Executions int64           `json:"executions"`
	Seconds    float64         `json:"seconds"`
	Failures   int             `json:"failures"`
	Targets    []targetSummary `json:"targets"`
}

type targetSummary struct {
	Package string `json:"package"`
	Target  string `json:"target"`
	result
}

// report prints the summary.
func (s *session) report(out io.Writer) error {
	sum := summary{Executions: s.total(), Seconds: s.elapsed.Seconds()}
	for _, t := range s.targets {
		if t.Failures == nil {
			t.Failures = []failure{}
		}
		sum.Failures += len(t.Failures)
		sum.Targets = append(sum.Targets, targetSummary{t.Package, t.Name, t.result})
	}
	if s.json {
		enc := json.NewEncoder(out)
		enc.SetIndent("", "  ")
		return enc.Encode(sum)
	}
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "target\texecutions\tseconds\tnew interesting\tfailures")
	for _, t := range sum.Targets {
		fmt.Fprintf(w, "%s:%s\t%d\t%.0f\t%d\t%d\n", t.Package, t.Target, t.Executions, t.Seconds, t.NewInteresting, len(t.Failures))
	}
	fmt.Fprintf(w, "%d targets\t%d\t%.0f\t\t%d\n", len(sum.Targets), sum.Executions, sum.Seconds, sum.Failures)
	if err := w.Flush(); err != nil {
		return err
	}
	for _, t := range sum.Targets {
		for _, f := range t.Failures {
			fmt.Fprintf(out, "%s:%s: %s\n", t.Package, t.Target, kept(f))
		}
	}
	return nil
}
