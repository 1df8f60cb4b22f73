package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"uverbsim/casefile"
	"uverbsim/report/chrome"
	"uverbsim/report/funcgraph"
	"uverbsim/report/sequence"
	"uverbsim/report/tracecase"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

func newTraceCmd() *cobra.Command {
	var tr tracer
	cmd := &cobra.Command{
		Use:   "trace [flags] FILE...",
		Short: "Play recorded cases and print the kernel's function calls",
		Long: `Trace plays the cases of each FILE, each on a machine of its own, and prints what
the modelled kernel does. FILE has one case a line, as JSON; - is the standard
input. The formats:

  ftrace  the functions, as ftrace's function_graph prints those of a real kernel,
          so that the two can be laid side by side, with lines of comment for the
          case, its steps and their answers (the default)
  json    every event, step and answer, one JSON object a line; --json is the same
  chrome  the Trace Event Format, for https://ui.perfetto.dev and chrome://tracing
  svg     one case as a sequence diagram

Functions that the compiler inlines in the recorded kernels are left out of ftrace
and chrome, as they are in a real trace, unless --inlined is given; what happens
inside of functions (copies, tree nodes, attributes, firmware commands) is left out
of ftrace unless --notes is given.

Events of tasks that run at the same time, in a par step or a bg step, come in the
order in which they happened to run, which need not be the same the next time.

The model has no clock. The times in chrome are the events' places in the trace, a
microsecond for each, unless --clock real is given.

The exit status is 2 if a file could not be read or a case could not be played.`,
		Example: `  uverbsim trace --only cq/create-destroy sim_test/corpus/linux-6.12-rxe.jsonl
  uverbsim trace --only cq/create-destroy --step 2 --notes --inlined sim_test/corpus/linux-6.12-rxe.jsonl
  uverbsim trace --only cq/create-destroy --format chrome sim_test/corpus/linux-6.12-rxe.jsonl > cq.json
  uverbsim trace --only cq/create-destroy --format svg sim_test/corpus/linux-6.12-rxe.jsonl > cq.svg`,
		Args: someFile,
		RunE: func(cmd *cobra.Command, files []string) error { return tr.run(cmd, files) },
	}
	f := cmd.Flags()
	tr.caseFlags.flags(f)
	tr.modelFlags.flags(f)
	f.StringVar(&tr.format, "format", "ftrace", "print in this format: "+formatNames())
	f.IntSliceVar(&tr.steps, "step", nil, "only these steps, counted from 0")
	f.BoolVar(&tr.notes, "notes", false, "ftrace: add copies, tree nodes, attributes, handles, firmware commands, DMA and refusals")
	f.BoolVar(&tr.locks, "locks", false, "ftrace, svg: add locks, references and use counts, and the notes")
	f.BoolVar(&tr.inlined, "inlined", false, "ftrace, chrome: add the functions that the compiler inlines")
	f.IntVar(&tr.rows, "rows", sequence.DefaultRows, "svg: how many rows the diagram may have")
	f.StringVar(&tr.clock, "clock", "logical", "chrome: logical, a microsecond for each event, or real")
	f.BoolVar(&tr.json, "json", false, "the same as --format json")
	return cmd
}

// tracer are the flags of trace.
type tracer struct {
	caseFlags
	modelFlags
	format                string
	json                  bool
	steps                 []int
	notes, locks, inlined bool
	rows                  int
	clock                 string
}

// traceFormats are the formats of trace.
var traceFormats = []struct {
	name string
	// printer makes a printer to w. The clock is nil where the times are logical.
	printer func(tr *tracer, w io.Writer, clock func() time.Duration) tracecase.BatchPrinter
}{
	{"ftrace", func(tr *tracer, w io.Writer, _ func() time.Duration) tracecase.BatchPrinter {
		return tracecase.Text(w, funcgraph.Options{Notes: tr.notes || tr.locks, Locks: tr.locks, Inlined: tr.inlined})
	}},
	{"json", func(_ *tracer, w io.Writer, _ func() time.Duration) tracecase.BatchPrinter { return tracecase.JSON(w) }},
	{"chrome", func(tr *tracer, w io.Writer, clock func() time.Duration) tracecase.BatchPrinter {
		return tracecase.Chrome(w, chrome.Options{NoInlined: !tr.inlined, Clock: clock})
	}},
	{"svg", func(tr *tracer, w io.Writer, _ func() time.Duration) tracecase.BatchPrinter {
		return tracecase.Sequence(w, sequence.Options{Locks: tr.locks, Rows: tr.rows})
	}},
}

// stopwatch returns a clock that begins now.
func stopwatch() func() time.Duration {
	begun := time.Now()
	return func() time.Duration { return time.Since(begun) }
}

func formatNames() string {
	var names []string
	for _, f := range traceFormats {
		names = append(names, f.name)
	}
	return strings.Join(names, ", ")
}

// flagsOfFormats are the formats that each flag is for which is not for all.
var flagsOfFormats = []struct {
	flag    string
	formats []string
}{
	{"notes", []string{"ftrace"}},
	{"locks", []string{"ftrace", "svg"}},
	{"inlined", []string{"ftrace", "chrome"}},
	{"rows", []string{"svg"}},
	{"clock", []string{"chrome"}},
}

// choose settles the format, and refuses flags that do nothing in it.
func (tr *tracer) choose(flags *pflag.FlagSet) error {
	if tr.json {
		if flags.Changed("format") && tr.format != "json" {
			return fmt.Errorf("--json and --format %s: one of the two", tr.format)
		}
		tr.format = "json"
	}
	for _, f := range flagsOfFormats {
		if flags.Changed(f.flag) && !slices.Contains(f.formats, tr.format) {
			return fmt.Errorf("--%s is for --format %s, not for %s", f.flag, strings.Join(f.formats, " or "), tr.format)
		}
	}
	return nil
}

// printer returns the printer that the flags ask for.
func (tr *tracer) printer(w io.Writer) (tracecase.Printer, error) {
	if tr.clock != "logical" && tr.clock != "real" {
		return nil, fmt.Errorf("--clock %s: logical or real", tr.clock)
	}
	if tr.rows < 1 {
		return nil, fmt.Errorf("--rows %d: a number from 1 on", tr.rows)
	}
	var clock func() time.Duration
	if tr.clock == "real" {
		clock = stopwatch()
	}
	for _, f := range traceFormats {
		if f.name != tr.format {
			continue
		}
		p := f.printer(tr, w, clock)
		if len(tr.steps) > 0 {
			p = tracecase.Only(p, tr.steps...)
		}
		return tracecase.Deferred(p, clock), nil
	}
	return nil, fmt.Errorf("--format %s: one of %s", tr.format, formatNames())
}

func (tr *tracer) run(cmd *cobra.Command, files []string) error {
	k, err := tr.version()
	if err != nil {
		return err
	}
	if err := tr.choose(cmd.Flags()); err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	p, err := tr.printer(out)
	if err != nil {
		return err
	}
	cases, from, err := tr.read(cmd.InOrStdin(), files, tr.fit)
	if err != nil {
		return err
	}
	if tr.format == "svg" && len(cases) > 1 {
		return fmt.Errorf("--format svg draws one case, and there are %d, %s and %s among them: choose one by --only",
			len(cases), cases[0].Name, cases[1].Name)
	}
	for _, c := range cases {
		for _, step := range tr.steps {
			if step < 0 || step >= len(c.Steps) {
				return fmt.Errorf("--step %d: case %s has the steps 0 to %d", step, c.Name, len(c.Steps)-1)
			}
		}
	}
	bad, err := traceCases(p, k, cases, from)
	if err != nil {
		return err
	}
	if err := p.Close(); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return unplayed(cmd.ErrOrStderr(), bad, len(cases))
}

// traceCases returns of each case that could not be played why. Behind one that has not
// come back none is played: its calls would go on between those of the next. The error is
// the printer's.
func traceCases(p tracecase.Printer, k *spec.Kernel, cases []*casefile.Case, from []string) (bad []error, err error) {
	for i, c := range cases {
		r := traceCase(p, k, c)
		if r.Err != nil {
			bad = append(bad, unplayable(from[i], r))
		}
		if err := p.Err(); err != nil {
			return nil, err
		}
		if errors.Is(r.Err, player.ErrStuck) {
			if left := len(cases) - i - 1; left > 0 {
				bad[len(bad)-1] = fmt.Errorf("%w; behind it are cases that were not played: %d", bad[len(bad)-1], left)
			}
			break
		}
	}
	return bad, nil
}

// traceCase plays a case once, on that kernel or on its own.
func traceCase(p tracecase.Printer, k *spec.Kernel, c *casefile.Case) *player.Result {
	p.Case(c)
	target := &model.Model{Kernel: k, Trace: func(*casefile.Case) trace.Sink { return p }}
	return player.Play(target, c, player.Options{
		Repeat: 1,
		Before: func(_ player.Machine, step int) { p.Step(c, step) },
		After: func(_ player.Machine, step int, r *player.StepResult) {
			p.Answer(r.Got, r.Refused)
			if step == len(c.Steps)-1 {
				p.End(c)
			}
		},
	})
}
