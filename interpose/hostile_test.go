package interpose_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/spec"
)

func init() {
	clients["truncate"] = truncateClient
	clients["exec-pipe"] = execPipeClient
	clients["opens"] = opensClient
	clients["stale"] = staleClient
}

// TestTruncate: a program cannot take the pages of a device file away from who looks
// at them.
func TestTruncate(t *testing.T) {
	require.Equal(t, "EPERM EPERM 0\n", newRig(t, nil).run(t, "truncate"))
}

func truncateClient([]string) error {
	fd, err := openNode()
	if err != nil {
		return err
	}
	if err := getContext(fd); err != nil {
		return err
	}
	shrink, grow := unix.Ftruncate(fd, 0), unix.Ftruncate(fd, 1<<62)
	e, _ := verbs(fd, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, spec.RDMA_DRIVER_MLX5,
		&attr{id: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, data: 1, len: 8},
		&attr{id: spec.UVERBS_ATTR_QUERY_PORT_RESP, buf: make([]byte, 48)})
	fmt.Println(unix.ErrnoName(shrink.(unix.Errno)), unix.ErrnoName(grow.(unix.Errno)), int(e))
	return nil
}

// TestExecPipe: who executes a pipe gets the kernel's refusal, and nobody waits for
// its other end.
func TestExecPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, unix.Mkfifo(pipe, 0o777))
	require.Equal(t, "EACCES\n", newRig(t, nil).run(t, "exec-pipe", pipe))
}

func execPipeClient(args []string) error {
	err := unix.Exec(args[0], args, nil)
	fmt.Println(unix.ErrnoName(err.(unix.Errno)))
	return nil
}

// TestNoDescriptors: a supervisor that has no descriptors left refuses the open, says
// so, and has nothing of it left.
func TestNoDescriptors(t *testing.T) {
	r := newRig(t, nil)
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	highest := 0
	for _, e := range entries {
		n, _ := strconv.Atoi(e.Name())
		highest = max(highest, n)
	}
	low := unix.Rlimit{Cur: uint64(highest + 30), Max: old.Max} // the launcher inherits what is there
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &low))
	t.Cleanup(func() { _ = unix.Setrlimit(unix.RLIMIT_NOFILE, &old) })
	out := r.run(t, "opens", "2000")
	n, err := strconv.Atoi(out[:len(out)-1])
	require.NoError(t, err)
	require.Less(t, n, 2000, "the limit was met")
	r.mu.Lock()
	defer r.mu.Unlock()
	require.NotEmpty(t, r.reports)
	for _, line := range r.reports {
		require.Contains(t, line, "too many open files")
	}
	r.reports = nil
}

// opensClient opens the device until it may no more, closes all, and says how often.
func opensClient(args []string) error {
	most, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	var fds []int
	for range most {
		fd, err := openNode()
		if errors.Is(err, unix.EIO) {
			break
		}
		if err != nil {
			return err
		}
		fds = append(fds, fd)
	}
	for _, fd := range fds {
		unix.Close(fd)
	}
	fmt.Println(len(fds))
	return nil
}

// TestStalePath: a path that cannot be read is not taken for the one before.
func TestStalePath(t *testing.T) {
	require.Equal(t, "EFAULT\n", newRig(t, nil).run(t, "stale"))
}

func staleClient([]string) error {
	fd, err := openNode()
	if err != nil {
		return err
	}
	again, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDWR, 0)
	if err != nil {
		return err
	}
	unix.Close(again)
	_, _, e := unix.Syscall6(unix.SYS_OPENAT, ^uintptr(99), 8, unix.O_RDWR, 0, 0, 0) // AT_FDCWD, and no path
	fmt.Println(unix.ErrnoName(e))
	return nil
}
