package interleave

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/replay"
	"uverbsim/rule"
	"uverbsim/sim_test/suite"
)

var update = flag.Bool("update", false, "write the tables of the page")

// TestDocument holds the tables of the page to those of this package, and to how much
// was explored; with -update it writes them.
func TestDocument(t *testing.T) {
	suite.Page(t, "../../docs/interleavings.md",
		map[string]string{"reasons": reasonsTable(), "pairs": pairsTable(t), "replay": replayed(t)}, *update)
}

func reasonsTable() string {
	var b strings.Builder
	b.WriteString("| reason | a call is answered | decided in | why |\n|---|---|---|---|\n")
	for _, r := range reasons {
		name, answers := r.name, map[string]bool{}
		if refused := rule.Find(r.name); refused != nil {
			name = "`" + name + "`"
			answers[rule.ErrnoName(refused.Errno)] = true
		} else {
			for _, p := range pairs {
				for _, text := range p.want {
					if o := outcomeOf(text); slices.Contains(o.reasons, r.name) {
						answers[kind(o)] = true
					}
				}
			}
		}
		fmt.Fprintf(&b, "| %s | %s | `%s`, %s | %s |\n", name, strings.Join(slices.Sorted(maps.Keys(answers)), " or "), r.fn, r.file, r.why)
	}
	return b.String()
}

// kind says what an outcome without a refusal is.
func kind(o outcome) string {
	if strings.Contains(o.calls, "waits") {
		return "not at all"
	}
	return "0"
}

func pairsTable(t *testing.T) string {
	var b strings.Builder
	b.WriteString("| pair | calls | interleavings | answers | what is left | reasons |\n|---|---|---|---|---|---|\n")
	total := 0
	for _, p := range pairs {
		n := p.explored(t).Executions
		total += n
		first := fmt.Sprintf("%s, on %s | %s | %d", p.name, p.driver, p.words(t), n)
		for _, text := range p.want {
			o := outcomeOf(text)
			var why []string
			for i, name := range o.reasons {
				if slices.Index(o.reasons, name) == i {
					why = append(why, code(name))
				}
			}
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", first, o.calls, o.left, strings.Join(why, ", "))
			first = " | | "
		}
	}
	fmt.Fprintf(&b, "\n%d pairs and triples, %d interleavings.\n", len(pairs), total)
	return b.String()
}

// code marks the id of a rule.
func code(name string) string {
	if rule.Find(name) != nil {
		return "`" + name + "`"
	}
	return name
}

// words says what the calls of a pair are.
func (p *pair) words(t *testing.T) string {
	c := build(t, p.name, p.driver, p.before, p.calls)
	var threads []string
	for i, steps := range c.Steps[len(p.before)].Do.(*casefile.Par).Threads {
		one := casefile.Case{Driver: c.Driver, Steps: steps}
		var calls []string
		for j := range steps {
			calls = append(calls, strings.ReplaceAll(replay.Describe(&one, j), "UVERBS_METHOD_", ""))
		}
		threads = append(threads, fmt.Sprintf("%s: %s", name(i), strings.Join(calls, ", ")))
	}
	return strings.Join(threads, "; ")
}

// replayed is one outcome's schedule, its replay, and the command.
func replayed(t *testing.T) string {
	const shown, got = "destroy-use/pd-rereg", "EBUSY(object/busy-write) 0 | MR, 2 PD"
	p := &pairs[slices.IndexFunc(pairs, func(p pair) bool { return p.name == shown })]
	order := p.explored(t).Outcomes[got].Schedule
	outcome, lines, err := Replay(p.program(t), order)
	require.NoError(t, err)
	require.Equal(t, got, outcome)
	var b strings.Builder
	fmt.Fprintf(&b, "```\n$ %s\n%s\n", p.again(order), outcome)
	for _, l := range lines {
		b.WriteString(strings.TrimRight(l, " ") + "\n")
	}
	return b.String() + "```\n"
}
