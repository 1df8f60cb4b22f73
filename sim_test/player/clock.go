package player

import "sync/atomic"

// stepClock says which step is being played.
type stepClock struct{ n atomic.Int64 }

func (c *stepClock) set(i int) { c.n.Store(int64(i)) }

func (c *stepClock) now() int { return int(c.n.Load()) }
