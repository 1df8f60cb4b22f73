package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"uverbsim/casefile"
	"uverbsim/report/replay"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

func newCompareCmd() *cobra.Command {
	var c comparer
	cmd := &cobra.Command{
		Use:   "compare [flags] FILE...",
		Short: "Compare the model with a real kernel",
		Long: `Compare records the cases of each FILE on a real kernel, as record does, plays
them on the model, and prints the cases that the model answers otherwise, step by
step: "want" is the kernel's answer, "got" the model's. Where FILE has answers, it
also names the steps that the kernel now answers otherwise.

The exit status is 1 if anything differs, 2 if a case could not be played.`,
		Example: `  uverbsim gen --seed 7 --count 1000 > cases.jsonl && uverbsim compare cases.jsonl
  uverbsim compare --save differing.jsonl cases.jsonl`,
		Args: someFile,
		RunE: func(cmd *cobra.Command, files []string) error { return c.run(cmd, files) },
	}
	f := cmd.Flags()
	f.StringVar(&c.save, "save", "", "write the cases that differ, with the kernel's answers, to this file")
	c.caseFlags.flags(f)
	c.model.flag(f)
	c.guest.flags(f, ofCases)
	return cmd
}

// comparer are the flags of compare.
type comparer struct {
	caseFlags
	save  string
	model comparedModel
	guest guestFlags
}

func (c *comparer) run(cmd *cobra.Command, files []string) error {
	if err := c.guest.check(); err != nil {
		return err
	}
	m, err := c.model.make()
	if err != nil {
		return err
	}
	cases, from, err := c.read(cmd.InOrStdin(), files, nil)
	if err != nil {
		return err
	}
	if c.save != "" {
		if err := canWrite(c.save); err != nil {
			return err
		}
	}
	recorded, err := c.guest.ask(cmd, cases)
	if err != nil {
		return err
	}
	if err := c.model.fits(recorded); err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	w := replay.Text(out, false)
	var differing []*casefile.Case
	i := 0
	for res := range player.Each(m, recorded, atOnce, player.Options{}) {
		if !res.Passed() {
			differing = append(differing, recorded[i])
		}
		if err := w.Case(res.Replay("kernel")); err != nil {
			return err
		}
		i++
	}
	fmt.Fprintf(out, "%d cases: %d answered alike, %d differ\n", len(recorded), len(recorded)-len(differing), len(differing))
	changed := writeChanged(out, cases, recorded)
	if err := out.Flush(); err != nil {
		return err
	}
	if c.save != "" {
		text, err := marshal(differing)
		if err != nil {
			return err
		}
		if err := os.WriteFile(c.save, text, 0o644); err != nil {
			return err
		}
	}
	if err := unanswered(cases, from, recorded); err != nil {
		return err
	}
	if len(differing) > 0 || changed > 0 {
		return errDiffers
	}
	return nil
}

// unanswered is an error if a kernel has not answered all cases. What it has answered is in
// their order.
func unanswered(cases []*casefile.Case, from []string, recorded []*casefile.Case) error {
	for i, c := range cases {
		if i >= len(recorded) || recorded[i].Name != c.Name {
			return fmt.Errorf("the kernel has answered %d of %d cases: not %s:%d, case %s", len(recorded), len(cases), from[i], c.Line, c.Name)
		}
	}
	return nil
}

// comparedModel says which kernel the model is that answers are compared with.
type comparedModel struct{ modelFlags }

func (o *comparedModel) flag(f *pflag.FlagSet) {
	f.StringVar(&o.kernel, "kernel", "", "have the model be this kernel: "+kernelNames()+" (default: the one that has answered)")
}

func (o *comparedModel) make() (*model.Model, error) {
	k, err := o.version()
	return &model.Model{Kernel: k}, err
}

// fits is an error if a kernel has answered that is not modelled, and none was chosen.
func (o *comparedModel) fits(recorded []*casefile.Case) error {
	for _, c := range recorded {
		if err := o.fit(c); err != nil {
			return err
		}
	}
	return nil
}

// writeChanged names the steps that the kernel answers otherwise than the cases
// had it before, and returns how many there are.
func writeChanged(w io.Writer, before, after []*casefile.Case) int {
	byName := map[string]*casefile.Case{}
	for _, c := range after {
		byName[c.Name] = c
	}
	had, changed := 0, 0
	for _, c := range before {
		k := byName[c.Name]
		if k == nil {
			continue
		}
		for i := range c.Steps {
			s := &c.Steps[i]
			if s.Got == nil && s.GotAny == nil {
				continue
			}
			had++
			if !casefile.SameAnswers(s, &k.Steps[i]) {
				changed++
				fmt.Fprintf(w, "%s: step %d is answered otherwise than recorded\n", c.Name, i)
			}
		}
	}
	if had > 0 {
		fmt.Fprintf(w, "%d of %d recorded steps are answered as recorded\n", had-changed, had)
	}
	return changed
}
