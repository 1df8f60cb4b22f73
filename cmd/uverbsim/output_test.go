package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// TestOutputsFirst: an output that cannot be written is told before the work is done, and before
// anything that is wrong with the work itself.
func TestOutputsFirst(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // without QEMU
	for _, args := range [][]string{
		{"bench", "--target", "/dev/null", "--write-baseline", "/nonexistent/x"},
		{"compare", "--save", "/nonexistent/x", "-"},
		{"record", "-o", "/nonexistent/x", "-"},
		{"lab", "batch", "-n", "0", "--svg", "/nonexistent/x"},
	} {
		status, out, errs := uverbsim(t, opens, args...)
		require.Equal(t, 2, status, args)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: open /nonexistent/x: no such file or directory\n", errs, args)
	}
}

// TestOutputsAreLeft: work that fails leaves its output as it was, or not there.
func TestOutputsAreLeft(t *testing.T) {
	t.Setenv("PATH", t.TempDir()) // without QEMU
	for _, args := range [][]string{
		{"bench", "--target", "/dev/null", "--write-baseline"}, {"compare", "-", "--save"}, {"record", "-", "-o"}, {"lab", "batch", "-n", "0", "--svg"},
	} {
		name := filepath.Join(t.TempDir(), "x")
		status, _, _ := uverbsim(t, opens, append(args, name)...)
		require.Equal(t, 2, status, args)
		require.NoFileExists(t, name, args)
		require.NoError(t, os.WriteFile(name, []byte("text"), 0o600))
		status, _, _ = uverbsim(t, opens, append(args, name)...)
		require.Equal(t, 2, status, args)
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		require.Equal(t, "text", string(text), args)
	}
}

// TestCanWrite: of what is no ordinary file, too.
func TestCanWrite(t *testing.T) {
	dir := t.TempDir()
	require.EqualError(t, canWrite(dir), "open "+dir+": is a directory")
	require.NoError(t, canWrite("/dev/null"))
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o600))
	require.NoError(t, canWrite(pipe), "and does not wait for a reader")
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(filepath.Join(dir, "none"), link))
	require.NoError(t, canWrite(link))
	require.Error(t, canWrite(filepath.Join(link, "x")))
}
