package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/rules"
	"uverbsim/rule"
)

func TestRulesWhole(t *testing.T) {
	out, err := execute(newRulesCmd(), "", "header/length")
	require.NoError(t, err)
	require.Contains(t, out, "rule   header/length\nerrno  EINVAL\n"+
		"check  ib_uverbs_ioctl in drivers/infiniband/core/uverbs_ioctl.c\nwhy    "+rule.HeaderLength.Why+"\n")
	require.Contains(t, out, "shown  uverbsim explain --only ")
	two, err := execute(newRulesCmd(), "", "header/length", "header/fault")
	require.NoError(t, err)
	require.Contains(t, two, "\n\n"+out)
}

func TestRulesTables(t *testing.T) {
	out, err := execute(newRulesCmd(), "", "header/", "mlx5-cq/")
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, "header: the 24 bytes in front\n  header/driver-id "), out)
	require.Contains(t, out, "\n\nmlx5-cq: completion queues\n")
	all, err := execute(newRulesCmd(), "")
	require.NoError(t, err)
	for _, r := range rule.All() {
		require.Contains(t, all, "\n  "+r.ID+" ")
	}
}

func TestRulesByErrno(t *testing.T) {
	out, err := execute(newRulesCmd(), "", "--errno", "eprotonosupport")
	require.NoError(t, err)
	require.Contains(t, out, "uverbs_set_attr in drivers/infiniband/core/uverbs_ioctl.c\n  attr/unknown-mandatory  EPROTONOSUPPORT  ")
	require.NotContains(t, out, "EINVAL")
	out, err = execute(newRulesCmd(), "", "--errno", "EBUSY", "cq", "qp")
	require.NoError(t, err)
	require.Contains(t, out, "cq/busy")
	require.NotContains(t, out, "srq/busy")
}

func TestRulesJSON(t *testing.T) {
	out, err := execute(newRulesCmd(), "", "--json")
	require.NoError(t, err)
	n := 0
	for line := range strings.Lines(out) {
		var r rules.Record
		require.NoError(t, json.Unmarshal([]byte(line), &r))
		require.NotNil(t, rule.Find(r.ID))
		require.NotEqual(t, r.Cases > 0, r.NoCase != nil, r.ID)
		n++
	}
	require.Equal(t, len(rule.All()), n)
}

func TestRulesMarkdown(t *testing.T) {
	page, err := os.ReadFile("../../docs/rules.md")
	require.NoError(t, err)
	out, err := execute(newRulesCmd(), "", "--markdown")
	require.NoError(t, err)
	require.True(t, out == string(page), "docs/rules.md is not what rules --markdown prints")
	section, err := execute(newRulesCmd(), "", "--markdown", "header/length")
	require.NoError(t, err)
	require.Contains(t, section, "#### <a id=\"header/length\"></a>header/length: EINVAL\n")
	require.NotContains(t, section, "header/fault")
}

func TestRulesRefuses(t *testing.T) {
	for _, test := range []struct {
		args []string
		want string
	}{
		{[]string{"atr/duplicate"}, "there is no rule atr/duplicate: the nearest is attr/duplicate"},
		{[]string{"header", "nowhere/"}, "there is no rule nowhere/"},
		{[]string{"--errno", "EINVALID"}, "there is no rule with the errno EINVALID: the nearest is EINVAL"},
		{[]string{"--errno", "EPERM", "cq"}, "no rule of cq has the errno EPERM"},
		{[]string{"--json", "--markdown"}, "json"},
	} {
		var stdout, stderr strings.Builder
		require.Equal(t, 2, run(append([]string{"rules"}, test.args...), strings.NewReader(""), &stdout, &stderr), test.args)
		require.Empty(t, stdout.String())
		require.Equal(t, 1, strings.Count(stderr.String(), "\n"), stderr.String())
		require.Contains(t, stderr.String(), test.want)
	}
}

// TestRulesShown runs some of the commands that the catalogue says show a rule.
func TestRulesShown(t *testing.T) {
	const every = 25
	n := 0
	for _, e := range rules.Recorded().All() {
		if e.Count == 0 {
			continue
		}
		if n++; n%every != 0 {
			continue
		}
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(e.Cases[0].Command())[1:]
			args[len(args)-1] = "../../" + args[len(args)-1]
			var stdout, stderr strings.Builder
			require.Zero(t, run(args, strings.NewReader(""), &stdout, &stderr), stderr.String())
			require.Regexp(t, `refused by\s+`+e.ID+`\b`, stdout.String())
		})
	}
}
