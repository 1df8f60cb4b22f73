package explain

import (
	"slices"
	"strings"
)

//go:generate go run gen.go gen_walk.go gen_calls.go gen_text.go

// function is a function of the model: its checks, and the calls that lead to
// more of them, in the order of its source.
type function struct {
	// enter is the kernel function that a trace shows, "" for a part of the
	// caller that has no name there, "*" if each call has a name of its own,
	// several with | in between if it depends.
	enter string
	pre   []node // what it does before it shows
	body  []node
}

// node is a step of a function: a check (rules), a call (calls), a branch (arms)
// or a loop.
type node struct {
	rules []string // the ids of what it answers, one of them
	cond  string   // when it does
	defs  []string // what names in the condition stand for: name, text, name, text

	calls []string // the functions that it may lead to
	via   string   // how one of several is chosen
	attr  string   // the attribute that the call is about
	asks  bool     // the caller takes success alone: what refuses there refuses no call
	binds []string // the numbers that are handed over: parameter, text, parameter, text

	arms []arm
	loop []node
}

// arm is an arm of a branch. At most one arm of a branch is taken.
type arm struct {
	cond string
	ends bool // what follows the branch is not reached from here
	body []node
}

// entersAs says whether the function may show under that name.
func (f *function) entersAs(name string) bool {
	return f.enter == "*" && isHandler(name) || slices.Contains(strings.Split(f.enter, "|"), name)
}
