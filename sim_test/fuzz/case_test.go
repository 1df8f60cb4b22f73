package fuzz

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/sim_test/watchdog"
)

// A case that is played is bounded, so that each execution is short.
const (
	mostSteps  = 64
	mostMemory = 1 << 20
)

// FuzzCase reads a line as a case and plays it, twice. Whatever it says, it is played
// or there is a reason why not, both times the same; and the books are as before when
// all is closed.
func FuzzCase(f *testing.F) {
	if !worker() {
		for _, driver := range []string{"rxe", "mlx5", "stub"} {
			for _, c := range showcase(f, driver) {
				if b, err := c.Marshal(); err == nil && len(b) < 8192 {
					f.Add(b)
				}
			}
		}
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		watchdog.On(t)
		c, err := casefile.Unmarshal(line)
		if err != nil || !playable(c) {
			return
		}
		first, timing := played(t, c)
		second, _ := played(t, c)
		if timing {
			return
		}
		require.Equal(t, first.Err == nil, second.Err == nil, "%v, and %v", first.Err, second.Err)
		require.Len(t, second.Steps, len(first.Steps))
		for i := range first.Steps {
			require.Empty(t, casefile.Compare(first.Steps[i].Got, second.Steps[i].Got), "step %d (%s)", i, c.Steps[i].Op())
			require.Equal(t, first.Steps[i].Refused, second.Steps[i].Refused)
		}
	})
}

// playable makes a case one whose playing comes to an end at once, and says whether
// that can be.
func playable(c *casefile.Case) bool {
	c.Repeat = 1
	memory := 0
	for _, b := range c.Bufs {
		memory += b.Len
	}
	if memory > mostMemory || len(c.Steps) > mostSteps {
		return false
	}
	for i := range c.Steps {
		s := &c.Steps[i]
		if s.Bg != "" {
			return false
		}
		switch a := s.Do.(type) {
		case *casefile.Par, *casefile.Sleep, *casefile.Join, *casefile.Hold:
			return false
		case *casefile.Remove:
			if c.Driver == "rxe" || c.Device != nil {
				return false // it may wait for files that are open
			}
		case *casefile.ReadEvent:
			a.Nonblock = true
		case *casefile.Poll:
			a.Timeout = 0
		case *casefile.Mmap:
			memory += a.Len
		case *casefile.Remap:
			memory += a.Len
		case *casefile.Peek:
			memory += a.Len
		}
	}
	return memory <= mostMemory
}

// played plays a case, and says whether its answers are a matter of time.
func played(t *testing.T, c *casefile.Case) (r *player.Result, timing bool) {
	var before, after *model.Books
	r = player.Play(new(model.Model), c, player.Options{
		Timeout: watchdog.Patience / 2,
		Booted:  func(m player.Machine) { before = books(m.(*model.Machine)) },
		After:   func(m player.Machine, _ int, _ *player.StepResult) { timing = timing || busy(m.(*model.Machine)) },
		Ended:   func(m player.Machine) { after = books(m.(*model.Machine)) },
	})
	if errors.Is(r.Err, player.ErrPanic) || errors.Is(r.Err, player.ErrStuck) {
		t.Fatal(r.Err)
	}
	if before != nil && !reflect.DeepEqual(before, after) {
		t.Fatalf("the books at the start (-) and when all is closed (+):\n%s", cmp.Diff(before, after))
	}
	return r, timing
}

// TestPlayable: of the recorded cases most can be played by FuzzCase.
func TestPlayable(t *testing.T) {
	n, all := 0, 0
	for _, driver := range []string{"rxe", "mlx5", "stub"} {
		for _, c := range showcase(t, driver) {
			b, err := c.Marshal()
			require.NoError(t, err)
			again, err := casefile.Unmarshal(bytes.Clone(b))
			require.NoError(t, err)
			if all++; playable(again) {
				n++
			}
		}
	}
	require.Greater(t, n, all*3/4, "%d of %d", n, all)
}
