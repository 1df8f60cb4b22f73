package recorded

import (
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/clients/tcpport"
	"uverbsim/sim_test/clients/transcript"
	"uverbsim/sim_test/suite"
)

// TestRecorded runs the programs of the transcript.
func TestRecorded(t *testing.T) {
	programs, err := transcript.Recorded()
	require.NoError(t, err)
	for i := range programs {
		suite.Need(t, strings.Fields(programs[i].Name)[0])
	}
	m := newMachine(t)
	for i := range programs {
		want := &programs[i]
		if strings.Contains(want.Name, "-n 1000") && testing.Short() {
			continue // long, and nothing but what it prints
		}
		got := m.play(want.Name)
		require.Equal(t, printed(want.Output), printed(got.Output), want.Name)
		if len(want.Calls) == 0 {
			continue // they were not recorded
		}
		require.Empty(t, compare(want, got), want.Name)
	}
}

// compare returns the differences, a line each.
func compare(want, got *transcript.Program) (lines []string) {
	var options transcript.Options
	if most := mostEvents(want.Name); most > 0 {
		options.Ignore = []transcript.Kind{transcript.Traffic}
		if n := events(got); n < 1 || n > most {
			lines = append(lines, fmt.Sprintf("%d events for %d completions", n, most))
		}
	}
	for _, d := range transcript.Compare(want.Calls, got.Calls, options) {
		lines = append(lines, d.String())
	}
	return lines
}

// mostEvents returns how many completion events a program can read at most; 0 for one
// that asks for none, whose every answer is the same.
func mostEvents(name string) uint32 {
	if !slices.Contains(strings.Fields(name), "-e") {
		return 0
	}
	var messages uint32
	if _, after, ok := strings.Cut(name, " -n "); ok {
		_, _ = fmt.Sscan(after, &messages)
	}
	return 2 * messages // sent and received
}

// events returns how many completion events the program has read, as the end of its
// completion queue says.
func events(p *transcript.Program) uint32 {
	for i := range p.Calls {
		if p.Calls[i].String() == "UVERBS_METHOD_CQ_DESTROY" {
			return binary.LittleEndian.Uint32(p.Calls[i].Ioctl.Attrs[0].After.Bytes)
		}
	}
	return 0
}

// play runs a program as the transcript's was run: a ping-pong has a server that waits
// for it, and ends with a line of their statuses.
func (m *machine) play(name string) *transcript.Program {
	m.t.Helper()
	if !strings.Contains(name, "pingpong") {
		p := m.start(name)
		require.Zero(m.t, p.wait(), "%s\n%s", name, p.out)
		return &transcript.Program{Name: name, Calls: m.tape.Calls(p.pid), Output: strings.Split(strings.TrimSuffix(p.out, "\n"), "\n")}
	}
	port := tcpport.Free(m.t)
	line := fmt.Sprintf("%s -p %d", name, port) // that the recording left at its default
	server := m.start(line)
	server.awaitListener(port)
	client := m.start(line + " 127.0.0.1")
	out := fmt.Sprintf("%sclient %d server %d", client.await(), client.wait(), server.wait())
	return &transcript.Program{Name: name, Calls: m.tape.Calls(client.pid), Output: strings.Split(out, "\n")}
}

// await waits for the end and returns what was printed.
func (p *program) await() string {
	p.t.Helper()
	p.wait()
	return p.out
}

var (
	psn   = regexp.MustCompile(`PSN 0x[0-9a-f]{6}`)
	speed = regexp.MustCompile(`in [0-9.]+ seconds = [0-9.]+ (Mbit/sec|usec/iter)`)
)

// printed returns what was printed without what is never the same.
func printed(lines []string) string {
	text := strings.Join(lines, "\n")
	return speed.ReplaceAllString(psn.ReplaceAllString(text, "PSN *"), "in * seconds = * $1")
}

// TestRecordedAsNobody is TestRecorded in a process without any capability, but for
// the program that takes long.
func TestRecordedAsNobody(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user; TestRecorded has no more rights")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	image, err := os.ReadFile(self)
	require.NoError(t, err)
	dir, err := os.MkdirTemp("", "recorded-") // t.TempDir's are for root
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	program := filepath.Join(dir, "recorded.test")
	require.NoError(t, os.WriteFile(program, image, 0o755))

	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-test.run=^TestRecorded$", "-test.v", "-test.short")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "HOME=/", "TMPDIR=/tmp")
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	if strings.Contains(string(out), "--- SKIP") {
		t.Skipf("%s", out)
	}
	require.Contains(t, string(out), "--- PASS: TestRecorded ")
}
