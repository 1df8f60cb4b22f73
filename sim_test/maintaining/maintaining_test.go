// Package maintaining holds docs/maintaining.md to what it says. The test takes a
// copy of the project, applies the page's own steps to it, and runs the commands
// that the page says succeed then; and it leaves out one step after the other
// and runs those that the page says fail without it.
package maintaining

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root = "../.."
	page = "docs/maintaining.md"
)

// TestPage does what the page says.
func TestPage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a copy of the project")
	}
	text, err := os.ReadFile(filepath.Join(root, page))
	require.NoError(t, err)
	steps, err := readPage(string(text))
	require.NoError(t, err)
	require.NotEmpty(t, steps)

	tree := t.TempDir()
	copyProject(t, tree)
	before := map[*step][]byte{} // what the files of commands had in them
	for _, s := range steps {
		if s.kind == command && s.path != "" {
			if before[s], err = os.ReadFile(filepath.Join(tree, s.path)); err != nil {
				t.Fatalf("%s:%d: %v", page, s.line, err)
			}
		}
		do(t, tree, s)
	}
	for _, s := range steps {
		if len(s.forgotten) > 0 {
			forget(t, tree, s, before[s])
		}
	}
}

// do takes a step.
func do(t *testing.T, tree string, s *step) {
	t.Helper()
	path := filepath.Join(tree, s.path)
	switch s.kind {
	case change:
		require.NoErrorf(t, edit(path, s.text, false), "%s:%d", page, s.line)
	case newFile:
		require.NoFileExistsf(t, path, "%s:%d", page, s.line)
		require.NoErrorf(t, write(path, s.text), "%s:%d", page, s.line)
	case command:
		out, err := shell(tree, s.text)
		require.NoErrorf(t, err, "%s:%d: %s%s", page, s.line, s.text, out)
	}
}

// forget takes a step back, wants the commands to fail that the page says do,
// and takes the step again.
func forget(t *testing.T, tree string, s *step, before []byte) {
	t.Helper()
	path := filepath.Join(tree, s.path)
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	switch s.kind {
	case change:
		require.NoErrorf(t, edit(path, s.text, true), "%s:%d", page, s.line)
	case newFile:
		require.NoError(t, os.Remove(path))
	case command:
		require.NotEqualf(t, string(before), string(after), "%s:%d: %s is as before", page, s.line, s.path)
		require.NoError(t, os.WriteFile(path, before, 0o644))
	}
	for _, f := range s.forgotten {
		out, err := shell(tree, f.command)
		if err == nil || !strings.Contains(out, f.says) {
			t.Errorf("%s:%d: without the change of %s, %s says (%v):\n%s", page, f.line, s.path, f.command, err, out)
		}
	}
	require.NoError(t, os.WriteFile(path, after, 0o644))
}

// shell runs a command in the copy. What is built there is the same whatever
// the copy's place, so that it is built once.
func shell(tree, command string) (string, error) {
	cmd := exec.Command("sh", "-e", "-c", command)
	cmd.Dir = tree
	cmd.Env = append(os.Environ(), "GOFLAGS="+strings.TrimSpace(os.Getenv("GOFLAGS")+" -trimpath"), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// copyProject copies the project into a folder, without its history.
func copyProject(t *testing.T, to string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch {
		case d.IsDir() && d.Name() == ".git":
			return filepath.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		case !d.Type().IsRegular():
			return nil
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), b, 0o644)
	}))
}
