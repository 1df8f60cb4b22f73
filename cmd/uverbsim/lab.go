package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"uverbsim/report/lab"
)

func newLabCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lab",
		Short: "Count and measure what an ioctl costs",
		Long: `Lab makes four experiments on what an ioctl costs, each on a machine of its own
with an emulated mlx5 device. Each counts exactly what calls take: crossings
(system calls), copies from and to the user's memory and their bytes, and
allocations. Then it measures times, with tracing off, as medians of rounds in
which the variants take turns, and says what the real kernel offers instead.

The counts are always the same; --counts prints them alone. The times are the
model's: they differ from run to run, and have no change of the processor's mode
in them. What that costs is measured by a real system call, and what is made up
of both is called an estimate.`,
		Example: `  uverbsim lab batch
  uverbsim lab trim --counts
  uverbsim lab async --json | jq .times
  uverbsim lab reuse --counts --svg reuse.svg`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	for i := range lab.Experiments {
		cmd.AddCommand(newExperimentCmd(&lab.Experiments[i]))
	}
	return cmd
}

// labFlags are those of an experiment.
type labFlags struct {
	opts lab.Options
	json bool
	svg  string
}

func newExperimentCmd(e *lab.Experiment) *cobra.Command {
	var fl labFlags
	cmd := &cobra.Command{
		Use:     e.Name + " [flags]",
		Short:   e.Short,
		Long:    e.Long,
		Example: fmt.Sprintf("  uverbsim lab %[1]s\n  uverbsim lab %[1]s --counts\n  uverbsim lab %[1]s --svg %[1]s.svg", e.Name),
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if fl.opts.CountsOnly && cmd.Flags().Changed("crossing") {
				return errors.New("--crossing is for the estimates, which --counts leaves out")
			}
			if cmd.Flags().Changed("crossing") && fl.opts.Crossing == 0 { // the package would measure one
				return errors.New("--crossing 0s: more than 0")
			}
			return fl.run(cmd.OutOrStdout(), e)
		},
	}
	f := cmd.Flags()
	if e.Repeats {
		f.IntVarP(&fl.opts.N, "calls", "n", lab.DefaultN, fmt.Sprintf("how many calls of each kind, 1 to %d", lab.MaxN))
	}
	f.BoolVar(&fl.opts.CountsOnly, "counts", false, "measure no times: print, and draw, only what is exact")
	f.BoolVar(&fl.json, "json", false, "print one JSON object")
	if e.Estimates {
		f.DurationVar(&fl.opts.Crossing, "crossing", 0, "estimate with a crossing that takes so long, as 6.5us (default: measure one)")
	}
	f.StringVar(&fl.svg, "svg", "", "draw a plot into this file; - is the standard output, in place of the table")
	return cmd
}

func (fl *labFlags) run(out io.Writer, e *lab.Experiment) error {
	if fl.json && fl.svg == "-" {
		return errors.New("--json and --svg - both want the standard output")
	}
	if fl.svg != "" && fl.svg != "-" {
		if err := canWrite(fl.svg); err != nil {
			return err
		}
	}
	r, err := e.Run(fl.opts)
	if err != nil {
		return err
	}
	if fl.svg == "-" {
		return lab.SVG(out, r)
	}
	if fl.svg != "" {
		var plot bytes.Buffer
		if err := lab.SVG(&plot, r); err != nil {
			return err
		}
		if err := os.WriteFile(fl.svg, plot.Bytes(), 0o644); err != nil {
			return err
		}
	}
	if fl.json {
		return lab.JSON(out, r)
	}
	return lab.Text(out, r)
}
