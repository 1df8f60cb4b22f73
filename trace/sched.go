package trace

// Effect says what an operation does to a thing, as far as other tasks can see.
// The order of two operations on one thing matters unless both have the same
// effect, which is not Writes, or one of them has none.
type Effect uint8

// The effects.
const (
	Nothing Effect = iota // nobody can tell when it happened
	Reads                 // it looks and changes nothing
	Counts                // it changes a number by some amount without looking at what it becomes
	Drops                 // it gives a reference back that is not the last; the last one Writes
	Writes                // anything else
)

// Matters says whether the order of two operations on one thing matters.
func (e Effect) Matters(other Effect) bool {
	if e > other {
		e, other = other, e
	}
	return e != Nothing && (e != other || e == Writes)
}

// Word is the Kind of a Point at a pointer or a number that tasks load and store
// without a lock. No Event has it.
const Word = Warn + 1

// Access is a thing and what is done to it. The thing is known by its address; N is
// which part of it, where what is done to one part does not concern the others.
type Access struct {
	Effect Effect
	On     any
	N      uint64
}

// Point is an operation by which tasks can see one another.
type Point struct {
	Kind Kind   // Lock, Unlock, Ref, Usecnt, Handle or Word
	Verb string // what is done: "down_read", "get"
	Name string // of the thing

	Access        // what is done to it
	Also   Access // what is done to another thing in the same step

	// Ready says whether the operation can go on; nil where it need not wait for
	// anything. The scheduler asks while no task runs.
	Ready func() bool
	// Frees: the operation can only let others go on. Who waits for this thing
	// cannot have gone on before it.
	Frees bool
	// Quiet: nobody can do otherwise before the operation than behind it, so that
	// the task needs no leave for it.
	Quiet bool
}

// Scheduler is a Sink that also chooses interleavings: Before is called before
// each operation by which tasks can see one another, and returns when the task
// may go on. What a Scheduler lets go on before the Point is Ready waits for it.
type Scheduler interface {
	Before(t *Task, p *Point)
}

// Observer is a Scheduler that is told when an operation turned out to be less, or
// more, than its Point said: a lock that was not had has only been read.
type Observer interface {
	Turned(t *Task, e Effect)
}

// Scheduled says whether the task has a Scheduler. It is for operations that have
// a Point that costs something to make.
func (t *Task) Scheduled() bool { return t != nil && t.sched != nil }

// Before is a scheduling point that other tasks may wait at: what the task has done
// so far is told first.
func (t *Task) Before(k Kind, verb, name string, e Effect, on any) {
	if t != nil {
		t.Flush()
		t.point(k, verb, name, e, on)
	}
}

// Point is a scheduling point.
func (t *Task) Point(k Kind, verb, name string, e Effect, on any) {
	if t != nil {
		t.point(k, verb, name, e, on)
	}
}

func (t *Task) point(k Kind, verb, name string, e Effect, on any) {
	if t.sched != nil {
		t.sched.Before(t, &Point{Kind: k, Verb: verb, Name: name, Access: Access{Effect: e, On: on}})
	}
}

// PointAt is a scheduling point with all that there is to say of it. Who calls it
// asks Scheduled first.
func (t *Task) PointAt(p *Point) { t.sched.Before(t, p) }

// Turned says what effect the operation of the last scheduling point had, where that
// is known only afterwards.
func (t *Task) Turned(e Effect) {
	if t != nil && t.observer != nil {
		t.observer.Turned(t, e)
	}
}
