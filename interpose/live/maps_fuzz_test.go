package live

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/sim_test/watchdog"
)

// FuzzMapsLine parses a line of /proc/PID/maps of any bytes: a program chooses the
// names of its files. What comes out is memory of the user.
func FuzzMapsLine(f *testing.F) {
	f.Add([]byte("7f0000000000-7f0000001000 rw-p 00001000 fe:01 1234 /a file\n"))
	f.Add([]byte("7f0000000000-7f0000001000 r-xs 00000000 00:00 0\n"))
	f.Add([]byte("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]\n"))
	f.Fuzz(func(t *testing.T, line []byte) {
		watchdog.On(t)
		m, ok := parseLine(line)
		if !ok {
			return
		}
		require.Less(t, m.start, copyuser.TaskSizeMax)
		require.Zero(t, m.prot&^7)
		if !m.file {
			require.Zero(t, m.id)
			require.Zero(t, m.offset)
		}
	})
}
