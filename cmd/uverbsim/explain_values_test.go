package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/explain"
	"uverbsim/rule"
)

// spokenOtherwise are the rules whose values are called otherwise than the rule and its condition speak of
// them, with the reason.
var spokenOtherwise = map[string]string{}

// checkSpokenOf: of a refusal's values at least one is what the rule, or its condition, speaks of.
func checkSpokenOf(t *testing.T, where string, r *explain.Refusal) {
	t.Helper()
	if len(r.Values) == 0 || spokenOtherwise[r.Decided.Rule] != "" {
		return
	}
	said := r.Decided.Condition + " " + r.Decided.Why
	if known := rule.Find(r.Decided.Rule); known != nil {
		said += " " + known.Do
	}
	said = strings.ToLower(said)
	var names []string
	for _, v := range r.Values {
		if speaksOf(said, v.Name) {
			return
		}
		names = append(names, v.Name)
	}
	t.Errorf("ZZ %s", r.Decided.Rule); _ = names; return; require.Failf(t, "values", "%s: none of %s is spoken of: %s", where, strings.Join(names, ", "), said)
}

var nameParts = regexp.MustCompile(`[a-z0-9]+`)

// filler are the parts of names that nothing is told by.
var filler = map[string]bool{
	"uverbs": true, "attr": true, "mlx5": true, "ib": true, "create": true, "the": true, "of": true, "query": true, "alloc": true,
	"obj": true, "reg": true, "in": true, "is": true,
}

// speaksOf says whether a text has a value's name, or the last of its words that tells anything.
func speaksOf(said, name string) bool {
	name = strings.ToLower(name)
	if strings.Contains(said, name) {
		return true
	}
	words := nameParts.FindAllString(name, -1)
	for i := len(words) - 1; i >= 0; i-- {
		if !filler[words[i]] && len(words[i]) > 1 {
			return strings.Contains(said, words[i])
		}
	}
	return false
}
