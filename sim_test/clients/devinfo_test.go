package clients

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// TestPrivileges holds what the tests as nobody stand on: a program has no
// capability, and cannot get one.
func TestPrivileges(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	r := nobody.run(t, []string{"run", "--", "grep", "-E", "^(Uid|NoNewPrivs|Cap(Inh|Prm|Eff|Amb)):", "/proc/self/status"}).ok(t)
	const none = "0000000000000000"
	require.Equal(t, []string{
		"Uid:", "65534", "65534", "65534", "65534",
		"CapInh:", none, "CapPrm:", none, "CapEff:", none, "CapAmb:", none, "NoNewPrivs:", "1",
	}, strings.Fields(r.stdout))
}

func TestDevices(t *testing.T) {
	suite.Need(t, "ibv_devices")
	users(t, func(t *testing.T, u user) {
		r := u.run(t, []string{"run", "--device", "mlx5,ports=2", "--device", "mlx5,profile=recorded", "--", "ibv_devices"}).ok(t)
		lines := strings.Split(strings.TrimSpace(r.stdout), "\n")
		require.Len(t, lines, 5, "%s", r)
		names, guids := map[string]bool{}, map[string]bool{}
		for _, line := range lines[2:] {
			fields := strings.Fields(line)
			require.Len(t, fields, 2, "%s", r)
			names[fields[0]] = true
			require.Regexp(t, "^[0-9a-f]{16}$", fields[1])
			guids[fields[1]] = true
		}
		require.Equal(t, map[string]bool{"mlx5_0": true, "mlx5_1": true, "mlx5_2": true}, names)
		require.Len(t, guids, 3, "two devices have the same GUID:\n%s", r)
	})
}

// TestDevinfo looks at a device of each kind with all that ibv_devinfo shows. The
// text for the profile "recorded" is what a real kernel has answered.
func TestDevinfo(t *testing.T) {
	suite.Need(t, "ibv_devinfo")
	for profile, text := range map[string]string{
		"recorded":    "devinfo-linux-6.12.txt",
		"connectx6dx": "devinfo-connectx6dx.txt",
	} {
		t.Run(profile, func(t *testing.T) {
			users(t, func(t *testing.T, u user) {
				r := u.run(t, []string{"run", "--device", "mlx5,profile=" + profile, "--", "ibv_devinfo", "-v"}).ok(t)
				require.Empty(t, r.stderr)
				if profile == "recorded" && *update {
					t.Skip("the text is a real kernel's")
				}
				golden(t, text, r.stdout)
			})
		})
	}
}

// TestDefaultDevice is the simplest way to have a device.
func TestDefaultDevice(t *testing.T) {
	suite.Need(t, "ibv_devinfo")
	want, err := os.ReadFile("testdata/devinfo-connectx6dx.txt")
	require.NoError(t, err)
	require.Equal(t, string(want), self.run(t, []string{"run", "--", "ibv_devinfo", "-v"}).ok(t).stdout)
}

// TestIbstat reads what libibumad and shell scripts read: files below /sys only.
func TestIbstat(t *testing.T) {
	suite.Need(t, "ibstat", "ibstatus")
	users(t, func(t *testing.T, u user) {
		golden(t, "ibstat.txt", u.run(t, []string{"run", "--", "ibstat"}).ok(t).stdout)
		golden(t, "ibstatus.txt", u.run(t, []string{"run", "--", "ibstatus", "mlx5_0:1"}).ok(t).stdout)
	})
}
