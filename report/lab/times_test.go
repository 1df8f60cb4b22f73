package lab

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestTimes measures once, as little as possible: what comes out is whole, and its
// parts fit together.
func TestTimes(t *testing.T) {
	for i := range Experiments {
		e := &Experiments[i]
		t.Run(e.Name, func(t *testing.T) {
			r, err := e.Run(Options{N: 2, Rounds: 1})
			require.NoError(t, err)
			require.Equal(t, e.Name, r.Experiment)
			require.NotEmpty(t, r.Times)
			require.NotEmpty(t, r.Found)
			require.NotEmpty(t, r.Kernel)
			for _, table := range r.Times {
				for _, row := range table.Rows {
					first, ok := row.Values[0].(float64)
					require.True(t, ok)
					require.Positive(t, first, row.Name)
				}
			}
			for _, c := range []*Chart{r.CountsChart, r.TimesChart} {
				require.NotEmpty(t, c.Series)
				for _, s := range c.Series {
					require.Len(t, s.Values, len(c.Categories), s.Name)
				}
			}
			var counts, times, text, js bytes.Buffer
			require.NoError(t, SVG(&times, r))
			r.TimesChart = nil
			require.NoError(t, SVG(&counts, r))
			require.NotEqual(t, counts.String(), times.String())
			require.NoError(t, Text(&text, r))
			require.NoError(t, JSON(&js, r))
		})
	}
}

// TestBatchEstimate: the columns of the times are what they are called.
func TestBatchEstimate(t *testing.T) {
	r, err := Experiments[0].Run(Options{N: 8, Rounds: 1})
	require.NoError(t, err)
	require.Positive(t, r.Crossing.Nanoseconds)
	var alone, single float64
	for i, row := range r.Times[0].Rows {
		work, cross, estimate, saved := row.Values[0].(float64), row.Values[1].(float64), row.Values[2].(float64), row.Values[3].(float64)
		calls, crossings := r.Counts[0].Rows[i].Values[0].(int), r.Counts[0].Rows[i].Values[1].(int)
		require.Equal(t, r.Counts[0].Rows[i].Name, row.Name)
		require.InDelta(t, r.Crossing.Nanoseconds*float64(crossings)/float64(calls), cross, 1e-6)
		require.InDelta(t, work+cross, estimate, 1e-6)
		if crossings == calls && row.Values[3].(float64) == 0 {
			alone, single = work, estimate
		}
		require.InDelta(t, 100*(1-estimate/single), saved, 1e-6)
		if c, ok := row.Values[4].(float64); ok && c > 0 { // with a crossing of that cost the way saves 40 %
			share := float64(crossings) / float64(calls)
			require.InDelta(t, 0.6*(alone+c), work+share*c, 1e-6)
		}
	}
}

// TestGivenCrossing: the estimate is made with what was given.
func TestGivenCrossing(t *testing.T) {
	r, err := Experiments[0].Run(Options{N: 2, Rounds: 1, Crossing: time.Second})
	require.NoError(t, err)
	require.Equal(t, Crossing{1e9, crossingGiven}, *r.Crossing)
	first, last := r.Times[0].Rows[0], r.Times[0].Rows[2]
	require.Equal(t, 1e9, first.Values[1])
	require.Equal(t, 5e8, last.Values[1], "two calls share one")
	require.InDelta(t, 50, last.Values[3], 1, "the work is nothing beside it")
	_, err = Experiments[0].Run(Options{N: 2, Crossing: -1})
	require.ErrorContains(t, err, "-1ns")
}

// TestMeasureTakesTurns: every variant runs in every round, as often as it was
// found that it should, and the median is the middle one.
func TestMeasureTakesTurns(t *testing.T) {
	var runs [2]int
	ns, noise, err := measure(3,
		func() error { runs[0]++; time.Sleep(roundTime); return nil },
		func() error { runs[1]++; time.Sleep(3 * roundTime); return nil })
	require.NoError(t, err)
	require.Equal(t, [2]int{2 * (5 + 3), 2 * (5 + 3)}, runs, "five times to find out how often, then in three rounds, each with a warm-up")
	require.GreaterOrEqual(t, ns[0], float64(roundTime))
	require.GreaterOrEqual(t, ns[1], 3*float64(roundTime))
	require.GreaterOrEqual(t, noise, 0.0)
	require.Equal(t, 3*time.Second, median([]time.Duration{9 * time.Second, time.Second, 3 * time.Second}))
}

// TestNoise: the medians of the rounds 0, 2, 4 and of 1, 3, 5 are compared.
func TestNoise(t *testing.T) {
	v := variant{took: []time.Duration{100, 125, 90, 120, 999, 130}}
	require.InDelta(t, 25, v.noise(), 1e-9)
	require.Equal(t, []time.Duration{100, 125, 90, 120, 999, 130}, v.took)
	require.Zero(t, (&variant{took: []time.Duration{5}}).noise(), "one round tells nothing")
	require.Contains(t, noiseNote(2.34), "less than 2.3 %")
}

// TestTicks: the numbers at an axis are round, few, and begin with 0.
func TestTicks(t *testing.T) {
	for _, tt := range []struct {
		max  float64
		want []string
	}{
		{23, []string{"0", "5", "10", "15", "20"}}, {128, []string{"0", "20", "40", "60", "80", "100", "120"}},
		{0.9, []string{"0", "0.2", "0.4", "0.6", "0.8"}}, {6500, []string{"0", "1000", "2000", "3000", "4000", "5000", "6000"}},
		{1.28, []string{"0", "0.2", "0.4", "0.6", "0.8", "1", "1.2"}}, {0, nil},
	} {
		var got []string
		for _, tick := range ticks(0, tt.max) {
			got = append(got, tick.Label)
		}
		require.Equal(t, tt.want, got)
	}
}

func TestAllocsCounts(t *testing.T) {
	var sink []byte
	n, size, err := allocs(func() error { sink = make([]byte, 1024); return nil })
	require.NoError(t, err)
	require.NotNil(t, sink)
	require.InDelta(t, 1, n, 0.5)
	require.InDelta(t, 1024, size, 300)
}
