package clients

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

var update = flag.Bool("update", false, "rewrite the files that say what is expected")

var (
	uverbsim string // the command, built once
	scripts  string // a copy of testdata/scripts that every user can read
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	syscall.Umask(0o022)
	dir, err := os.MkdirTemp("", "clients-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o755) // other users start it
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	scripts = filepath.Join(dir, "scripts")
	if err := os.CopyFS(scripts, os.DirFS("testdata/scripts")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	uverbsim = filepath.Join(dir, "uverbsim")
	build := exec.Command("go", "build", "-o", uverbsim, "uverbsim/cmd/uverbsim")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "go build:", err)
		return 1
	}
	return m.Run()
}

// needPyverbs is suite.Need for rdma-core's Python bindings, which are for Debian's own
// Python only.
func needPyverbs(t *testing.T) {
	t.Helper()
	suite.Need(t, python)
	if out, err := exec.Command(python, "-c", "import pyverbs.device").CombinedOutput(); err != nil {
		suite.Missing(t, "python3-pyverbs is not installed: %s", out)
	}
}

const python = "/usr/bin/python3"

// script returns the path of one.
func script(name string) string { return filepath.Join(scripts, name) }

// golden compares a text with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
	}
	want, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, string(want), got, name)
}
