package seccomp

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// launcherCommand is how this test binary is told to be the launcher.
func launcherCommand(t testing.TB) []string {
	exe, err := os.Executable()
	require.NoError(t, err)
	return []string{exe, "launcher"}
}

// clientSpec starts a client of client_test.go.
func clientSpec(t testing.TB, name string, args ...string) Spec {
	exe, err := os.Executable()
	require.NoError(t, err)
	return Spec{
		Command: launcherCommand(t),
		Prog:    append([]string{exe, "client", name}, args...),
		Options: Defaults(),
	}
}

// mustLaunch launches or, where the kernel has not what it takes, skips; not in
// CI.
func mustLaunch(t testing.TB, spec Spec) *Launched {
	t.Helper()
	p, err := Launch(spec)
	if m := new(Missing); err != nil && os.Getenv("CI") == "" && asMissing(err, &m) {
		t.Skip(m)
	}
	require.NoError(t, err)
	return p
}

func asMissing(err error, m **Missing) bool {
	got, ok := err.(*Missing)
	*m = got
	return ok
}

// handler answers a call and says whether it did.
type handler func(l *Listener, n *Notif) bool

// answerAll answers ioctls: on 7 with arg+1, on 8 with EDQUOT, on 1 with EINVAL.
func answerAll(l *Listener, n *Notif) bool {
	if n.Nr != NrIoctl {
		return false
	}
	switch n.Args[0] {
	case 7:
		l.Send(n.ID, int64(n.Args[2])+1, 0)
	case 8:
		l.Send(n.ID, 0, unix.EDQUOT)
	case 1:
		l.Send(n.ID, 0, unix.EINVAL)
	default:
		return false
	}
	return true
}

// serve receives calls on threads of their own until no task is left; what h
// does not answer goes on. The returned function waits for the end.
func serve(t testing.TB, l *Listener, receivers int, h handler) (wait func()) {
	var all sync.WaitGroup
	for range receivers {
		all.Add(1)
		go func() {
			defer all.Done()
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			var n Notif
			for {
				switch err := l.Recv(&n); err {
				case nil:
				case ErrGone:
					return
				default:
					t.Errorf("Recv: %v", err)
					return
				}
				if h != nil && h(l, &n) {
					continue
				}
				if err := l.Continue(n.ID); err != nil && err != ErrTaskGone {
					t.Errorf("Continue: %v", err)
				}
			}
		}()
	}
	return all.Wait
}

// waitGone waits until no task is left under the listener's filter.
func waitGone(l *Listener) error {
	for {
		if gone, err := l.pollGone(-1); gone || err != nil {
			return err
		}
	}
}

// result is how a program ended and what it printed.
type result struct {
	state *os.ProcessState
	out   string
}

// run launches spec under h and waits for its end and the receivers'.
func run(t testing.TB, spec Spec, h handler) result {
	t.Helper()
	return runOn(t, spec, h, nil)
}

func runOn(t testing.TB, spec Spec, h handler, prepare func(*Launched)) result {
	t.Helper()
	r, w, err := os.Pipe()
	require.NoError(t, err)
	spec.Stdout = w
	p := mustLaunch(t, spec)
	w.Close()
	if prepare != nil {
		prepare(p)
	}
	wait := serve(t, p.Listener, 2, h)
	require.NoError(t, p.Go())
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	r.Close()
	state, err := p.Process.Wait()
	require.NoError(t, err)
	wait()
	require.NoError(t, waitGone(p.Listener))
	require.NoError(t, p.Listener.Close())
	return result{state, string(out)}
}

func TestAnswers(t *testing.T) {
	for _, client := range [][]string{{"answers"}, {"forks"}, {"execs"}, {"threads", "8"}, {"netlink"}, {"leader"}} {
		t.Run(client[0], func(t *testing.T) {
			res := run(t, clientSpec(t, client[0], client[1:]...), answerAll)
			require.Truef(t, res.state.Success(), "%v: %s", res.state, res.out)
		})
	}
}

// TestPollFirst: the way of older kernels works on this one too.
func TestPollFirst(t *testing.T) {
	for _, client := range [][]string{{"threads", "8"}, {"forks"}} {
		res := runOn(t, clientSpec(t, client[0], client[1:]...), answerAll, func(p *Launched) {
			p.Listener.pollFirst = true
		})
		require.Truef(t, res.state.Success(), "%v: %s", res.state, res.out)
	}
}

// pathAt reads the path of an openat from the caller's memory.
func pathAt(n *Notif) string {
	b := make([]byte, 256)
	local := []unix.Iovec{{Base: &b[0], Len: uint64(len(b))}}
	remote := []unix.RemoteIovec{{Base: uintptr(n.Args[1]), Len: len(b)}}
	got, _ := unix.ProcessVMReadv(int(n.PID), local, remote, 0)
	s, _, _ := strings.Cut(string(b[:max(got, 0)]), "\x00")
	return s
}

func TestInjectedFile(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "twin"))
	require.NoError(t, err)
	defer file.Close()
	_, err = file.WriteString("from the supervisor")
	require.NoError(t, err)
	for _, cloexec := range []bool{true, false} {
		for _, inOneStep := range []bool{true, false} {
			t.Run(fmt.Sprint(cloexec, inOneStep), func(t *testing.T) {
				_, err := file.Seek(0, io.SeekStart)
				require.NoError(t, err)
				var given int
				res := run(t, clientSpec(t, "open", "/nowhere/device"), func(l *Listener, n *Notif) bool {
					if n.Nr != NrOpenat || pathAt(n) != "/nowhere/device" {
						return false
					}
					if inOneStep {
						given, err = l.AddFDSend(n.ID, int(file.Fd()), cloexec)
						return true
					}
					if given, err = l.AddFD(n.ID, int(file.Fd()), cloexec); err == nil {
						err = l.Send(n.ID, int64(given), 0)
					}
					return true
				})
				require.NoError(t, err)
				require.True(t, res.state.Success(), res.out)
				want := 0
				if cloexec {
					want = 1
				}
				require.Equal(t, fmt.Sprintf("%d %d from the supervisor", given, want), res.out)
			})
		}
	}
}

func TestAddFDOfNothing(t *testing.T) {
	var sendErr, addErr error
	res := run(t, clientSpec(t, "answers"), func(l *Listener, n *Notif) bool {
		if n.Nr == NrIoctl && n.Args[0] == 7 {
			_, sendErr = l.AddFDSend(n.ID, 1<<20, true)
			_, addErr = l.AddFD(n.ID, 1<<20, true)
		}
		return answerAll(l, n)
	})
	require.True(t, res.state.Success(), res.out)
	require.Equal(t, unix.EBADF, sendErr)
	require.Equal(t, unix.EBADF, addErr)
}

// TestKilledWhileWaiting: whatever the supervisor does for a killed task, it is
// told so, and other tasks are served.
func TestKilledWhileWaiting(t *testing.T) {
	p := mustLaunch(t, clientSpec(t, "loop", "1", "1"))
	waiting := make(chan Notif)
	done := serve(t, p.Listener, 1, func(l *Listener, n *Notif) bool {
		if n.Nr != NrIoctl {
			return false
		}
		waiting <- *n
		return true
	})
	require.NoError(t, p.Go())
	n := <-waiting
	l := p.Listener
	require.True(t, l.Valid(n.ID))
	require.False(t, l.Gone())
	require.NoError(t, p.Process.Kill())
	state, err := p.Process.Wait()
	require.NoError(t, err)
	require.Equal(t, unix.SIGKILL, state.Sys().(syscall.WaitStatus).Signal())
	require.NoError(t, waitGone(l))
	require.False(t, l.Valid(n.ID))
	require.Equal(t, ErrTaskGone, l.Send(n.ID, 1, 0))
	require.Equal(t, ErrTaskGone, l.Continue(n.ID))
	_, err = l.AddFD(n.ID, 0, true)
	require.Equal(t, ErrTaskGone, err)
	_, err = l.AddFDSend(n.ID, 0, true)
	require.Equal(t, ErrTaskGone, err)
	done()
	var again Notif
	require.Equal(t, ErrGone, l.Recv(&again))
	require.NoError(t, l.Close())
}

func TestAnsweredTwice(t *testing.T) {
	var mu sync.Mutex
	var second []error
	res := run(t, clientSpec(t, "answers"), func(l *Listener, n *Notif) bool {
		if !answerAll(l, n) {
			return false
		}
		err := l.Send(n.ID, 0, unix.EIO)
		mu.Lock()
		second = append(second, err)
		mu.Unlock()
		return true
	})
	require.True(t, res.state.Success(), res.out)
	require.Equal(t, []error{ErrTaskGone, ErrTaskGone}, second)
}

// TestKillAtAnyMoment: a program that is killed leaves no receiver behind.
func TestKillAtAnyMoment(t *testing.T) {
	for i := range 20 {
		p := mustLaunch(t, clientSpec(t, "loop", "1000000", "1"))
		wait := serve(t, p.Listener, 2, answerAll)
		require.NoError(t, p.Go())
		time.Sleep(time.Duration(i) * 500 * time.Microsecond)
		require.NoError(t, p.Process.Kill())
		_, err := p.Process.Wait()
		require.NoError(t, err)
		require.NoError(t, waitGone(p.Listener))
		wait()
		require.NoError(t, p.Listener.Close())
	}
}

// TestSignalStorm: signals to a waiting thread neither fail a call nor run one
// twice.
func TestSignalStorm(t *testing.T) {
	if !kernelAtLeast(5, 19) {
		t.Skip("SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV is of Linux 5.19")
	}
	const calls = 3000
	var mu sync.Mutex
	runs := make([]int, calls)
	res := run(t, clientSpec(t, "storm", strconv.Itoa(calls)), func(l *Listener, n *Notif) bool {
		if n.Nr != NrIoctl || n.Args[0] != 7 {
			return false
		}
		mu.Lock()
		runs[n.Args[2]]++
		mu.Unlock()
		time.Sleep(10 * time.Microsecond)
		return answerAll(l, n)
	})
	require.True(t, res.state.Success(), res.out)
	sent, err := strconv.Atoi(res.out)
	require.NoError(t, err)
	require.Greater(t, sent, calls/10, "too few signals to show anything")
	for i, n := range runs {
		require.Equal(t, 1, n, "call %d", i)
	}
}

func TestEnds(t *testing.T) {
	res := run(t, clientSpec(t, "end", "exit", "37"), nil)
	require.Equal(t, 37, res.state.ExitCode())
	res = run(t, clientSpec(t, "end", "signal", strconv.Itoa(int(unix.SIGKILL))), nil)
	require.Equal(t, unix.SIGKILL, res.state.Sys().(syscall.WaitStatus).Signal())
}

// TestInherited: the program has what a program has that is started without a
// launcher.
func TestInherited(t *testing.T) {
	extra, err := os.Open("/dev/null")
	require.NoError(t, err)
	defer extra.Close()
	fd, err := unix.FcntlInt(extra.Fd(), unix.F_DUPFD, 100)
	require.NoError(t, err)
	defer unix.Close(fd)

	dir := t.TempDir()
	in := filepath.Join(dir, "in")
	require.NoError(t, os.WriteFile(in, []byte("input"), 0o600))
	open := func() *os.File {
		f, err := os.Open(in)
		require.NoError(t, err)
		t.Cleanup(func() { f.Close() })
		return f
	}
	errOut, err := os.Create(filepath.Join(dir, "err"))
	require.NoError(t, err)
	defer errOut.Close()

	spec := clientSpec(t, "ident", "a b", "", "8", strconv.Itoa(fd), strconv.Itoa(fd+1))
	spec.Dir, spec.Stdin, spec.Stderr = dir, open(), errOut
	spec.Env = []string{"SECCOMP_TEST=yes", "PATH=/none", "GORACE=atexit_sleep_ms=0"}
	res := run(t, spec, nil)
	require.True(t, res.state.Success(), res.out)
	written, err := os.ReadFile(errOut.Name())
	require.NoError(t, err)
	require.Contains(t, string(written), "to stderr\n")

	bare := exec.Command(spec.Prog[0], spec.Prog[1:]...)
	bare.Dir, bare.Env, bare.Stdin = spec.Dir, append(spec.Env, "PWD="+dir), open()
	out, err := bare.Output()
	require.NoError(t, err)
	require.Equal(t, string(out), res.out)
	require.Contains(t, res.out, "args=a b,,8,")
	require.Contains(t, res.out, "env=yes\n")
	require.Contains(t, res.out, "stdin=input\n")
	require.Contains(t, res.out, fmt.Sprintf("fd %d: <nil>\n", fd))
	require.Contains(t, res.out, fmt.Sprintf("fd %d: bad file descriptor\n", fd+1))
}

// TestInheritedByC: what a Go program changes for itself when it starts, a
// program in C shows.
func TestInheritedByC(t *testing.T) {
	for _, script := range []string{
		"ulimit -n",
		"grep -E '^(SigBlk|SigIgn|SigCgt|CapEff|Groups|Uid)' /proc/self/status",
		"ls /proc/self/fd",
	} {
		bare, err := exec.Command("sh", "-c", script).Output()
		require.NoError(t, err)
		res := run(t, Spec{Command: launcherCommand(t), Prog: []string{"sh", "-c", script}}, nil)
		require.Equal(t, string(bare), res.out, script)
	}
}

func TestNotStarted(t *testing.T) {
	dir := t.TempDir()
	file := func(name, content string, mode os.FileMode) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content), mode))
		return path
	}
	tests := []struct {
		name, prog string
		status     int
		text       string
	}{
		{"not in PATH", "no-such-program-at-all", 127, "no-such-program-at-all: command not found"},
		{"no such path", dir + "/none", 127, dir + "/none: no such file or directory"},
		{"not executable", file("plain", "text", 0o644), 126, dir + "/plain: permission denied"},
		{"a directory", dir, 126, dir + ": is a directory"},
		{"no program", file("garbage", "\x01\x02\x03", 0o755), 126, dir + "/garbage: exec format error"},
		{"no interpreter", file("script", "#!/no/such/shell\n", 0o755), 127, dir + "/script: no such file or directory"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Launch(Spec{Command: launcherCommand(t), Prog: []string{tt.prog}})
			if err == nil {
				wait := serve(t, p.Listener, 1, nil)
				err = p.Go()
				wait()
				require.NoError(t, p.Listener.Close())
			}
			require.Equal(t, &StartError{Status: tt.status, Text: tt.text}, err)
		})
	}
}

// TestScript: a program found in PATH, by its interpreter.
func TestScript(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "say"), []byte("#!/bin/sh\necho $0 $1\n"), 0o755))
	res := run(t, Spec{
		Command: launcherCommand(t),
		Prog:    []string{"say", "it"},
		Env:     []string{"PATH=/none:" + dir},
	}, nil)
	require.Equal(t, dir+"/say it\n", res.out)
}

func TestSecondListener(t *testing.T) {
	var asked atomic.Bool
	spec := clientSpec(t, "listener")
	spec.Listener = true
	res := run(t, spec, func(l *Listener, n *Notif) bool {
		if n.Nr == NrSeccomp {
			asked.Store(true)
		}
		return false
	})
	require.Equal(t, 1, res.state.ExitCode())
	require.Equal(t, missingListener.Error()+"\n", res.out)
	require.True(t, asked.Load())
}

// TestLauncherFails: a launcher that is none.
func TestLauncherFails(t *testing.T) {
	for _, command := range [][]string{{"/bin/true"}, {"/no/such/launcher"}} {
		p, err := Launch(Spec{Command: command, Prog: []string{"x"}})
		require.Error(t, err)
		require.Nil(t, p)
	}
	_, err := Launch(Spec{Command: launcherCommand(t)})
	require.EqualError(t, err, "no program to launch")
	_, err = Launch(Spec{Prog: []string{"true"}})
	require.EqualError(t, err, "no launcher to start")
	for _, args := range [][]string{{}, {"x"}, {"2", "true"}, {"3,other", "true"}, {"3"}} {
		_, err := parseLauncherArgs(args)
		require.Error(t, err, "%q", args)
	}
}

func TestLauncherArgs(t *testing.T) {
	for _, a := range []launcherArgs{
		{socket: 3, prog: []string{"a", "b,c", ""}},
		{socket: 17, opts: everything, prog: []string{"3,munmap"}},
		{socket: 4, opts: Options{Write: true}, probe: true, prog: []string{}},
	} {
		got, err := parseLauncherArgs(a.strings())
		require.NoError(t, err)
		require.Equal(t, a, got)
	}
}

// TestNoDescriptorsLeft: launches, and failed ones, give all back.
func TestNoDescriptorsLeft(t *testing.T) {
	open := func() []string {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		var names []string
		for _, e := range entries {
			target, _ := os.Readlink("/proc/self/fd/" + e.Name())
			names = append(names, e.Name()+" "+target)
		}
		slices.Sort(names)
		return names
	}
	run(t, clientSpec(t, "answers"), answerAll)
	before := open()
	for range 3 {
		run(t, clientSpec(t, "answers"), answerAll)
		_, err := Launch(Spec{Command: launcherCommand(t), Prog: []string{"no-such-program-at-all"}})
		require.Error(t, err)
		require.NoError(t, Probe(Spec{Command: launcherCommand(t)}))
	}
	require.Equal(t, len(before), len(open()), "%v\n%v", before, open())
}
