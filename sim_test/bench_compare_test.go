package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// comparison is a small project with a benchmark, in which scripts/bench-compare is run.
type comparison struct {
	dir, script string
	env         []string
}

// benchmarked is its only test file. Each version reports a figure of its own.
func benchmarked(figure string) string {
	return "package p\n\nimport \"testing\"\n\nfunc BenchmarkIt(b *testing.B) {\n\tfor b.Loop() {\n\t}\n\tb.ReportMetric(" + figure + ", \"figure\")\n}\n"
}

func newComparison(t *testing.T) *comparison {
	t.Helper()
	suite.Need(t, "git", "bash")
	script, err := filepath.Abs("../scripts/bench-compare")
	require.NoError(t, err)
	c := &comparison{dir: t.TempDir(), script: script, env: append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")}
	c.write(t, "go.mod", "module p\n\ngo 1.26\n")
	c.write(t, "p_test.go", benchmarked("1111"))
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-q", "-m", "one"},
	} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Env = c.dir, c.env
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	c.write(t, "p_test.go", benchmarked("2222"))
	return c
}

func (c *comparison) write(t *testing.T, name, text string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o755))
}

// run runs the script there and returns its exit status.
func (c *comparison) run(t *testing.T, env []string, args ...string) (status int, out, errs string) {
	t.Helper()
	cmd := exec.Command(c.script, args...)
	cmd.Dir, cmd.Env = c.dir, append(c.env, env...)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}

// TestBenchCompare: the benchmarks of the commit and of the working tree run in turns,
// and benchstat gets both; the repository is as it was.
func TestBenchCompare(t *testing.T) {
	c := newComparison(t)
	c.write(t, "stat", "#!/bin/sh\nhead -100 \"$@\"\n")
	keep := t.TempDir()
	status, out, errs := c.run(t, []string{"BENCHSTAT=" + filepath.Join(c.dir, "stat")}, "-c", "3", "-t", "1x", "-k", keep, "HEAD", ".")
	require.Zero(t, status, errs)
	base, tree, ok := strings.Cut(out, "==> tree.txt <==")
	require.True(t, ok, out)
	require.Equal(t, 3, strings.Count(base, "1111 figure"), out)
	require.Equal(t, 3, strings.Count(tree, "2222 figure"), out)
	require.Equal(t, 3, strings.Count(out, "1111 figure"))
	require.Contains(t, errs, "round 3 of 3")
	require.FileExists(t, filepath.Join(keep, "base.txt"))
	cmd := exec.Command("git", "worktree", "list")
	cmd.Dir = c.dir
	list, err := cmd.Output()
	require.NoError(t, err)
	require.Equal(t, 1, strings.Count(string(list), "\n"), "its work tree is gone")
}

// TestBenchCompareErrors: each is told in one line, with status 2.
func TestBenchCompareErrors(t *testing.T) {
	c := newComparison(t)
	for want, args := range map[string][]string{
		"nowhere is no commit":                        {"nowhere"},
		"-c 0: how many times, 1 or more":             {"-c", "0"},
		"./q of base cannot be built":                 {"HEAD", "./q"},
		"-b None: no benchmark of . is called so":     {"-b", "None", "-c", "1", "HEAD", "."},
		"scripts/bench-compare [-b BENCH] [-c COUNT]": {"-z"},
	} {
		status, out, errs := c.run(t, nil, args...)
		require.Equal(t, 2, status, "%v: %s", args, errs)
		require.Empty(t, out)
		require.Contains(t, errs, want)
	}
	status, out, _ := c.run(t, nil, "-h")
	require.Zero(t, status)
	require.Contains(t, out, "BASE is a commit")
}

// TestBenchCompareOffline: without benchstat and without a network what was measured is
// kept, and the message says where it is.
func TestBenchCompareOffline(t *testing.T) {
	c := newComparison(t)
	path := strings.Join([]string{t.TempDir(), "/usr/local/go/bin", "/usr/bin", "/bin"}, ":")
	if goCommand, err := exec.LookPath("go"); err == nil {
		path += ":" + filepath.Dir(goCommand)
	}
	keep := t.TempDir()
	status, out, errs := c.run(t, []string{"GOPROXY=off", "GOFLAGS=-modcacherw", "GOMODCACHE=" + t.TempDir(), "PATH=" + path},
		"-c", "1", "-t", "1x", "-k", keep, "HEAD", ".")
	require.Equal(t, 2, status, errs)
	require.Empty(t, out)
	require.Contains(t, errs, "benchstat is not installed and cannot be downloaded (go install golang.org/x/perf/cmd/benchstat@v")
	require.Contains(t, errs, "benchstat "+keep+"/base.txt "+keep+"/tree.txt")
	text, err := os.ReadFile(filepath.Join(keep, "tree.txt"))
	require.NoError(t, err)
	require.Contains(t, string(text), "2222 figure")
}
