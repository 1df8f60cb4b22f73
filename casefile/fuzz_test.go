package casefile_test

import (
	"bytes"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/watchdog"
)

// FuzzRead reads anything. A case that is read can be written, and reads the
// same then; its answers compare equal with themselves.
func FuzzRead(f *testing.F) {
	for _, file := range recordings(f) {
		in := lines(f, file)
		for i := 0; i < len(in); i += 1 + len(in)/9 {
			if len(in[i]) < 3000 {
				f.Add(in[i])
			}
		}
	}
	f.Add([]byte("# nothing\n\n{}"))
	f.Fuzz(func(t *testing.T, in []byte) {
		watchdog.On(t)
		for c, err := range casefile.Read(bytes.NewReader(in), "fuzz") {
			if err != nil {
				require.Nil(t, c)
				require.IsType(t, &casefile.FormatError{}, err)
				continue
			}
			out, err := c.Marshal()
			require.NoError(t, err)
			require.NotContains(t, string(out), "\n")
			again, err := casefile.Unmarshal(out)
			require.NoError(t, err)
			again.Line = c.Line
			require.Equal(t, c, again)
			for i := range c.Steps {
				s := &c.Steps[i]
				require.True(t, casefile.SameAnswers(s, &again.Steps[i]))
				if s.Got != nil {
					require.Empty(t, casefile.Compare(s.Got, again.Steps[i].Got))
				}
			}
		}
	})
}

func TestSeedsAreThere(t *testing.T) {
	require.GreaterOrEqual(t, len(recordings(t)), 19)
	for _, f := range recordings(t) {
		require.NotEmpty(t, lines(t, f), filepath.Base(f))
	}
}
