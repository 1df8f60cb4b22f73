package live

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/interpose"
	"uverbsim/interpose/seccomp"
	"uverbsim/process"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/stub"
	"uverbsim/trace"
)

// adapter is a driver of package model whose device does its own work.
type adapter struct{ model.Stepper }

func (a adapter) Turn(t *trace.Task) bool  { return a.Step(t) }
func (adapter) Due() (time.Duration, bool) { return 0, false }

// stage is a machine with a Supervisor before it.
type stage struct {
	*model.Machine
	*interpose.Supervisor
	keeps bool // the driver has for ever what it refused to destroy when a file was closed

	mu      sync.Mutex
	reports []string
	results map[int]*result
}

// boot returns a machine for a case and all that want the same.
func boot(t *testing.T, c *casefile.Case) *stage {
	t.Helper()
	m, err := new(model.Model).Boot(c)
	require.NoError(t, err)
	s := &stage{Machine: m.(*model.Machine), results: map[int]*result{}, keeps: stub.Refuses(c.Device)}
	cfg := interpose.Config{Machine: s.Kernel, Report: s.report}
	if step, ok := s.Driver.(model.Stepper); ok {
		cfg.Adapters = []interpose.Adapter{adapter{step}}
	}
	s.Supervisor, err = interpose.New(cfg)
	require.NoError(t, err)
	return s
}

func (s *stage) report(line string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reports = append(s.reports, line)
}

// do does what a player asks for.
func (s *stage) do(q *request) (r reply) {
	r.ID = q.ID
	switch q.Op {
	case "result":
		s.mu.Lock()
		s.results[q.Result.Case] = q.Result
		s.mu.Unlock()
	case "whole":
		s.settle()
		if s.Driver.Device() == nil {
			r.fail(s.add())
		}
		if d := s.Driver.Device(); d != nil && d.Num != 0 {
			r.Other = fmt.Sprintf("the device is uverbs%d", d.Num)
		} else if d != nil {
			r.fail(s.Chmod(0o666))
		}
	case "remove":
		r.fail(s.remove())
	case "add":
		r.fail(s.add())
	case "netdev":
		r.fail(s.Netdev(q.Up))
	case "chmod":
		r.fail(s.Chmod(q.Mode))
	case "event":
		r.fail(s.Event(q.Object, q.Index, q.Type))
	case "hold":
		r.fail(s.Hold(q.Object))
	case "release":
		r.fail(s.Release())
	case "log":
		text, err := s.log()
		r.Text = text
		r.fail(err)
	default:
		r.Other = "no operation " + q.Op
	}
	return r
}

// log returns the driver's log when what was closed before is in it. One without an
// entry may be as it should, or wait for a close.
func (s *stage) log() (text string, err error) {
	for range 10 {
		time.Sleep(settling)
		if text, err = s.DriverLog(); text != "" || err != nil {
			break
		}
	}
	return text, err
}

// settling is how long after a close returned the machine may hear of it.
const settling = 30 * time.Millisecond

// settle waits until nothing is left of the case before, and forgets it.
func (s *stage) settle() {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if d := s.Driver.Device(); d == nil || d.OpenFiles() == 0 {
			break
		}
	}
	_, _ = s.DriverLog() // most drivers have none
}

// remove takes the device away, by the Supervisor that has to know.
func (s *stage) remove() error {
	dev := s.Driver.Device()
	if dev == nil {
		return nil
	}
	return s.Supervisor.Remove(dev, func(t *process.Task) error {
		s.Driver.Remove(t)
		return nil
	})
}

// add brings it back.
func (s *stage) add() error {
	if err := s.Machine.Add(); err != nil {
		return err
	}
	return s.Supervisor.Add(s.Driver.Device())
}

// attend serves the player's requests until it is gone. Some of them wait for
// others.
func (s *stage) attend(from io.Reader, to io.Writer) error {
	dec, enc := json.NewDecoder(from), json.NewEncoder(to)
	var mu sync.Mutex
	var doing sync.WaitGroup
	defer doing.Wait()
	for {
		q := new(request)
		if err := dec.Decode(q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		doing.Add(1)
		go func() {
			defer doing.Done()
			r := s.do(q)
			mu.Lock()
			defer mu.Unlock()
			if err := enc.Encode(r); err != nil && !errors.Is(err, syscall.EPIPE) { // it may be gone
				panic(fmt.Sprintf("the reply to request %d, %s, is lost: %v", q.ID, q.Op, err))
			}
		}()
	}
}

// play has a supervised player play those cases of a file.
func (s *stage) play(t *testing.T, o order) syscall.WaitStatus {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	theirIn, to, err := os.Pipe()
	require.NoError(t, err)
	from, theirOut, err := os.Pipe()
	require.NoError(t, err)
	attended := make(chan error, 1)
	go func() {
		if err := json.NewEncoder(to).Encode(o); err != nil {
			attended <- err
			return
		}
		attended <- s.attend(from, to)
	}()
	spec := seccomp.Spec{
		Command: []string{self, launchArg},
		Prog:    []string{self, playArg},
		Options: seccomp.Defaults(),
		Stdin:   theirIn,
		Stdout:  theirOut,
	}
	spec.Write = true
	status, err := s.Run(spec)
	theirIn.Close()
	theirOut.Close()
	require.NoError(t, <-attended)
	to.Close()
	from.Close()
	require.NoError(t, err)
	return status
}

// close ends the stage: nothing of the programs may be left.
func (s *stage) close(t *testing.T) {
	t.Helper()
	require.NoError(t, s.Close(), "the books")
	s.Driver.Remove(s.Kernel.NewProcess(process.Options{}).MainTask()) // with what the driver has made for itself
	s.Machine.Shutdown()
	if c, ok := s.Driver.(model.Counter); ok && !s.keeps {
		require.Empty(t, c.Counts(), "objects of the driver")
	}
	require.Empty(t, s.reports)
}

// group are cases that want the same machine.
type group struct {
	first *casefile.Case
	cases []int
}

func groups(t *testing.T, cases []*casefile.Case) []*group {
	t.Helper()
	var all []*group
	byWish := map[string]*group{}
	for i, c := range cases {
		if testing.Short() && i%shortSubset != 0 || !strings.HasPrefix(c.Name, *only) {
			continue
		}
		device, err := json.Marshal(c.Device)
		require.NoError(t, err)
		wish := strings.Join([]string{c.Driver, c.Kernel, string(device)}, "|")
		if strings.Contains(wish, "refuse") { // once
			wish += c.Name
		}
		g := byWish[wish]
		if g == nil {
			g = &group{first: c}
			byWish[wish] = g
			all = append(all, g)
		}
		g.cases = append(g.cases, i)
	}
	return all
}

var only = flag.String("only", "", "play the cases with this prefix alone")

// shortSubset is how many cases one that -short plays stands for.
const shortSubset = 8

// TestCorpus plays every recorded case on live processes.
func TestCorpus(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("the recorded processes have all capabilities: not root")
	}
	names, err := filepath.Glob("../corpus/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	for _, name := range names {
		file := strings.TrimSuffix(filepath.Base(name), ".jsonl")
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			cases, err := casefile.ReadFile(name)
			require.NoError(t, err)
			for _, g := range groups(t, cases) {
				s := boot(t, g.first)
				status := s.play(t, order{File: name, Cases: g.cases, Repeat: 2})
				for _, i := range g.cases {
					s.judge(t, file, cases[i], s.results[i])
				}
				require.Equal(t, syscall.WaitStatus(0), status, "killed by itself: a case does not come to its end")
				s.close(t)
			}
		})
	}
}

// judge holds a result to what is expected of the case.
func (s *stage) judge(t *testing.T, file string, c *casefile.Case, r *result) {
	t.Helper()
	e, excused := differs[file+"/"+c.Name]
	switch {
	case r == nil:
		t.Errorf("%s: not played", c.Name)
	case !excused && !r.Passed:
		t.Error(r.Text)
	case excused:
		if lack := e.lacks(r); lack != "" {
			t.Errorf("%s is excused (%s), but %s\n%s", c.Name, e.why, lack, r.Text)
		}
	}
}
