package recorded

import (
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/interpose"
	"uverbsim/interpose/seccomp"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/sim_test/clients/tcpport"
	"uverbsim/sim_test/clients/transcript"
)

// machine is a supervisor with the recorded device, whose programs' calls are taken
// down.
type machine struct {
	*interpose.Supervisor
	t    *testing.T
	tape transcript.Tape

	mu      sync.Mutex
	reports []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	k := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(k, mlx5.Config{Profile: hw.Recorded})
	require.NoError(t, err)
	m := &machine{t: t}
	m.Supervisor, err = interpose.New(interpose.Config{
		Machine: k, Adapters: []interpose.Adapter{dev}, Watch: &m.tape, Report: m.report,
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, m.Close(), "the books")
		require.Empty(t, m.reports)
	})
	return m
}

func (m *machine) report(line string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.reports = append(m.reports, line)
}

// program is one that runs, or ran.
type program struct {
	*machine
	line   string
	pid    int
	done   chan struct{}
	out    string // all that it has printed
	status syscall.WaitStatus
	err    error
}

// start starts a program.
func (m *machine) start(line string) *program {
	m.t.Helper()
	self, err := os.Executable()
	require.NoError(m.t, err)
	read, write, err := os.Pipe()
	require.NoError(m.t, err)
	started := make(chan int, 1)
	spec := seccomp.Spec{
		Command: []string{self, launchArgument}, Prog: strings.Fields(line), Options: seccomp.Defaults(),
		Stdout: write, Stderr: write,
		Env:     append(os.Environ(), "LC_ALL=C"),
		Started: func(pid int) { started <- pid },
	}
	p := &program{machine: m, line: line, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.status, p.err = m.Run(spec)
		write.Close()
		out, _ := io.ReadAll(read)
		read.Close()
		p.out = string(out)
	}()
	select {
	case p.pid = <-started:
		m.t.Cleanup(func() {
			select {
			case <-p.done:
			default:
				_ = syscall.Kill(p.pid, syscall.SIGKILL)
				<-p.done
			}
		})
	case <-p.done:
		m.t.Fatalf("%s: %v", line, p.err)
	}
	return p
}

// patience is how long a program may take.
const patience = time.Minute

// wait waits for the end and returns the exit status.
func (p *program) wait() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("%s does not end", p.line)
	}
	require.NoError(p.t, p.err, p.line)
	require.True(p.t, p.status.Exited(), "%s: %v", p.line, p.status)
	return p.status.ExitStatus()
}

// awaitListener returns when the program listens at a TCP port.
func (p *program) awaitListener(port int) {
	p.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if tcpport.Listens(port) {
			return
		}
		select {
		case <-p.done:
			p.t.Fatalf("%s ended early:\n%s", p.line, p.out)
		default:
		}
	}
	p.t.Fatalf("%s does not listen", p.line)
}
