package sim_test

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// unshownFile has the rules that no recorded case shows, each under the reason
// why. A line
//
//	KIND: SENTENCE
//
// is a reason, and the lines below it, up to an empty one, are the ids of the
// rules that it holds for. The kinds are those of unshownKinds.
const unshownFile = "unshown.txt"

// unshownKinds says of each kind of reason whether a program could meet the
// rule on one of the devices that cases were recorded on, so that it counts.
var unshownKinds = map[string]bool{
	"fault":  false, // only when something in the kernel fails, such as an allocation
	"never":  false, // nothing that a program can do leads there
	"device": false, // only on another device, or with another answer of the firmware
	"race":   false, // only in a moment that cannot be hit from outside
	"limit":  false, // only after more calls than a case can hold
	"format": true,  // by a call that no step of a case can make
	"open":   true,  // by a case that is not recorded, or that the model does not answer
}

// wantShown is how many in a hundred of the rules that can be met have to be
// shown.
const wantShown = 90

// shownRules gathers which rules the recorded cases show.
type shownRules struct {
	mu    sync.Mutex
	byID  map[string]string // the first case that shows the rule
	cases int               // how many were looked at
}

var shown shownRules

// note takes in what a case showed: the refusals behind the answers that were
// recorded. What is a matter of chance shows nothing, nor does a case that the
// model answers otherwise.
func (s *shownRules) note(name string, r *player.Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cases++
	if !r.Passed() || racing(r.Case) {
		return
	}
	for i := range r.Steps {
		var ru *rule.Rule
		if r.Case.Steps[i].GotAny != nil || !errors.As(r.Steps[i].Refused, &ru) {
			continue
		}
		if s.byID == nil {
			s.byID = map[string]string{}
		}
		if _, ok := s.byID[ru.ID]; !ok {
			s.byID[ru.ID] = name
		}
	}
}

// all returns the rules that the whole corpus shows. TestCorpus has played it
// before, unless it was left out.
func (s *shownRules) all(t *testing.T) map[string]string {
	files := readCorpus(t)
	n := 0
	for _, f := range files {
		n += len(f.cases)
	}
	if s.cases == n {
		return s.byID
	}
	*s = shownRules{}
	t.Run("play", func(t *testing.T) {
		for _, f := range files {
			for _, c := range f.cases {
				t.Run(f.name+"/"+c.Name, func(t *testing.T) {
					t.Parallel()
					s.note(f.name+"/"+c.Name, player.Play(new(model.Model), c, player.Options{Repeat: 1}))
				})
			}
		}
	})
	return s.byID
}

// readUnshown reads unshownFile of unshownFile: the kind of each rule's reason.
func readUnshown(t *testing.T) map[string]string {
	t.Helper()
	b, err := os.ReadFile(unshownFile)
	require.NoError(t, err)
	kinds := map[string]string{}
	for i, block := range strings.Split(strings.TrimSpace(string(b)), "\n\n") {
		lines := strings.Split(block, "\n")
		kind, reason, ok := strings.Cut(lines[0], ": ")
		_, known := unshownKinds[kind]
		require.Truef(t, ok && known, "%s, reason %d has no kind: %s", unshownFile, i+1, lines[0])
		require.Truef(t, strings.HasSuffix(reason, "."), "%s: the reason %q is no sentence", unshownFile, reason)
		ids := lines[1:]
		require.NotEmptyf(t, ids, "%s: no rule has the reason %q", unshownFile, reason)
		require.Truef(t, slices.IsSorted(ids), "%s: the rules under %q are not sorted", unshownFile, reason)
		for _, id := range ids {
			require.NotContainsf(t, kinds, id, "%s has %s twice", unshownFile, id)
			kinds[id] = kind
		}
	}
	return kinds
}

// TestRuleCoverage wants of each rule either a recorded case that shows it or a
// written reason why there is none, and of those that can be met nearly all to
// be shown.
func TestRuleCoverage(t *testing.T) {
	if testing.Short() {
		t.Skip("only the whole corpus shows what it shows")
	}
	kinds := readUnshown(t)
	byID := shown.all(t)
	counts := map[string]int{}
	reachable := 0
	for _, r := range rule.All() {
		name, is := byID[r.ID]
		kind, reasoned := kinds[r.ID]
		switch {
		case is && reasoned:
			t.Errorf("%s is shown by %s: take it off %s", r.ID, name, unshownFile)
		case !is && !reasoned:
			t.Errorf("%s: no recorded case shows it (%s, %s), and %s has no reason for that",
				r.ID, r.Func, rule.ErrnoName(r.Errno), unshownFile)
		case is:
			kind = "shown"
		}
		counts[kind]++
		if is || unshownKinds[kind] {
			reachable++
		}
	}
	for id := range kinds {
		require.NotNilf(t, rule.Find(id), "%s: there is no rule %s", unshownFile, id)
	}
	percent := 100 * counts["shown"] / reachable
	t.Logf("%d of %d rules that can be met are shown, %d %%; of all %d: %v",
		counts["shown"], reachable, percent, len(rule.All()), fmt.Sprint(counts))
	require.GreaterOrEqual(t, percent, wantShown)
}
