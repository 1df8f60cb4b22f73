package interleave

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// schedule writes who did each operation of an execution: "a3 b a2" is three of a,
// one of b, two of a.
func schedule(events []event) string {
	var parts []string
	for i := 0; i < len(events); {
		j := i
		for j < len(events) && events[j].task == events[i].task {
			j++
		}
		part := name(events[i].task)
		if j-i > 1 {
			part += strconv.Itoa(j - i)
		}
		parts = append(parts, part)
		i = j
	}
	return strings.Join(parts, " ")
}

// mostOperations is how many operations a schedule has at most.
const mostOperations = 1 << 20

// parse reads what schedule has written.
func parse(s string) ([]int, error) {
	var order []int
	for _, part := range strings.Fields(s) {
		if part[0] < 'a' || part[0] > 'z' {
			return nil, fmt.Errorf("%q is no call, a to z, and how often", part)
		}
		n := uint64(1)
		if len(part) > 1 {
			var err error
			if n, err = strconv.ParseUint(part[1:], 10, 64); err != nil || n < 1 {
				return nil, fmt.Errorf("%q has no number of operations, from 1, behind the call", part)
			}
		}
		if n > uint64(mostOperations-len(order)) {
			return nil, fmt.Errorf("%q: more than %d operations", part, mostOperations)
		}
		for range n {
			order = append(order, int(part[0]-'a'))
		}
	}
	return order, nil
}

// known refuses a schedule with a call that is none of so many.
func known(order []int, calls int) error {
	for _, i := range order {
		if i >= calls {
			return fmt.Errorf("there is no call %s: the calls are %s", name(i), names(calls))
		}
	}
	return nil
}

// names are those of so many calls: "a, b and c".
func names(calls int) string {
	all := make([]string, calls)
	for i := range all {
		all[i] = name(i)
	}
	if calls < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:calls-1], ", ") + " and " + all[calls-1]
}

// Replay carries out one interleaving. Where the schedule ends, the task that runs
// goes on as long as it can, then the next one. Lines are the operations in their
// order: who does what to which thing in which function. Those with a number are
// the operations that the schedule counts. A schedule with a call that the program does
// not have is refused.
func Replay(p Program, s string) (outcome string, lines []string, err error) {
	order, err := parse(s)
	if err != nil {
		return "", nil, err
	}
	r := &run{verbose: true}
	var unknown, wrong error
	r.choose = func(r *run, enabled []bool) int {
		at := len(r.events)
		if at == 0 {
			unknown = known(order, len(enabled))
		}
		if unknown != nil || wrong != nil || at >= len(order) {
			return keepOn(r, enabled)
		}
		if i := order[at]; enabled[i] {
			return i
		}
		wrong = fmt.Errorf("operation %d of the schedule: %s cannot go on there", at+1, name(order[at]))
		return keepOn(r, enabled)
	}
	x := r.execute(p)
	if unknown != nil {
		return "", nil, unknown
	}
	if wrong == nil && len(order) > len(r.events) {
		wrong = fmt.Errorf("operation %d of the schedule: no call goes on there", len(r.events)+1)
	}
	if x.err == nil {
		x.err = wrong
	}
	return x.outcome, r.lines, x.err
}

// keepOn is the choice that needs no switch if there is one.
func keepOn(r *run, enabled []bool) int {
	if len(r.events) > 0 && enabled[r.cur] {
		return r.cur
	}
	return slices.Index(enabled, true)
}
