package main

import (
	"bufio"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"uverbsim/casefile"
	"uverbsim/report/explain"
	"uverbsim/report/replay"
	"uverbsim/rule"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

func newExplainCmd() *cobra.Command {
	var ex explainer
	cmd := &cobra.Command{
		Use:   "explain [flags] FILE...",
		Short: "Say of each refused call of a case why it was refused",
		Long: `Explain plays the cases of each FILE, each on a machine of its own, and says of each
refused call

  - which check refused it: the rule, the kernel function and file, the condition,
    and the values that it speaks of, as they were;
  - what would have been accepted;
  - which checks the call had passed before, in order, and which it would have met
    next. A question mark stands behind those that lie in a branch of which it is
    not known whether it was taken; --json has its condition;
  - what became of each attribute: consumed, refused, ignored, not reached, or
    missing; refused is also the one whose contents were refused. Of a write()
    command, and of the driver's part, it shows the members; <- stands behind the
    one that the call was refused for.

--brief prints the first two only, and no calls that were not refused. The errno by
which a library learns that the kernel has the ioctl is told in one line.

Which functions of the kernel the call entered, and for which attribute, was seen
while it was played. The checks in between, and their conditions, are those of the
model's source, in its order; package report/explain says more, and has the types
of what --json prints.

A call that was not refused is named in one line, and one that is answered
otherwise than recorded is told so. FILE has one case a line, as JSON, and is what
"uverbsim run --record FILE -- PROGRAM" writes; - is the standard input.

The exit status is 2 if a file could not be read or a case could not be played.`,
		Example: `  uverbsim run --record prog.jsonl -- ./prog; uverbsim explain prog.jsonl
  uverbsim explain --brief prog.jsonl
  uverbsim explain --only cq/ sim_test/corpus/linux-6.12-rxe.jsonl`,
		Args: someFile,
		RunE: func(cmd *cobra.Command, files []string) error { return ex.run(cmd, files) },
	}
	f := cmd.Flags()
	ex.caseFlags.flags(f)
	ex.modelFlags.flags(f)
	f.BoolVar(&ex.json, "json", false, "print JSON, one case a line")
	f.BoolVar(&ex.brief, "brief", false, "print which check refused each call and what would have been accepted, and nothing else")
	return cmd
}

// explainer are the flags of explain.
type explainer struct {
	caseFlags
	modelFlags
	json, brief bool
}

func (ex *explainer) run(cmd *cobra.Command, files []string) error {
	k, err := ex.version()
	if err != nil {
		return err
	}
	cases, from, err := ex.read(cmd.InOrStdin(), files, ex.fit)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(cmd.OutOrStdout())
	text := explain.NewPrinter(out, ex.brief)
	write := text.Case
	if ex.json {
		write = func(c *explain.Case) error { return explain.JSON(out, c) }
	}
	var bad []error
	for i, c := range cases {
		told, played := explainCase(k, c)
		told.File = from[i]
		if played.Err != nil {
			bad = append(bad, unplayable(from[i], played))
		}
		if err := write(told); err != nil {
			return err
		}
	}
	if !ex.json {
		if err := text.End(); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	return unplayed(cmd.ErrOrStderr(), bad, len(cases))
}

// explainCase plays a case once, on that kernel or on its own, and explains its
// refused steps. What came of the playing is returned, too.
func explainCase(k *spec.Kernel, c *casefile.Case) (*explain.Case, *player.Result) {
	target := &explained{kernel: k}
	r := player.Play(target, c, player.Options{Repeat: 1})
	out := &explain.Case{Name: c.Name, Line: c.Line, Driver: c.Driver, Kernel: target.ran, Why: c.Why}
	if r.Err != nil {
		out.Error = r.Err.Error()
	}
	calls := target.calls
	for i := range r.Steps {
		s := explain.Step{Step: i, Does: describe(c, i), Ret: string(r.Steps[i].Got.Ret), Differences: r.Steps[i].Differences}
		if e := r.Steps[i].Got.Errno; e != nil {
			s.Errno = *e
		}
		s.Refusals, calls = refusals(c.Steps[i].Do, &r.Steps[i], calls)
		if len(s.Refusals) == 0 && r.Steps[i].Refused != nil {
			s.NoRule, s.Refusals = uncalled(r.Steps[i].Refused)
		}
		out.Steps = append(out.Steps, s)
	}
	return out, r
}

// describe says what a step does, with the command that it runs by INVOKE_WRITE.
func describe(c *casefile.Case, i int) string {
	s := replay.Describe(c, i)
	call, ok := c.Steps[i].Do.(*casefile.Ioctl)
	if !ok || call.Hdr.ObjectID != spec.UVERBS_OBJECT_DEVICE || call.Hdr.MethodID != spec.UVERBS_METHOD_INVOKE_WRITE {
		return s
	}
	for _, a := range call.Attrs {
		if a.ID != spec.UVERBS_ATTR_WRITE_CMD || a.Data.Kind != casefile.Number {
			continue
		}
		word := uint32(a.Data.N)
		if name := spec.WriteName(uint8(word), word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0); name != "" {
			const method = "UVERBS_METHOD_INVOKE_WRITE"
			return strings.Replace(s, method, method+" "+name, 1)
		}
	}
	return s
}

// refusals explains the calls of a step that were refused, and returns those that
// are left for later steps.
func refusals(do casefile.Action, r *player.StepResult, calls []*explain.Call) ([]*explain.Refusal, []*explain.Call) {
	if _, par := do.(*casefile.Par); par {
		n := 0
		for _, thread := range r.Got.Par {
			for _, g := range thread {
				if g.Errno != nil && *g.Errno != "" {
					n++
				}
			}
		}
		n = min(n, len(calls))
		var out []*explain.Refusal
		for _, c := range calls[:n] {
			if e := explain.Explain(c); e != nil {
				out = append(out, e)
			}
		}
		return out, calls[n:]
	}
	if r.Refused == nil {
		return nil, calls
	}
	for i, c := range calls {
		if errors.Is(c.Err, r.Refused) && c.Err == r.Refused {
			if e := explain.Explain(c); e != nil {
				return []*explain.Refusal{e}, append(calls[:i:i], calls[i+1:]...)
			}
		}
	}
	return nil, calls
}

// uncalled explains a refusal that no system call was watched for: by its rule, if
// it has one.
func uncalled(refused error) (noRule string, out []*explain.Refusal) {
	var known *rule.Rule
	if !errors.As(refused, &known) {
		return refused.Error(), nil
	}
	return "", []*explain.Refusal{explain.OfRule(known)}
}
