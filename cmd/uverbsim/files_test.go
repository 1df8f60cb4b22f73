package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// blankLines are lines without end.
type blankLines struct{}

func (blankLines) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = '\n'
	}
	return len(p), nil
}

// TestNoCase: a file in which there is no case is said to be one, whatever --only
// says.
func TestNoCase(t *testing.T) {
	for _, cmd := range []func() *cobra.Command{newExplainCmd, newTraceCmd, newReplayCmd} {
		for _, text := range []string{"", "\n\n", "# nothing\n"} {
			for _, args := range [][]string{{"-"}, {"--only", "cq/", "-"}} {
				_, err := execute(cmd(), text, args...)
				require.EqualError(t, err, "no case in -")
			}
		}
		_, err := execute(cmd(), "", "/dev/null", "-")
		require.EqualError(t, err, "no case in /dev/null, -")
	}
}

// TestBounded: a file is read up to a bound, and one that is longer is refused.
func TestBounded(t *testing.T) {
	const text = "0123456789"
	for n := range 2 * len(text) {
		b, err := io.ReadAll(&bounded{strings.NewReader(text), n})
		if n < len(text) {
			require.ErrorIs(t, err, errMostCases)
			require.LessOrEqual(t, len(b), n)
			continue
		}
		require.NoError(t, err)
		require.Equal(t, text, string(b))
	}
	_, _, err := (&replayer{}).read(blankLines{}, []string{"-"})
	require.ErrorIs(t, err, errMostCases)
	require.ErrorContains(t, err, "more than 256 MiB of cases")
}
