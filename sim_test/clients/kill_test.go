package clients

import (
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/clients/tcpport"
	"uverbsim/sim_test/suite"
)

// program returns the process ID of the program that a command runs, false if it
// has ended.
func (j *job) program() (int, bool) {
	j.t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		select {
		case <-j.done:
			return 0, false
		default:
		}
		for _, pid := range j.children() {
			exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
			if err == nil && exe != uverbsim { // not the launcher any more
				return pid, true
			}
		}
	}
	j.t.Fatal("no program is started")
	return 0, false
}

func (j *job) children() (found []int) {
	process := fmt.Sprintf("/proc/%d/task", j.cmd.Process.Pid)
	threads, _ := os.ReadDir(process)
	for _, th := range threads {
		b, _ := os.ReadFile(filepath.Join(process, th.Name(), "children"))
		for _, f := range strings.Fields(string(b)) {
			n, err := strconv.Atoi(f)
			require.NoError(j.t, err)
			found = append(found, n)
		}
	}
	return found
}

// kill kills the program, if it has not ended by then, after some time that is less
// than most. The command must have nothing to say.
func (j *job) kill(most time.Duration) result {
	j.t.Helper()
	if pid, ok := j.program(); ok {
		time.Sleep(rand.N(most))
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
	r := j.wait()
	r.calm(j.t)
	return r
}

// killed says whether the command has ended as a program that was killed: by the
// same signal, or with the status that a shell makes of it.
func (r result) killed() bool {
	return r.status.Signaled() && r.status.Signal() == syscall.SIGKILL || r.status.ExitStatus() == 128+int(syscall.SIGKILL)
}

// TestKill kills a program at any moment, from before it has opened a device to
// amid its traffic. That nothing is left in the machine, the command sees.
func TestKill(t *testing.T) {
	needPyverbs(t)
	times := 20
	if testing.Short() {
		times = 4
	}
	for range times {
		j := least().start(t, []string{"run", "--", python, script("churn.py")})
		if rand.IntN(4) != 0 {
			j.awaits("going\n")
		}
		r := j.kill(60 * time.Millisecond)
		require.True(t, r.killed(), "%s", r)
	}
}

// TestKillPingpong kills both ends of a ping-pong, on a server that goes on.
func TestKillPingpong(t *testing.T) {
	suite.Need(t, "ibv_rc_pingpong")
	times := 10
	if testing.Short() {
		times = 2
	}
	u := least()
	s := u.serve(t, filepath.Join(u.dir(t), "socket"))
	for i := range times {
		port := tcpport.Free(t)
		args := []string{"ibv_rc_pingpong", "-g", "1", "-n", "1000000", "-p", strconv.Itoa(port)}
		if i%2 == 1 {
			args = append(args, "-e")
		}
		server := u.start(t, s.attach(args...))
		awaitListener(t, port, server)
		client := u.start(t, s.attach(append(args, "localhost")...))
		r := client.kill(120 * time.Millisecond)
		require.True(t, r.killed(), "%s", r)
		server.kill(30 * time.Millisecond) // it may see that it is alone
	}
	rc := pingpong{prog: "rc", args: "-n 100 -c", iters: 100, bytes: 100 * 4096 * 2, qps: 1}
	rc.check(t, rc.pair().attached(t, u, s))
	s.end()
}

// TestNeighbours has a ping-pong run beside a program whose children crash and
// beside one that takes all it can get.
func TestNeighbours(t *testing.T) {
	needPyverbs(t)
	suite.Need(t, "ibv_rc_pingpong")
	u := least()
	s := u.serve(t, filepath.Join(u.dir(t), "socket"))
	for range 2 {
		more, end := io.Pipe()
		hog := u.start(t, s.attach(python, script("hog.py")), stdin(more))
		hog.awaits("full")
		crash := u.start(t, s.attach(python, script("crash.py"), "1.5"))
		for end := time.Now().Add(time.Second); time.Now().Before(end); {
			rc := pingpong{prog: "rc", args: "-n 200 -c -e", iters: 200, bytes: 200 * 4096 * 2, qps: 1}
			rc.check(t, rc.pair().attached(t, u, s))
		}
		require.Equal(t, "done\n", crash.wait().ok(t).stdout)
		require.NoError(t, end.Close())
		require.Contains(t, hog.wait().ok(t).stdout, "done\n")
	}
	s.end()
}
