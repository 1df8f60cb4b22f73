package ptrace_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"uverbsim/copyuser"
	"uverbsim/interpose/ptrace"
	"uverbsim/interpose/seccomp"
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// TestCalls: each call is told with its arguments, what they lead to, and its
// result.
func TestCalls(t *testing.T) {
	w := well(t, "one", ptrace.Options{Transfers: true})
	require.Equal(t, "open ioctl mmap mmap write read close exit", w.names())
	for _, c := range w.calls {
		require.Equal(t, w.calls[0].PID, c.PID)
		require.Same(t, spec.Linux6_12, c.Kernel)
		require.Nil(t, c.Device)
		require.False(t, c.Begun.IsZero())
	}

	open := w.calls[0]
	require.Equal(t, w.device, open.Path)
	require.Equal(t, unix.O_RDWR|unix.O_CLOEXEC, open.OpenFlags)
	require.Equal(t, -1, open.FD)
	require.EqualValues(t, 1, open.File)
	require.NoError(t, open.Err)
	fd := int(open.Ret)
	require.GreaterOrEqual(t, fd, 3)

	ioctl := w.calls[1]
	require.Equal(t, fd, ioctl.FD)
	require.Equal(t, open.File, ioctl.File)
	require.Equal(t, w.device, ioctl.Path)
	require.EqualValues(t, spec.RDMA_VERBS_IOCTL, ioctl.Cmd)
	require.Equal(t, syscall.ENOTTY, ioctl.Err)
	require.EqualValues(t, -1, ioctl.Ret)
	require.Positive(t, ioctl.Took)
	require.Equal(t, bytes.Repeat([]byte{filler}, createCQSize), ioctl.Ioctl.Attr(spec.UVERBS_ATTR_CORE_IN).In)
	command, ok := ioctl.Ioctl.InvokeWrite()
	require.True(t, ok)
	require.EqualValues(t, 18, command)

	mmap := w.calls[2]
	require.Equal(t, [...]uint64{0, pageSize, pageSize}, [...]uint64{mmap.Addr, mmap.Length, mmap.Offset})
	require.Equal(t, [...]int{unix.PROT_READ | unix.PROT_WRITE, unix.MAP_SHARED}, [...]int{mmap.Prot, mmap.Flags})
	require.NoError(t, mmap.Err)
	require.Zero(t, mmap.Ret%pageSize)
	require.Positive(t, mmap.Ret)
	require.Equal(t, syscall.EINVAL, w.calls[3].Err)
	require.Equal(t, "invalid argument\n", w.said)

	require.Equal(t, []byte{8, 7, 6, 5, 4, 3, 2, 1}, w.calls[4].Data.Bytes)
	require.EqualValues(t, 8, w.calls[4].Ret)
	require.Equal(t, make([]byte, 4), w.calls[5].Data.Bytes)
	require.Equal(t, fd, w.calls[6].FD)
	require.Zero(t, w.calls[7].Ret)

	require.Equal(t, "open ioctl mmap mmap close exit", well(t, "one", ptrace.Options{}).names())
}

// TestNowhere: arguments that lead nowhere are told as what they are, and files
// that are no device not at all.
func TestNowhere(t *testing.T) {
	w := well(t, "bad", ptrace.Options{})
	require.Equal(t, "open ioctl ioctl ioctl ioctl ioctl open close exit", w.names())
	for _, c := range w.named("ioctl") {
		require.False(t, c.Ioctl.Readable)
		require.Equal(t, syscall.ENOTTY, c.Err)
	}
	missing := w.named("open")[1]
	require.Equal(t, syscall.ENOENT, missing.Err)
	require.Zero(t, missing.File)
}

// numbers are which open file each ioctl is on.
func (w *watched) numbers() (files []uint64) {
	for _, c := range w.named("ioctl") {
		files = append(files, c.File)
	}
	return files
}

// TestOpenFiles: an open file keeps its number, whatever descriptor leads to it.
func TestOpenFiles(t *testing.T) {
	for client, want := range map[string][]uint64{
		"copies":   {1, 2, 1, 2, 2, 3, 4},
		"relative": {1, 2, 3},
		"passes":   {1, 1},
	} {
		t.Run(client, func(t *testing.T) {
			w := well(t, client, ptrace.Options{})
			require.Equal(t, want, w.numbers())
			var opened, closed []uint64
			for _, c := range w.named("close") {
				closed = append(closed, c.File)
			}
			for n := range slices.Max(want) {
				opened = append(opened, n+1)
			}
			require.ElementsMatch(t, opened, closed, "each is closed once")
		})
	}
}

// TestForks: children keep the parent's open file, and an exec closes what it has
// to, in a process of several threads.
func TestForks(t *testing.T) {
	w := well(t, "forks", ptrace.Options{})
	require.Len(t, w.named("exit"), 4)
	calls := map[int]int{}
	shared := 0
	for _, c := range w.named("ioctl") {
		calls[c.PID]++
		if c.File == 1 {
			shared++
		}
	}
	require.Len(t, calls, 4)
	require.Equal(t, 1+3*2, shared)
	require.Len(t, w.named("open"), 4)
	closed := map[uint64]int{}
	for _, c := range w.named("close") {
		closed[c.File]++
	}
	require.Equal(t, map[uint64]int{1: 1, 2: 1, 3: 1, 4: 1}, closed)
}

// TestThreads: all calls of all threads are told, each with its thread.
func TestThreads(t *testing.T) {
	const n = 20
	w := well(t, "threads", ptrace.Options{}, numberEnv+"="+strconv.Itoa(n))
	require.Len(t, w.named("ioctl"), n*51)
	require.Len(t, w.named("open"), 1+n)
	require.Len(t, w.named("exit"), 1)
	of := map[uint64]int{}
	threads := map[int]bool{}
	for _, c := range w.named("ioctl") {
		of[c.File]++
		threads[c.TID] = true
	}
	require.Len(t, of, 1+n)
	require.Equal(t, n*50, of[1])
	require.GreaterOrEqual(t, len(threads), n)
}

// TestAlarms: signals arrive, and no call is lost or told twice.
func TestAlarms(t *testing.T) {
	const n = 3000
	w := well(t, "alarms", ptrace.Options{}, numberEnv+"="+strconv.Itoa(n))
	require.Len(t, w.named("ioctl"), n)
}

// TestRestarts: a call that begins again is told again, and the program sees one.
func TestRestarts(t *testing.T) {
	w := well(t, "restarts", ptrace.Options{Transfers: true})
	require.Equal(t, "4\n", w.said)
	reads := w.named("read")
	require.Greater(t, len(reads), 1)
	last := len(reads) - 1
	for _, c := range reads[:last] {
		require.Equal(t, syscall.EINTR, c.Err)
	}
	require.NoError(t, reads[last].Err)
	require.Equal(t, []byte("late"), reads[last].Data.Bytes)
}

// TestReplaced: the call that another thread is in ends when one executes a program.
func TestReplaced(t *testing.T) {
	w := well(t, "replaced", ptrace.Options{Transfers: true})
	require.Equal(t, "open read close exit", w.names())
	require.Equal(t, syscall.EINTR, w.calls[1].Err)
}

// TestStatus: the program's end is its own.
func TestStatus(t *testing.T) {
	for _, code := range []int{0, 1, 7, 255} {
		w := run(t, "exit", ptrace.Options{}, numberEnv+"="+strconv.Itoa(code))
		require.Equal(t, code, w.status.ExitStatus())
		require.Empty(t, w.calls)
	}
	w := run(t, "killed", ptrace.Options{})
	require.Equal(t, syscall.SIGKILL, w.status.Signal())
	exit := w.named("exit")
	require.Len(t, exit, 1)
	require.EqualValues(t, -9, exit[0].Ret)
	require.Equal(t, syscall.SIGTERM, run(t, "term", ptrace.Options{}).status.Signal())
}

// TestKilled: a program that is killed at any moment ends so, and each call that
// has begun ends.
func TestKilled(t *testing.T) {
	for i := range 20 {
		w := run(t, "endless", ptrace.Options{Started: func(pid int) {
			time.AfterFunc(20*time.Millisecond+time.Duration(i)*1700*time.Microsecond, func() { unix.Kill(pid, unix.SIGKILL) })
		}})
		require.Equal(t, syscall.SIGKILL, w.status.Signal())
		opened, closed := 0, len(w.named("close"))
		for _, c := range w.named("open") {
			if c.Err == nil {
				opened++
			}
		}
		require.Equal(t, opened, closed)
	}
}

// TestTracerKilled: a program and its child do not outlive the one who looks on, even
// while they make no call that is watched.
func TestTracerKilled(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), clientEnv+"=watches", deviceEnv+"="+device(t))
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	in := bufio.NewReader(out)
	var pids [2]int // the program's, and the child's when it has been started
	for i := range pids {
		line, err := in.ReadString('\n')
		require.NoError(t, err)
		pid, err := strconv.Atoi(strings.TrimSpace(line))
		require.NoError(t, err)
		t.Cleanup(func() {
			if t.Failed() {
				unix.Kill(pid, unix.SIGKILL)
			}
		})
		pids[i] = pid
	}
	require.NoError(t, cmd.Process.Kill())
	require.Error(t, cmd.Wait())
	for _, pid := range pids {
		require.Eventually(t, func() bool {
			s := state(pid)
			return s == "" || s == "Z" // nobody may have waited for it
		}, 20*time.Second, 5*time.Millisecond, "process %d", pid)
	}
}

// TestRefused: where ptrace is refused, one line says what to do.
func TestRefused(t *testing.T) {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), clientEnv+"=refused")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err)
	require.Equal(t, "true the program cannot be traced: operation not permitted (needs permission to trace a child): "+
		"in a container, start it with --cap-add SYS_PTRACE or --security-opt seccomp=unconfined\n", string(out))
}

// TestOrphan: a run lasts as long as the last child, and has the program's status.
func TestOrphan(t *testing.T) {
	w := run(t, "orphan", ptrace.Options{}, numberEnv+"=parent")
	require.Equal(t, 5, w.status.ExitStatus(), w.said)
	require.Equal(t, "open exit ioctl close exit", w.names())
	require.EqualValues(t, 1, w.named("ioctl")[0].File)
}

// state is the letter of a process's or a thread's state, empty if there is none.
func state(id int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(id) + "/stat")
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(b), ") ")
	return rest[:1]
}

// TestStops: a program that stops itself stays so until it gets a SIGCONT.
func TestStops(t *testing.T) {
	started := make(chan int, 1)
	go func() {
		pid := <-started
		deadline := time.Now().Add(20 * time.Second)
		since := time.Time{}
		for time.Now().Before(deadline) {
			if s := state(pid); s != "t" && s != "T" {
				since = time.Time{}
			} else if since.IsZero() {
				since = time.Now()
			} else if time.Since(since) > 200*time.Millisecond {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		if since.IsZero() {
			t.Error("the program has not stopped")
		}
		unix.Kill(pid, unix.SIGCONT)
	}()
	w := well(t, "stops", ptrace.Options{Started: func(pid int) { started <- pid }})
	calls := w.named("ioctl")
	require.Len(t, calls, 2)
	require.Greater(t, calls[1].Begun.Sub(calls[0].Begun), 150*time.Millisecond)
}

// TestContext: the end of the context is that of the program and its children.
func TestContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	r, out, err := os.Pipe()
	require.NoError(t, err)
	go func() {
		r.Read(make([]byte, 16))
		cancel()
	}()
	env := append(os.Environ(), clientEnv+"=hangs")
	begun := time.Now()
	status, err := ptrace.Run(ctx, []string{"/proc/self/exe"}, env, watch.Watchers{}, ptrace.Options{Stdout: out})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, syscall.SIGKILL, status.Signal())
	require.Less(t, time.Since(begun), 30*time.Second)
}

// TestNoProgram: what cannot be run is an error, not a status.
func TestNoProgram(t *testing.T) {
	_, err := ptrace.Run(context.Background(), nil, nil, watch.Watchers{}, ptrace.Options{})
	require.Error(t, err)
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(text), mode))
		return file
	}
	for _, c := range []struct {
		program string
		want    seccomp.StartError
	}{
		{"no-such-program-here", seccomp.StartError{Status: 127, Text: ": command not found"}},
		{"/no/such/program", seccomp.StartError{Status: 127, Text: ": no such file or directory"}},
		{write("text", "no program", 0o755), seccomp.StartError{Status: 126, Text: ": exec format error"}},
		{write("plain", "#!/bin/sh\n", 0o644), seccomp.StartError{Status: 126, Text: ": permission denied"}},
		{write("script", "#!/no/such/shell\n", 0o755), seccomp.StartError{Status: 127, Text: ": no such file or directory"}},
	} {
		_, err = ptrace.Run(context.Background(), []string{c.program}, nil, watch.Watchers{}, ptrace.Options{})
		c.want.Text = c.program + c.want.Text
		require.Equal(t, &c.want, err)
	}
}

// TestInherited: the program has the descriptors that it would have without.
func TestInherited(t *testing.T) {
	file := filepath.Join(t.TempDir(), "inherited")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	file, err := filepath.EvalSymlinks(file)
	require.NoError(t, err)
	fd, err := unix.Open(file, unix.O_RDONLY, 0) // without O_CLOEXEC
	require.NoError(t, err)
	defer unix.Close(fd)
	far, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD, 400) // beyond all that a launcher is given
	require.NoError(t, err)
	defer unix.Close(far)
	hidden, err := os.Open(file)
	require.NoError(t, err)
	defer hidden.Close()

	w := well(t, "files", ptrace.Options{})
	var found []string
	for line := range strings.Lines(w.said) {
		if number, link, ok := strings.Cut(strings.TrimSpace(line), " "); ok && link == file {
			found = append(found, number)
		}
	}
	require.Equal(t, []string{strconv.Itoa(fd), strconv.Itoa(far)}, found)
	require.True(t, strings.HasSuffix(w.said, "\n\n"), "the launcher's setting is left in the environment")
}

// TestOthersChildren: a child of this process that has nothing to do with the
// program is left to who has started it.
func TestOthersChildren(t *testing.T) {
	other := exec.Command("sh", "-c", "sleep 0.05; exit 3")
	require.NoError(t, other.Start())
	well(t, "alarms", ptrace.Options{}, numberEnv+"=100")
	var exit *exec.ExitError
	require.ErrorAs(t, other.Wait(), &exit)
	require.Equal(t, 3, exit.ExitCode())
}

// reader reads memory of a call as a watcher may, on the thread that traces, which
// a check must not end.
type reader struct {
	watch.Watchers
	check func(*watch.Call)
}

func (r *reader) Enter(c *watch.Call) { r.check(c) }

// TestMemory: memory is read up to the first page that is not there, and never
// written.
func TestMemory(t *testing.T) {
	dev := device(t)
	var checked bool
	w := &reader{check: func(c *watch.Call) {
		if c.Name != "ioctl" {
			return
		}
		checked = true
		var b [3 * pageSize]byte
		assert.Equal(t, spec.IoctlHdrSize, c.Mem.CopyIn(b[:spec.IoctlHdrSize], c.Arg))
		assert.Zero(t, c.Mem.CopyIn(b[:], 0))
		assert.Zero(t, c.Mem.CopyIn(b[:], copyuser.TaskSizeMax))
		assert.Zero(t, c.Mem.CopyOut(c.Arg, b[:8]))
		assert.Zero(t, c.Mem.Clear(c.Arg, 8))
		assert.False(t, c.Mem.PutUint64(c.Arg, 1))
		_, err := c.Mem.Pin(c.Arg, 8, false)
		assert.ErrorIs(t, err, syscall.EFAULT)

		// The page before the program's first area is not there.
		maps, err := os.ReadFile("/proc/" + strconv.Itoa(c.PID) + "/maps")
		assert.NoError(t, err)
		first, _, _ := strings.Cut(string(maps), "-")
		start, err := strconv.ParseUint(first, 16, 64)
		assert.NoError(t, err)
		end := lastOfArea(t, string(maps), start)
		assert.Equal(t, 5, c.Mem.CopyIn(b[:], copyuser.Addr(end-5)))
		assert.Equal(t, pageSize+5, c.Mem.CopyIn(b[:], copyuser.Addr(end-pageSize-5)))
	}}
	env := append(os.Environ(), clientEnv+"=calls", numberEnv+"=1", deviceEnv+"="+dev)
	status, err := ptrace.Run(context.Background(), []string{"/proc/self/exe"}, env, w, ptrace.Options{Prefix: dev})
	require.NoError(t, err)
	require.Zero(t, status)
	require.True(t, checked)
}

// lastOfArea returns where the first hole begins behind at, 0 if there is none.
func lastOfArea(t *testing.T, maps string, at uint64) uint64 {
	for line := range strings.Lines(maps) {
		var start, end uint64
		_, err := fmt.Sscanf(line, "%x-%x ", &start, &end)
		assert.NoError(t, err)
		if start > at {
			return at
		}
		at = end
	}
	return 0
}

// TestTraced: where the program has a tracer already, one line says so and which.
func TestTraced(t *testing.T) {
	w := well(t, "watched", ptrace.Options{})
	require.Equal(t, "true the program cannot be traced: operation not permitted (needs a program without another tracer): "+
		"run this without process "+strconv.Itoa(os.Getpid())+", which traces it (strace -f, a debugger)\n", w.said)
}

func BenchmarkIoctl(b *testing.B) {
	w := &watched{seen: seen{t: b}, device: device(b)}
	for _, bench := range []struct {
		name   string
		client string
		run    func(env []string) error
	}{
		{"native", "calls", native},
		{"watched", "calls", func(env []string) error {
			_, err := ptrace.Run(context.Background(), []string{"/proc/self/exe"}, env, watch.Watchers{}, ptrace.Options{Prefix: w.device})
			return err
		}},
		{"open-native", "opens", native},
		{"open-watched", "opens", func(env []string) error {
			_, err := ptrace.Run(context.Background(), []string{"/proc/self/exe"}, env, watch.Watchers{}, ptrace.Options{Prefix: w.device})
			return err
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			env := append(os.Environ(), clientEnv+"="+bench.client, deviceEnv+"="+w.device, numberEnv+"="+strconv.Itoa(b.N))
			require.NoError(b, bench.run(env))
		})
	}
}

func native(env []string) error {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = env
	return cmd.Run()
}
