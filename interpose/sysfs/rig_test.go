package sysfs_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/rxe"
	"uverbsim/interpose/sysfs"
	"uverbsim/kernel"
	"uverbsim/methods"
)

// machine returns a machine without devices.
func machine() *kernel.Machine { return kernel.NewMachine(methods.Core()) }

// adapter adds a device of mlx5 to a machine; n tells adapters of a fabric apart.
func adapter(t testing.TB, m *kernel.Machine, cfg mlx5.Config) *mlx5.Device {
	t.Helper()
	d, err := mlx5.New(m, cfg)
	require.NoError(t, err)
	return d
}

// soft adds a soft device.
func soft(t testing.TB, m *kernel.Machine, cfg rxe.Config) *kernel.Device {
	t.Helper()
	d, err := m.Register(rxe.New(cfg))
	require.NoError(t, err)
	return d
}

// tempDir is a directory for a test, in memory where that can be had: a soft
// device has thousands of files.
func tempDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "twin.")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// write writes a machine's twin.
func write(t testing.TB, m *kernel.Machine, opts sysfs.Options) *sysfs.Tree {
	t.Helper()
	tree, err := sysfs.Write(tempDir(t), m, opts)
	require.NoError(t, err)
	return tree
}

// twoPorts is the recorded device with a second port.
func twoPorts(t testing.TB) *hw.Profile {
	t.Helper()
	p, err := hw.Recorded.With(map[string]uint64{"num_ports": 2})
	require.NoError(t, err)
	return p
}

// read reads what a client finds at a path.
func read(t testing.TB, tree *sysfs.Tree, path string) string {
	t.Helper()
	e, ok := tree.Resolve(path)
	require.Truef(t, ok, "%s is not the twin's", path)
	b, err := os.ReadFile(e.Twin)
	require.NoError(t, err)
	return string(b)
}

// names lists the twin below its directory.
func names(t testing.TB, tree *sysfs.Tree) map[string]fs.FileInfo {
	t.Helper()
	all := map[string]fs.FileInfo{}
	require.NoError(t, filepath.WalkDir(tree.Dir(), func(p string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		all[p[len(tree.Dir()):]] = info
		return err
	}))
	return all
}
