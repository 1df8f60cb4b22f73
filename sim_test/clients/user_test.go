package clients

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// user is who runs programs.
type user struct {
	name string
	cred *syscall.Credential // nil: who runs the test
}

var (
	self = user{name: "root"} // or whoever runs the test
	// nobody has no capability: it loses them with the user ID, and the command's
	// NO_NEW_PRIVS has none come back.
	nobody = user{"nobody", &syscall.Credential{Uid: 65534, Gid: 65534}}
)

// users runs a test as root and as nobody.
func users(t *testing.T, f func(t *testing.T, u user)) {
	t.Helper()
	for _, u := range []user{self, nobody} {
		name := u.name
		if u.cred == nil && os.Geteuid() != 0 {
			name = "self"
		}
		t.Run(name, func(t *testing.T) {
			if os.Geteuid() != 0 {
				if u.cred != nil {
					t.Skip("only root can become another user")
				}
				t.Log("the test does not run as root: only one user is tried")
			}
			f(t, u)
		})
	}
}

// least returns the user with the fewest rights that the test can become.
func least() user {
	if os.Geteuid() == 0 {
		return nobody
	}
	return self
}

// dir returns a new directory of the user's. (t.TempDir's are for root.)
func (u user) dir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "client-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if u.cred != nil {
		require.NoError(t, os.Chown(dir, int(u.cred.Uid), int(u.cred.Gid)))
	}
	return dir
}

// patience is after how long a command that does not end is a failure.
const patience = 3 * time.Minute

// job is the command, started.
type job struct {
	t    *testing.T
	args []string
	cmd  *exec.Cmd
	done chan struct{}
	out  output
	err  output
	late bool
	// where its threads were when it was late
	where string
}

// output is what a command prints, which may be read meanwhile.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// result is what became of it.
type result struct {
	args           []string
	stdout, stderr string
	status         syscall.WaitStatus
}

type option func(*exec.Cmd)

func stdin(r io.Reader) option { return func(c *exec.Cmd) { c.Stdin = r } }
func in(dir string) option     { return func(c *exec.Cmd) { c.Dir = dir } }
func env(kv ...string) option  { return func(c *exec.Cmd) { c.Env = append(c.Env, kv...) } }

// start starts the command, in a process group of its own, all of which is gone
// when the test ends.
func (u user) start(t *testing.T, args []string, options ...option) *job {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	j := &job{t: t, args: args, done: make(chan struct{})}
	j.cmd = exec.CommandContext(ctx, uverbsim, args...)
	j.cmd.SysProcAttr = &syscall.SysProcAttr{Credential: u.cred, Setpgid: true}
	j.cmd.Env = append(os.Environ(), "HOME=/", "LC_ALL=C", "PYTHONDONTWRITEBYTECODE=1")
	j.cmd.Dir = "/"
	j.cmd.Stdout, j.cmd.Stderr = &j.out, &j.err
	j.cmd.Cancel = func() error {
		j.late = true
		j.where = endStuck(j.cmd.Process.Pid)
		return nil
	}
	j.cmd.WaitDelay = 5 * time.Second
	for _, o := range options {
		o(j.cmd)
	}
	require.NoError(t, j.cmd.Start())
	go func() {
		defer close(j.done)
		defer cancel()
		_ = j.cmd.Wait()
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-j.cmd.Process.Pid, syscall.SIGKILL)
		<-j.done
	})
	return j
}

// wait returns how the command ended.
func (j *job) wait() result {
	j.t.Helper()
	<-j.done
	r := result{j.args, j.out.String(), j.err.String(), j.cmd.ProcessState.Sys().(syscall.WaitStatus)}
	if j.late {
		j.t.Fatalf("did not end:\n%s--- threads\n%s", r, j.where)
	}
	return r
}

// run runs the command to its end.
func (u user) run(t *testing.T, args []string, options ...option) result {
	t.Helper()
	return u.start(t, args, options...).wait()
}

// ok requires that the command did well and said nothing itself.
func (r result) ok(t *testing.T) result {
	t.Helper()
	require.True(t, r.status.Exited() && r.status.ExitStatus() == 0, "%s", r)
	r.calm(t)
	return r
}

// calm requires that the command, not the program, has nothing to say: no failure
// of its own, and nothing left of the program in the machine.
func (r result) calm(t *testing.T) {
	t.Helper()
	require.NotContains(t, r.stderr, "uverbsim:", "%s", r)
}

func (r result) String() string {
	status := "exit status " + strconv.Itoa(r.status.ExitStatus())
	if r.status.Signaled() {
		status = "signal: " + r.status.Signal().String()
	}
	return "uverbsim " + strings.Join(r.args, " ") + "\n" + status + "\n--- stdout\n" + r.stdout + "--- stderr\n" + r.stderr
}
