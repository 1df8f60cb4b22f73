package player

import (
	"iter"

	"uverbsim/casefile"
)

// Each plays cases, that many at once, and yields what became of them in the
// order of the cases.
func Each(target Target, cases []*casefile.Case, atOnce int, opts Options) iter.Seq[*Result] {
	return func(yield func(*Result) bool) {
		playing := make(chan chan *Result, max(atOnce-1, 0))
		stop := make(chan struct{})
		defer close(stop)
		go func() {
			defer close(playing)
			for _, c := range cases {
				r := make(chan *Result, 1)
				select {
				case playing <- r:
				case <-stop:
					return
				}
				go func() { r <- Play(target, c, opts) }()
			}
		}()
		for r := range playing {
			if !yield(<-r) {
				return
			}
		}
	}
}
