package bench

import "slices"

// Times are the nanoseconds of one call, round by round.
type Times struct{ Rounds []float64 }

// Least is the round that was disturbed least; Median is the one in the middle, or
// the mean of the two. Both are 0 without rounds.
func (t Times) Least() float64 {
	if len(t.Rounds) == 0 {
		return 0
	}
	return slices.Min(t.Rounds)
}

// Median is described with Least.
func (t Times) Median() float64 { return median(t.Rounds) }

func median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return 0
	}
	v := slices.Sorted(slices.Values(values))
	return (v[(n-1)/2] + v[n/2]) / 2
}

// Ratio is how many times another time one is.
type Ratio struct {
	OfLeast float64 // the least of the one to the least of the other, of all rounds
	Median  float64 // of the ratios of the rounds, each of two turns beside each other
	Low     float64 // the least of those ratios
	High    float64 // the most
}

// Over returns the ratio of times to others of the same rounds. It is zero if there
// are none.
func (t Times) Over(o Times) Ratio {
	if len(t.Rounds) == 0 || len(t.Rounds) != len(o.Rounds) {
		return Ratio{}
	}
	ratios := make([]float64, len(t.Rounds))
	for i := range ratios {
		ratios[i] = t.Rounds[i] / o.Rounds[i]
	}
	return Ratio{OfLeast: t.Least() / o.Least(), Median: median(ratios), Low: slices.Min(ratios), High: slices.Max(ratios)}
}
