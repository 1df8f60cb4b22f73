package explain

import (
	"slices"
	"strings"

	"uverbsim/rule"
)

// decide finds the place that refused the call: one that answers the rule, and
// behind which nothing was done but to clean up.
func decide(r *request, items []*item, refused *rule.Rule) *item {
	it := best(r, items, refused, (*item).excluded)
	if it != nil {
		return it
	}
	// What a condition came to may be wrong: a name can stand for more than the
	// request tells. What was entered is certain.
	it = best(r, items, refused, (*item).passedBy)
	if it != nil {
		for _, g := range append(it.guards[:len(it.guards):len(it.guards)], it.over...) {
			clear(g.branch.known)
		}
	}
	return it
}

func best(r *request, items []*item, refused *rule.Rule, excluded func(*item) bool) *item {
	var found *item
	foundScore := score{}
	for _, it := range items {
		if !it.entered || it.asked || !answers(it.check, refused.ID) || excluded(it) {
			continue
		}
		s := score{rest: restOf(r, it)}
		s.own = it.visit != nil && it.visit.Name == refused.Func
		v := it.env.eval(it.check.cond)
		says := r.handleSays(it, refused)
		s.holds = v.kind == truth && v.truth || says == yes
		s.fails = v.kind == truth && !v.truth || says == no
		if found == nil || s.better(foundScore) {
			found, foundScore = it, s
		}
	}
	return found
}

// score says how well a place fits.
type score struct {
	rest         int // the functions that were entered after it, and that do not clean up
	own          bool
	holds, fails bool
}

func (s score) better(t score) bool {
	if s.fails != t.fails {
		return t.fails
	}
	if s.rest != t.rest {
		return s.rest < t.rest
	}
	if s.holds != t.holds {
		return s.holds
	}
	return s.own && !t.own
}

func answers(n *node, id string) bool {
	return slices.Contains(n.rules, id)
}

// restOf counts what was entered after a place.
func restOf(r *request, it *item) int {
	n := 0
	if it.visit == nil {
		return 0
	}
	for _, c := range later(r, it) {
		n += doing(c)
	}
	for v := it.visit; v.parent != nil; v = v.parent {
		after := false
		for _, c := range v.parent.Children {
			if after {
				n += doing(c)
			}
			after = after || c == v
		}
	}
	return n
}

// later are the functions that its visit entered after a place.
func later(r *request, it *item) []*Visit {
	children := relevant(it.visit, r.reach(it.root))
	if it.at > len(children) {
		return nil
	}
	return children[it.at:]
}

// doing counts functions that do more than clean up.
func doing(v *Visit) int {
	for _, word := range cleaning {
		if strings.Contains(v.Name, word) {
			return 0
		}
	}
	return 1
}

// cleaning are the words in the names of functions that undo and give back.
var cleaning = []string{"put", "abort", "free", "destroy", "release", "unlock", "dealloc", "finalize", "dereg", "undo", "remove", "cleanup", "close", "uncharge", "unmap", "unpin", "dtor"}

// excluded says that a place cannot have been met: it lies in an arm that was not
// taken, or behind one that was and that returns.
func (it *item) excluded() bool {
	for i, g := range it.guards {
		if i == len(it.guards)-1 && it.is(g) {
			continue
		}
		if taken, known := g.holds(); known && !taken {
			return true
		}
	}
	for _, g := range it.over {
		if taken, known := g.holds(); known && taken {
			return true
		}
	}
	return false
}

// is says that an arm is the check itself: it does other things too, but in the end
// refuses.
func (it *item) is(g guard) bool {
	return len(g.branch.n.arms) == 1 && g.function == it.function && g.cond() == it.check.cond
}

// held says that a check would have refused the call: as it did not, it was not met,
// or its answer was not passed on.
func (it *item) held() bool {
	v := it.env.eval(it.check.cond)
	return v.kind == truth && v.truth
}

// ignored says that the answer of a check is not passed on: an optional attribute
// is asked for and was not sent.
func (it *item) ignored() bool {
	return answers(it.check, rule.AttrAbsent.ID) && it.held()
}

// passedBy says that a place cannot have been met by what was entered alone.
func (it *item) passedBy() bool {
	for _, g := range it.guards {
		if t := g.branch.taken; t >= 0 && t != g.arm {
			return true
		}
	}
	for _, g := range it.over {
		if g.branch.taken == g.arm {
			return true
		}
	}
	return false
}
