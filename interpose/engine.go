package interpose

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/trace"
)

// Adapter is a device that has to be kept going, for want of electricity. Its
// methods may be called by several goroutines at once.
type Adapter interface {
	// Turn has the device do what it can do now, and says whether there was
	// anything.
	Turn(t *trace.Task) bool
	// Due returns in how long there will be something that only time brings about;
	// false is never.
	Due() (time.Duration, bool)
}

// engine keeps the adapters going, and looks at the register pages that programs
// have mapped: a store there is nothing that one could be told of. The longer there
// was nothing, the longer it rests between two looks.
type engine struct {
	adapters []Adapter
	wake     chan struct{}
	done     chan struct{}

	ended   atomic.Bool
	roused  atomic.Bool // something has happened that the engine did not do
	waiting atomic.Bool // for wake
	resting atomic.Bool // and for the time of its next look

	mu        sync.Mutex
	registers []registers
}

type registers struct {
	frame *[copyuser.PageSize]byte
	io    copyuser.Polled
}

func startEngine(adapters []Adapter) *engine {
	e := &engine{adapters: adapters, wake: make(chan struct{}, 1), done: make(chan struct{})}
	go e.run()
	return e
}

func (e *engine) stop() {
	e.ended.Store(true)
	e.rouse()
	<-e.done
}

// rouse has the engine look soon, and often for a while.
func (e *engine) rouse() {
	e.roused.Store(true)
	if e.waiting.Load() {
		select {
		case e.wake <- struct{}{}:
		default:
		}
	}
}

// add has a page of registers looked at, which begins before it returns.
func (e *engine) add(frame *[copyuser.PageSize]byte, io copyuser.Polled) {
	e.mu.Lock()
	io.Poll(frame)
	e.registers = append(e.registers, registers{frame, io})
	e.mu.Unlock()
	e.rouse()
}

// remove ends that, and says whether the page was looked at. When it returns,
// nobody looks.
func (e *engine) remove(frame *[copyuser.PageSize]byte) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range e.registers {
		if e.registers[i].frame == frame {
			last := len(e.registers) - 1
			e.registers[i] = e.registers[last]
			e.registers[last] = registers{}
			e.registers = e.registers[:last]
			return true
		}
	}
	return false
}

// settle has the adapters do what was stored to their registers before a system
// call: they would not have waited for it.
func (e *engine) settle() {
	if e.look() {
		e.turn()
	}
}

// turn has the adapters do what a system call has given them to do.
func (e *engine) turn() {
	did := false
	for _, a := range e.adapters {
		did = a.Turn(nil) || did
	}
	if did || e.resting.Load() { // who makes system calls may well ring soon
		e.rouse()
	}
}

// look looks at all registers once.
func (e *engine) look() (rang bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, r := range e.registers {
		rang = r.io.Poll(r.frame) || rang
	}
	return rang
}

// rests says how long the engine rests between two looks when for some time nothing
// has happened.
var rests = []struct{ after, rest time.Duration }{
	{time.Minute, 100 * time.Millisecond},
	{10 * time.Second, 50 * time.Millisecond},
	{time.Second, 10 * time.Millisecond},
	{100 * time.Millisecond, 500 * time.Microsecond},
	{10 * time.Millisecond, 100 * time.Microsecond},
	{0, 20 * time.Microsecond},
}

// short is a rest that the engine takes in the kernel, where a timer is exact. A
// longer one it takes as Go does, which costs less and can be ended.
const short = time.Millisecond

func (e *engine) run() {
	defer close(e.done)
	var nap naps
	timer := time.NewTimer(0)
	last := time.Now()
	for !e.ended.Load() {
		did := e.look()
		for _, a := range e.adapters {
			did = a.Turn(nil) || did
		}
		now := time.Now()
		if did {
			last = now
			continue
		}
		if e.roused.Swap(false) { // since the look, it may be
			last = now
			continue
		}
		switch rest, ever := e.rest(now.Sub(last)); {
		case !ever:
			nap.end()
			e.wait(nil)
		case rest < short:
			nap.take(rest)
		default:
			nap.end()
			timer.Reset(rest)
			e.wait(timer.C)
		}
	}
}

// naps are short rests, on a thread whose timers are exact.
type naps struct{ locked bool }

func (n *naps) take(rest time.Duration) {
	if !n.locked {
		runtime.LockOSThread()
		_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
		n.locked = true
	}
	ts := unix.NsecToTimespec(int64(rest))
	_ = unix.Nanosleep(&ts, nil) // a shorter one will do
}

// end gives the thread back: to wake a goroutine that has its own takes two threads.
func (n *naps) end() {
	if n.locked {
		runtime.UnlockOSThread()
		n.locked = false
	}
}

// wait waits until the time has come or somebody rouses the engine.
func (e *engine) wait(expired <-chan time.Time) {
	e.waiting.Store(true)
	defer e.waiting.Store(false)
	e.resting.Store(expired != nil)
	defer e.resting.Store(false)
	if e.roused.Load() { // before that could be seen
		return
	}
	select {
	case <-e.wake:
	case <-expired:
	}
}

// rest returns how long to rest after nothing has happened for so long; ever is false
// if nothing will happen by itself.
func (e *engine) rest(quiet time.Duration) (rest time.Duration, ever bool) {
	e.mu.Lock()
	mapped := len(e.registers) > 0
	e.mu.Unlock()
	if mapped {
		i := slices.IndexFunc(rests, func(r struct{ after, rest time.Duration }) bool { return quiet >= r.after })
		rest, ever = rests[i].rest, true
	}
	for _, a := range e.adapters {
		if due, ok := a.Due(); ok && (!ever || due < rest) {
			rest, ever = max(due, 0), true
		}
	}
	return rest, ever
}
