package main

import (
	"bufio"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
	"uverbsim/report/shrink"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

func newShrinkCmd() *cobra.Command {
	var s shrinker
	cmd := &cobra.Command{
		Use:   "shrink [flags] FILE...",
		Short: "Make cases small that model and kernel answer differently",
		Long: `Shrink takes the cases of each FILE, which the model and a real kernel have to
answer differently, and leaves out steps, attributes and buffers and makes values
plain as long as they do. It writes the small cases with the kernel's answers.

Each question to the kernel is a boot of a guest; a case takes about ten.`,
		Example: `  uverbsim compare --save differing.jsonl cases.jsonl
  uverbsim shrink differing.jsonl > small.jsonl`,
		Args: someFile,
		RunE: func(cmd *cobra.Command, files []string) error { return s.run(cmd, files) },
	}
	f := cmd.Flags()
	s.caseFlags.flags(f)
	s.model.flag(f)
	s.guest.flags(f, ofCases)
	return cmd
}

// shrinker are the flags of shrink.
type shrinker struct {
	caseFlags
	model comparedModel
	guest guestFlags
}

func (s *shrinker) run(cmd *cobra.Command, files []string) (err error) {
	if err := s.guest.check(); err != nil {
		return err
	}
	m, err := s.model.make()
	if err != nil {
		return err
	}
	cases, from, err := s.read(cmd.InOrStdin(), files, nil)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	defer func() { err = errors.Join(err, out.Flush()) }()
	for i, c := range cases {
		small, err := shrink.Case(c, func(cases []*casefile.Case) ([]bool, error) { return s.differ(cmd, m, cases) })
		if err != nil {
			return fmt.Errorf("%s:%d: case %s: %w", from[i], c.Line, c.Name, err)
		}
		recorded, err := s.guest.ask(cmd, []*casefile.Case{small})
		if err != nil {
			return err
		}
		if _, err := recorded[0].WriteTo(out); err != nil {
			return err
		}
	}
	return nil
}

// differ says of each case whether the model answers it otherwise than the
// kernel. Cases are told apart by names of their own for that.
func (s *shrinker) differ(cmd *cobra.Command, m *model.Model, cases []*casefile.Case) ([]bool, error) {
	number := map[string]int{}
	var asked []*casefile.Case
	for i, c := range cases {
		k := *c
		k.Name = fmt.Sprintf("shrink/%d", i)
		number[k.Name] = i
		asked = append(asked, &k)
	}
	recorded, err := s.guest.ask(cmd, asked)
	if err != nil {
		return nil, err
	}
	if err := s.model.fits(recorded); err != nil {
		return nil, err
	}
	differs := make([]bool, len(cases))
	i := 0
	for res := range player.Each(m, recorded, atOnce, player.Options{}) {
		differs[number[recorded[i].Name]] = !res.Passed()
		i++
	}
	return differs, nil
}
