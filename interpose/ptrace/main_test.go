package ptrace_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/interpose/ptrace"
	"uverbsim/interpose/watch"
)

// The clients run on their first thread.
func init() { runtime.LockOSThread() }

// TestMain lets this program be its own launcher and its own client.
func TestMain(m *testing.M) {
	ptrace.ServeLauncher()
	if name := os.Getenv(clientEnv); name != "" {
		clients[name]()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// seen keeps the calls that a watcher is told of.
type seen struct {
	t      testing.TB
	calls  []*watch.Call
	inside map[int]*watch.Call // by thread
}

func (s *seen) Enter(c *watch.Call) {
	if s.inside == nil {
		s.inside = map[int]*watch.Call{}
	}
	if s.inside[c.TID] != nil {
		s.t.Errorf("a call begins in thread %d in another one: %s", c.TID, c.Name)
	}
	s.inside[c.TID] = c
	s.calls = append(s.calls, c)
	c.TakeArgument()
}

func (s *seen) Leave(c *watch.Call) {
	if s.inside[c.TID] != c {
		s.t.Errorf("a call ends in thread %d that is not the one that began: %s", c.TID, c.Name)
	}
	delete(s.inside, c.TID)
	c.TakeAnswer()
}

// named are the calls of that name.
func (s *seen) named(name string) (calls []*watch.Call) {
	for _, c := range s.calls {
		if c.Name == name {
			calls = append(calls, c)
		}
	}
	return calls
}

// names are the names of all calls in their order.
func (s *seen) names() string {
	var names []string
	for _, c := range s.calls {
		names = append(names, c.Name)
	}
	return strings.Join(names, " ")
}

// clientEnv is set for a client: which one. deviceEnv is its device's path.
const (
	clientEnv = "PTRACE_TEST_CLIENT"
	deviceEnv = "PTRACE_TEST_DEVICE"
)

// device makes a file that stands for a device node: it answers ENOTTY.
func device(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	file := filepath.Join(dir, "uverbs0")
	require.NoError(t, os.WriteFile(file, make([]byte, 2*pageSize), 0o666))
	return file
}

const pageSize = 4096

// watched is what a run of a client gave.
type watched struct {
	seen
	device string
	status syscall.WaitStatus
	said   string
}

// run runs a client of this program and watches it.
func run(t testing.TB, client string, o ptrace.Options, env ...string) *watched {
	t.Helper()
	w := &watched{seen: seen{t: t}, device: device(t)}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	require.NoError(t, err)
	defer out.Close()
	o.Prefix, o.Stdout = filepath.Join(filepath.Dir(w.device), "uverbs"), out
	env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0", clientEnv+"="+client, deviceEnv+"="+w.device), env...)
	w.status, err = ptrace.Run(context.Background(), []string{"/proc/self/exe"}, env, w, o)
	require.NoError(t, err)
	require.Empty(t, w.inside, "calls without an end")
	b, err := os.ReadFile(out.Name())
	require.NoError(t, err)
	w.said = string(b)
	return w
}

// well runs a client that has to end well.
func well(t testing.TB, client string, o ptrace.Options, env ...string) *watched {
	t.Helper()
	w := run(t, client, o, env...)
	require.Equal(t, syscall.WaitStatus(0), w.status, "%s: %s", describe(w.status), w.said)
	return w
}

func describe(ws syscall.WaitStatus) string {
	if ws.Signaled() {
		return fmt.Sprintf("killed by %v", ws.Signal())
	}
	return fmt.Sprintf("exit status %d", ws.ExitStatus())
}
