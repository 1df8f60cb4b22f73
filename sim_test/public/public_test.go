// Package public has what people met in uverbs and told in public, each as a
// test that bears its name: what a program did, and what the kernel answers.
// Where a program can do it again, recorded cases show the answer, and the
// model has to give it for the reason that the table names. docs/problems.md is
// made of the same table.
package public

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// A problem is what people met, and what Linux 6.12 answers.
type problem struct {
	id, name string
	met      string // what happened, where it was told
	answer   string // what Linux 6.12 does, and where

	shown []shown            // recorded cases of it
	test  func(t *testing.T) // what no case can hold, or what the cases leave out
	newer []newer            // what it needs that only newer kernels have
	not   string             // why it is no matter of the model, if it is not
}

// shown names a recorded case, FILE/CASE, and the rule that refuses one of its
// steps on the model; "" if none is refused.
type shown struct{ name, rule string }

// newer is an id that Linux 6.12 does not have, and its name in newer kernels.
type newer struct {
	object, method, attr int
	name                 string
}

// problems are all tables, in the order of their ids.
func problems() []problem {
	all := slices.Concat(headers, attributes, handles, completionQueues, writes, memory, events, rights,
		mlx5, fuzzers, proxies)
	slices.SortStableFunc(all, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.id[0], b.id[0]), cmp.Compare(number(a.id), number(b.id)))
	})
	return all
}

// number is that of an id: a letter for the field and a number.
func number(id string) int {
	n, err := strconv.Atoi(id[1:])
	if err != nil {
		panic("the id of a problem: " + id)
	}
	return n
}

// TestProblems shows each of them.
func TestProblems(t *testing.T) {
	for _, p := range problems() {
		t.Run(p.id+"-"+p.name, func(t *testing.T) {
			require.True(t, p.not != "" || len(p.shown)+len(p.newer) > 0 || p.test != nil, "nothing shows it")
			for _, s := range p.shown {
				t.Run(strings.ReplaceAll(s.name, "/", ":"), func(t *testing.T) { t.Parallel(); s.check(t) })
			}
			for _, n := range p.newer {
				require.Equal(t, n.name, spec.NewerName(n.object, n.method, n.attr))
			}
			if p.test != nil {
				t.Run("test", p.test)
			}
		})
	}
}

// repeat is how often a case with threads is played.
const repeat = 20

func (s shown) check(t *testing.T) {
	file, name, _ := strings.Cut(s.name, "/")
	c := recorded(t, file)[name]
	require.NotNilf(t, c, "%s.jsonl has no case %s", file, name)
	r := player.Play(new(model.Model), c, player.Options{Repeat: repeat})
	require.NoError(t, r.Err)
	var refused []string
	for i, step := range r.Steps {
		require.Emptyf(t, step.Differences, "step %d", i+1)
		var ru *rule.Rule
		if errors.As(step.Refused, &ru) {
			refused = append(refused, ru.ID)
		}
	}
	require.True(t, r.Passed())
	if s.rule == "" {
		require.Empty(t, refused)
		return
	}
	require.Contains(t, refused, s.rule)
}

var (
	readMu sync.Mutex
	read   = map[string]map[string]*casefile.Case{}
)

// recorded returns the cases of a file of recordings, by name.
func recorded(t *testing.T, file string) map[string]*casefile.Case {
	t.Helper()
	readMu.Lock()
	defer readMu.Unlock()
	if byName := read[file]; byName != nil {
		return byName
	}
	cases, err := casefile.ReadFile("../corpus/" + file + ".jsonl")
	require.NoError(t, err)
	byName := map[string]*casefile.Case{}
	for _, c := range cases {
		byName[c.Name] = c
	}
	read[file] = byName
	return byName
}

// TestForm holds the table to one form.
func TestForm(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range problems() {
		require.Regexp(t, `^[A-K][1-9][0-9]?$`, p.id)
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, p.name, p.id)
		require.Falsef(t, seen[p.id], "%s is there twice", p.id)
		seen[p.id] = true
		for _, text := range []string{p.met, p.answer, cmp.Or(p.not, ".")} {
			require.Regexp(t, `(?s)^\S.*\.$|^\.$`, text, p.id)
		}
		for _, s := range p.shown {
			require.True(t, s.rule == "" || rule.Find(s.rule) != nil, s.rule)
		}
	}
}

const (
	document = "../../docs/problems.md"
	heading  = "## A. "
)

// After a change to the tables,
//
//	go test ./sim_test/public -run TestDocument -update-docs
//
// writes them into the document anew.
var updateDocs = flag.Bool("update-docs", false, "write the problems into "+document+" anew")

// TestDocument holds docs/problems.md to the tables.
func TestDocument(t *testing.T) {
	b, err := os.ReadFile(document)
	require.NoError(t, err)
	head, _, _ := strings.Cut(string(b), heading)
	want := head + sections()
	if *updateDocs {
		require.NoError(t, os.WriteFile(document, []byte(want), 0o644))
		return
	}
	require.Empty(t, gocmp.Diff(want, string(b)), "-tables +%s", document)
}

// fields are the headings of the document.
var fields = map[byte]string{
	'A': "Header, lookup of the method, old and new libraries",
	'B': "Attributes",
	'C': "Handles, locks, objects that are destroyed",
	'D': "Completion queues",
	'E': "write() and INVOKE_WRITE",
	'F': "Memory, mmap, fork",
	'G': "Events, and devices that go",
	'H': "Rights, namespaces, containers",
	'I': "mlx5: DEVX, queue pairs, shared receive queues",
	'J': "What fuzzers found",
	'K': "Proxies",
}

// sections is the document from the first heading on.
func sections() string {
	var w strings.Builder
	var field byte
	for _, p := range problems() {
		if p.id[0] != field {
			if field != 0 {
				w.WriteByte('\n')
			}
			field = p.id[0]
			fmt.Fprintf(&w, "## %c. %s\n", field, fields[field])
		}
		fmt.Fprintf(&w, "\n### %s %s\n\n%s\n\n%s\n", p.id, strings.ReplaceAll(p.name, "-", " "), p.met, p.answer)
		p.writeShown(&w)
	}
	return w.String()
}

func (p *problem) writeShown(w *strings.Builder) {
	if p.not != "" {
		fmt.Fprintf(w, "\nNot a matter of the model: %s\n", p.not)
	}
	if len(p.shown)+len(p.newer) > 0 || p.test != nil {
		w.WriteByte('\n')
	}
	for _, s := range p.shown {
		fmt.Fprintf(w, "- `%s`", s.name)
		if s.rule != "" {
			r := rule.Find(s.rule)
			fmt.Fprintf(w, ": %s, rule `%s`", rule.ErrnoName(r.Errno), r.ID)
		}
		w.WriteByte('\n')
	}
	for _, n := range p.newer {
		fmt.Fprintf(w, "- newer kernels only: `%s`\n", n.name)
	}
	if p.test != nil {
		fmt.Fprintf(w, "- `go test ./sim_test/public -run TestProblems/%s-%s`\n", p.id, p.name)
	}
}
