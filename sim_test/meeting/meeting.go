// Package meeting has two threads of the model come to one kernel function together, so
// that the race detector sees what they share there whatever the machine does. It
// imports the seam only, so that the tests of drivers can have it.
package meeting

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"uverbsim/trace"
)

// Meeting is the sink of both threads. Of those who enter one of its functions the
// first waits for the other, who may have made the last of its calls already.
type Meeting struct {
	at  []string
	on  atomic.Bool
	met atomic.Int64
	ch  chan struct{}
}

// patience is how long one waits for the other.
const patience = time.Second

// New returns a meeting at the named functions, which is not held before On. The test
// fails if nobody has met at its end.
func New(tb testing.TB, at ...string) *Meeting {
	m := &Meeting{at: at, ch: make(chan struct{})}
	tb.Cleanup(func() {
		if m.met.Load() == 0 {
			tb.Errorf("no two came to %v together", at)
		}
	})
	return m
}

// On says whether the meeting is held from now on.
func (m *Meeting) On(on bool) { m.on.Store(on) }

// Event implements trace.Sink.
func (m *Meeting) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind != trace.Enter || !m.on.Load() || !slices.Contains(m.at, e.Name) {
		return
	}
	select {
	case m.ch <- struct{}{}:
		m.met.Add(1)
	case <-m.ch:
	case <-time.After(patience):
	}
}
