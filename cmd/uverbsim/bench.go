package main

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"uverbsim/report/bench"
	"uverbsim/sim_test/guest"
)

func newBenchCmd() *cobra.Command {
	var b bencher
	cmd := &cobra.Command{
		Use:   "bench [flags]",
		Short: "Measure the model, beside a real device node if there is one",
		Long: `Bench makes the same calls again and again on the model and, with --target, on a
real device node, and prints what one takes of each, in nanoseconds. With --guest
it does so in a QEMU guest, as record boots it, beside the real kernel there.

The calls are measured in rounds. In a round the model, the node and a calibration
loop have their turns, one directly after the other. Of each the least and the
median of the rounds are printed; of model/node the ratio of the two least, then
the median of the rounds' own ratios, and the lowest and the highest of those. Loops
are calibration loops: fixed Go code that calls nothing of the model's, the unit
in which machines can be compared. B and allocs are what a call takes of the Go
heap. The model makes no system call; the node's turn has them.

The calls, each for every driver of the model, or for the node's. --only takes
their names, or what stands before or behind the slash:
` + benchCalls() + `
With --baseline the model's figures in loops are compared with those in FILE: a
call that takes more than --threshold longer is measured again, and if it still
does, or if it allocates more often, it is named and the exit status is 1.
--write-baseline writes such a file.

--json prints one object: go, arch, gomaxprocs, processor, memory_bytes; node, with
path, device, driver and kernel; calibration_loop, with version, least_ns and
median_ns; calls, each with driver, call, model and node (least_ns, median_ns),
model_to_node (of_least, median, low, high), loops, allocs and bytes.

The exit status is 1 if a call is worse than the baseline, 2 if something could not
be measured.`,
		Example: `  uverbsim bench
  uverbsim bench --driver rxe --only cq,query-port
  uverbsim bench --target /dev/infiniband/uverbs0
  uverbsim bench --guest rxe --rounds 31
  uverbsim bench --baseline report/bench/baseline.json`,
		Args: atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error { return b.run(cmd) },
	}
	f := cmd.Flags()
	f.StringVar(&b.target, "target", "", "measure this device node, too")
	f.StringVar(&b.guest.device, "guest", "", "measure in a guest with this device: "+strings.Join(guest.Devices, " or "))
	f.StringVar(&b.driver, "driver", "", "only the calls of this driver: "+strings.Join(benchDrivers, " or "))
	f.StringSliceVar(&b.only, "only", nil, "only these calls")
	f.IntVar(&b.rounds, "rounds", bench.DefaultRounds, "how many rounds")
	f.DurationVar(&b.time, "time", bench.DefaultTime, "how long each has its turn in a round")
	f.StringVar(&b.baseline, "baseline", "", "compare with this file")
	f.Float64Var(&b.threshold, "threshold", 30, "by how many percent a call may be slower than in the baseline")
	f.StringVar(&b.write, "write-baseline", "", "write the figures into this file, as a baseline")
	f.BoolVar(&b.json, "json", false, "print one JSON object")
	b.guest.machineFlags(f)
	return cmd
}

// benchCalls are the lines of the help that name the calls.
func benchCalls() string {
	var b strings.Builder
	for _, c := range bench.Calls {
		fmt.Fprintf(&b, "  %-22s %s\n", c.Name, c.About)
	}
	return b.String()
}

// bencher are the flags of bench.
type bencher struct {
	target, driver  string
	guest           guestFlags
	only            []string
	rounds          int
	time            time.Duration
	baseline, write string
	threshold       float64 // percent
	json            bool
}

// limits of the flags.
const (
	mostRounds = 10_000
	mostTime   = time.Minute
)

// check returns the calls that are asked for.
func (b *bencher) check(cmd *cobra.Command) ([]bench.Call, error) {
	calls, unknown := bench.Choose(b.only)
	base := b.baseline != "" || b.write != ""
	switch {
	case unknown != "":
		return nil, fmt.Errorf("--only %s: there is no such call; uverbsim help bench names them", unknown)
	case b.rounds < 1 || b.rounds > mostRounds:
		return nil, fmt.Errorf("--rounds %d: 1 to %d", b.rounds, mostRounds)
	case b.time <= 0 || b.time > mostTime:
		return nil, fmt.Errorf("--time %v: more than 0, at most %v", b.time, mostTime)
	case b.driver != "" && !slices.Contains(benchDrivers, b.driver):
		return nil, fmt.Errorf("--driver %s: there are %s", b.driver, strings.Join(benchDrivers, " and "))
	case !(b.threshold >= 0) || math.IsInf(b.threshold, 0):
		return nil, fmt.Errorf("--threshold %v: a number of percent", b.threshold)
	case cmd.Flags().Changed("threshold") && b.baseline == "":
		return nil, errors.New("--threshold is for --baseline")
	case base && b.guest.device != "":
		return nil, errors.New("a baseline is of the model alone, without --guest")
	case b.json && b.baseline != "":
		return nil, errors.New("--json prints what was measured, --baseline what has changed: one of them")
	case b.target != "" && b.guest.device != "":
		return nil, errors.New("--target is a node of this machine, --guest has its own: one of them")
	case b.guest.device != "" && !slices.Contains(guest.Devices, b.guest.device):
		return nil, fmt.Errorf("--guest %s: there are %s", b.guest.device, strings.Join(guest.Devices, " and "))
	case b.guest.device != "" && b.driver != "" && b.driver != b.guest.device:
		return nil, fmt.Errorf("--driver %s: the guest's device is of %s", b.driver, b.guest.device)
	}
	return calls, b.guest.check()
}

func (b *bencher) run(cmd *cobra.Command) error {
	calls, err := b.check(cmd)
	if err != nil {
		return err
	}
	if b.guest.device != "" {
		return b.inGuest(cmd)
	}
	var base *bench.Baseline
	if b.baseline != "" { // before the work
		if base, err = readBaseline(b.baseline); err != nil {
			return err
		}
	}
	if b.write != "" {
		if err := canWrite(b.write); err != nil {
			return err
		}
	}
	var node *benchNode
	if b.target != "" {
		if node, err = openBenchNode(b.target, b.driver); err != nil {
			return fmt.Errorf("--target: %w", err)
		}
		defer node.close()
	}
	r, err := b.measure(cmd.ErrOrStderr(), calls, node, base)
	if err != nil {
		return err
	}
	if b.write != "" {
		if err := writeBaseline(b.write, r); err != nil {
			return err
		}
	}
	if b.json {
		return bench.JSON(cmd.OutOrStdout(), r)
	}
	if err := bench.Text(cmd.OutOrStdout(), r); err != nil || base == nil {
		return err
	}
	worse, err := base.WriteComparison(cmd.OutOrStdout(), r, b.threshold/100)
	if err == nil && worse > 0 {
		err = errDiffers
	}
	return err
}

// measure measures the calls of the drivers that are wanted. What is slower than the
// baseline, if there is one, is measured again.
func (b *bencher) measure(stderr io.Writer, calls []bench.Call, node *benchNode, base *bench.Baseline) (*bench.Report, error) {
	r := benchReport()
	drivers := benchDrivers
	var beside bench.Task
	if node != nil {
		r.Node, drivers, beside = &node.about, []string{node.about.Driver}, node.task
	}
	if b.driver != "" {
		drivers = []string{b.driver}
	}
	o := bench.Options{Calls: calls, Rounds: b.rounds, Time: b.time}
	p := newProgress(stderr, len(drivers)*o.Total(), "rounds")
	defer p.clear()
	before := 0
	once := func(driver string, calls []bench.Call) ([]bench.Result, error) {
		m, done, err := newBenchModel(driver)
		if err != nil {
			return nil, err
		}
		defer done()
		o := o
		o.Calls, o.Progress = calls, func(done int) { p.show(before + done) }
		return bench.Measure(driver, benchDriverIDs[driver], m, beside, o)
	}
	for _, driver := range drivers {
		res, err := once(driver, calls)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", driver, err)
		}
		r.Results = append(r.Results, res...)
		before += o.Total()
		const again = 3
		for i := 0; base != nil && i < again; i++ {
			slow := base.Again(r, driver, b.threshold/100)
			if len(slow) == 0 {
				break
			}
			if res, err = once(driver, slow); err != nil {
				return nil, fmt.Errorf("%s: %w", driver, err)
			}
			r.Add(res)
		}
	}
	return r, nil
}

// inGuest has this program measure in a guest.
func (b *bencher) inGuest(cmd *cobra.Command) (err error) {
	s, err := b.guest.guests(cmd)
	if err != nil {
		return err
	}
	defer func() { err = s.end(err) }()
	j, err := s.with(s.device, "", nil)
	if err != nil {
		return err
	}
	j.Args = []string{"bench", "--target", guest.DevicePath, "--driver", string(s.device),
		"--rounds", fmt.Sprint(b.rounds), "--time", b.time.String(), "--json=" + fmt.Sprint(b.json)}
	for _, name := range b.only {
		j.Args = append(j.Args, "--only", name)
	}
	j.Stdout = cmd.OutOrStdout()
	s.say("booting Linux %s with %s to measure there", j.Kernel.Release, s.device)
	status, err := guest.Run(s.ctx, j)
	if err == nil && status != 0 {
		err = fmt.Errorf("the guest's uverbsim has failed with status %d", status)
	}
	return err
}

func readBaseline(file string) (*bench.Baseline, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bench.ReadBaseline(f, file)
}

func writeBaseline(file string, r *bench.Report) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	return errors.Join(bench.NewBaseline(r).Write(f), f.Close())
}

// benchReport says on what machine it is measured.
func benchReport() *bench.Report {
	r := &bench.Report{Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH, Processors: runtime.GOMAXPROCS(0)}
	var info unix.Sysinfo_t
	if unix.Sysinfo(&info) == nil {
		r.Memory = uint64(info.Totalram) * uint64(info.Unit)
	}
	cpus, _ := os.ReadFile("/proc/cpuinfo") // "" without
	for line := range strings.Lines(string(cpus)) {
		if key, name, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			r.Processor = strings.TrimSpace(name)
			break
		}
	}
	return r
}
