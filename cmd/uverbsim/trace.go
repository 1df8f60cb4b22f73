package main

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
	"uverbsim/report/funcgraph"
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
		Long: `Trace plays the cases of each FILE, each on a machine of its own, and prints the
functions that the modelled kernel calls, as ftrace's function_graph prints
those of a real kernel: the two can be laid side by side. A line of comment
stands in front of each case and each step, and one with the answer behind it.
FILE has one case a line, as JSON; - is the standard input.

The functions that the compiler inlines in the recorded kernels are left out, as
they are in a real trace, unless --inlined is given.`,
		Example: `  uverbsim trace --only cq/create-destroy sim_test/corpus/linux-6.12-rxe.jsonl
  uverbsim trace --only cq/create-destroy --notes --inlined sim_test/corpus/linux-6.12-rxe.jsonl`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, files []string) error { return tr.run(cmd, files) },
	}
	f := cmd.Flags()
	f.StringSliceVar(&tr.only, "only", nil, "only cases whose names begin with one of these prefixes")
	f.StringVar(&tr.driver, "driver", "", "play on this driver: rxe, mlx5 or stub (default: the case's own)")
	f.StringVar(&tr.kernel, "kernel", "", "be this kernel: "+kernelNames()+" (default: the case's own)")
	f.BoolVar(&tr.notes, "notes", false, "add copies, tree nodes, attributes, handles, firmware commands, DMA and refusals")
	f.BoolVar(&tr.locks, "locks", false, "add locks, references and use counts to the notes")
	f.BoolVar(&tr.inlined, "inlined", false, "add the functions that the compiler inlines")
	f.BoolVar(&tr.json, "json", false, "print everything as JSON, one object a line")
	return cmd
}

// tracer are the flags of trace.
type tracer struct {
	replayer
	notes, locks, inlined bool
}

func (tr *tracer) run(cmd *cobra.Command, files []string) error {
	k, err := tr.check()
	if err != nil {
		return err
	}
	cases, _, err := tr.read(cmd.InOrStdin(), files)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return fmt.Errorf("no case of %s begins with %s", strings.Join(files, ", "), strings.Join(tr.only, " or "))
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	p := tracecase.Text(out, funcgraph.Options{Notes: tr.notes || tr.locks, Locks: tr.locks, Inlined: tr.inlined})
	if tr.json {
		p = tracecase.JSON(out)
	}
	for _, c := range cases {
		if err := traceCase(p, k, c); err != nil {
			return fmt.Errorf("case %s: %w", c.Name, err)
		}
		if err := p.Err(); err != nil {
			return err
		}
	}
	return out.Flush()
}

// traceCase plays a case once, on that kernel or on its own. A case that cannot be played to its end is an
// error; one that is answered otherwise than recorded is not.
func traceCase(p tracecase.Printer, k *spec.Kernel, c *casefile.Case) error {
	p.Case(c)
	target := &model.Model{Kernel: k, Trace: func(*casefile.Case) trace.Sink { return p }}
	r := player.Play(target, c, player.Options{
		Repeat: 1,
		Before: func(_ player.Machine, step int) { p.Step(c, step) },
		After: func(_ player.Machine, step int, r *player.StepResult) {
			p.Answer(r.Got, r.Refused)
			if step == len(c.Steps)-1 {
				p.End(c)
			}
		},
	})
	return r.Err
}
