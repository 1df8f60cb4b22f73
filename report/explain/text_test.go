package explain

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
)

// refused is a case in which one call was refused.
func refused() *Case {
	check := func(rule, fn, attr string, user int, where ...string) Check {
		return Check{Rule: rule, Errno: "EINVAL", Func: fn, File: "drivers/infiniband/core/x.c", Why: "It is wrong.",
			Attribute: attr, Where: where, user: user}
	}
	return &Case{Name: "cq/x", Driver: "rxe", Kernel: "6.12", Steps: []Step{
		{Step: 0, Does: "open f", Ret: "*"},
		{Step: 1, Does: "ioctl f UVERBS_METHOD_CQ_CREATE", Ret: "-1", Errno: "EINVAL",
			Differences: []casefile.Difference{{Path: "errno", Want: "EIO", Got: "EINVAL"}},
			Refusals: []*Refusal{{
				Decided:  check("cq/x", "f", "", -1),
				Values:   []Value{{Name: "cqe", Value: "0"}},
				Accepted: []string{"Ask for one."},
				Passed: []Check{
					check("attr/a", "set", "A", 0), check("attr/b", "set", "A", 0), check("attr/a", "set", "B", 1),
					check("attr/b", "set", "B", 1), {Rule: "x/no-memory", Func: "set", Memory: true, user: -1},
				},
				Next: []Check{check("cq/y", "g", "UVERBS_ATTR_X", -1, "n > 1")},
				Attributes: []Attribute{
					{Index: 0, ID: 0, Name: "A", State: Consumed, Takes: "PTR_IN, 4 bytes", Value: "1"},
					{Index: 1, ID: 77, State: Ignored},
					{Index: -1, ID: 2, Name: "C", State: Missing, Takes: "IDR of UVERBS_OBJECT_PD, READ"},
					{Index: -1, ID: 3, Name: "D", State: NotSent},
				},
			}}},
	}}
}

func ExampleText() {
	if err := Text(os.Stdout, refused()); err != nil {
		panic(err)
	}
	// Output:
	// case cq/x (rxe, Linux 6.12)
	// step 0: open f: done
	//
	// step 1: ioctl f UVERBS_METHOD_CQ_CREATE: EINVAL
	//   not as recorded: errno: want EIO, got EINVAL
	//   refused by  cq/x, EINVAL in f (drivers/infiniband/core/x.c)
	//               It is wrong.
	//   values      cqe = 0
	//   accepted    Ask for one.
	//   passed before
	//     set, attributes 0-1: attr/a, attr/b
	//   not reached
	//     g, UVERBS_ATTR_X: cq/y?
	//   attributes
	//      0  A      consumed  1 (PTR_IN, 4 bytes)
	//      1  id 77  ignored
	//      -  C      missing   (IDR of UVERBS_OBJECT_PD, READ)
	//     may be sent too: D
	//
	// ?  the check lies in a branch of which it is not known whether it was taken (--json has the condition)
}

// TestCut: what is too long is cut between two letters.
func TestCut(t *testing.T) {
	require.Equal(t, "abc", cut("abc", 3))
	require.Equal(t, "ab...", cut("abc", 2))
	require.Equal(t, "é...", cut("ééé", 3))
}

func TestRanges(t *testing.T) {
	require.Equal(t, "0-2, 5, 7-8", ranges([]int{5, 0, 2, 1, 8, 7}))
	require.Equal(t, "3", ranges([]int{3}))
}

// TestLinesEnd: no line is wider than it may be, whatever is in it.
func TestLinesEnd(t *testing.T) {
	c := refused()
	r := c.Steps[1].Refusals[0]
	r.Decided.Why = strings.Repeat("a long word ", 40)
	r.Attributes = append(r.Attributes, Attribute{Index: 2, ID: 9, Name: "UVERBS_ATTR_X", State: Consumed,
		Takes: strings.Repeat("bytes ", 40), Value: strings.Repeat("value ", 20)})
	c.Steps[1].Does = strings.Repeat("does ", 40)
	c.Steps[1].NoRule = strings.Repeat("error ", 40)
	for range 30 {
		r.Passed = append(r.Passed, Check{Rule: "x/" + strings.Repeat("y", 20), Func: "h", user: -1})
	}
	var b strings.Builder
	require.NoError(t, Text(&b, c))
	for line := range strings.Lines(b.String()) {
		require.LessOrEqual(t, len(line), width+1, line)
	}
}

var errFull = errors.New("no space")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrorsOfTheWriter(t *testing.T) {
	require.ErrorIs(t, Text(fullDisk{}, refused()), errFull)
	require.ErrorIs(t, JSON(fullDisk{}, refused()), errFull)
}

// TestLegendOnce: the marks are explained once, behind all cases, if they were used.
func TestLegendOnce(t *testing.T) {
	marked := refused()
	marked.Steps[1].Refusals[0].Members = []Member{{Name: "cqe", Value: "0", Part: "request", Decided: true}}
	var b strings.Builder
	p := NewPrinter(&b, false)
	require.NoError(t, p.Case(refused()))
	require.NoError(t, p.Case(marked))
	require.NotContains(t, b.String(), "branch of which")
	require.NoError(t, p.End())
	require.Equal(t, 1, strings.Count(b.String(), "?  the check lies in a branch"))
	require.Equal(t, 1, strings.Count(b.String(), "<- the call was refused"))
	require.Contains(t, b.String(), "cqe = 0 <-\n")
}

// TestBrief: what refused a call and what would be accepted, and only calls that were
// refused.
func TestBrief(t *testing.T) {
	var b strings.Builder
	p := NewPrinter(&b, true)
	require.NoError(t, p.Case(refused()))
	require.NoError(t, p.End())
	require.Equal(t, `case cq/x (rxe, Linux 6.12)

step 1: ioctl f UVERBS_METHOD_CQ_CREATE: EINVAL
  not as recorded: errno: want EIO, got EINVAL
  refused by  cq/x, EINVAL in f (drivers/infiniband/core/x.c)
              It is wrong.
  values      cqe = 0
  accepted    Ask for one.
`, b.String())
}

// TestQuestion: a call by which a library asks something is told in one line.
func TestQuestion(t *testing.T) {
	c := refused()
	c.Steps[1].Differences = nil
	c.Steps[1].Refusals[0].Question = "a question"
	var b strings.Builder
	require.NoError(t, Text(&b, c))
	require.Equal(t, "case cq/x (rxe, Linux 6.12)\nstep 0: open f: done\n"+
		"step 1: ioctl f UVERBS_METHOD_CQ_CREATE: EINVAL: a question\n", b.String())
}

// TestWhose: checks of memory are told with the member that has its address.
func TestWhose(t *testing.T) {
	c := refused()
	c.Steps[1].Refusals[0].Next = []Check{
		{Rule: "pin/x", Func: "pin", Of: "buf_addr", user: -1}, {Rule: "pin/x", Func: "pin", Of: "db_addr", user: -1},
	}
	var b strings.Builder
	require.NoError(t, Text(&b, c))
	require.Contains(t, b.String(), "    pin, buf_addr, db_addr: pin/x\n")
}

// TestFlagsAreBroken: flags that are wider than a line go on in the next.
func TestFlagsAreBroken(t *testing.T) {
	c := refused()
	flags := strings.TrimSuffix(strings.Repeat("IB_UVERBS_ACCESS_LOCAL_WRITE|", 12), "|")
	c.Steps[1].Refusals[0].Values = []Value{{Name: "access", Value: flags}}
	var b strings.Builder
	require.NoError(t, Text(&b, c))
	for line := range strings.Lines(b.String()) {
		require.LessOrEqual(t, len(line), width+1, line)
	}
	require.Contains(t, strings.Join(strings.Fields(b.String()), ""), flags, "nothing is lost")
}
