package faults

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/sim_test/stub"
	"uverbsim/spec"
)

// Runner plays cases. The zero value is ready.
type Runner struct {
	// Kernel is the version that the machines run; nil is that of the case.
	Kernel *spec.Kernel
	// Timeout is how long a playing may take; 0 is a minute.
	Timeout time.Duration
}

// Run is a case that was played without faults.
type Run struct {
	Case   *casefile.Case
	Calls  []*Call // in the order in which they began
	Result *player.Result
	Lost   []string // what was not given back when everything was closed
	Unrest []string // what its calls left behind that cannot be while no call is under way

	alone bool // no two of its calls run at the same time
	timed bool // what it answers hangs on when threads run
	end   *model.Books
}

// Outcome is what became of a case in which steps of one call failed.
type Outcome struct {
	Case   *casefile.Case
	Hits   []Step // those that failed, in the order of the call
	Points []Point
	Call   *Call // without the fault
	Answer Answer
	Steps  int // how many the call had this time

	Expected Expectation
	Right    bool // the answer is the expected one
	Effects  []*Effect
	Kept     Kept     // what the effects explain
	Books    []string // what differs though nothing should, or no effect explains it
	Rest     string   // how the call made again, or the rest of the case, was answered otherwise
	Close    []string // what was not given back when everything was closed
	Err      error    // a panic, or a call that has not come back

	alone  bool
	seen   bool     // the books behind the call were looked at
	behind []string // what differs in them from those behind the call without the fault
}

// Kept says of what something remained that a real kernel leaves too.
type Kept struct{ Books, Rest, Close bool }

// Alone says whether the books and the rest of the case could be looked at.
func (o *Outcome) Alone() bool { return o.alone }

// Lost says whether anything is not as the kernel would leave it.
func (o *Outcome) Lost() bool {
	return !o.Right || len(o.Books) > 0 || o.Rest != "" || len(o.Close) > 0 || o.Err != nil
}

// Trouble says in a line each what is not as the kernel would leave it.
func (o *Outcome) Trouble() (lines []string) {
	if !o.Right {
		lines = append(lines, fmt.Sprintf("answered %s instead of %s", o.Answer, o.Expected.text(o.Call)))
	}
	for _, d := range o.Books {
		lines = append(lines, "left behind: "+d)
	}
	if o.Rest != "" {
		lines = append(lines, "the file: "+o.Rest)
	}
	for _, d := range o.Close {
		lines = append(lines, "left when all is closed: "+d)
	}
	if o.Err != nil {
		lines = append(lines, o.Err.Error())
	}
	return lines
}

// Chance says whether what a case comes to may be another thing each time.
func (run *Run) Chance() bool { return !run.alone }

// Refuses says whether the case's driver refuses of itself to destroy something: a file
// that is closed may lose that then.
func (run *Run) Refuses() bool { return stub.Refuses(run.Case.Device) }

// Baseline plays a case without faults. Its error says that the case cannot be
// played.
func (r *Runner) Baseline(c *casefile.Case) (*Run, error) {
	run := &Run{Case: c, alone: !concurrent(c), timed: timed(c)}
	j := newInjector(nil, true)
	var start *model.Books
	run.Result = r.play(c, &target{kernel: r.Kernel, j: j, alone: run.alone}, &start, &run.end)
	if run.Result.Err != nil {
		return nil, run.Result.Err
	}
	for _, c := range j.calls {
		run.Calls = append(run.Calls, &c.Call)
	}
	run.Lost = differences(closed(start), closed(run.end))
	run.Unrest = unrest(run.Calls)
	if run.end != nil && run.end.Locked() {
		run.Unrest = append(run.Unrest, "at the end: "+strings.Join(run.end.Unrest, ", "))
	}
	if run.end != nil && run.end.FileRefs != 0 {
		run.Unrest = append(run.Unrest, fmt.Sprintf("files have %d references on the device when everything is closed", run.end.FileRefs))
	}
	return run, nil
}

// unrest is what calls leave behind that cannot be while no call is under way. What
// one leaves that was refused is asked about where calls are that are refused.
func unrest(calls []*Call) (all []string) {
	for _, c := range calls {
		if c.before == nil || c.after == nil || c.Answer.Errno != 0 && !c.after.Locked() {
			continue
		}
		for _, u := range c.after.Unrest {
			if !slices.Contains(c.before.Unrest, u) {
				all = append(all, fmt.Sprintf("%s of step %d: %s", c.Name, c.Step, u))
			}
		}
	}
	return all
}

func newInjector(plan map[callID][]int, list bool) *injector {
	return &injector{plan: plan, list: list, now: map[int]*call{}, made: map[int]int{}}
}

// play plays a case, and takes the books at its start and when everything is closed.
func (r *Runner) play(c *casefile.Case, tg *target, start, end **model.Books) *player.Result {
	return player.Play(tg, c, player.Options{
		Repeat:  1,
		Timeout: r.Timeout,
		Booted:  func(m player.Machine) { *start = m.(*machine).Books() },
		Step:    tg.j.at,
		Ended:   func(m player.Machine) { *end = m.(*machine).Books() },
	})
}

// noCharges are those of a device that nobody uses.
const noCharges = "hca_handle=0 hca_object=0 "

// closed are books without the processes, which have exited.
func closed(b *model.Books) *model.Books {
	if b == nil {
		return nil
	}
	c := *b
	c.Processes = nil
	if c.Charges == noCharges {
		c.Charges = "" // as when the device is gone
	}
	return &c
}

// playings is how often a case is played whose answers hang on when its threads run,
// or rxe's, until one playing leaves nothing to say: what is lost is lost each time. A
// panic and a call that does not come back are told of, whenever they are met.
const playings = 3

// Play plays a case with steps of one call failing. Nil says that the call did not
// come to all of them, though the case came to its end.
func (r *Runner) Play(base *Run, points ...Point) *Outcome {
	o := r.once(base, points)
	for i := 1; i < playings && base.timed && (o == nil || o.Err == nil && o.Lost()); i++ {
		o = r.once(base, points)
	}
	return o
}

func (r *Runner) once(base *Run, points []Point) *Outcome {
	plan := map[callID][]int{}
	for _, p := range points {
		id := base.Calls[p.Call].id
		plan[id] = append(plan[id], p.N)
	}
	o := &Outcome{Case: base.Case, Points: points, Call: base.Calls[points[0].Call], alone: base.alone}
	j := newInjector(plan, false)
	g := &judge{base: base, o: o}
	var start, end *model.Books
	res := r.play(base.Case, &target{kernel: r.Kernel, j: j, judge: g, alone: base.alone}, &start, &end)
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, c := range j.calls {
		if c.id == o.Call.id && len(c.hits) > 0 && o.Hits == nil {
			o.Hits, o.Answer, o.Steps = c.hits, c.Answer, c.count // it has not come back
		}
	}
	if errors.Is(res.Err, player.ErrPanic) || errors.Is(res.Err, player.ErrStuck) {
		o.Err = res.Err
	}
	if len(o.Hits) < len(points) {
		if o.Err == nil {
			return nil
		}
		o.Right = true // it has not come to where it could be wrong
		return o
	}
	o.Expected = Expect(o)
	o.Right = o.Expected.Allows(o)
	if o.Err != nil {
		return o
	}
	g.finish(res, end)
	return o
}

// concurrent says whether calls of a case may run at the same time.
func concurrent(c *casefile.Case) bool {
	for i := range c.Steps {
		if _, par := c.Steps[i].Do.(*casefile.Par); par || c.Steps[i].Bg != "" {
			return true
		}
	}
	return false
}

// timed says whether a case has calls at the same time, or packets of rxe, which it
// sends on threads of its own.
func timed(c *casefile.Case) bool {
	for i := range c.Steps {
		switch c.Steps[i].Do.(type) {
		case *casefile.RxeSend, *casefile.RxePoll:
			return true
		}
	}
	return concurrent(c)
}

// judge looks at the call in which something failed.
type judge struct {
	base   *Run
	o      *Outcome
	resume bool // the case went on as without the fault
}

// call is told of the call when it is over. One that failed and left nothing behind
// is made again, so that the case can go on.
func (g *judge) call(m *machine, c *call, ret int64, err error, do func() (int64, error)) (int64, error) {
	o, base := g.o, g.o.Call
	o.Hits, o.Answer, o.Steps = c.hits, c.Answer, c.count
	if !g.base.alone {
		return ret, err
	}
	if o.Answer.Errno == 0 || o.Answer.same(base.Answer) && Expect(o).GoesOn {
		o.Books = differences(base.after, c.after)
		g.resume = o.Answer.same(base.Answer)
		return ret, err
	}
	o.Books = differences(base.before, c.after)
	o.behind, o.seen = differences(base.after, c.after), true
	switch {
	case c.Name == "read":
		return ret, err // what was read is gone
	case len(o.Books) > 0:
		if o.Answer.same(base.Answer) && len(o.behind) == 0 {
			o.Books, g.resume = nil, true // the call leaves that without the fault too
		}
		return ret, err
	}
	again, againErr := do()
	if a := answerOf(again, againErr); !a.same(base.Answer) {
		o.Rest = fmt.Sprintf("made again, %s answers %s instead of %s", base.Name, a, base.Answer)
		return again, againErr
	}
	if d := differences(base.after, m.Books()); len(d) > 0 {
		o.Rest = fmt.Sprintf("made again, %s leaves %v", base.Name, d)
	}
	g.resume = true
	return again, againErr
}

// finish looks at the rest of the case and at the end.
func (g *judge) finish(res *player.Result, end *model.Books) {
	o := g.o
	o.Close = differences(closed(g.base.end), closed(end))
	if g.base.alone && o.Rest == "" {
		o.Rest = g.rest(res)
	}
	if len(o.Books) > 0 || len(o.Close) > 0 || o.Rest != "" {
		explain(o)
	}
}

// rest is how the case from the call's step on was answered otherwise than without
// the fault.
func (g *judge) rest(res *player.Result) string {
	want := g.base.Result
	first := g.o.Call.Step
	if !g.resume {
		first++ // it has failed
	}
	for i := first; i < len(want.Steps); i++ {
		if i >= len(res.Steps) {
			return fmt.Sprintf("step %d cannot be played: %v", i, res.Err)
		}
		if d := want.Steps[i].Differences; len(d) == 0 {
			d := slices.DeleteFunc(res.Steps[i].Differences, func(d casefile.Difference) bool { return d.Path == "text" })
			if len(d) > 0 { // the driver was asked twice
				return fmt.Sprintf("step %d, %s: %s instead of %s", i, d[0].Path, d[0].Got, d[0].Want)
			}
		}
		a, b := want.Steps[i].Got, res.Steps[i].Got
		if a.Ret != b.Ret || !reflect.DeepEqual(a.Errno, b.Errno) {
			return fmt.Sprintf("step %d answers %v %v instead of %v %v", i, b.Ret, errnoText(b), a.Ret, errnoText(a))
		}
	}
	return ""
}

func errnoText(g *casefile.Got) string {
	if g.Errno == nil {
		return ""
	}
	return *g.Errno
}
