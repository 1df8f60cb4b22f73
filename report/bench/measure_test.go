package bench

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func choose(t *testing.T, names ...string) []Call {
	t.Helper()
	calls, unknown := Choose(names)
	require.Empty(t, unknown)
	return calls
}

// two returns two machines of a driver.
func two(t *testing.T, driver string) (a, b *modelled) {
	t.Helper()
	for _, m := range []**modelled{&a, &b} {
		var done func()
		var err error
		*m, done, err = newModelled(driver)
		require.NoError(t, err)
		t.Cleanup(done)
	}
	return a, b
}

// TestMeasure: every call has its rounds on both sides and in the loop, and what it
// allocates is the model's.
func TestMeasure(t *testing.T) {
	model, node := two(t, "rxe")
	const rounds = 4
	var told []int
	o := Options{Calls: choose(t, "ioctl/query-port", "ioctl/pd"), Rounds: rounds, Time: 50 * time.Microsecond,
		Progress: func(done int) { told = append(told, done) }}
	results, err := Measure("rxe", drivers["rxe"], model, node, o)
	require.NoError(t, err)
	require.Len(t, results, 2)
	for i, r := range results {
		require.Equal(t, "rxe", r.Driver)
		require.Equal(t, o.Calls[i].Name, r.Call)
		for _, times := range []Times{r.Model, r.Node, r.Loop} {
			require.Len(t, times.Rounds, rounds)
			require.Positive(t, times.Least())
		}
	}
	require.Less(t, results[0].Allocs, 1.0, "QUERY_PORT allocates nothing; the race detector does, now and then")
	require.GreaterOrEqual(t, results[1].Allocs, 1.0, "a new object is an allocation")
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8}, told)
	require.Equal(t, o.Total(), told[len(told)-1])
	require.Positive(t, model.ioctls)
	require.Len(t, model.FDs(), 3, "what it opened is closed")
	require.Len(t, node.FDs(), 3)
}

// TestMeasureTellsThemApart: the side that takes longer is the one that is told to.
func TestMeasureTellsThemApart(t *testing.T) {
	model, node := two(t, "rxe")
	node.pace = func() { time.Sleep(20 * time.Microsecond) }
	o := Options{Calls: choose(t, "ioctl/refused-command"), Rounds: 3, Time: 100 * time.Microsecond}
	r, err := Measure("rxe", drivers["rxe"], model, node, o)
	require.NoError(t, err)
	require.Greater(t, r[0].Node.Least(), 20_000.0)
	require.Less(t, r[0].Model.Over(r[0].Node).OfLeast, 1.0)
}

// TestMeasureAlone: without a node there are no times of one.
func TestMeasureAlone(t *testing.T) {
	model, _ := two(t, "mlx5")
	r, err := Measure("mlx5", drivers["mlx5"], model, nil, Options{Calls: choose(t, "query-port"), Rounds: 2, Time: 50 * time.Microsecond})
	require.NoError(t, err)
	require.Empty(t, r[0].Node.Rounds)
	require.Zero(t, r[0].Model.Over(r[0].Node))
}

// TestWrongAnswers: what is answered otherwise than it should be is not measured.
func TestWrongAnswers(t *testing.T) {
	o := Options{Calls: choose(t, "ioctl/query-port"), Rounds: 2, Time: 50 * time.Microsecond}
	refused := func(error) error { return syscall.EIO }

	model, node := two(t, "rxe")
	node.answers = refused
	_, err := Measure("rxe", drivers["rxe"], model, node, o)
	require.ErrorIs(t, err, syscall.EIO)
	require.ErrorContains(t, err, "the node: GET_CONTEXT: step 0: refused")
	require.Len(t, node.FDs(), 3, "what was opened is closed")
	require.Len(t, model.FDs(), 3)

	model, node = two(t, "rxe")
	o.Progress = func(int) { node.answers = refused } // from the second round on
	_, err = Measure("rxe", drivers["rxe"], model, node, o)
	require.ErrorIs(t, err, errAnswer)
	require.ErrorContains(t, err, "ioctl/query-port: the node: ")
	o.Progress = nil

	model, node = two(t, "rxe")
	node.answers = func(err error) error {
		if errors.Is(err, syscall.ENOTTY) {
			return syscall.EINVAL // a refusal, but another one
		}
		return err
	}
	o.Calls = choose(t, "ioctl/refused-command")
	_, err = Measure("rxe", drivers["rxe"], model, node, o)
	require.ErrorContains(t, err, "the node: step 0: answered with invalid argument instead of inappropriate ioctl")

	_, err = Measure("rxe", drivers["rxe"], closed{model}, nil, o)
	require.ErrorContains(t, err, "the model: opening the device: permission denied")
	_, err = Measure("mlx5", drivers["mlx5"], model, nil, o)
	require.ErrorContains(t, err, "the model: GET_CONTEXT", "the device is another driver's")
}

// TestLoop: the loop sums up what it decodes, and its amount of work is fixed.
func TestLoop(t *testing.T) {
	l := newLoop()
	l.repeat(3)
	require.EqualValues(t, 3*(0+1+2+3+4+5+6+7+8+9), l.sum)
	require.Zero(t, l.refs.Load())
	require.Zero(t, testing.AllocsPerRun(10, l.once))
}
