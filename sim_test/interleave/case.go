package interleave

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"uverbsim/casefile"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/trace"
)

// Ending is what came of the par step of a case.
type Ending struct {
	Par     [][]casefile.Got
	Refused [][]error    // why each step of each thread was refused
	Waited  []bool       // who waited for what no other thread brings
	Left    *model.Books // when all threads had returned
}

// Calls says in short what each thread was answered: "0" or its errno, joined by
// commas where it has several steps; "waits" for one that had to be released.
func (e *Ending) Calls() string {
	return e.threads(func(_, _ int, errno string) string { return errno })
}

// Refusals is Calls with the rule behind each errno: "0 EBUSY(pd/busy)".
func (e *Ending) Refusals() string {
	return e.threads(func(i, j int, errno string) string { return errno + "(" + e.Rule(i, j) + ")" })
}

// Rule is the id of the rule by which a step of a thread was refused.
func (e *Ending) Rule(thread, step int) string {
	var r *rule.Rule
	if !errors.As(e.Refused[thread][step], &r) {
		return "no rule"
	}
	return r.ID
}

func (e *Ending) threads(refused func(thread, step int, errno string) string) string {
	threads := make([]string, len(e.Par))
	for i, steps := range e.Par {
		if e.Waited[i] {
			threads[i] = "waits"
			continue
		}
		answers := make([]string, len(steps))
		for j := range steps {
			if answers[j] = "0"; steps[j].Errno != nil && *steps[j].Errno != "" {
				answers[j] = refused(i, j, *steps[j].Errno)
			}
		}
		threads[i] = strings.Join(answers, ",")
	}
	return strings.Join(threads, " ")
}

// Objects says how many objects of each type are left in the files, "" for none.
func (e *Ending) Objects() string {
	var types []string
	for _, f := range e.Left.Files {
		for _, o := range f.Objects {
			types = append(types, strings.TrimPrefix(o.Type, "UVERBS_OBJECT_"))
		}
	}
	slices.Sort(types)
	var parts []string
	for i := 0; i < len(types); {
		j := i
		for j < len(types) && types[j] == types[i] {
			j++
		}
		if j-i == 1 {
			parts = append(parts, types[i])
		} else {
			parts = append(parts, fmt.Sprint(j-i, " ", types[i]))
		}
		i = j
	}
	return strings.Join(parts, ", ")
}

// Case is the program of a case with one par step: its world is a machine on which
// the steps before that were played, and its calls are the threads. The steps behind
// it belong to the end, and so does the closing of everything, after which the books
// have to be as at the start. Describe says what the outcome is.
func Case(c *casefile.Case, describe func(e *Ending) (string, error)) Program {
	own := *c
	own.Repeat = 0
	par := slices.IndexFunc(own.Steps, func(s casefile.Step) bool { _, ok := s.Do.(*casefile.Par); return ok })
	skip := skipped(&own, par)
	return func(s trace.Sink) (*World, error) {
		var e Ending
		var before, after *model.Books
		var threads []player.Task
		var machine *model.Machine
		world := &World{Skip: skip}
		ready, goOn, done := make(chan struct{}), make(chan struct{}), make(chan *player.Result, 1)
		go func() {
			done <- player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return s }}, &own, player.Options{
				Timeout: time.Hour, // the watchdog is faster
				Booted:  func(m player.Machine) { machine = m.(*model.Machine); before = machine.Books() },
				Together: func(tasks []player.Task, plays []func()) {
					threads, world.Calls = tasks, plays
					e.Refused = make([][]error, len(plays))
					close(ready)
					<-goOn
				},
				Played: func(thread, _ int, r *player.StepResult) {
					e.Refused[thread] = append(e.Refused[thread], r.Refused)
				},
				After: func(_ player.Machine, i int, r *player.StepResult) {
					if i == par {
						e.Par, e.Left = r.Got.Par, machine.Books()
					}
				},
				Ended: func(player.Machine) { after = machine.Books() },
			})
		}()
		select {
		case <-ready:
		case r := <-done:
			if r.Err == nil {
				r.Err = errors.New("it has no par step")
			}
			return nil, fmt.Errorf("case %s: %w", c.Name, r.Err)
		}
		world.Release = func() {
			for _, t := range threads {
				t.(*model.Task).Modelled().Interrupt()
			}
			p := machine.Process()
			for _, fd := range p.FDs() {
				if fd > 2 {
					p.Close(fd)
				}
			}
		}
		world.End = func(waited []bool) (string, error) {
			close(goOn)
			var r *player.Result
			select {
			case r = <-done:
			case <-time.After(watchdog): // a call has left a lock held, for which a close waits
				return "", fmt.Errorf("what comes behind the calls does not come to its end\n%s", stacks())
			}
			if r.Err != nil {
				return "", r.Err
			}
			e.Waited = waited
			before.Processes, after.Processes = nil, nil
			if machine.Driver.Device() == nil { // a device that is gone keeps no books
				before.EventHandlers, before.Charges = after.EventHandlers, after.Charges
				if len(after.Hardware) == 0 {
					before.Hardware = after.Hardware
				}
			}
			if len(e.Left.Unrest) > 0 {
				return "", fmt.Errorf("%s: left when all have returned: %s", e.Calls(), strings.Join(e.Left.Unrest, ", "))
			}
			if d := cmp.Diff(before, after); d != "" {
				return "", fmt.Errorf("%s: the books at the start (-) and when all is closed (+):\n%s", e.Calls(), d)
			}
			return describe(&e)
		}
		return world, nil
	}
}

// skipped says which locks are no choice in a case: that of the address space, unless
// a thread maps or unmaps. The arguments of calls are mapped by the player.
func skipped(c *casefile.Case, par int) []string {
	if par < 0 {
		return nil
	}
	for _, steps := range c.Steps[par].Do.(*casefile.Par).Threads {
		for i := range steps {
			switch steps[i].Do.(type) {
			case *casefile.Mmap, *casefile.Munmap:
				return nil
			}
		}
	}
	return []string{"mmap_lock"}
}
