package trace

import "time"

// Timed returns a sink that hands on to s and wants to know when events happened, by
// that clock.
func Timed(s Batcher, clock func() time.Duration) Batcher { return timed{s, clock} }

type timed struct {
	Batcher
	clock func() time.Duration
}

var _ Timer = timed{}

// Now implements Timer.
func (t timed) Now() time.Duration { return t.clock() }

// Wants implements Filter, as the sink that it hands on to says.
func (t timed) Wants(k Kind, inlined bool) bool { return wants(t.Batcher, k, inlined) }
