package clients

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/clients/tcpport"
	"uverbsim/sim_test/suite"
)

// pair is two programs of which one waits for the other at a TCP port.
type pair struct {
	flags  []string // of the command that makes the machine
	server string
	client string // and the server's host
	port   string // the flag that says which TCP port
}

// sides are what the two of a pair have printed.
type sides struct{ server, client string }

// oneTree runs both programs under one command.
func (p pair) oneTree(t *testing.T, u user) sides {
	t.Helper()
	port := tcpport.Free(t)
	dir := u.dir(t)
	at := fmt.Sprintf(" %s %d", p.port, port)
	args := append(append([]string{"run"}, p.flags...), "--", "sh", script("both.sh"), strconv.Itoa(port), dir, p.server+at, p.client+at+" localhost")
	r := u.run(t, args)
	server, err := os.ReadFile(filepath.Join(dir, "server"))
	require.NoError(t, err)
	require.True(t, r.status.Exited() && r.status.ExitStatus() == 0, "%s\n--- server\n%s", r, server)
	r.calm(t)
	return sides{string(server), r.stdout}
}

// twoTrees runs each program under a command of its own; they meet on a server.
func (p pair) twoTrees(t *testing.T, u user) sides {
	t.Helper()
	socket := filepath.Join(u.dir(t), "socket")
	s := u.serve(t, socket, p.flags...)
	both := p.attached(t, u, s)
	s.end()
	return both
}

// attached runs each program under a command of its own on a server that is there.
func (p pair) attached(t *testing.T, u user, s *served) sides {
	t.Helper()
	port := tcpport.Free(t)
	attach := func(prog string) []string {
		return s.attach(strings.Fields(fmt.Sprintf("%s %s %d", prog, p.port, port))...)
	}
	server := u.start(t, attach(p.server))
	awaitListener(t, port, server)
	client := u.run(t, append(attach(p.client), "localhost")).ok(t)
	return sides{server.wait().ok(t).stdout, client.stdout}
}

// pingpong is a run of one of the ibv_*_pingpong programs.
type pingpong struct {
	name string
	prog string
	args string
	// What both sides must have sent and received in all, iterations and sizes of
	// which the arguments say; 0 for a program that does not say it.
	iters, bytes int
	qps          int
}

// pingpongs are what the programs do by themselves, polling and with events.
var pingpongs = []pingpong{
	{"rc", "rc", "-n 200 -c", 200, 200 * 4096 * 2, 1},
	{"rc events", "rc", "-n 200 -c -e", 200, 200 * 4096 * 2, 1},
	{"uc", "uc", "-n 200 -c", 200, 200 * 4096 * 2, 1},
	{"uc events", "uc", "-n 200 -c -e", 200, 200 * 4096 * 2, 1},
	{"ud", "ud", "-n 200 -c -s 1024", 200, 200 * 1024 * 2, 1},
	{"ud events", "ud", "-n 200 -c -e -s 1024", 200, 200 * 1024 * 2, 1},
	{"srq", "srq", "-n 200 -c", 200, 200 * 4096 * 2, 16},
	{"srq events", "srq", "-n 200 -c -e", 200, 200 * 4096 * 2, 16},
	{"xsrq", "xsrq", "-n 50", 0, 0, 1},
	{"xsrq events", "xsrq", "-n 50 -e", 0, 0, 1},
}

// pingpongVariants are what they can be told to do. That -t and -e exclude each
// other is the program's fault: it takes an event with nothing left to poll for an
// error.
var pingpongVariants = []pingpong{
	{"rc large", "rc", "-n 20 -c -s 300000 -m 4096 -r 20", 20, 20 * 300000 * 2, 1},
	{"rc small", "rc", "-n 100 -c -s 1", 100, 100 * 2, 1},
	{"rc timestamps", "rc", "-n 100 -c -t", 100, 100 * 4096 * 2, 1},
	{"rc ODP", "rc", "-n 100 -c -o", 100, 100 * 4096 * 2, 1},
	{"rc implicit ODP", "rc", "-n 100 -c -O", 100, 100 * 4096 * 2, 1},
	{"rc prefetched", "rc", "-n 100 -c -o -P", 100, 100 * 4096 * 2, 1},
	{"rc device memory", "rc", "-n 100 -c -j", 100, 100 * 4096 * 2, 1},
	{"rc new post send", "rc", "-n 100 -c -N", 100, 100 * 4096 * 2, 1},
	{"rc link-local GID", "rc", "-n 100 -c -g 0", 100, 100 * 4096 * 2, 1},
	{"srq ODP", "srq", "-n 200 -c -o -q 4", 200, 200 * 4096 * 2, 4},
	{"xsrq ODP", "xsrq", "-n 50 -o", 0, 0, 1},
}

// TestPingpong has both ends in one tree of processes; the content is checked where
// the program can (-c).
func TestPingpong(t *testing.T) {
	for _, p := range pingpongs {
		t.Run(p.name, func(t *testing.T) {
			suite.Need(t, p.program())
			users(t, func(t *testing.T, u user) { p.check(t, p.pair().oneTree(t, u)) })
		})
	}
}

// TestPingpongVariants is for who has the fewest rights.
func TestPingpongVariants(t *testing.T) {
	suite.Long(t)
	for _, p := range pingpongVariants {
		t.Run(p.name, func(t *testing.T) {
			suite.Need(t, p.program())
			p.check(t, p.pair().oneTree(t, least()))
		})
	}
}

// TestPingpongServed has the two ends in two trees of processes.
func TestPingpongServed(t *testing.T) {
	for _, p := range pingpongs {
		t.Run(p.name, func(t *testing.T) {
			suite.Need(t, p.program())
			if p.prog != "rc" {
				suite.Long(t)
			}
			p.check(t, p.pair().twoTrees(t, least()))
		})
	}
}

func (p pingpong) program() string { return "ibv_" + p.prog + "_pingpong" }

func (p pingpong) pair() pair {
	args := p.program() + " " + p.args
	if !strings.Contains(args, "-g ") {
		args += " -g 1"
	}
	return pair{server: args, client: args, port: "-p"}
}

var (
	addressLine = regexp.MustCompile(`(?m)^ *(local|remote) address: +LID 0x0000, QPN (0x[0-9a-f]{6}), PSN (0x[0-9a-f]{6})[,:] GID (\S+)$`)
	bytesLine   = regexp.MustCompile(`(?m)^(\d+) bytes in [0-9.]+ seconds = [0-9.]+ Mbit/sec$`)
	itersLine   = regexp.MustCompile(`(?m)^(\d+) iters in [0-9.]+ seconds = [0-9.]+ usec/iter$`)
	xrcLine     = regexp.MustCompile(`(?m)^ *(local|remote): LID 0000, QPN RECV ([0-9a-f]{6}) SEND ([0-9a-f]{6}), PSN ([0-9a-f]{6}), SRQN ([0-9a-f]{6}), GID (\S+)$`)
)

// check compares what the two sides say of themselves and of each other.
func (p pingpong) check(t *testing.T, s sides) {
	t.Helper()
	for _, out := range []string{s.server, s.client} {
		require.NotContains(t, out, "invalid data", out)
	}
	line := addressLine
	if p.prog == "xsrq" {
		line = xrcLine
		require.Contains(t, s.server, "success")
		require.Contains(t, s.client, "success")
	}
	server, client := addresses(line, s.server), addresses(line, s.client)
	require.Len(t, server["local"], p.qps, s.server)
	require.Equal(t, server["local"], client["remote"])
	require.Equal(t, client["local"], server["remote"])
	seen := map[string]bool{}
	for _, side := range []map[string][][]string{server, client} {
		for _, a := range side["local"] {
			require.False(t, seen[a[0]], "queue pair %s twice", a[0])
			seen[a[0]] = true
			gid := "::ffff:192.0.2.1"
			if strings.Contains(p.args, "-g 0") {
				gid = "fe80::5eff:fe00:5310"
			}
			require.Equal(t, gid, a[len(a)-1])
		}
	}
	if p.iters == 0 {
		return
	}
	for _, out := range []string{s.server, s.client} {
		m := bytesLine.FindStringSubmatch(out)
		require.NotNil(t, m, out)
		require.Equal(t, strconv.Itoa(p.bytes), m[1])
		m = itersLine.FindStringSubmatch(out)
		require.NotNil(t, m, out)
		require.Equal(t, strconv.Itoa(p.iters), m[1])
	}
}

// addresses returns the queue pairs, by whose they are said to be.
func addresses(line *regexp.Regexp, out string) map[string][][]string {
	found := map[string][][]string{}
	for _, m := range line.FindAllStringSubmatch(out, -1) {
		found[m[1]] = append(found[m[1]], m[2:])
	}
	return found
}
