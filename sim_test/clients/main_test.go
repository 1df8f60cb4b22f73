package clients

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the files that say what is expected")

// uverbsim is the command, built once.
var uverbsim string

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	dir, err := os.MkdirTemp("", "clients-")
	if err == nil {
		defer os.RemoveAll(dir)
		err = os.Chmod(dir, 0o755) // other users start it
	}
	if err != nil {
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

// need has the test be skipped where a program is not installed, but not in CI,
// which installs all of them.
func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is not installed", p)
		}
		t.Skipf("%s is not installed", p)
	}
}

// needPyverbs is need for rdma-core's Python bindings, which are for Debian's own
// Python only.
func needPyverbs(t *testing.T) {
	t.Helper()
	need(t, python)
	if out, err := exec.Command(python, "-c", "import pyverbs.device").CombinedOutput(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("pyverbs: %s", out)
		}
		t.Skipf("python3-pyverbs is not installed")
	}
}

const python = "/usr/bin/python3"

// long has the test be left out with -short.
func long(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("takes long")
	}
}

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
