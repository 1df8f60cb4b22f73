package sim_test

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/rules"
	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// The files of the catalogue: which recorded cases show a rule, why none show
// it, and the page that is made of both. After a change to the rules or to the
// corpus,
//
//	go test ./sim_test -run TestRuleCoverage -update-docs
//
// writes the first and the last anew.
const (
	shownFile   = "../report/rules/shown.txt"
	unshownFile = "../report/rules/unshown.txt"
	rulesDoc    = "../docs/rules.md"
)

// wantShown is how many in a hundred of the rules that can be met have to be
// shown.
const wantShown = 90

// shownRules gathers which rules the recorded cases show.
type shownRules struct {
	mu    sync.Mutex
	byID  map[string][]shownBy
	cases int // how many were looked at
}

// shownBy is a case that shows a rule.
type shownBy struct {
	file   string
	c      *casefile.Case
	others int // how many of its steps other rules refuse
}

var shown shownRules

// note takes in what a case showed: the refusals behind the answers that were
// recorded. What is a matter of chance shows nothing, nor does a case that the
// model answers otherwise.
func (s *shownRules) note(file string, r *player.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cases++
	if !r.Passed() || racing(r.Case) {
		return
	}
	refusals := map[string]int{}
	n := 0
	for i := range r.Steps {
		var ru *rule.Rule
		if r.Case.Steps[i].GotAny == nil && errors.As(r.Steps[i].Refused, &ru) {
			refusals[ru.ID]++
			n++
		}
	}
	if s.byID == nil {
		s.byID = map[string][]shownBy{}
	}
	for id, of := range refusals {
		s.byID[id] = append(s.byID[id], shownBy{file, r.Case, n - of})
	}
}

// all returns what the whole corpus shows. TestCorpus has played it before,
// unless it was left out.
func (s *shownRules) all(t *testing.T) rules.Shown {
	files := readCorpus(t)
	n := 0
	for _, f := range files {
		n += len(f.cases)
	}
	if s.cases != n {
		*s = shownRules{}
		t.Run("play", func(t *testing.T) {
			for _, f := range files {
				for _, c := range f.cases {
					t.Run(f.name+"/"+c.Name, func(t *testing.T) {
						t.Parallel()
						s.note(f.name, player.Play(new(model.Model), c, player.Options{Repeat: 1}))
					})
				}
			}
		})
	}
	found := rules.Shown{}
	for id, by := range s.byID {
		slices.SortFunc(by, bySimplicity)
		for _, b := range by {
			found.Add(id, rules.Case{File: b.file, Name: b.c.Name})
		}
	}
	return found
}

// bySimplicity puts those cases first that a reader should see first: written
// ones before generated ones, the model's own kernel before another, one mistake
// before several, no other refusal before some, short ones before long ones.
func bySimplicity(a, b shownBy) int {
	return cmp.Or(
		compareBool(generated(a.c), generated(b.c)),
		compareBool(strings.HasPrefix(a.file, "linux-6.1-"), strings.HasPrefix(b.file, "linux-6.1-")),
		compareBool(ofOrder(a.c), ofOrder(b.c)),
		cmp.Compare(a.others, b.others),
		cmp.Compare(len(a.c.Steps), len(b.c.Steps)),
		cmp.Compare(len(a.c.Name), len(b.c.Name)),
		cmp.Compare(a.file, b.file),
		cmp.Compare(a.c.Name, b.c.Name))
}

// generated says whether a case was made by a program, as its name says.
func generated(c *casefile.Case) bool {
	return strings.Contains(c.Name, "sweep/") || strings.Contains(c.Name, "fuzz/") || strings.HasPrefix(c.Name, "found/")
}

// ofOrder says whether a case asks which of several mistakes is found first, as
// its name says.
func ofOrder(c *casefile.Case) bool { return strings.Contains(c.Name, "order") }

// compareBool puts false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// TestRuleCoverage wants of each rule either a recorded case that shows it or a
// written reason why there is none, and of those that can be met nearly all to
// be shown. It holds the catalogue's files to that.
func TestRuleCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("only the whole corpus shows what it shows")
	}
	b, err := os.ReadFile(unshownFile)
	require.NoError(t, err)
	reasons, err := rules.ParseUnshown(b)
	require.NoError(t, err, unshownFile)
	found := shown.all(t)
	catalogue := rules.New(found, reasons)
	for _, e := range catalogue.All() {
		switch {
		case e.Count > 0 && e.Reason != nil:
			t.Errorf("%s is shown by %s of %s: take it off %s", e.ID, e.Cases[0].Name, e.Cases[0].Path(), unshownFile)
		case e.Count == 0 && e.Reason == nil:
			t.Errorf("%s: no recorded case shows it (%s, %s), and %s has no reason for that",
				e.ID, e.Func, rule.ErrnoName(e.Errno), unshownFile)
		}
	}
	n := rules.Count(catalogue.All())
	percent := 100 * n.Shown / n.Met
	t.Logf("%d of %d rules that can be met are shown, %d %%; %d more are not: %v",
		n.Shown, n.Met, percent, n.All-n.Shown, n.ByKind)
	require.GreaterOrEqual(t, percent, wantShown)

	upToDate(t, shownFile, string(found.Text()))
	var doc strings.Builder
	require.NoError(t, rules.Markdown(&doc, catalogue))
	upToDate(t, rulesDoc, doc.String())
}

// upToDate holds a generated file to what it should be, or writes it.
func upToDate(t *testing.T, file, want string) {
	t.Helper()
	if *updateDocs {
		require.NoError(t, os.WriteFile(file, []byte(want), 0o644))
		return
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Emptyf(t, gocmp.Diff(strings.Split(want, "\n"), strings.Split(string(b), "\n")),
		"-found +%s: go test ./sim_test -run TestRuleCoverage -update-docs", file)
}
