package clients

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// served is a server that runs.
type served struct {
	*job
	socket string
}

// serve starts a server.
func (u user) serve(t *testing.T, socket string, flags ...string) *served {
	t.Helper()
	s := &served{socket: socket}
	s.job = u.start(t, append(append([]string{"serve"}, flags...), socket))
	s.awaitsIn(&s.err, "serving at "+socket+"\n")
	return s
}

// attach returns the arguments of a command that runs a program there.
func (s *served) attach(program ...string) []string {
	return append([]string{"run", "--attach", s.socket, "--"}, program...)
}

// end has the server end, which requires that nothing is left in its machine.
func (s *served) end() {
	s.t.Helper()
	require.NoError(s.t, s.cmd.Process.Signal(syscall.SIGTERM))
	s.wait().ok(s.t)
}

// awaits returns when the program has printed that.
func (j *job) awaits(text string) {
	j.t.Helper()
	j.awaitsIn(&j.out, text)
}

func (j *job) awaitsIn(o *output, text string) {
	j.t.Helper()
	for end := time.Now().Add(30 * time.Second); !strings.Contains(o.String(), text); time.Sleep(2 * time.Millisecond) {
		select {
		case <-j.done:
			require.Contains(j.t, o.String(), text, "%s", j.wait())
			return
		default:
			require.True(j.t, time.Now().Before(end), "has not printed %q: %s%s", text, &j.out, &j.err)
		}
	}
}

// TestServerKilled kills a server: the programs that it has served end, with an
// error, and no other can be started.
func TestServerKilled(t *testing.T) {
	needPyverbs(t)
	users(t, func(t *testing.T, u user) {
		s := u.serve(t, filepath.Join(u.dir(t), "socket"))
		client := u.start(t, s.attach(python, script("churn.py")))
		client.awaits("going\n")
		require.NoError(t, s.cmd.Process.Kill())
		<-s.done
		r := client.wait()
		require.False(t, r.status.Exited() && r.status.ExitStatus() == 0, "%s", r)

		r = u.run(t, s.attach("true"))
		require.Equal(t, 2, r.status.ExitStatus(), "%s", r)
		require.Equal(t, "uverbsim: --attach "+s.socket+": dial unix "+s.socket+": connect: connection refused\n", r.stderr)
	})
}

// TestServerReplaced starts one at the socket that a dead one has left.
func TestServerReplaced(t *testing.T) {
	u := least()
	socket := filepath.Join(u.dir(t), "socket")
	first := u.serve(t, socket)
	r := u.run(t, []string{"serve", socket})
	require.Equal(t, 2, r.status.ExitStatus(), "%s", r)
	require.Contains(t, r.stderr, "another server is there")
	require.NoError(t, first.cmd.Process.Kill())
	<-first.done
	second := u.serve(t, socket)
	u.run(t, second.attach("true")).ok(t)
	second.end()
}
