package main

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/bench"
)

// quick are the flags of a measurement that says little and is soon over.
var quick = []string{"bench", "--rounds", "2", "--time", "20us"}

func TestBench(t *testing.T) {
	status, out, errs := uverbsim(t, "", append(quick, "--only", "cq")...)
	require.Zero(t, status, errs)
	require.Empty(t, errs, "there is no terminal for the progress")
	require.Regexp(t, `^go1\.\S+ linux/\S+, GOMAXPROCS=\d+, GOGC=100`, out)
	require.Regexp(t, `(?m)^calibration loop: \S+ ns, median \S+$`, out)
	for _, driver := range benchDrivers {
		require.Regexp(t, `(?m)^ +`+driver+`, ns +model +median +loops +B +allocs\n +ioctl/cq( +[\d.]+){5}\n +write/cq( +[\d.]+){5}$`, out)
	}
	require.NotContains(t, out, "node")
}

func TestBenchJSON(t *testing.T) {
	status, out, errs := uverbsim(t, "", append(quick, "--json", "--driver", "mlx5")...)
	require.Zero(t, status, errs)
	var r struct {
		Go, Arch string
		Memory   uint64 `json:"memory_bytes"`
		Calls    []struct {
			Driver, Call string
			Loops        float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.NotEmpty(t, r.Go)
	require.Greater(t, r.Memory, uint64(1<<26))
	require.Len(t, r.Calls, len(bench.Calls))
	for i, c := range r.Calls {
		require.Equal(t, "mlx5", c.Driver)
		require.Equal(t, bench.Calls[i].Name, c.Call)
		require.Positive(t, c.Loops)
	}
}

// TestBenchErrors: each is told before anything is measured, in one line.
func TestBenchErrors(t *testing.T) {
	text := filepath.Join(t.TempDir(), "text")
	require.NoError(t, os.WriteFile(text, []byte("text"), 0o600))
	for want, args := range map[string][]string{
		"--only nothing: there is no such call; uverbsim help bench names them": {"--only", "cq,nothing"},
		"--rounds 0: 1 to 10000":                                                                                          {"--rounds", "0"},
		"--time 0s: more than 0, at most 1m0s":                                                                            {"--time", "0s"},
		"--driver efa: there are rxe and mlx5":                                                                            {"--driver", "efa"},
		"--threshold NaN: a number of percent":                                                                            {"--baseline", text, "--threshold", "NaN"},
		"--threshold is for --baseline":                                                                                   {"--threshold", "5"},
		"a baseline is of the model alone, without --guest":                                                               {"--guest", "rxe", "--write-baseline", text},
		"--json prints what was measured, --baseline what has changed: one of them":                                       {"--json", "--baseline", text},
		"--target is a node of this machine, --guest has its own: one of them":                                            {"--target", text, "--guest", "rxe"},
		"--guest efa: there are rxe and mlx5":                                                                             {"--guest", "efa"},
		"--driver mlx5: the guest's device is of rxe":                                                                     {"--driver", "mlx5", "--guest", "rxe"},
		"open " + text + "2: no such file or directory":                                                                   {"--baseline", text + "2"},
		text + " is no baseline: invalid character 'e' in literal true (expecting 'r')":                                   {"--baseline", text},
		"--target: there is no " + text + "2; uverbsim bench --guest rxe measures beside a kernel that it boots":          {"--target", text + "2"},
		"--target: " + text + " is no device node":                                                                        {"--target", text},
		"--target: /dev/null is no uverbs device: open /sys/class/infiniband_verbs/null/ibdev: no such file or directory": {"--target", "/dev/null"},
		"--target: an empty value":                                                                                        {"--target", ""},
		"bench: one argument too many: extra":                                                                             {"extra", "more"},
	} {
		status, out, errs := uverbsim(t, "", append([]string{"bench"}, args...)...)
		require.Equal(t, 2, status, args)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: "+strings.TrimPrefix(want, "--target: an")+"\n", strings.Replace(errs, "--target: an", "", 1))
	}
}

// TestBenchBaseline: what was measured is as fast as what was measured, and a call that
// takes more than it did is named.
func TestBenchBaseline(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base.json")
	args := append(quick, "--driver", "rxe", "--only", "pd")
	status, _, errs := uverbsim(t, "", append(args, "--write-baseline", base)...)
	require.Zero(t, status, errs)
	// Times are left out of it: a call would have to take a hundred times as long.
	status, out, errs := uverbsim(t, "", append(args, "--baseline", base, "--threshold", "9900")...)
	require.Zero(t, status, out+errs)
	require.Contains(t, out, "\n2 of 2 calls are as fast as the baseline has them\n")

	f, err := readBaseline(base)
	require.NoError(t, err)
	require.Len(t, f.Calls, 2)
	const key = "rxe write/pd"
	f.Calls[key] = bench.Cost{Loops: 0.0001, Allocs: f.Calls[key].Allocs}
	w, err := os.Create(base)
	require.NoError(t, err)
	require.NoError(t, errors.Join(f.Write(w), w.Close()))
	status, out, errs = uverbsim(t, "", append(args, "--baseline", base, "--threshold", "9900")...)
	require.Equal(t, 1, status, errs)
	require.Empty(t, errs)
	require.Regexp(t, `(?m)^worse than the baseline, by more than 9900 % or by an allocation:\n  rxe write/pd: `, out)
	require.Contains(t, out, "\n1 of 2 calls are as fast as the baseline has them\n")

	status, out, _ = uverbsim(t, "", append(quick, "--driver", "rxe", "--only", "ioctl/mr", "--baseline", base)...)
	require.Equal(t, 1, status)
	require.Contains(t, out, "\nnot in the baseline:\n  rxe ioctl/mr: ")
}

// TestCommittedBaseline: it has every call of every driver, and no other, and no call
// allocates more often than it has: a count, which is the same on every machine.
func TestCommittedBaseline(t *testing.T) {
	base, err := readBaseline("../../report/bench/baseline.json")
	require.NoError(t, err)
	status, out, errs := uverbsim(t, "", append(quick, "--json")...)
	require.Zero(t, status, errs)
	var r struct {
		Calls []struct {
			Driver, Call string
			Allocs       float64
		}
	}
	require.NoError(t, json.Unmarshal([]byte(out), &r))
	require.Len(t, base.Calls, len(r.Calls))
	for _, c := range r.Calls {
		key := c.Driver + " " + c.Call
		require.Contains(t, base.Calls, key)
		if !raceDetector { // it makes allocations of its own
			require.LessOrEqual(t, c.Allocs, base.Calls[key].Allocs+0.5, "%s: docs/bench.md says how the baseline is made anew", key)
		}
	}
}

// TestBenchNode measures beside a node that a supervisor answers for: the driver is found
// out, both sides are measured, and a driver that it is not is refused.
func TestBenchNode(t *testing.T) {
	if testing.Short() {
		t.Skip("two programs under a supervisor")
	}
	in := func(args ...string) (string, string, error) {
		cmd := exec.Command("uverbsim", append([]string{"run", "--write", "--", "uverbsim"}, args...)...)
		var out, errs strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &errs
		err := cmd.Run()
		return out.String(), errs.String(), err
	}
	target := []string{"--target", "/dev/infiniband/uverbs0", "--only", "query-port,cq,context"}
	out, errs, err := in(append(quick, target...)...)
	require.NoError(t, err, errs)
	require.Regexp(t, `(?m)^node: /dev/infiniband/uverbs0, mlx5_0 of the driver mlx5, Linux \S+$`, out)
	require.Regexp(t, `(?m)^ +mlx5, ns +model +median +node +median +model/node +median +rounds +loops +B +allocs$`, out)
	for _, call := range []string{"ioctl/query-port", "ioctl/cq", "ioctl/context", "write/query-port", "write/cq"} {
		require.Regexp(t, `(?m)^ +`+call+`( +[\d.]+){6} +[\d.]+-[\d.]+( +[\d.]+){3}$`, out)
	}
	require.NotContains(t, out, "rxe")

	out, errs, err = in(append(append(quick, target...), "--driver", "rxe")...)
	require.Error(t, err)
	require.Empty(t, out)
	require.Contains(t, errs, "--target: the driver of mlx5_0 is mlx5, not rxe\n")
}
