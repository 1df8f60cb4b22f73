package interleave

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/suite"
)

// random carries out an interleaving that is chosen at random: at each operation who
// goes on, or, if it is to keep on, in one of four who is chosen anew.
func random(p Program, rng *rand.Rand, keep bool) (outcome, order string, err error) {
	r := &run{}
	r.choose = func(r *run, enabled []bool) int {
		if keep && rng.IntN(4) > 0 {
			return keepOn(r, enabled)
		}
		var can []int
		for i, ok := range enabled {
			if ok {
				can = append(can, i)
			}
		}
		return can[rng.IntN(len(can))]
	}
	x := r.execute(p)
	return x.outcome, schedule(r.events), x.err
}

// TestRandom: interleavings that are chosen at random, without any of what the
// reduction leaves out, have no outcome that was not explored.
func TestRandom(t *testing.T) {
	n, schedules := 300/suite.Share(30), 0
	for i, p := range pairs {
		t.Run(p.name, func(t *testing.T) {
			all := p.explored(t).Outcomes
			prog := p.program(t)
			rng := rand.New(rand.NewPCG(uint64(i), 13))
			met := map[string]bool{}
			for k := range n {
				outcome, order, err := random(prog, rng, k%2 == 1)
				require.NoError(t, err, p.again(order))
				require.Contains(t, all, outcome, p.again(order))
				met[outcome] = true
			}
			schedules += n
			t.Logf("%d random schedules, %d of %d outcomes met", n, len(met), len(all))
		})
	}
	t.Logf("%d random schedules", schedules)
}
