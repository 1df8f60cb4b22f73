package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
	"uverbsim/report/replay"
	"uverbsim/sim_test/device"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

func newReplayCmd() *cobra.Command {
	var r replayer
	cmd := &cobra.Command{
		Use:   "replay [flags] FILE...",
		Short: "Play recorded cases and tell what is answered otherwise",
		Long: `Replay plays the cases of each FILE, each on a machine of its own, and compares
every answer with the recorded one. FILE has one case a line, as JSON; - is the
standard input.

It prints the cases that are answered otherwise, step by step what was expected
and what was answered, and at last how many passed. The exit status is 1 if any
failed, 2 if a file could not be read.`,
		Example: `  uverbsim replay sim_test/corpus/linux-6.12-rxe.jsonl
  uverbsim replay --only cq/,mr/ -v sim_test/corpus/linux-6.12-rxe.jsonl`,
		Args: someFile,
		RunE: func(cmd *cobra.Command, files []string) error { return r.run(cmd, files) },
	}
	f := cmd.Flags()
	f.StringVar(&r.driver, "driver", "", "play on this driver: rxe, mlx5 or stub (default: the case's own)")
	f.StringVar(&r.kernel, "kernel", "", "be this kernel: "+kernelNames()+" (default: the case's own)")
	f.StringVar(&r.target, "target", "", "play on this device node, /dev/infiniband/uverbsN, instead of on the model")
	f.IntVar(&r.repeat, "repeat", 0, "play a case that is to be repeated so often (default: as often as it says)")
	f.StringSliceVar(&r.only, "only", nil, "only cases whose names begin with one of these prefixes")
	f.BoolVarP(&r.verbose, "verbose", "v", false, "print every case and every step")
	f.BoolVar(&r.json, "json", false, "print JSON, one object a line")
	return cmd
}

// atOnce is how many cases are played at once. Some of them wait for time to
// pass.
const atOnce = 32

// replayer are the flags of replay.
type replayer struct {
	driver, kernel string
	target         string
	anyKernel      bool // nothing is played on the kernel that a case names
	repeat         int
	only           []string
	verbose, json  bool
}

// on returns what the cases are played on, and how many at once.
func (r *replayer) on(k *spec.Kernel) (player.Target, int, error) {
	if r.target == "" {
		return &model.Model{Kernel: k}, atOnce, nil
	}
	t, err := device.New(r.target)
	return t, 1, err
}

func (r *replayer) run(cmd *cobra.Command, files []string) error {
	k, err := r.check()
	if err != nil {
		return err
	}
	cases, from, err := r.read(cmd.InOrStdin(), files)
	if err != nil {
		return err
	}
	if len(cases) == 0 {
		return fmt.Errorf("no case of %s begins with %s", strings.Join(files, ", "), strings.Join(r.only, " or "))
	}
	target, n, err := r.on(k)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	w := replay.Text(out, r.verbose)
	if r.json {
		w = replay.JSON(out, r.verbose)
	}
	p := newProgress(cmd.ErrOrStderr(), len(cases), "cases")
	passed, i := 0, 0
	for res := range player.Each(target, cases, n, player.Options{}) {
		if res.Passed() {
			passed++
		}
		p.clear()
		if err := w.Case(played(from[i], res)); err != nil {
			return err
		}
		i++
		p.show(i)
	}
	p.clear()
	if err := w.Sum(passed, len(cases)-passed); err != nil {
		return err
	}
	if err := out.Flush(); err != nil {
		return err
	}
	if passed < len(cases) {
		return errDiffers
	}
	return nil
}

// check returns the kernel that was chosen, nil if none was.
func (r *replayer) check() (*spec.Kernel, error) {
	if _, ok := casefile.DriverID(r.driver); r.driver != "" && !ok {
		return nil, fmt.Errorf("no driver %q: there are %s", r.driver, model.DriverNames())
	}
	k, ok := spec.KernelByName(r.kernel)
	if r.kernel != "" && !ok {
		return nil, fmt.Errorf("no kernel %q: there are %s", r.kernel, kernelNames())
	}
	return k, nil
}

// kernelNames are the kernels that can be chosen, in one line.
func kernelNames() string {
	var names []string
	for _, k := range spec.Kernels() {
		names = append(names, k.Name)
	}
	return strings.Join(names, ", ")
}

// read returns the cases that are to be played, and the file of each. Files without
// any are refused.
func (r *replayer) read(stdin io.Reader, files []string) (cases []*casefile.Case, from []string, err error) {
	some := false
	for _, file := range files {
		in, name := stdin, "standard input"
		if file != "-" {
			f, err := os.Open(file)
			if err != nil {
				return nil, nil, err
			}
			defer f.Close()
			in, name = f, file
		}
		for c, err := range casefile.Read(&bounded{in, mostCases}, name) {
			if err != nil {
				return nil, nil, hinted(err)
			}
			some = true
			if !r.wants(c.Name) {
				continue
			}
			if err := r.modelled(c); err != nil {
				return nil, nil, fmt.Errorf("%s:%d: %w", name, c.Line, err)
			}
			if r.driver != "" {
				c.Driver = r.driver
			}
			if c.Repeat > 1 && r.repeat > 0 {
				c.Repeat = r.repeat
			}
			cases, from = append(cases, c), append(from, name)
		}
	}
	if !some {
		return nil, nil, fmt.Errorf("no case in %s", strings.Join(files, ", "))
	}
	return cases, from, nil
}

// modelled is an error if a case is to be played on its own kernel, and that is
// none of the modelled ones.
func (r *replayer) modelled(c *casefile.Case) error {
	if r.anyKernel || r.kernel != "" || r.target != "" || c.Kernel == "" {
		return nil
	}
	if _, ok := spec.KernelByRelease(c.Kernel); ok {
		return nil
	}
	return fmt.Errorf("case %s is of kernel %s, which is not modelled: choose one by --kernel, %s", c.Name, c.Kernel, kernelNames())
}

func (r *replayer) wants(name string) bool {
	return len(r.only) == 0 || slices.ContainsFunc(r.only, func(p string) bool { return strings.HasPrefix(name, p) })
}

func played(file string, r *player.Result) *replay.Case {
	c := &replay.Case{File: file, Case: r.Case, Err: r.Err}
	for _, s := range r.Steps {
		c.Steps = append(c.Steps, replay.Step(s))
	}
	return c
}
