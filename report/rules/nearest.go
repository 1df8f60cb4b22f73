package rules

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"uverbsim/report/nearest"
	"uverbsim/rule"
)

// UnknownError says that there is no rule, or no errno, of a name, and which
// ones are most like it.
type UnknownError struct {
	What, Name string
	Nearest    []string
}

func (e *UnknownError) Error() string {
	s := "there is no " + e.What + " " + quote(e.Name)
	switch len(e.Nearest) {
	case 0:
		return s
	case 1:
		return s + ": the nearest is " + e.Nearest[0]
	}
	return s + ": the nearest are " + strings.Join(e.Nearest, ", ")
}

func quote(s string) string {
	if s == "" || strings.ContainsAny(s, " \t\n\"") {
		return `"` + strings.NewReplacer("\n", `\n`, `"`, `\"`, "\t", `\t`).Replace(s) + `"`
	}
	return s
}

// maxNearest is how many names are offered in the place of one that is unknown.
const maxNearest = 5

// nearest returns the ids that are most like what was asked for.
func (c *Catalogue) nearest(arg string) []string {
	var ids []string
	for _, e := range c.entries {
		ids = append(ids, e.ID)
	}
	return namesLike(arg, ids)
}

// namesLike returns the names that are most like arg, the best first: those that
// contain it or, if none does, the word behind its slash; if none does either,
// those with the fewest other letters, as long as more letters are the same.
func namesLike(arg string, names []string) []string {
	arg = strings.ToLower(arg)
	if arg == "" {
		return nil
	}
	word := arg[strings.LastIndexByte(arg, '/')+1:]
	lacks := func(part string) func(string) bool {
		return func(n string) bool { return part == "" || !strings.Contains(strings.ToLower(n), part) }
	}
	far := func(n string) bool { return 2*nearest.Distance(arg, strings.ToLower(n)) >= max(len(arg), len(n)) }
	var like []string
	for _, not := range []func(string) bool{lacks(arg), lacks(word), far} {
		if like = slices.DeleteFunc(slices.Clone(names), not); len(like) > 0 {
			break
		}
	}
	slices.SortFunc(like, func(a, b string) int {
		return cmp.Or(cmp.Compare(nearest.Distance(arg, strings.ToLower(a)), nearest.Distance(arg, strings.ToLower(b))), cmp.Compare(a, b))
	})
	return like[:min(maxNearest, len(like))]
}

// WithErrno returns those of the entries that have an errno: its name as the
// kernel spells it, where upper and lower case are the same, or its number. The
// error names the errnos that rules have if no rule has this one.
func WithErrno(es []*Entry, name string) ([]*Entry, error) {
	var errno syscall.Errno
	var names []string
	for _, r := range rule.All() {
		n := rule.ErrnoName(r.Errno)
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
		if strings.EqualFold(n, name) || strconv.Itoa(int(r.Errno)) == name {
			errno = r.Errno
		}
	}
	if errno == 0 {
		near := namesLike(name, names)
		if len(near) == 0 {
			slices.Sort(names)
			return nil, fmt.Errorf("there is no rule with the errno %s: rules have %s", quote(name), strings.Join(names, ", "))
		}
		return nil, &UnknownError{"rule with the errno", name, near}
	}
	return slices.DeleteFunc(slices.Clone(es), func(e *Entry) bool { return e.Errno != errno }), nil
}
