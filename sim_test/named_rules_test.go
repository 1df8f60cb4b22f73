package sim_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/kernel"
	"uverbsim/rule"
)

var (
	// errorsOf is the part of a function's comment that says which rules it returns.
	errorsOf = regexp.MustCompile(`(?m)^// Errors:.*\n(?:// ?\S.*\n)*`)
	// named is a rule there, or with … those that begin so.
	named = regexp.MustCompile(`[a-z0-9][a-z0-9-]*/[a-z0-9-]*(?:…|[a-z0-9])`)
)

// TestNamedRules: there is each rule that a function's comment names. Batches are no
// kernel's, so theirs are not in the catalogue.
func TestNamedRules(t *testing.T) {
	rules := append(rule.All(), kernel.BatchFault, kernel.BatchCount, kernel.BatchFlags, kernel.BatchNoMemory)
	isRule := func(name string) bool {
		start, some := strings.CutSuffix(name, "…")
		return slices.ContainsFunc(rules, func(r *rule.Rule) bool { return r.ID == name || some && strings.HasPrefix(r.ID, start) })
	}
	names := 0
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		text, err := os.ReadFile(path)
		for _, comment := range errorsOf.FindAllString(string(text), -1) {
			for _, name := range named.FindAllString(comment, -1) {
				names++
				require.True(t, isRule(name), "%s: %s is no rule: %s", path, name, comment)
			}
		}
		return err
	})
	require.NoError(t, err)
	require.NotZero(t, names)
}
