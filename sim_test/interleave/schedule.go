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

// parse reads what schedule has written.
func parse(s string) ([]int, error) {
	var order []int
	for _, part := range strings.Fields(s) {
		n := 1
		if len(part) > 1 {
			var err error
			if n, err = strconv.Atoi(part[1:]); err != nil || n < 1 {
				return nil, fmt.Errorf("%q in a schedule is no number of operations", part)
			}
		}
		if part[0] < 'a' || part[0] > 'z' {
			return nil, fmt.Errorf("%q in a schedule is no task", part)
		}
		for range n {
			order = append(order, int(part[0]-'a'))
		}
	}
	return order, nil
}

// Replay carries out one interleaving. Where the schedule ends, the task that runs
// goes on as long as it can, then the next one. Lines are the operations in their
// order: who does what to which thing in which function. Those with a number are
// the operations that the schedule counts.
func Replay(p Program, s string) (outcome string, lines []string, err error) {
	order, err := parse(s)
	if err != nil {
		return "", nil, err
	}
	r := &run{verbose: true}
	var wrong error
	r.choose = func(r *run, enabled []bool) int {
		at := len(r.events)
		if at >= len(order) {
			return keepOn(r, enabled)
		}
		if i := order[at]; i < len(enabled) && enabled[i] {
			return i
		}
		wrong = fmt.Errorf("operation %d of the schedule: %s cannot go on there", at+1, name(order[at]))
		return keepOn(r, enabled)
	}
	x := r.execute(p)
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
