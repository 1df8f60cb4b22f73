package main

import (
	"bufio"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/report/gen"
)

func newGenCmd() *cobra.Command {
	var seed uint64
	var count int
	var driver string
	cmd := &cobra.Command{
		Use:   "gen --seed N --count M",
		Short: "Write random cases",
		Long: `Gen writes random cases, one a line, as JSON: lives of objects on an open device,
mostly valid, with a few mutations of headers, attributes, lengths, addresses and
order. The same seed writes the same bytes. The cases have no answers; record and
compare ask a real kernel for them.`,
		Example: `  uverbsim gen --seed 7 --count 1000 > cases.jsonl && uverbsim compare cases.jsonl`,
		Args:    atMost(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains(gen.Drivers, driver) {
				return fmt.Errorf("--driver %s: one of %s", driver, strings.Join(gen.Drivers, ", "))
			}
			if count < 0 {
				return fmt.Errorf("--count %d: 0 or more", count)
			}
			w := bufio.NewWriter(cmd.OutOrStdout())
			for c := range gen.Cases(seed, count, driver) {
				if _, err := c.WriteTo(w); err != nil {
					return fmt.Errorf("%s: %w", c.Name, err)
				}
			}
			return w.Flush()
		},
	}
	f := cmd.Flags()
	f.Uint64Var(&seed, "seed", 1, "which cases")
	f.IntVar(&count, "count", 100, "how many cases")
	f.StringVar(&driver, "driver", "rxe", "the driver that they are for: "+strings.Join(gen.Drivers, ", "))
	return cmd
}
