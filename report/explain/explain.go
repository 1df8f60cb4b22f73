package explain

import (
	"errors"
	"slices"
	"strings"

	"uverbsim/rule"
	"uverbsim/spec"
)

// Check is a place where the kernel may refuse a call.
type Check struct {
	Rule  string `json:"rule"`
	Errno string `json:"errno"`
	Func  string `json:"func"`
	File  string `json:"file"`
	// Why says what the check refuses.
	Why string `json:"why"`
	// Condition is the one under which it does, with the names of the kernel.
	Condition string `json:"condition,omitempty"`
	// Where are the conditions of branches that the check lies in and that were
	// not seen to hold: it was met if they do.
	Where []string `json:"where,omitempty"`
	// Attribute is the attribute that it is about.
	Attribute string `json:"attribute,omitempty"`
	// Of is the member of the request that has the address, of a check of memory
	// that is to be pinned.
	Of string `json:"of,omitempty"`
	// Memory says that the check is for a want of memory, or of another thing
	// that a machine may lack.
	Memory bool `json:"memory,omitempty"`

	user int
}

// Refusal says why a call was refused.
type Refusal struct {
	// Decided is the check that refused it.
	Decided Check `json:"decided"`
	// Values are what its condition speaks of, as it was.
	Values []Value `json:"values,omitempty"`
	// State says of a condition on more than the request what it is on, where no
	// value can be given.
	State string `json:"state,omitempty"`
	// Holding are those of several conditions that held, where that can be told.
	Holding []string `json:"holding,omitempty"`
	// Accepted says what would have been accepted.
	Accepted []string `json:"accepted"`
	// Passed are the checks that were made before, Next those that it would have
	// met then.
	Passed []Check `json:"passed"`
	Next   []Check `json:"next"`
	// Attributes has each attribute of an ioctl, and each that its method takes
	// besides.
	Attributes []Attribute `json:"attributes,omitempty"`
	// Members are those of the request of a write() command.
	Members []Member `json:"members,omitempty"`

	// Question says what the call was made to find out, if it was no mistake: a
	// library asks and is answered by the errno.
	Question string `json:"question,omitempty"`

	placed bool  // the deciding place was found
	holds  value // what its condition comes to
}

// Placed says whether the place that refused the call was found among those that
// the call came by. If not, Passed and Next are empty.
func (r *Refusal) Placed() bool { return r.placed }

// Holds says what the deciding condition comes to with what is known of the call,
// and whether that is enough to tell. It never comes to false where all is as it
// should be.
func (r *Refusal) Holds() (holds, known bool) { return r.holds.truth, r.holds.kind == truth }

// roots are the functions that model system calls.
var roots = map[string]string{
	"open": "(*process.Task).Open", "close": "(*process.Task).Close", "ioctl": "(*process.Task).Ioctl",
	"read": "(*process.Task).Read", "write": "(*process.Task).Write", "poll": "(*process.Task).Poll",
	"mmap": "(*process.Task).Mmap", "munmap": "(*process.Task).Munmap", "mprotect": "(*process.Task).Mprotect",
	"mremap": "(*process.Task).Mremap",
	"dup":    "(*process.Task).Dup", "dup2": "(*process.Task).Dup2", "dup3": "(*process.Task).Dup3",
	"fcntl": "(*process.Task).FcntlDupFD", "setfl": "(*process.Task).SetNonblock", "sendfd": "(*process.Task).SendFD",
	"setuid": "(*process.Task).Setuid", "setgid": "(*process.Task).Setgid", "setrlimit": "(*process.Task).SetRlimit",
	"fork": "(*process.Task).Fork", "exec": "(*process.Task).Exec",
}

// Explain says why a call was refused. It is nil for one that was not refused, or
// whose error no rule is behind.
func Explain(c *Call) *Refusal {
	var refused *rule.Rule
	if !errors.As(c.Err, &refused) {
		return nil
	}
	r := newRequest(c)
	items := find(r, roots[c.Name], c.Trace)
	decided := decide(r, items, refused)
	out := &Refusal{Decided: checkOf(r, refused, decided)}
	out.Values, out.holds = values(r, refused, decided)
	if vs := objectValues(r, refused, decided); vs != nil {
		out.Values = vs
	}
	out.State = stateOf(&out.Decided, out.Values)
	out.Holding = holding(decided, out.holds)
	out.Accepted = accepted(r, refused, decided)
	out.placed = decided != nil
	if decided != nil {
		out.Passed, out.Next = sides(r, items, decided)
	}
	out.Members = members(r, decided, out)
	out.Attributes = attributes(r, decided, out)
	recordedAsBad(out)
	out.Question = r.question(refused)
	return out
}

// question says what a library wanted to know by a call that it expects to be
// refused, "" for one that it does not. libibverbs runs QUERY_DEVICE by INVOKE_WRITE
// with nothing to read and nothing to write to when it opens a device: a kernel that
// has INVOKE_WRITE answers ENOSPC.
func (r *request) question(refused *rule.Rule) string {
	if refused != rule.InvokeWriteCoreSize || r.word != spec.IB_USER_VERBS_CMD_QUERY_DEVICE ||
		r.sent("UVERBS_ATTR_CORE_IN") != nil || r.sent("UVERBS_ATTR_CORE_OUT") != nil {
		return ""
	}
	return "a question of libibverbs, whether the kernel has INVOKE_WRITE; this errno says yes"
}

// holding are the parts of a condition that held, where it has several.
func holding(it *item, holds value) (out []string) {
	if it == nil || holds.kind == truth && !holds.truth {
		return nil
	}
	all := parts(it.check.cond)
	if len(all) < 2 {
		return nil
	}
	for _, part := range all {
		if v := it.env.eval(part); v.kind == truth && v.truth {
			out = append(out, shown(it.function, part))
		}
	}
	if len(out) == len(all) {
		return nil
	}
	return out
}

// sides are the checks before and after the one that decided, in order.
func sides(r *request, items []*item, decided *item) (passed, next []Check) {
	for _, g := range decided.guards {
		if g.branch.taken < 0 {
			g.branch.taken = g.arm
		}
	}
	at := slices.Index(items, decided)
	if answers(decided.check, rule.MethodUnknown.ID) {
		items = items[:at+1] // there is no method to go on with
	}
	for _, it := range items[:at] {
		if it.entered && !it.excluded() && !it.held() {
			passed = append(passed, checksOf(r, it, it.check.rules)...)
		}
	}
	if n := len(decided.guards); n > 0 && decided.guards[n-1].cond() == decided.check.cond && decided.guards[n-1].function == decided.function {
		decided.guards[n-1].branch.passed = true // the arm is the check
	}
	for _, it := range items[at+1:] {
		if !it.excluded() && !it.ignored() && !strings.HasPrefix(it.check.cond, "err != nil") {
			next = append(next, checksOf(r, it, it.check.rules)...)
		}
	}
	return passed, next
}

func checksOf(r *request, it *item, ids []string) (out []Check) {
	for _, id := range ids {
		if known := rule.Find(id); known != nil {
			out = append(out, checkOf(r, known, it))
		}
	}
	return out
}

func checkOf(r *request, refused *rule.Rule, it *item) Check {
	c := Check{
		Rule: refused.ID, Errno: rule.ErrnoName(refused.Errno), Func: refused.Func, File: refused.File, Why: refused.Why,
		user: -1,
	}
	if it == nil {
		return c
	}
	c.Condition = conditionOf(it, refused.ID)
	c.Memory = strings.Contains(it.check.cond, ".fail(") || strings.HasSuffix(refused.ID, "no-memory")
	c.user = it.user
	c.Attribute = it.attr
	if it.user >= 0 {
		c.Attribute = r.attrName(it.user)
	}
	if pins(refused.ID) {
		c.Of = r.pinned(it)
	}
	for _, g := range it.guards {
		if _, known := g.holds(); !known {
			c.Where = append(c.Where, shown(it.function, g.cond()))
		}
	}
	for _, g := range it.over {
		if _, known := g.holds(); !known && g.cond() != "" {
			c.Where = append(c.Where, "not "+shown(it.function, g.cond()))
		}
	}
	return c
}

// OfRule says of a refusal only what its rule says.
func OfRule(refused *rule.Rule) *Refusal {
	return &Refusal{Decided: checkOf(nil, refused, nil), Accepted: []string{refused.Do}}
}
