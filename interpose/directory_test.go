package interpose

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestDirectories: each Supervisor has a directory of its own, and what one has left
// that was killed is removed by the next.
func TestDirectories(t *testing.T) {
	parent := t.TempDir()
	another := func() directory {
		d, err := makeDirectory(parent)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(d.path("file"), nil, 0o600))
		return d
	}
	killed, lives := another(), another()
	require.FileExists(t, killed.path("file"), "it holds its lock")
	require.NoError(t, unix.Close(killed.fd)) // as the end of a process does
	others := filepath.Join(parent, "others")
	require.NoError(t, os.Mkdir(others, 0o755))
	now := another()
	require.NoDirExists(t, killed.name)
	require.DirExists(t, others)
	require.FileExists(t, lives.path("file"))
	info, err := os.Stat(now.name)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	now.remove()
	lives.remove()
	left, err := os.ReadDir(parent)
	require.NoError(t, err)
	require.Len(t, left, 1, "the others'")
}
