package bench

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func names(calls []Call) (all []string) {
	for _, c := range calls {
		all = append(all, c.Name)
	}
	return all
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		want []string
		get  string
	}{
		{nil, strings.Join(names(Calls), " ")},
		{[]string{"write/cq", "ioctl/pd"}, "ioctl/pd write/cq"},
		{[]string{"query-port"}, "ioctl/query-port write/query-port"},
		{[]string{"lookup", "ioctl/lookup"}, "ioctl/lookup"},
	} {
		calls, unknown := Choose(c.want)
		require.Empty(t, unknown)
		require.Equal(t, c.get, strings.Join(names(calls), " "))
	}
	calls, _ := Choose([]string{"write"})
	require.Len(t, calls, 9)
	for _, none := range []string{"", "c", "cq/ioctl", "ioctl/"} {
		_, unknown := Choose([]string{"cq", none})
		require.Equal(t, none, unknown)
	}
}

// TestNames: each is unlike all others, and --only can name it.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range Calls {
		require.Regexp(t, regexp.MustCompile(`^(ioctl|write)/[a-z][a-z-]*$`), c.Name)
		require.False(t, seen[c.Name], c.Name)
		seen[c.Name] = true
		require.LessOrEqual(t, len(c.About), 60, "%s: a line of the help", c.Name)
	}
}

// TestCalls: on each driver every call is answered as it says, twice over, and leaves
// as many objects behind as it found.
func TestCalls(t *testing.T) {
	for driver, id := range drivers {
		m, done, err := newModelled(driver)
		require.NoError(t, err)
		defer done()
		p, err := newProgram(m, id)
		require.NoError(t, err)
		for _, c := range Calls {
			steps := c.prepare(p)
			before := m.FDs()
			for range 2 {
				require.NoError(t, p.try(steps...), "%s %s", driver, c.Name)
			}
			require.NoError(t, repeat(m, steps, 3), "%s %s", driver, c.Name)
			require.Equal(t, before, m.FDs(), "%s %s", driver, c.Name)
			// A handle that was left would move the next one.
			require.NoError(t, p.try(steps...), "%s %s", driver, c.Name)
		}
		require.NoError(t, p.close())
	}
}
