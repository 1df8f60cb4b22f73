package faults

import (
	"fmt"
	"slices"
	"syscall"

	"uverbsim/rule"
	"uverbsim/sim_test/model"
	"uverbsim/trace"
)

// Step is a step of a call.
type Step struct {
	Kind  trace.Step
	What  string
	Stack []string // the kernel's functions that it is in, the outermost first
}

// Where is the innermost function of a step.
func (s *Step) Where() string {
	if n := len(s.Stack); n > 0 {
		return s.Stack[n-1]
	}
	return ""
}

// In says whether a step is in a function, however deep.
func (s *Step) In(function string) bool { return slices.Contains(s.Stack, function) }

// String is the step's place.
func (s *Step) String() string { return fmt.Sprintf("%s %s in %s", s.Kind, s.What, s.Where()) }

// Point is a step of a case: the N-th of a call, both counted from 0.
type Point struct{ Call, N int }

// Call is a system call of a case, or something that the machine does.
type Call struct {
	Name   string // "ioctl", "exit"
	Step   int    // of the case; behind the last one what closes everything
	Steps  []Step
	Answer Answer

	id            callID
	before, after *model.Books // nil where others may be at work
}

// callID says which call it is, however calls of several threads mingle.
type callID struct{ thread, n int }

// Answer is what a system call returned.
type Answer struct {
	Ret   int64
	Errno syscall.Errno
}

func (a Answer) same(b Answer) bool { return a.Ret == b.Ret && a.Errno == b.Errno }

// String is the errno, or else what was returned.
func (a Answer) String() string {
	if a.Errno != 0 {
		return a.Name()
	}
	return fmt.Sprint(a.Ret)
}

// Name is the errno in the spelling of the cases, "" for none.
func (a Answer) Name() string { return rule.ErrnoName(a.Errno) }
