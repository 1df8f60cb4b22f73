//go:build linux

package guest

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLogLine makes lines of the records of /dev/kmsg.
func TestLogLine(t *testing.T) {
	for record, want := range map[string]string{
		"4,338,24319374,-;mlx5_core 0001:00:00.0: text; more\n":        "<4>[   24.319374] mlx5_core 0001:00:00.0: text; more\n",
		"30,339,1000005,c,caller=T1;systemd\n SUBSYSTEM=pci\n KEY=x\n": "<6>[    1.000005] systemd\n",
		"nonsense":  "",
		"1,2;short": "",
	} {
		require.Equal(t, want, logLine(record), record)
		if want != "" {
			_, _, ok := cutLevel(want)
			require.True(t, ok)
		}
	}
}
