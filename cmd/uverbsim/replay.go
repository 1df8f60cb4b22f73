package main

import (
	"bufio"

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
	r.caseFlags.flags(f)
	r.modelFlags.flags(f)
	f.StringVar(&r.target, "target", "", "play on this device node, /dev/infiniband/uverbsN, instead of on the model")
	f.IntVar(&r.repeat, "repeat", 0, "play a case that is to be repeated so often (default: as often as it says)")
	f.BoolVarP(&r.verbose, "verbose", "v", false, "print every case and every step")
	f.BoolVar(&r.json, "json", false, "print JSON, one object a line")
	return cmd
}

// atOnce is how many cases are played at once. Some of them wait for time to
// pass.
const atOnce = 32

// replayer are the flags of replay.
type replayer struct {
	caseFlags
	modelFlags
	target        string
	repeat        int
	verbose, json bool
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
	if err := checkRepeat(r.repeat); err != nil {
		return err
	}
	k, err := r.version()
	if err != nil {
		return err
	}
	cases, from, err := r.read(cmd.InOrStdin(), files, r.prepare)
	if err != nil {
		return err
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
		if err := w.Case(res.Replay(from[i])); err != nil {
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

// prepare fits a case to what it is played on.
func (r *replayer) prepare(c *casefile.Case) error {
	if c.Repeat > 1 && r.repeat > 0 {
		c.Repeat = r.repeat
	}
	if err := r.fit(c); err != nil && r.target == "" { // a device node's kernel is the one that is running
		return err
	}
	return nil
}
