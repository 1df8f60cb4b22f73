package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/explain"
	"uverbsim/rule"
)

// shortShare is the share of the corpus's cases, one in so many, that is explained with -short and under the
// race detector.
const shortShare = 8

// contradicted are the rules whose condition may come to false with the values that are known.
var contradicted = map[string]string{
	"mlx5-ucontext/no-bfregs": "the sum wraps at 32 bits",
}

// TestExplainCorpus: every refusal in the recorded cases is explained.
func TestExplainCorpus(t *testing.T) {
	files, err := filepath.Glob("../../sim_test/corpus/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			f, err := os.Open(file)
			require.NoError(t, err)
			defer f.Close()
			n := 0
			for c, err := range casefile.Read(f, file) {
				require.NoError(t, err)
				if n++; (testing.Short() || raceDetector) && n%shortShare != 0 {
					continue
				}
				checkExplained(t, c)
			}
		})
	}
}

// uncalledOps are the steps that are no system call that can be refused: their errno is the player's, or a
// signal.
var uncalledOps = []string{"peek", "poke", "join", "par", "cgroup", "remove", "add", "netdev", "chmod", "event", "rxe_recv", "rxe_send", "rxe_poll"}

func checkExplained(t *testing.T, c *casefile.Case) {
	t.Helper()
	c.Repeat = 1
	told, _ := explainCase(nil, c)
	require.Emptyf(t, told.Error, "%s is played to its end", c.Name)
	require.Len(t, told.Steps, len(c.Steps))
	for i := range told.Steps {
		s := &told.Steps[i]
		where := fmt.Sprintf("%s step %d (%s)", c.Name, i, s.Does)
		require.Emptyf(t, s.NoRule, "%s: an errno without a rule", where)
		op := c.Steps[i].Op()
		if s.Errno != "" && !slices.Contains(uncalledOps, op) {
			require.Lenf(t, s.Refusals, 1, "%s: %s is explained", where, s.Errno)
			require.Equal(t, s.Errno, s.Refusals[0].Decided.Errno, where)
		}
		if s.Errno == "" && op != "par" {
			require.Emptyf(t, s.Refusals, "%s was not refused", where)
		}
		for _, r := range s.Refusals {
			if r.Placed() || !slices.Contains(uncalledOps, op) {
				checkRefusal(t, where, r)
			}
		}
	}
}

// states are those that an attribute may be in.
var states = []string{explain.Consumed, explain.Refused, explain.Ignored, explain.NotReached, explain.Missing, explain.NotSent}

func checkRefusal(t *testing.T, where string, r *explain.Refusal) {
	t.Helper()
	d := &r.Decided
	where += ": " + d.Rule
	require.Truef(t, r.Placed(), "%s: the place is found among the checks", where)
	require.NotEmptyf(t, d.Func, where)
	require.NotEmptyf(t, d.File, where)
	require.Truef(t, len(r.Values) > 0 || r.State != "", "%s: there is a value, or what it is on: %s", where, d.Condition)
	for _, v := range r.Values {
		require.NotEmpty(t, v.Name, where)
		require.NotEmptyf(t, v.Value, "%s: the value of %s", where, v.Name)
	}
	checkSpokenOf(t, where, r)
	if holds, known := r.Holds(); known && contradicted[d.Rule] == "" {
		require.Truef(t, holds, "%s: the condition holds with its values: %s, %v", where, d.Condition, r.Values)
	}
	require.NotEmpty(t, r.Accepted, where)
	for _, p := range slices.Concat(r.Passed, r.Next) {
		require.NotNilf(t, rule.Find(p.Rule), "%s: %s is in the catalogue", where, p.Rule)
	}
	sent := 0
	for _, a := range r.Attributes {
		require.Containsf(t, states, a.State, "%s: attribute %d", where, a.ID)
		if a.Index >= 0 {
			require.Equal(t, sent, a.Index, where)
			sent++
			require.NotContains(t, []string{explain.Missing, explain.NotSent}, a.State, where)
			continue
		}
		require.Contains(t, []string{explain.Missing, explain.NotSent}, a.State, where)
		require.Equalf(t, a.Mandatory, a.State == explain.Missing, "%s: %s", where, a.Name)
	}
	missing := slices.ContainsFunc(r.Attributes, func(a explain.Attribute) bool { return a.State == explain.Missing })
	if d.Rule == rule.AttrMissing.ID {
		require.Truef(t, missing, "%s: one is missing", where)
	}
	// Nothing is handed to a handler of which something is missing.
	if missing {
		require.NotContains(t, []string{rule.AttrAbsent.ID, rule.FlagsUnknown.ID, rule.ConstRange.ID}, d.Rule, where)
	}
}
