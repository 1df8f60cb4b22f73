package sim_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/trace"
)

// breaker counts the steps that can fail and makes one of them fail.
type breaker struct {
	victim int64 // from 1; 0 lets all succeed
	count  atomic.Int64
	what   atomic.Value
	off    atomic.Bool
}

func (*breaker) Event(*trace.Task, *trace.Event) {}

// Fail implements trace.Injector.
func (b *breaker) Fail(_ *trace.Task, _ trace.Step, what string) bool {
	if b.off.Load() || b.count.Add(1) != b.victim {
		return false
	}
	b.what.Store(what)
	return true
}

// faultCases are lives that touch what this test is to see fail: contexts,
// PDs, channels, CQs, MRs, event files, by ioctl and by write().
func faultCases(t *testing.T) []*casefile.Case {
	t.Helper()
	var cases []*casefile.Case
	add := func(path string, prefixes ...string) {
		f, err := os.Open(path)
		require.NoError(t, err)
		defer f.Close()
		for c, err := range casefile.Read(f, path) {
			require.NoError(t, err)
			for _, p := range prefixes {
				if strings.HasPrefix(c.Name, p) {
					cases = append(cases, c)
					break
				}
			}
		}
	}
	add(filepath.Join(ftraceDir, "cases.jsonl"), "")
	add("corpus/linux-6.12-rxe.jsonl", "fd/", "write/create-cq", "write/comp-channel", "invoke/create-cq")
	add("corpus/linux-6.12-mlx5.jsonl", "mlx5/cq/ok", "mlx5/uar/alloc", "mlx5/resize/ok", "mlx5/uar/cq-on-it")
	return cases
}

// TestEveryStepFails plays each case once for each step in it that can fail,
// with that step failing. Whatever the calls then answer, nothing may panic or
// hang, and once all is closed the machine's books are as they were at the
// start.
func TestEveryStepFails(t *testing.T) {
	total := 0
	for _, c := range faultCases(t) {
		t.Run(c.Name, func(t *testing.T) {
			steps := playBroken(t, c, 0)
			require.Positive(t, steps)
			for n := int64(1); n <= steps; n++ {
				playBroken(t, c, n)
			}
			total += int(steps)
		})
	}
	t.Logf("%d steps failed, one at a time", total)
}

// playBroken plays the case with step n failing and returns how many steps
// there were.
func playBroken(t *testing.T, c *casefile.Case, n int64) int64 {
	t.Helper()
	b := &breaker{victim: n}
	b.off.Store(true)
	target := &model.Model{Trace: func(*casefile.Case) trace.Sink { return b }}
	var before, after *model.Books
	r := player.Play(target, c, player.Options{
		Booted: func(m player.Machine) { before = m.(*model.Machine).Books(); b.off.Store(false) },
		Ended:  func(m player.Machine) { after = m.(*model.Machine).Books() },
	})
	what := fmt.Sprintf("step %d, %v", n, b.what.Load())
	if r.Err != nil {
		// A call that failed has made no handle for the later steps.
		require.NotErrorIsf(t, r.Err, player.ErrStuck, what)
		require.NotErrorIsf(t, r.Err, player.ErrPanic, what)
	}
	require.NotNil(t, after, what)
	before.Processes, after.Processes = nil, nil
	// A completion vector's event queue is made with its first CQ and stays.
	delete(before.Hardware, "eq")
	delete(after.Hardware, "eq")
	if name, _ := b.what.Load().(string); strings.HasPrefix(name, "DEALLOC_") {
		// The driver drops what the device would not free, and the device
		// keeps its number for ever.
		before.Hardware, after.Hardware = nil, nil
	}
	if d := cmp.Diff(before, after); d != "" {
		t.Errorf("%s: the books at the start (-) and when all is closed (+):\n%s", what, d)
	}
	return b.count.Load()
}
