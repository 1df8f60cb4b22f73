package clients

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// outcome is what a test came to: "pass", "fail", or "skip" with a reason.
type outcome struct{ kind, reason string }

func (o outcome) String() string {
	if o.reason == "" {
		return o.kind
	}
	return o.kind + ": " + o.reason
}

var (
	testLine   = regexp.MustCompile(`(?m)^(test_\w+) \((tests\.[\w.]+)\)`)
	statusLine = regexp.MustCompile(`(?m)(?:^|\.\.\. )(ok|ERROR|FAIL|skipped ['"](.*)['"])$`)
	numbers    = regexp.MustCompile(`\b(0x[0-9a-fA-F]+|renderD\d+)\b`)
)

// outcomes reads what Python's unittest prints with -v: after each test's name and
// description, and what the test prints itself, what it came to.
func outcomes(t *testing.T, out string) map[string]outcome {
	t.Helper()
	out, _, ok := strings.Cut(out, "\n===") // where the failures are told
	if !ok {
		out, _, _ = strings.Cut(out, "\n---")
	}
	found := map[string]outcome{}
	tests := testLine.FindAllStringSubmatchIndex(out, -1)
	for i, at := range tests {
		end := len(out)
		if i+1 < len(tests) {
			end = tests[i+1][0]
		}
		name := out[at[4]:at[5]]
		m := statusLine.FindStringSubmatch(out[at[1]:end])
		require.NotNil(t, m, "%s: %s", name, out[at[0]:end])
		switch m[1] {
		case "ok":
			found[name] = outcome{kind: "pass"}
		case "ERROR", "FAIL":
			found[name] = outcome{kind: "fail"}
		default:
			found[name] = outcome{"skip", numbers.ReplaceAllString(m[2], "N")}
		}
	}
	return found
}

// trouble returns what is told of a test that failed.
func trouble(test, out string) string {
	for block := range strings.SplitSeq(out, "\n======") {
		heading, told, _ := strings.Cut(strings.TrimLeft(block, "=\n"), "\n")
		if strings.HasSuffix(heading, "("+test+")") {
			return "\n\t" + strings.ReplaceAll(strings.TrimSpace(told), "\n", "\n\t")
		}
	}
	return ""
}
