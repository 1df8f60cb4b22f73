package recorded

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/interpose"
	"uverbsim/interpose/seccomp"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/sim_test/clients/transcript"
)

const launchArgument = "__launch"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launchArgument {
		os.Exit(seccomp.Main(os.Args[2:]))
	}
	os.Exit(m.Run())
}

func need(t *testing.T, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			if os.Getenv("CI") == "true" {
				t.Fatalf("%s is not installed", p)
			}
			t.Skipf("%s is not installed", p)
		}
	}
}

type machine struct {
	*interpose.Supervisor
	tape transcript.Tape
	mu   sync.Mutex
	said []string
}

func newMachine(t *testing.T) *machine {
	m := &machine{}
	k := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(k, mlx5.Config{})
	require.NoError(t, err)
	m.Supervisor, err = interpose.New(interpose.Config{Machine: k, Adapters: []interpose.Adapter{dev}, Watch: &m.tape, Report: func(s string) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.said = append(m.said, s)
	}})
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, m.Close(), "the books")
		require.Empty(t, m.said)
	})
	return m
}

type job struct {
	pid  int
	out  string
	done chan struct{}
	err  error
	st   syscall.WaitStatus
}

func (m *machine) start(t *testing.T, line string) *job {
	self, err := os.Executable()
	require.NoError(t, err)
	r, w, err := os.Pipe()
	require.NoError(t, err)
	j := &job{done: make(chan struct{})}
	started := make(chan int, 1)
	sp := seccomp.Spec{Command: []string{self, launchArgument}, Prog: strings.Fields(line), Options: seccomp.Defaults(), Stdout: w, Stderr: w,
		Started: func(pid int) { started <- pid }}
	go func() {
		defer close(j.done)
		j.st, j.err = m.Run(sp)
		w.Close()
		b, _ := io.ReadAll(r)
		j.out = string(b)
	}()
	select {
	case j.pid = <-started:
	case <-j.done:
	}
	return j
}

func listens(port int) bool {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		b, _ := os.ReadFile(name)
		if regexp.MustCompile(fmt.Sprintf(`(?m)^ *\d+: [0-9A-F]+:%04X \S+ 0A`, port)).Match(b) {
			return true
		}
	}
	return false
}

func TestX(t *testing.T) {
	programs, err := transcript.Recorded()
	require.NoError(t, err)
	m := newMachine(t)
	port := 23456
	for _, p := range programs {
		var c *job
		if strings.HasPrefix(p.Name, "ibv_devinfo") {
			c = m.start(t, p.Name)
			<-c.done
		} else {
			port++
			line := p.Name + " -p " + strconv.Itoa(port)
			s := m.start(t, line)
			for !listens(port) {
				time.Sleep(5 * time.Millisecond)
			}
			c = m.start(t, line+" 127.0.0.1")
			<-c.done
			<-s.done
		}
		fmt.Println(p.Name, c.err, c.st)
		for _, d := range transcript.Compare(p.Calls, m.tape.Calls(c.pid), transcript.Options{}) {
			fmt.Println("  ", d)
		}
		if got := strings.TrimSuffix(c.out, "\n"); got != strings.Join(p.Output, "\n") {
			os.WriteFile(filepath.Join(os.TempDir(), strings.ReplaceAll(p.Name, " ", "_")), []byte(c.out), 0o644)
		}
	}
}
