package interleave

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var toReplay = flag.String("schedule", "", "replay this schedule of the pair that -run names")

// wasReplayed says that it was done.
var wasReplayed bool

// TestMain has a run with -schedule fail when the schedule cannot be read, and when
// nothing was replayed.
func TestMain(m *testing.M) {
	flag.Parse()
	if _, err := parse(*toReplay); err != nil {
		fmt.Fprintf(os.Stderr, "-schedule '%s': %v\n", *toReplay, err)
		os.Exit(1)
	}
	status := m.Run()
	if status == 0 && *toReplay != "" && !wasReplayed {
		fmt.Fprintf(os.Stderr, "-schedule '%s': nothing was replayed: -run '%s' names no pair\n", *toReplay, flag.Lookup("test.run").Value)
		status = 1
	}
	os.Exit(status)
}

// replays carries out the schedule that the command line has, and says whether it has
// one.
func replays(t *testing.T, p Program) bool {
	t.Helper()
	if *toReplay == "" {
		return false
	}
	wasReplayed = true
	outcome, lines, err := Replay(p, *toReplay)
	if lines != nil {
		t.Logf("%s\n%s", outcome, strings.Join(lines, "\n"))
	}
	if err != nil {
		t.Fatalf("-schedule '%s': %v", *toReplay, err)
	}
	return true
}

// TestScheduleFlag runs this binary as the commands do that failures print, and as
// somebody does who got a name or a schedule wrong.
func TestScheduleFlag(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	const pair = "TestPairs/^destroy-use$/^pd-rereg$"
	for _, c := range []struct {
		run, schedule string
		status        int
		want          string
	}{
		{pair, "a9 b24 a5 b6", 0, ""},
		{"TestCross/^stub$/^create-pd[+]create-pd$", "a3 b2", 0, ""},
		{pair, "a9 c24", 1, "-schedule 'a9 c24': there is no call c: the calls are a and b"},
		{"TestPairs/^triples$/^destroy$", "a9 d", 1, "-schedule 'a9 d': there is no call d: the calls are a, b and c"},
		{pair, "a9 b2000", 1, "of the schedule: b cannot go on there"},
		{pair, "a9 b0", 1, `-schedule 'a9 b0': "b0" has no number of operations, from 1, behind the call`},
		{pair, "9a", 1, `-schedule '9a': "9a" is no call, a to z, and how often`},
		{"TestPairs/^nosuch$", "a9", 1, "-schedule 'a9': nothing was replayed: -run 'TestPairs/^nosuch$' names no pair"},
		{"TestCross/^stub$/^nosuch$", "a9", 1, "-schedule 'a9': nothing was replayed: -run 'TestCross/^stub$/^nosuch$' names no pair"},
		{"TestNoSuch", "a9", 1, "-schedule 'a9': nothing was replayed: -run 'TestNoSuch' names no pair"},
	} {
		t.Run(c.run+" "+c.schedule, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), self, "-test.run="+c.run, "-schedule="+c.schedule)
			out, err := cmd.CombinedOutput()
			if c.status == 0 {
				require.NoError(t, err, string(out))
				require.True(t, strings.HasPrefix(string(out), "PASS\n"), string(out)) // with -cover more comes behind
				return
			}
			var exit *exec.ExitError
			require.ErrorAs(t, err, &exit, string(out))
			require.Equal(t, c.status, exit.ExitCode(), string(out))
			require.Contains(t, string(out), c.want)
			require.Equal(t, 1, bytes.Count(out, []byte("-schedule")), string(out))
		})
	}
}
