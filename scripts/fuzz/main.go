// Command fuzz runs the project's native fuzz targets, in turns:
//
//	go run ./scripts/fuzz -time 30m
//	go run ./scripts/fuzz -executions 10000000
//	go run ./scripts/fuzz -time 5m FuzzProgramMLX5 ./drivers/...
//
// Targets are found in the sources, so that none can be forgotten. Each package is
// built once; then each target is run for a slice of time by itself, as many at once
// as there are jobs, over and over, until the time is over or all of them together
// have done the executions, and each had a turn. A slice is longer for a target that has
// not gone through the inputs that it has already. What is found is kept where
// go test -fuzz keeps it: inputs that fail in testdata/fuzz of the package, which every
// go test runs from then on, interesting ones in the build cache.
//
// The exit status is 1 if an input was found that fails, and 2 if targets could not be
// run or the time was over before each had executed anything.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// options are what the command line says.
type options struct {
	time       time.Duration
	executions int64
	slice      time.Duration
	jobs       int
	list, json bool
}

const usage = `Usage: go run ./scripts/fuzz [flags] [TARGET | PACKAGE]...

Runs fuzz targets in turns: all of the project's, or those that are named, by the
function (FuzzRead), by the package (./casefile, ./drivers/...), or by both
(./casefile:FuzzRead). With neither -time nor -executions each gets one slice. With
-time a slice is shorter where the time would not be enough for one of each.

Flags:
`

// run is the command; it returns the exit status.
func run(ctx context.Context, args []string, out, log io.Writer) int {
	var o options
	flags := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	flags.SetOutput(log)
	flags.DurationVar(&o.time, "time", 0, "how long to run, all targets together, at least 1s")
	flags.Int64Var(&o.executions, "executions", 0, "how many executions there are to be, all targets together")
	flags.DurationVar(&o.slice, "slice", 20*time.Second, "how long one target runs before it is another's turn, 1s to 24h")
	flags.IntVar(&o.jobs, "jobs", runtime.NumCPU(), "how many targets run at once, each on one core")
	flags.BoolVar(&o.list, "list", false, "list the targets, and run none")
	flags.BoolVar(&o.json, "json", false, "print the summary as JSON")
	flags.Usage = func() { fmt.Fprint(log, usage); flags.PrintDefaults() }
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	given := map[string]bool{}
	flags.Visit(func(f *flag.Flag) { given[f.Name] = true })
	if err := o.check(given); err != nil {
		fmt.Fprintln(log, "fuzz:", err)
		return 2
	}
	targets, err := find(ctx, flags.Args())
	if err != nil {
		fmt.Fprintln(log, "fuzz:", err)
		return 2
	}
	if o.list {
		for _, t := range targets {
			fmt.Fprintln(out, t)
		}
		return 0
	}
	dir, err := os.MkdirTemp("", "uverbsim-fuzz-")
	if err != nil {
		fmt.Fprintln(log, "fuzz:", err)
		return 2
	}
	defer os.RemoveAll(dir)
	if err := build(ctx, targets, dir, log); err != nil {
		fmt.Fprintln(log, "fuzz:", err)
		return 2
	}
	s := &session{options: o, targets: targets, log: log, slice: runSlice}
	s.run(ctx)
	if err := s.report(out); err != nil {
		fmt.Fprintln(log, "fuzz:", err)
		return 2
	}
	return s.status()
}

// The bounds of a slice. A target does not begin for less than the least, and fuzzes so
// long at least.
const (
	leastSlice = time.Second
	mostSlice  = 24 * time.Hour
)

// check refuses what is out of bounds. A time or a number of executions that was not
// given is zero.
func (o *options) check(given map[string]bool) error {
	switch {
	case given["time"] && o.time < leastSlice:
		return fmt.Errorf("-time %v: at least %v", o.time, leastSlice)
	case given["executions"] && o.executions < 1:
		return fmt.Errorf("-executions %d: at least 1", o.executions)
	case o.slice < leastSlice || o.slice > mostSlice:
		return fmt.Errorf("-slice %v: %v to %v", o.slice, leastSlice, mostSlice)
	case o.jobs < 1:
		return fmt.Errorf("-jobs %d: at least 1", o.jobs)
	}
	return nil
}
