package player

import (
	"reflect"
	"slices"

	"uverbsim/casefile"
)

// Record plays a case on a target and returns it with the answers that the
// target gave, whatever answers it had. Steps of a repeated case that were not
// always answered alike, and threads that run at once, have the set of what was
// answered. The error is that of a case that could not be played to its end.
func Record(target Target, c *casefile.Case, opts Options) (*casefile.Case, error) {
	out := *c
	out.Steps = slices.Clone(c.Steps)
	for i := range out.Steps {
		out.Steps[i].Got, out.Steps[i].GotAny = nil, nil
	}
	sets := make([]outcomes, len(out.Steps))
	opts.Repetition = func(r *Result) {
		for i := range r.Steps {
			sets[i].add(r.Steps[i].Got)
		}
	}
	asked := out
	if r := Play(target, &asked, opts); r.Err != nil {
		return nil, r.Err
	}
	out.Steps = slices.Clone(out.Steps)
	for i := range out.Steps {
		s := &out.Steps[i]
		if _, par := s.Do.(*casefile.Par); par || len(sets[i]) > 1 {
			s.GotAny = sets[i]
			continue
		}
		s.Got = &sets[i][0].Got
	}
	return &out, nil
}

// outcomes are the different answers of a step, in the order in which they came.
type outcomes []casefile.Outcome

func (o *outcomes) add(g *casefile.Got) {
	for i := range *o {
		if reflect.DeepEqual((*o)[i].Got, *g) {
			(*o)[i].N++
			return
		}
	}
	*o = append(*o, casefile.Outcome{N: 1, Got: *g})
}
