package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/guest"
)

// TestGroups: a guest is booted for each device that the cases ask for.
func TestGroups(t *testing.T) {
	caps := func(name string, v uint64) *casefile.Device {
		return &casefile.Device{Caps: map[string]uint64{name: v}}
	}
	cases := []*casefile.Case{
		{Driver: "rxe"}, {Driver: "mlx5"}, {Driver: "mlx5", Device: caps("bf", 0)}, {Driver: "stub"},
		{Driver: "mlx5", Device: caps("qos", 0)}, {Driver: "mlx5", Device: caps("bf", 0)}, {Driver: "mlx5"},
	}
	var got []string
	var places [][]int
	for _, g := range groups("", cases) {
		got = append(got, g.String())
		places = append(places, g.places)
	}
	require.Equal(t, []string{"rxe", "mlx5", "mlx5 (bf=0)", "mlx5 (qos=0)"}, got)
	require.Equal(t, [][]int{{0, 3}, {1, 6}, {2, 5}, {4}}, places)

	all := groups(guest.RXE, cases)
	require.Len(t, all, 1, "the user has chosen")
	require.Len(t, all[0].places, len(cases))
}

// TestGuestFlags: what no guest can be is said before QEMU is looked for, and before a file is
// written.
func TestGuestFlags(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	saved := file(t, opens)
	for _, command := range [][]string{
		{"record", "-o", saved, saved}, {"compare", saved}, {"shrink", saved}, {"guest", "true"}, {"bench", "--guest", "rxe"}, {"bench"},
	} {
		for want, args := range map[string][]string{
			"--cpus 0: 1 to 255":       {"--cpus", "0"},
			"--cpus -1: 1 to 255":      {"--cpus", "-1"},
			"--cpus 256: 1 to 255":     {"--cpus", "256"},
			"--limit 0s: more than 0":  {"--limit", "0"},
			"--limit -5s: more than 0": {"--limit", "-5s"},
		} {
			status, out, errs := uverbsim(t, "", append(args, command...)...)
			require.Equal(t, 2, status, command)
			require.Empty(t, out)
			require.Equal(t, "uverbsim: "+want+"\n", errs, command)
		}
	}
	text, err := os.ReadFile(saved)
	require.NoError(t, err)
	require.NotEmpty(t, text)
}

// TestGuestErrors: what is asked for wrongly is said before anything is booted.
func TestGuestErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"--device mlx4: there are rxe and mlx5": {"guest", "--device", "mlx4", "true"},
		`--caps bf=x: invalid syntax`:           {"guest", "--device", "mlx5", "--caps", "bf=x", "true"},
		"guest: no COMMAND":                     {"guest"},
		"serve: 0 arguments: it takes one":      {"serve"},
	} {
		status, out, errs := uverbsim(t, "", args...)
		require.Equal(t, 2, status, want)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
}
