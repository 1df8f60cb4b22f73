package casefile

// The operations that have to do with several threads and with time.

// Join waits for the background step that the step's Bg names; its answer is
// that step's. When the time is over the answer is ret -1, errno BLOCKED.
type Join struct {
	Timeout int // milliseconds; 0: 5000
}

func (a *Join) members(o *object) { lengthMember(o, "timeout", &a.Timeout, may) }

// Par plays lists of steps at once, each by a thread of its own.
type Par struct {
	Threads [][]Step
}

func (a *Par) members(o *object) {
	listMember(o, "threads", &a.Threads, must, func(it item, l *[]Step) {
		list(it, l, func(it item, s *Step) { s.code(it, inThread) })
	})
}

// Sleep does nothing for N milliseconds.
type Sleep struct {
	N int
}

func (a *Sleep) members(o *object) { lengthMember(o, "n", &a.N, must) }
