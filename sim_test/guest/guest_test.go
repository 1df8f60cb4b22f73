package guest_test

import (
	"bytes"
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/guest"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/sim_test/suite"
)

// A guest is slow: one case of so many is played there.
const (
	fewOf   = 8
	jobFile = "cases.jsonl"
)

// kernel returns what a test needs to boot a guest, which it does with -all alone.
// Where a package is missing the test is skipped, but not in CI, where it has to run.
func kernel(t *testing.T) *guest.Kernel {
	t.Helper()
	suite.Long(t)
	err := guest.Installed()
	var k *guest.Kernel
	if err == nil {
		k, err = guest.FindKernel(context.Background(), guest.KernelOptions{Log: t.Logf})
	}
	if err != nil {
		suite.Missing(t, "NOT COMPARED WITH A REAL KERNEL: %v", err)
	}
	return k
}

// some are a part of the recorded cases of some files: one of so many, of those
// that every device is good for.
func some(t *testing.T, one int, names ...string) []*casefile.Case {
	t.Helper()
	var cases []*casefile.Case
	for _, name := range names {
		all, err := casefile.ReadFile("../corpus/" + name + ".jsonl")
		require.NoError(t, err)
		for i, c := range all {
			if i%one == 0 && c.Device == nil {
				cases = append(cases, c)
			}
		}
	}
	return cases
}

// static builds the program that plays cases in a guest and is its first process.
func static(t *testing.T) string {
	t.Helper()
	program, err := guest.Build(context.Background(), "uverbsim/cmd/uverbsim", t.TempDir())
	require.NoError(t, err)
	return program
}

// record has uverbsim record cases in a guest.
func record(t *testing.T, j *guest.Job, cases []*casefile.Case) []*casefile.Case {
	t.Helper()
	var in, out, errs bytes.Buffer
	for _, c := range cases {
		_, err := c.WriteTo(&in)
		require.NoError(t, err)
	}
	j.Args, j.Files = []string{"record", "--target", guest.DevicePath, jobFile}, map[string][]byte{jobFile: in.Bytes()}
	j.Limit, j.Stdout, j.Stderr = 5*time.Minute, &out, &errs
	status, err := guest.Run(context.Background(), j)
	require.NoError(t, err)
	require.Zero(t, status, errs.String())
	var recorded []*casefile.Case
	for c, err := range casefile.Read(&out, "the guest") {
		require.NoError(t, err)
		recorded = append(recorded, c)
	}
	require.Len(t, recorded, len(cases))
	return recorded
}

// TestRealKernel boots a guest and plays a part of the recorded cases there:
// the kernel has to answer as recorded, and the model as the kernel.
func TestRealKernel(t *testing.T) {
	j := &guest.Job{Kernel: kernel(t), Init: static(t)}
	t.Parallel()
	cases := some(t, fewOf, "linux-6.12-rxe", "linux-6.12-rxe-fuzz", "linux-6.12-more", "linux-6.12-events")
	same(t, cases, record(t, j, cases))
}

// same holds what a guest has answered to the recordings and to the model.
func same(t *testing.T, cases, recorded []*casefile.Case) {
	t.Helper()
	for i, c := range cases {
		got := recorded[i]
		require.Equal(t, c.Name, got.Name)
		require.True(t, strings.HasPrefix(got.Kernel, guest.Release), got.Kernel)
		for j := range c.Steps {
			if casefile.SameAnswers(&c.Steps[j], &got.Steps[j]) {
				continue
			}
			t.Errorf("%s: step %d: the kernel answers otherwise than recorded: %v", c.Name, j, c.Steps[j].Compare(got.Steps[j].Got))
		}
		require.Truef(t, player.Play(new(model.Model), got, player.Options{}).Passed(), "%s: the model answers otherwise", c.Name)
	}
}

// TestRunNotStatic: a program that is not static is refused before anything is
// booted.
func TestRunNotStatic(t *testing.T) {
	if err := guest.Installed(); err != nil {
		suite.Missing(t, "%v", err)
	}
	sh, err := filepath.EvalSymlinks("/bin/sh")
	require.NoError(t, err)
	_, err = guest.Run(context.Background(), &guest.Job{Init: sh})
	require.ErrorContains(t, err, "is linked dynamically")
}

// TestMissing: whatever is not there is named in one line, with what installs
// it.
func TestMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := guest.FindKernel(context.Background(), guest.KernelOptions{Cache: t.TempDir()})
	require.ErrorContains(t, err, "is missing: apt-get install")
	require.ErrorContains(t, guest.Installed(), "qemu-system-x86_64 is missing: apt-get install qemu-system-x86")
	_, err = guest.Build(context.Background(), "uverbsim/cmd/uverbsim", t.TempDir())
	require.ErrorContains(t, err, "CGO_ENABLED=0")
}
