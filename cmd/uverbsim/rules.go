package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/report/rules"
)

func newRulesCmd() *cobra.Command {
	var c rulesCommand
	cmd := &cobra.Command{
		Use:   "rules [flags] [ID-or-PREFIX]...",
		Short: "Print the catalogue of refusals: errno, check, why, what to do",
		Long: `Rules prints the catalogue of refusals: one rule for each place where the
modelled kernel code returns an error to a program. Without arguments it is a
table of all rules by area. An id, such as attr/duplicate, prints that rule whole:
the errno, the kernel's function and file that make the check, why, what to do,
and the recorded cases that show it, each with the command that explains it; or
why there is no such case. The beginning of ids, such as attr/ or mlx5-, prints
a table of those rules, and the name of a kernel function, as ftrace shows it, one
of the rules by which it refuses.

With --errno the table has the rules with that errno alone, by the kernel's
functions.

With --json each rule is one object a line: id, area, errno, code (its number),
func, file, why, do, cases (how many recorded cases show it), shown (the first
of them, each with name and file), and in their place no_case (kind and reason).`,
		Example: `  uverbsim rules attr/duplicate
  uverbsim rules cq mlx5-cq
  uverbsim rules uverbs_process_attr
  uverbsim rules --errno EINVAL
  uverbsim rules --json | jq -r 'select(.func == "uverbs_set_attr").id'`,
		RunE: func(cmd *cobra.Command, args []string) error { return c.run(cmd.OutOrStdout(), args) },
	}
	f := cmd.Flags()
	f.StringVar(&c.errno, "errno", "", "only rules with this errno, EINVAL or 22, by the kernel's functions")
	f.BoolVar(&c.json, "json", false, "print JSON, one object a line")
	f.BoolVar(&c.markdown, "markdown", false, "print Markdown: without arguments docs/rules.md, else the sections of the chosen rules")
	cmd.MarkFlagsMutuallyExclusive("json", "markdown")
	return cmd
}

// rulesCommand are the flags of rules.
type rulesCommand struct {
	errno          string
	json, markdown bool
}

func (c *rulesCommand) run(out io.Writer, args []string) error {
	catalogue := rules.Recorded()
	if c.markdown && len(args) == 0 && c.errno == "" {
		return rules.Markdown(out, catalogue)
	}
	es, err := catalogue.Select(args)
	if err != nil {
		return err
	}
	if c.errno != "" {
		if es, err = rules.WithErrno(es, c.errno); err != nil {
			return err
		}
		if len(es) == 0 {
			return fmt.Errorf("no rule of %s has the errno %s", strings.Join(args, ", "), strings.ToUpper(c.errno))
		}
	}
	switch {
	case c.json:
		return rules.JSON(out, es)
	case c.markdown:
		return rules.Sections(out, es)
	}
	return c.text(out, args, es)
}

// text prints the rules of ids whole, and the others in tables.
func (c *rulesCommand) text(out io.Writer, args []string, es []*rules.Entry) error {
	if len(es) == 1 && c.errno == "" || ids(args) {
		for i, e := range es {
			if i > 0 {
				fmt.Fprintln(out)
			}
			if err := rules.Whole(out, e); err != nil {
				return err
			}
		}
		return nil
	}
	groups := rules.ByArea(es)
	if c.errno != "" {
		groups = rules.ByFunc(es)
	}
	if err := rules.Table(out, groups); err != nil {
		return err
	}
	return rules.Sum(out, es)
}

// ids says whether all arguments are ids of rules.
func ids(args []string) bool {
	for _, a := range args {
		if rules.Recorded().Find(a) == nil {
			return false
		}
	}
	return len(args) > 0
}
