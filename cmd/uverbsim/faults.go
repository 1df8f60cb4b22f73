package main

import (
	"bufio"
	"errors"
	"runtime"
	"slices"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
	report "uverbsim/report/faults"
	"uverbsim/sim_test/faults"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

func newFaultsCmd() *cobra.Command {
	var f faulter
	cmd := &cobra.Command{
		Use:   "faults [flags] FILE...",
		Short: "Play cases with every step failing that can fail",
		Long: `Faults plays the cases of each FILE once for each place at which the kernel could
fail, with that place failing: a copy from or to user memory, before its first byte
and in its middle, an allocation, a descriptor, a file, a number, a charge, a pin, an
operation of the driver, a firmware command that is refused or not answered. FILE has
one case a line, as JSON; - is the standard input.

For each place it prints the system call and the place's number in it, its kind and
name, the kernel function that it is in (none for what the kernel does around uverbs:
the descriptor and the file of an open, an area of the process's memory), what the call
answers then (ignored: what it answers otherwise), and whether

  books        are as before the call: objects, references, use counts, charges, pins,
               descriptors and what the device has
  file         still works: the same call, made again, and the rest of the case are
               answered as if nothing had failed
  close frees  all that the case has made

"known" is what a real kernel leaves behind too, with the reason below the table.
"-" cannot be looked at, since other calls of the case run at the same time.

With --pairs each two places of the calls that create or destroy something fail
together: one, and another that the call comes to behind it.

The exit status is 1 if something was lost or a call answered what no kernel does at
that place, 2 if a file could not be read or a case could not be played.`,
		Example: `  uverbsim faults --only cq/create-destroy sim_test/corpus/linux-6.12-rxe.jsonl
  uverbsim faults --pairs --only cq/create-destroy sim_test/corpus/linux-6.12-rxe.jsonl
  uverbsim run --record calls.jsonl -- ./my_test && uverbsim faults calls.jsonl`,
		Args: someFile,
		RunE: func(cmd *cobra.Command, files []string) error { return f.run(cmd, files) },
	}
	flags := cmd.Flags()
	f.caseFlags.flags(flags)
	f.modelFlags.flags(flags)
	flags.BoolVar(&f.pairs, "pairs", false, "also let every two places of a call fail, in calls that create or destroy")
	flags.BoolVar(&f.json, "json", false, "print JSON, one object a line")
	return cmd
}

// faulter are the flags of faults.
type faulter struct {
	caseFlags
	modelFlags
	pairs, json bool
}

func (f *faulter) run(cmd *cobra.Command, files []string) error {
	k, err := f.version()
	if err != nil {
		return err
	}
	cases, from, err := f.read(cmd.InOrStdin(), files, f.fit)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	w := report.Text(out)
	if f.json {
		w = report.JSON(out)
	}
	runner := &faults.Runner{Kernel: k}
	var sum report.Sum
	var bad []error
	for i, c := range cases {
		run, err := runner.Baseline(c)
		if err != nil {
			bad = append(bad, unplayable(from[i], beforeError(k, c, err)))
			continue
		}
		plans := f.plans(runner, run)
		p := newProgress(cmd.ErrOrStderr(), len(plans), "faults of "+c.Name)
		told := &report.Case{File: from[i], Case: c, Lost: run.Lost}
		for o := range outcomes(runner, run, plans, p) {
			told.Faults = append(told.Faults, faultOf(o))
			count(&sum, o)
		}
		p.clear()
		sum.Cases++
		sum.Calls += called(run)
		if err := w.Case(told); err != nil {
			return err
		}
	}
	if sum.Cases > 0 {
		if err := w.Sum(sum); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if err := unplayed(cmd.ErrOrStderr(), bad, len(cases)); err != nil {
		return err
	}
	if sum.Lost > 0 {
		return errDiffers
	}
	return nil
}

// beforeError plays a case again that could not be played, for the answers before the step
// at which it ended.
func beforeError(k *spec.Kernel, c *casefile.Case, err error) *player.Result {
	var step *player.StepError
	if !errors.As(err, &step) || errors.Is(err, player.ErrStuck) {
		return &player.Result{Case: c, Err: err}
	}
	r := player.Play(&model.Model{Kernel: k}, c, player.Options{Repeat: 1})
	r.Err = err
	return r
}

// plans are the steps that are to fail, in each playing.
func (f *faulter) plans(r *faults.Runner, run *faults.Run) (plans [][]faults.Point) {
	for i, c := range run.Calls {
		for n := range c.Steps {
			plans = append(plans, []faults.Point{{Call: i, N: n}})
		}
		if f.pairs && c.Answer.Errno == 0 && faults.Creates(run.Case, c.Step) {
			for p, q := range r.PairsOf(run, i) {
				plans = append(plans, []faults.Point{p, q})
			}
		}
	}
	return plans
}

// faultsAtOnce is how many playings are under way at once.
func faultsAtOnce() int { return 4 * runtime.NumCPU() }

// outcomes plays what is planned, and yields what came of it in the same order. A call
// that does not come to the step again, as where threads race, yields nothing.
func outcomes(r *faults.Runner, run *faults.Run, plans [][]faults.Point, p *progress) func(yield func(*faults.Outcome) bool) {
	return func(yield func(*faults.Outcome) bool) {
		batch := faultsAtOnce() * 8
		for done := 0; done < len(plans); done += batch {
			some := plans[done:min(done+batch, len(plans))]
			results := make([]*faults.Outcome, len(some))
			faults.Each(len(some), faultsAtOnce(), func(i int) { results[i] = r.Play(run, some[i]...) })
			for _, o := range results {
				if o != nil && !yield(o) {
					return
				}
			}
			p.show(done + len(some))
		}
	}
}

// called is how many calls there are in which something can fail.
func called(run *faults.Run) (n int) {
	for _, c := range run.Calls {
		if len(c.Steps) > 0 {
			n++
		}
	}
	return n
}

func count(sum *report.Sum, o *faults.Outcome) {
	sum.Faults++
	if ignored(o) {
		sum.Ignored++
	}
	if len(o.Effects) > 0 {
		sum.Known++
	}
	if o.Lost() {
		sum.Lost++
	}
}

// ignored says whether a call answers what it does without the fault.
func ignored(o *faults.Outcome) bool {
	return o.Expected.GoesOn && o.Answer.Ret == o.Call.Answer.Ret && o.Answer.Errno == o.Call.Answer.Errno
}

func faultOf(o *faults.Outcome) report.Fault {
	f := report.Fault{
		Step: o.Call.Step, Call: o.Call.Name, Answer: o.Answer.String(), Ignored: ignored(o), Trouble: slices.Clone(o.Trouble()),
		Close: verdict(o.Kept.Close, len(o.Close) > 0),
	}
	for i, s := range o.Hits {
		f.Places = append(f.Places, report.Place{N: o.Points[i].N, Kind: s.Kind.String(), What: s.What, Where: s.Where()})
	}
	for _, e := range o.Effects {
		f.Known = append(f.Known, e.Why)
	}
	f.Books, f.File = verdict(o.Kept.Books, len(o.Books) > 0), verdict(o.Kept.Rest, o.Rest != "" || o.Err != nil)
	if !o.Alone() {
		f.Books, f.File = report.Unseen, report.Unseen
	}
	return f
}

func verdict(known, bad bool) report.Verdict {
	switch {
	case bad:
		return report.Bad
	case known:
		return report.Known
	}
	return report.Good
}
