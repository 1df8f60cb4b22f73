package main

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
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

// TestGuestSignal: a signal while work is done for a guest ends the command, whose status says so,
// and what was made for the guest is removed.
func TestGuestSignal(t *testing.T) {
	if _, ok := guest.Self(); ok {
		t.Skip("this program is static, and none is built for the guest")
	}
	program, err := exec.LookPath("uverbsim")
	require.NoError(t, err)
	cache := t.TempDir()
	kernel := filepath.Join(cache, "kernel-"+guest.Release)
	require.NoError(t, os.Mkdir(kernel, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(kernel, "vmlinuz"), nil, 0o644))
	for _, sig := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		if signal.Ignored(sig) { // by who runs the tests, and so by the command
			continue
		}
		bin, tmp := t.TempDir(), t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(bin, "qemu-system-x86_64"), []byte("#!/bin/sh\n"), 0o755))
		// The build of a program for the guest comes to the signal.
		build := fmt.Sprintf("#!/bin/sh\n/bin/ls %s >%s/made\nkill -%d $PPID\nexec /bin/sleep 60\n", tmp, bin, sig)
		require.NoError(t, os.WriteFile(filepath.Join(bin, "go"), []byte(build), 0o755))
		cmd := exec.Command(program, "guest", "--cache", cache, "true")
		cmd.Env = append(os.Environ(), "PATH="+bin, "TMPDIR="+tmp)
		var errs strings.Builder
		cmd.Stderr = &errs
		cmd.Run() // its status is looked at
		require.Equal(t, 128+int(sig), cmd.ProcessState.ExitCode(), "%v: %s", cmd.ProcessState, &errs)
		require.Equal(t, "uverbsim: building a static uverbsim for the guest\nuverbsim: ended by a signal: "+sig.String()+"\n", errs.String())
		made, err := os.ReadFile(filepath.Join(bin, "made"))
		require.NoError(t, err)
		require.Contains(t, string(made), "uverbsim-static.")
		left, err := os.ReadDir(tmp)
		require.NoError(t, err)
		require.Empty(t, left)
	}
}
