package request_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/report/request"
	"uverbsim/sim_test/watchdog"
)

// FuzzParse: a text is either refused, in one line that says why, or it has a
// request; and what it shows, written as a dump, reads as the same.
func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(f, err)
	require.NotEmpty(f, files)
	for _, name := range files {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(string(text))
	}
	f.Fuzz(func(t *testing.T, text string) {
		watchdog.On(t)
		r, err := request.Parse(text)
		if err != nil {
			require.Nil(t, r)
			require.NotEmpty(t, err.Error())
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NotEmpty(t, r.Bytes)
		require.LessOrEqual(t, len(r.Bytes), request.MaxBytes)
		held := 0
		for i, m := range r.Memory {
			require.NotEmpty(t, m.Bytes)
			if i > 0 {
				require.Greater(t, m.Addr, r.Memory[i-1].Addr+uint64(len(r.Memory[i-1].Bytes)))
			}
			if m.Addr <= r.At && r.At-m.Addr < uint64(len(m.Bytes)) {
				held++
				require.Equal(t, string(r.Bytes), string(m.Bytes[r.At-m.Addr:]))
			}
		}
		require.Equal(t, 1, held)

		again, err := request.Parse(r.Hexdump())
		require.NoError(t, err, r.Hexdump())
		require.Equal(t, r.Memory, again.Memory, r.Hexdump())

		p := r.Placed()
		require.Equal(t, string(r.Bytes), string(p.Bytes))
		b := make([]byte, len(p.Bytes))
		require.Equal(t, len(b), p.Mem(false).CopyIn(b, copyuser.Addr(p.At)))
		require.Equal(t, string(p.Bytes), string(b))
		if !strings.Contains(text, "write(") || strings.Contains(text, "\x00") {
			require.Equal(t, -1, r.Count)
		}
	})
}
