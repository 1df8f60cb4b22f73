package player

import (
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"uverbsim/casefile"
)

// Result is what became of a case.
type Result struct {
	Case *casefile.Case
	// Steps are those that were played. Of a case that is repeated they are
	// of the last repetition, which is the first that was answered otherwise.
	Steps []StepResult
	// Err says why the case could not be played to its end.
	Err error
	// Played is how often it was played.
	Played int
}

// StepResult is what became of a step.
type StepResult struct {
	Got *casefile.Got
	// Differences say where Got is not what the case says; none for a step
	// that is not recorded.
	Differences []casefile.Difference
	// Refused is the error behind the answer's errno: on the model a
	// *rule.Rule.
	Refused error
}

// Passed says whether every step was played and answered as the case says.
func (r *Result) Passed() bool {
	if r.Err != nil || len(r.Steps) < len(r.Case.Steps) {
		return false
	}
	return !r.differs()
}

func (r *Result) differs() bool {
	for i := range r.Steps {
		if len(r.Steps[i].Differences) > 0 {
			return true
		}
	}
	return false
}

// StepError is a step that could not be played.
type StepError struct {
	Step int // from 0
	Op   string
	Err  error
}

func (e *StepError) Error() string { return fmt.Sprintf("step %d (%s): %v", e.Step, e.Op, e.Err) }

func (e *StepError) Unwrap() error { return e.Err }

// ErrStuck is the error of a step that has not come back in time.
var ErrStuck = errors.New("no answer: the call waits for something that does not come")

// Options say how cases are played. The zero value is the ordinary way.
type Options struct {
	// Repeat, when not 0, bounds how often a repeated case is played.
	Repeat int
	// Timeout, when not 0, is how long one playing of a case may take;
	// otherwise it is a minute.
	Timeout time.Duration
	// Before and After, when set, are called around each step of the first
	// process that is no step of a background thread.
	Before func(m Machine, step int)
	After  func(m Machine, step int, r *StepResult)
	// Step, when set, is called before each step, whoever plays it, and with the
	// number of steps before what the case has left open is closed.
	Step func(step int)
	// Together, when set, runs what the threads of a par step play, and returns when
	// they have.
	Together func(threads []Task, plays []func())
	// Played, when set, is called with each step of such a thread when it was played,
	// by whoever plays it.
	Played func(thread, step int, r *StepResult)
	// Booted and Ended, when set, are called with the machine before the
	// buffers are made and after everything was closed.
	Booted, Ended func(m Machine)
	// Repetition, when set, is called with the result of each playing.
	Repetition func(r *Result)
}

// Play plays a case on a machine of its own, as often as it says, until an
// answer differs.
func Play(target Target, c *casefile.Case, opts Options) *Result {
	times := max(c.Repeat, 1)
	if opts.Repeat > 0 {
		times = min(times, opts.Repeat)
	}
	r := &Result{Case: c}
	for rep := range times {
		*r = *playInTime(target, c, &opts, rep)
		r.Played = rep + 1
		if opts.Repetition != nil {
			opts.Repetition(r)
		}
		if r.Err != nil || r.differs() {
			break
		}
	}
	return r
}

// playInTime plays the case once and gives it up when it does not come back.
func playInTime(target Target, c *casefile.Case, opts *Options, rep int) *Result {
	limit := opts.Timeout
	if limit == 0 {
		limit = time.Minute
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	var at stepClock
	done := make(chan *Result, 1)
	go func() { done <- once(target, c, opts, rep, &at) }()
	select {
	case r := <-done:
		return r
	case <-timer.C:
		return &Result{Case: c, Err: stuckAt(c, at.now())}
	}
}

func stuckAt(c *casefile.Case, i int) error {
	if i >= len(c.Steps) {
		return ErrStuck
	}
	return &StepError{i, c.Steps[i].Op(), ErrStuck}
}

// once plays the case on a fresh machine.
func once(target Target, c *casefile.Case, opts *Options, rep int, at *stepClock) (r *Result) {
	r = &Result{Case: c}
	defer caught(&r.Err)
	m, err := target.Boot(c)
	if err != nil {
		r.Err = fmt.Errorf("the device: %w", err)
		return r
	}
	p := newPlayer(m, c, rep)
	p.together, p.played = opts.Together, opts.Played
	if opts.Booted != nil {
		opts.Booted(m)
	}
	r.Err = p.all(r, opts, at)
	if errors.Is(r.Err, ErrPanic) {
		return r // it may hold locks for ever
	}
	if opts.Step != nil {
		opts.Step(len(c.Steps))
	}
	p.end()
	m.Shutdown()
	if opts.Ended != nil {
		opts.Ended(m)
	}
	return r
}

// all makes the buffers and plays the steps.
func (p *player) all(r *Result, opts *Options, at *stepClock) (err error) {
	defer caught(&err)
	if err := p.prepare(); err != nil {
		return err
	}
	r.Steps = make([]StepResult, 0, len(p.c.Steps))
	for i := range p.c.Steps {
		at.set(i)
		s := &p.c.Steps[i]
		if opts.Step != nil {
			opts.Step(i)
		}
		if opts.Before != nil && s.Proc == "" {
			opts.Before(p.m, i)
		}
		sr, err := p.step(s)
		if err != nil {
			return &StepError{i, s.Op(), err}
		}
		sr.Differences = differences(s, sr.Got)
		r.Steps = append(r.Steps, sr)
		if opts.After != nil && s.Proc == "" {
			opts.After(p.m, i, &sr)
		}
	}
	return nil
}

// ErrPanic is the error of a case in which the target panicked.
var ErrPanic = errors.New("the target panicked")

// caught turns a panic into an error.
func caught(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("%w: %v\n%s", ErrPanic, v, debug.Stack())
	}
}

// differences compares a step's answer; one that is not recorded may be
// anything.
func differences(s *casefile.Step, got *casefile.Got) []casefile.Difference {
	if s.Got == nil && s.GotAny == nil {
		return nil
	}
	return s.Compare(got)
}
