package maintaining

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// generators are the commands that write Go files of the project, as far as they
// need nothing but the project, and their programs.
var generators = []struct{ command, file, program string }{
	{"go generate -run names_gen ./spec", "spec/names.go", "spec/names_gen.go"},
	{"go generate -run members_gen ./spec", "spec/members.go", "spec/members_gen.go"},
	{"go generate ./report/explain", "report/explain/checks_gen.go", "report/explain/gen.go"},
}

// needHeaders are the programs that need the headers of a kernel.
var needHeaders = []string{"spec/headers_gen.go", "drivers/mlx5/hw/ifc/gen.go"}

// TestEveryGenerator: each //go:generate of the project is one of them.
func TestEveryGenerator(t *testing.T) {
	want := slices.Clone(needHeaders)
	for _, g := range generators {
		want = append(want, g.program)
	}
	directive := regexp.MustCompile(`(?m)^//go:generate go run (\S+)`)
	var got []string
	root := "../.."
	require.NoError(t, filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".go" {
			return err
		}
		src, err := os.ReadFile(path)
		for _, m := range directive.FindAllSubmatch(src, -1) {
			program, _ := filepath.Rel(root, filepath.Join(filepath.Dir(path), string(m[1]))) // it is below
			got = append(got, filepath.ToSlash(program))
		}
		return err
	}))
	require.ElementsMatch(t, want, got)
}

// TestGenerated wants each of them to write what is there.
func TestGenerated(t *testing.T) {
	if testing.Short() {
		t.Skip("loads most of the project")
	}
	tree := t.TempDir()
	copyProject(t, tree)
	for _, g := range generators {
		path := filepath.Join(tree, g.file)
		before, err := os.ReadFile(path)
		require.NoError(t, err)
		out, err := shell(tree, g.command)
		require.NoErrorf(t, err, "%s: %s", g.command, out)
		after, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Truef(t, string(before) == string(after), "%s is not up to date: %s", g.file, g.command)
	}
}
