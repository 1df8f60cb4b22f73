package shrink

import (
	"fmt"
	"slices"

	"uverbsim/casefile"
)

// Oracle says of each case whether it shows what is looked for. One that cannot
// be played does not.
type Oracle func(cases []*casefile.Case) ([]bool, error)

// Case returns a case that shows what c shows and is as small as it gets: no
// single thing in it can be left out or made plainer. It fails if c itself
// shows nothing.
func Case(c *casefile.Case, oracle Oracle) (*casefile.Case, error) {
	c, err := plain(c)
	if err != nil {
		return nil, err
	}
	shows, err := oracle([]*casefile.Case{c})
	if err != nil {
		return nil, err
	}
	if !shows[0] {
		return nil, fmt.Errorf("%s shows nothing that could be made small", c.Name)
	}
	for {
		smaller, err := round(c, oracle)
		if err != nil {
			return nil, err
		}
		if smaller == nil {
			return c, nil
		}
		c = smaller
	}
}

// plain is a copy of the case without answers and without buffers that nothing
// names.
func plain(c *casefile.Case) (*casefile.Case, error) {
	k, err := clone(c)
	if err != nil {
		return nil, err
	}
	for i := range k.Steps {
		k.Steps[i].Got, k.Steps[i].GotAny = nil, nil
	}
	tidy(k)
	return clone(k)
}

func clone(c *casefile.Case) (*casefile.Case, error) {
	b, err := c.Marshal()
	if err != nil {
		return nil, err
	}
	return casefile.Unmarshal(b)
}

// round tries every reduction alone, then those that are possible together. It
// returns nil when none is.
func round(c *casefile.Case, oracle Oracle) (*casefile.Case, error) {
	possible, err := try(c, singles(reductions(c)), oracle)
	if err != nil || len(possible) == 0 {
		return nil, err
	}
	var all []reduction
	for _, p := range possible {
		all = append(all, p.by...)
	}
	together, err := try(c, prefixes(all), oracle)
	if err != nil {
		return nil, err
	}
	best := slices.MinFunc(append(together, possible...), func(a, b attempt) int { return a.size - b.size })
	return best.c, nil
}

// attempt is a smaller case and how it was come by.
type attempt struct {
	c    *casefile.Case
	by   []reduction
	size int
}

// singles are the reductions one by one.
func singles(all []reduction) [][]reduction {
	var l [][]reduction
	for _, r := range all {
		l = append(l, []reduction{r})
	}
	return l
}

// prefixes are the first 2, 4, 8, … of the reductions, and all of them; and the
// same from the end.
func prefixes(all []reduction) [][]reduction {
	var l [][]reduction
	for n := 2; n < len(all); n *= 2 {
		l = append(l, all[:n], all[len(all)-n:])
	}
	if len(all) > 1 {
		l = append(l, all)
	}
	return l
}

// try asks about the case after each of some sets of reductions, and returns
// those that still show what is looked for, as far as they are smaller.
func try(c *casefile.Case, sets [][]reduction, oracle Oracle) ([]attempt, error) {
	before, err := size(c)
	if err != nil {
		return nil, err
	}
	var attempts []attempt
	var cases []*casefile.Case
	for _, by := range sets {
		k, n := reduced(c, by)
		if k == nil || n >= before {
			continue
		}
		attempts, cases = append(attempts, attempt{k, by, n}), append(cases, k)
	}
	if len(cases) == 0 {
		return nil, nil
	}
	shows, err := oracle(cases)
	if err != nil {
		return nil, err
	}
	var l []attempt
	for i := range attempts {
		if shows[i] {
			l = append(l, attempts[i])
		}
	}
	return l, nil
}

func size(c *casefile.Case) (int, error) {
	b, err := c.Marshal()
	return len(b), err
}

// reduced returns the case after some reductions and its size, nil when it is
// none that could be played.
func reduced(c *casefile.Case, by []reduction) (*casefile.Case, int) {
	k, err := clone(c)
	if err != nil {
		return nil, 0
	}
	for _, r := range slices.Backward(by) { // the last first: places before it stay where they are
		if !r(k) {
			return nil, 0
		}
	}
	tidy(k)
	b, err := k.Marshal()
	if err != nil {
		return nil, 0
	}
	return k, len(b)
}
