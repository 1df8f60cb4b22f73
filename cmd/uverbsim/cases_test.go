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

// caseCmds are the commands that read files of cases.
var caseCmds = []func() *cobra.Command{newExplainCmd, newTraceCmd, newReplayCmd, newRecordCmd, newCompareCmd, newShrinkCmd}

// TestNoCase: a file in which there is no case is said to be one, whatever --only
// says.
func TestNoCase(t *testing.T) {
	for _, cmd := range caseCmds {
		for _, text := range []string{"", "\n\n", "# nothing\n"} {
			for _, args := range [][]string{{"-"}, {"--only", "cq/", "-"}} {
				_, err := execute(cmd(), text, args...)
				require.EqualError(t, err, "no case in standard input")
			}
		}
		_, err := execute(cmd(), opens, "--only", "z/,y", "-")
		require.EqualError(t, err, "no case of standard input begins with z/ or y")
		_, err = execute(cmd(), "", "/dev/null", "-")
		require.EqualError(t, err, "no case in /dev/null, standard input")
	}
}

func TestNoFile(t *testing.T) {
	for _, cmd := range caseCmds {
		c := cmd()
		status, out, errs := uverbsim(t, "", c.Name())
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: "+c.Name()+": no FILE; - is the standard input\n", errs)
		status, out, errs = uverbsim(t, opens, c.Name(), "-", "")
		require.Equal(t, 2, status)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: "+c.Name()+": the name of a FILE is empty; - is the standard input\n", errs)
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
	_, _, err := (&caseFlags{}).read(blankLines{}, []string{"-"}, nil)
	require.ErrorIs(t, err, errMostCases)
	require.ErrorContains(t, err, "more than 256 MiB of cases")
}

func TestOneCaseALine(t *testing.T) {
	status, _, errs := uverbsim(t, "{\n  \"v\": 1\n}\n", "explain", "-")
	require.Equal(t, 2, status)
	require.Contains(t, errs, "standard input:1: ")
	require.Contains(t, errs, "one case a line")
}
