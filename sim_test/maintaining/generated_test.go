package maintaining

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// generators are the commands that write Go files of the project, as far as they
// need nothing but the project.
var generators = []struct{ command, file string }{
	{"go generate -run names_gen ./spec", "spec/names.go"},
	{"go generate -run members_gen ./spec", "spec/members.go"},
	{"go generate ./report/explain", "report/explain/checks_gen.go"},
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
