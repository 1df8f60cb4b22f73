package faults

import (
	"iter"
	"sync"
)

// Singles are all steps of a case, one at a time.
func (run *Run) Singles() iter.Seq[Point] {
	return func(yield func(Point) bool) {
		for i, c := range run.Calls {
			for n := range c.Steps {
				if !yield(Point{i, n}) {
					return
				}
			}
		}
	}
}

// Step is the step of a point.
func (run *Run) Step(p Point) *Step { return &run.Calls[p.Call].Steps[p.N] }

// PairsOf are the pairs of steps of a call that can fail together: a step, and one
// that the call comes to after the first has failed.
func (r *Runner) PairsOf(run *Run, call int) iter.Seq2[Point, Point] {
	return func(yield func(p, q Point) bool) {
		for n := range run.Calls[call].Steps {
			first := r.Play(run, Point{call, n})
			if first == nil {
				continue
			}
			for m := n + 1; m < first.Steps; m++ {
				if !yield(Point{call, n}, Point{call, m}) {
					return
				}
			}
		}
	}
}

// Each does something for each of the numbers below n, several at once.
func Each(n, atOnce int, do func(i int)) {
	next := make(chan int)
	var wg sync.WaitGroup
	for range atOnce {
		wg.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	wg.Wait()
}
