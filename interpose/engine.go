package interpose

import (
	"runtime"
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
	event    int // an eventfd, to wake it
	done     chan struct{}

	ended   atomic.Bool
	resting atomic.Bool // the next look is not soon

	mu        sync.Mutex
	registers []registers
}

type registers struct {
	frame *[copyuser.PageSize]byte
	io    copyuser.Polled
}

func startEngine(adapters []Adapter) (*engine, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	e := &engine{adapters: adapters, event: fd, done: make(chan struct{})}
	go e.run()
	return e, nil
}

func (e *engine) stop() {
	e.ended.Store(true)
	e.nudge()
	<-e.done
	unix.Close(e.event)
}

// nudge has the engine look now.
func (e *engine) nudge() {
	one := [8]byte{1}
	_, _ = unix.Write(e.event, one[:])
}

// add has a page of registers looked at, which begins before it returns.
func (e *engine) add(frame *[copyuser.PageSize]byte, io copyuser.Polled) {
	e.mu.Lock()
	io.Poll(frame)
	e.registers = append(e.registers, registers{frame, io})
	e.mu.Unlock()
	e.nudge()
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
	if did || e.resting.Swap(false) {
		e.nudge()
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
	{10 * time.Second, 10 * time.Millisecond},
	{time.Second, 2 * time.Millisecond},
	{100 * time.Millisecond, 500 * time.Microsecond},
	{10 * time.Millisecond, 100 * time.Microsecond},
	{0, 20 * time.Microsecond},
}

// soon is a rest that nobody need be woken from, and roused the quiet time that one
// who was woken goes on from: that somebody makes system calls does not say that he
// is about to ring.
const (
	soon   = 500 * time.Microsecond
	roused = 10 * time.Millisecond
)

func (e *engine) run() {
	defer close(e.done)
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
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
		if e.sleep(e.rest(now.Sub(last))) {
			last = time.Now().Add(-roused)
		}
	}
}

// rest returns how long to sleep after having done nothing for so long; negative is
// until somebody nudges.
func (e *engine) rest(quiet time.Duration) time.Duration {
	e.mu.Lock()
	mapped := len(e.registers) > 0
	e.mu.Unlock()
	d := time.Duration(-1)
	if mapped {
		for _, r := range rests {
			if quiet >= r.after {
				d = r.rest
				break
			}
		}
	}
	for _, a := range e.adapters {
		if due, ok := a.Due(); ok && (d < 0 || due < d) {
			d = max(due, 0)
		}
	}
	return d
}

// sleep sleeps so long and says whether it was woken.
func (e *engine) sleep(d time.Duration) bool {
	e.resting.Store(d > soon)
	defer e.resting.Store(false)
	p := []unix.PollFd{{Fd: int32(e.event), Events: unix.POLLIN}}
	var ts *unix.Timespec
	if d >= 0 {
		t := unix.NsecToTimespec(int64(d))
		ts = &t
	}
	n, _ := unix.Ppoll(p, ts, nil)
	if n <= 0 {
		return false
	}
	var b [8]byte
	_, _ = unix.Read(e.event, b[:])
	return true
}
