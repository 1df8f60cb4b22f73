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
// first waits for the other.
type Meeting struct {
	tb testing.TB
	at []string
	on atomic.Bool
	ch chan struct{}
}

// New returns a meeting at the named functions, which is not held before On.
func New(tb testing.TB, at ...string) *Meeting {
	return &Meeting{tb: tb, at: at, ch: make(chan struct{})}
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
	case <-m.ch:
	case <-time.After(10 * time.Second):
		m.tb.Errorf("nobody else came to %v", m.at)
	}
}
