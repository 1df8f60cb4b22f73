package sim_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// codeBlock is a fenced block of the README with its language.
var codeBlock = regexp.MustCompile("(?s)```(\\w*)\n(.*?)```")

// TestREADME runs the README's program and its consumers' tests in a module of
// their own, as a reader would.
func TestREADME(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two programs")
	}
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	var program, consumer, theirs, mod string
	for _, m := range codeBlock.FindAllStringSubmatch(string(readme), -1) {
		switch {
		case m[1] == "go" && strings.HasPrefix(m[2], "package main"):
			program = m[2]
		case m[1] == "go" && strings.HasPrefix(m[2], "package theirs"):
			theirs = m[2]
		case m[1] == "go":
			consumer = m[2]
		case strings.HasPrefix(m[2], "module "):
			mod = m[2]
		}
	}
	_, body, found := strings.Cut(program, "func main() {\n")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(body, "\n"), 20, "a first program has at most 20 lines")
	_, body, found = strings.Cut(consumer, "func Test")
	require.True(t, found)
	require.LessOrEqual(t, strings.Count(body, "\n"), 30)

	repo, err := filepath.Abs("..")
	require.NoError(t, err)
	require.Contains(t, mod, "replace uverbsim => ../uverbsim")
	mod = strings.Replace(mod, "../uverbsim", repo, 1)
	require.Contains(t, theirs, `"../uverbsim/sim_test/corpus/`)
	theirs = strings.Replace(theirs, "../uverbsim", repo, 1)

	dir := t.TempDir()
	sum, err := os.ReadFile("../go.sum")
	require.NoError(t, err)
	for name, text := range map[string]string{"go.mod": mod, "go.sum": string(sum), "mine_test.go": consumer,
		"first/main.go": program, "theirs/theirs_test.go": theirs} {
		path := filepath.Join(dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
	}
	run := func(args ...string) string {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		require.NoErrorf(t, err, "go %s: %s", strings.Join(args, " "), out)
		return string(out)
	}
	require.Equal(t, "255\n", run("run", "./first"))
	require.Contains(t, run("test", "-v", "."), "--- PASS: TestVectorOutOfRange")
	require.Contains(t, run("test", "-v", "./theirs"), "--- PASS: TestCorpus")
}
