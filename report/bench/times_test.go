package bench

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLeastAndMedian(t *testing.T) {
	for _, c := range []struct {
		rounds        []float64
		least, median float64
	}{
		{nil, 0, 0},
		{[]float64{7}, 7, 7},
		{[]float64{9, 3}, 3, 6},
		{[]float64{5, 1, 100}, 1, 5},
		{[]float64{4, 8, 2, 6}, 2, 5},
	} {
		times := Times{c.rounds}
		before := append([]float64(nil), c.rounds...)
		require.Equal(t, c.least, times.Least(), "%v", c.rounds)
		require.Equal(t, c.median, times.Median(), "%v", c.rounds)
		require.Equal(t, before, c.rounds, "the rounds keep their order, which pairs them with others'")
	}
}

// TestRatio: a round that is slow for both is slow for neither beside the other.
func TestRatio(t *testing.T) {
	model, node := Times{[]float64{10, 100, 30}}, Times{[]float64{20, 200, 40}}
	require.Equal(t, Ratio{OfLeast: 0.5, Median: 0.5, Low: 0.5, High: 0.75}, model.Over(node))
	require.Equal(t, Ratio{}, model.Over(Times{}), "there is no node")
	require.Equal(t, Ratio{}, model.Over(Times{[]float64{1}}), "those are not the same rounds")
}
