// Package rule is the catalogue of refusals: one value for each place where
// the modelled kernel code returns an error to the user.
//
// A *Rule is the error that travels from the check to the system call's
// boundary. It says the errno, which kernel function in which file makes the
// check, why, and what to do about it. Rules are package-level values, so that
// refusing a call allocates nothing; errors.Is(err, syscall.EINVAL) holds for
// a rule whose errno is EINVAL.
//
// Each file holds the rules of one kernel source file, or of a few that belong
// together. A rule's id is "area/slug" and never changes once published.
package rule

import (
	"errors"
	"sort"
	"syscall"
)

// Rule is one refusal.
type Rule struct {
	ID    string        // stable: area/slug
	Errno syscall.Errno // what the user's system call returns
	Func  string        // the kernel function that makes the check
	File  string        // its file, from the root of the kernel tree
	Why   string        // one sentence: what refused the call
	Do    string        // one sentence: what would have been accepted
}

// Error says the errno, the rule and the reason, in one line.
func (r *Rule) Error() string {
	return ErrnoName(r.Errno) + " (" + r.ID + "): " + r.Why
}

// Is makes errors.Is(err, syscall.EINVAL) hold for rules with that errno.
func (r *Rule) Is(target error) bool {
	e, ok := target.(syscall.Errno)
	return ok && e == r.Errno
}

// Errno returns the errno that err stands for, 0 for nil. Every error that a
// modelled function returns is a rule or an errno; anything else is a fault of
// the model and panics.
func Errno(err error) syscall.Errno {
	switch e := err.(type) {
	case nil:
		return 0
	case *Rule:
		return e.Errno
	case syscall.Errno:
		return e
	}
	var r *Rule
	if errors.As(err, &r) {
		return r.Errno
	}
	panic("rule: an error of no rule reached the boundary: " + err.Error())
}

var (
	catalogue []*Rule
	byID      = map[string]*Rule{}
)

// add puts a rule into the catalogue; the package's variables are made by it.
func add(r Rule) *Rule {
	if byID[r.ID] != nil {
		panic("rule: " + r.ID + " is declared twice")
	}
	byID[r.ID] = &r
	catalogue = append(catalogue, &r)
	return &r
}

// All returns the catalogue in the order of ids.
func All() []*Rule {
	rs := append([]*Rule(nil), catalogue...)
	sort.Slice(rs, func(i, j int) bool { return rs[i].ID < rs[j].ID })
	return rs
}

// Find returns the rule with that id, or nil.
func Find(id string) *Rule { return byID[id] }
