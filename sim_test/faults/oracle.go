package faults

import (
	"slices"
	"strings"
	"syscall"

	"uverbsim/rule"
	"uverbsim/trace"
)

// Expectation is what the kernel answers when a step fails.
type Expectation struct {
	GoesOn    bool // the call answers what it does without the fault
	Errno     []syscall.Errno
	Exception *Exception // where the table by kind does not hold
}

// Allows says whether a call was answered as expected.
func (e Expectation) Allows(o *Outcome) bool {
	if e.GoesOn && o.Answer.same(o.Call.Answer) {
		return true
	}
	if e.Exception != nil && e.Exception.Copied && o.Answer.Errno == syscall.EFAULT {
		return len(o.Hits) > 1 || o.Call.Answer.Errno == syscall.EFAULT
	}
	return slices.Contains(e.Errno, o.Answer.Errno)
}

// text names the answers that are allowed.
func (e Expectation) text(c *Call) string {
	var names []string
	for _, errno := range e.Errno {
		names = append(names, rule.ErrnoName(errno))
	}
	if e.GoesOn {
		names = append(names, c.Answer.String())
	}
	return strings.Join(names, " or ")
}

// ByKind is what a call answers in which a step of a kind fails, where no exception
// says otherwise.
var ByKind = [trace.NumSteps]syscall.Errno{
	trace.Alloc:   syscall.ENOMEM,
	trace.Copy:    syscall.EFAULT,
	trace.Middle:  syscall.EFAULT,
	trace.FD:      syscall.EMFILE,
	trace.File:    syscall.ENOMEM,
	trace.ID:      syscall.ENOMEM,
	trace.Charge:  syscall.EAGAIN,
	trace.Pin:     syscall.ENOMEM,
	trace.PinPart: syscall.ENOMEM,
	trace.Command: syscall.EIO,
	trace.Timeout: syscall.ETIMEDOUT,
	trace.Op:      OpErrno,
}

// Expect returns what the kernel answers to a call in which those steps fail: what the
// first of them makes it answer that it does not go on after.
func Expect(o *Outcome) Expectation {
	e := Expectation{GoesOn: true}
	for i := range o.Hits {
		if e = expectStep(&o.Hits[i]); !e.GoesOn {
			break
		}
	}
	return e
}

func expectStep(s *Step) Expectation {
	for i := range Exceptions {
		if e := &Exceptions[i]; e.of(s) {
			return Expectation{e.GoesOn, e.Errno, e}
		}
	}
	return Expectation{Errno: []syscall.Errno{ByKind[s.Kind]}}
}
