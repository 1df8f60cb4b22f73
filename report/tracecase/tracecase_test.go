package tracecase_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/chrome"
	"uverbsim/report/funcgraph"
	"uverbsim/report/sequence"
	"uverbsim/report/tracecase"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// cqCase has two steps: an open, and the creation of a queue that fails.
var cqCase = &casefile.Case{
	Name: "cq/create-twice", Why: "each attribute may come once", Driver: "mlx5",
	Steps: []casefile.Step{
		{Do: &casefile.Open{FD: "f"}},
		{Do: &casefile.Ioctl{FD: "f", Hdr: casefile.Hdr{
			ObjectID: spec.UVERBS_OBJECT_CQ, MethodID: spec.UVERBS_METHOD_CQ_CREATE}}},
	},
}

// play plays the case as a machine would that has nothing but names.
func play(p tracecase.Printer) {
	t := trace.NewTask(1, p)
	p.Case(cqCase)
	p.Step(cqCase, 0)
	t.Enter(trace.Uverbs, "ib_uverbs_open").Leave()
	p.Answer(&casefile.Got{Ret: "3"}, nil)
	p.Step(cqCase, 1)
	span := t.Enter(trace.Uverbs, "ib_uverbs_ioctl")
	t.EnterInlined(trace.Uverbs, "uverbs_set_attr").Leave()
	t.Note(trace.CopyIn, "", 0x1000, 24, 24)
	span.Leave()
	einval := "EINVAL"
	p.Answer(&casefile.Got{Ret: "-1", Errno: &einval}, rule.AttrDuplicate)
	p.End(cqCase)
	t.Enter(trace.Uverbs, "ib_uverbs_close").Leave()
}

func ExampleText() {
	play(tracecase.Text(os.Stdout, funcgraph.Options{}))
	// Output:
	// # case cq/create-twice
	// # each attribute may come once
	// # tracer: function_graph
	// #
	// #               FUNCTION CALLS
	// #               |   |   |   |
	// # step 0: open f
	// ib_uverbs_open [ib_uverbs]();
	// #   = 3
	// # step 1: ioctl f UVERBS_METHOD_CQ_CREATE
	// ib_uverbs_ioctl [ib_uverbs]();
	// #   = -1 EINVAL: attr/duplicate, An attribute that the method knows was sent twice.
	// # end: what is still open is closed
	// ib_uverbs_close [ib_uverbs]();
}

// TestCasesAreApart: tasks of two machines are not taken for one another.
func TestCasesAreApart(t *testing.T) {
	var one, two strings.Builder
	play(tracecase.Text(&one, funcgraph.Options{}))
	p := tracecase.Text(&two, funcgraph.Options{})
	play(p)
	play(p)
	require.Equal(t, one.String()+one.String(), two.String())
}

func TestTextNotes(t *testing.T) {
	var b strings.Builder
	play(tracecase.Text(&b, funcgraph.Options{Notes: true, Inlined: true}))
	require.Contains(t, b.String(), `ib_uverbs_ioctl [ib_uverbs]() {
  uverbs_set_attr [ib_uverbs]() /* inlined */;
  /* 24 bytes from the user at 0x1000 */
} /* ib_uverbs_ioctl [ib_uverbs] */
`)
}

func TestJSON(t *testing.T) {
	var b strings.Builder
	p := tracecase.JSON(&b)
	play(p)
	require.NoError(t, p.Err())
	require.Equal(t, `{"case":"cq/create-twice","why":"each attribute may come once"}
{"step":0,"does":"open f"}
{"event":{"task":1,"kind":"enter","name":"ib_uverbs_open","module":"ib_uverbs"}}
{"event":{"task":1,"kind":"leave","name":"ib_uverbs_open","module":"ib_uverbs"}}
{"answer":{"ret":"3"}}
{"step":1,"does":"ioctl f UVERBS_METHOD_CQ_CREATE"}
{"event":{"task":1,"kind":"enter","name":"ib_uverbs_ioctl","module":"ib_uverbs"}}
{"event":{"task":1,"kind":"enter","name":"uverbs_set_attr","module":"ib_uverbs","inlined":true}}
{"event":{"task":1,"kind":"leave","name":"uverbs_set_attr","module":"ib_uverbs","inlined":true}}
{"event":{"task":1,"kind":"copy_in","numbers":{"address":"0x1000","bytes":"24","copied":"24"}}}
{"event":{"task":1,"kind":"leave","name":"ib_uverbs_ioctl","module":"ib_uverbs"}}
{"answer":{"ret":"-1","errno":"EINVAL","rule":"attr/duplicate"}}
{"end":"cq/create-twice"}
{"event":{"task":1,"kind":"enter","name":"ib_uverbs_close","module":"ib_uverbs"}}
{"event":{"task":1,"kind":"leave","name":"ib_uverbs_close","module":"ib_uverbs"}}
`, b.String())
}

// TestErrnoWithoutRule: an answer that no rule is behind.
func TestErrnoWithoutRule(t *testing.T) {
	var b strings.Builder
	p := tracecase.Text(&b, funcgraph.Options{})
	ebadf := "EBADF"
	p.Answer(&casefile.Got{Ret: "-1", Errno: &ebadf}, syscall.EBADF)
	require.Equal(t, "#   = -1 EBADF\n", b.String())
}

var errFull = errors.New("no space")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrIsKept(t *testing.T) {
	for _, p := range []tracecase.Printer{
		tracecase.Text(fullDisk{}, funcgraph.Options{}),
		tracecase.JSON(fullDisk{}),
		tracecase.Chrome(fullDisk{}, chrome.Options{}),
		tracecase.Deferred(tracecase.JSON(fullDisk{}), nil),
		tracecase.Only(tracecase.JSON(fullDisk{}), 0),
	} {
		play(p)
		require.ErrorIs(t, p.Err(), errFull)
		require.ErrorIs(t, p.Close(), errFull)
	}
	p := tracecase.Sequence(fullDisk{}, sequence.Options{})
	play(p)
	require.ErrorIs(t, p.Close(), errFull)
}

// fullOnce is a disk that takes a line, then once nothing, then everything.
type fullOnce struct {
	lines int
	strings.Builder
}

func (d *fullOnce) Write(b []byte) (int, error) {
	if d.lines++; d.lines == 2 {
		return 0, errFull
	}
	return d.Builder.Write(b)
}

// TestNothingAfterErr: after a line that could not be written comes no other, so
// that no reader takes the rest for the whole.
func TestNothingAfterErr(t *testing.T) {
	for name, printer := range map[string]func(io.Writer) tracecase.BatchPrinter{
		"text":   func(w io.Writer) tracecase.BatchPrinter { return tracecase.Text(w, funcgraph.Options{}) },
		"json":   tracecase.JSON,
		"chrome": func(w io.Writer) tracecase.BatchPrinter { return tracecase.Chrome(w, chrome.Options{}) },
	} {
		var d fullOnce
		p := printer(&d)
		play(p)
		require.ErrorIs(t, p.Err(), errFull, name)
		require.ErrorIs(t, p.Close(), errFull, name)
		require.Equal(t, 2, d.lines, "%s: %s", name, d.String())
	}
}

// TestDeferred: what is printed later is the same.
func TestDeferred(t *testing.T) {
	for name, printer := range map[string]func(io.Writer) tracecase.BatchPrinter{
		"text":   func(w io.Writer) tracecase.BatchPrinter { return tracecase.Text(w, funcgraph.Options{Notes: true}) },
		"json":   tracecase.JSON,
		"chrome": func(w io.Writer) tracecase.BatchPrinter { return tracecase.Chrome(w, chrome.Options{}) },
	} {
		var now, later strings.Builder
		p := printer(&now)
		play(p)
		play(p)
		require.NoError(t, p.Close())
		d := tracecase.Deferred(printer(&later), nil)
		play(d)
		play(d)
		require.NoError(t, d.Close())
		require.Equal(t, now.String(), later.String(), name)
	}
}

// TestDeferredClock: events have the time at which they happened.
func TestDeferredClock(t *testing.T) {
	now := time.Duration(0)
	clock := func() time.Duration { now += time.Microsecond; return now }
	var b strings.Builder
	p := tracecase.Deferred(tracecase.Chrome(&b, chrome.Options{Clock: clock}), clock)
	play(p)
	require.NoError(t, p.Close())
	var enter, leave float64
	for _, line := range strings.Split(b.String(), "\n") {
		var e struct {
			Ph, Name string
			Tid      int
			Ts       float64
		}
		if json.Unmarshal([]byte(strings.TrimSuffix(line, ",")), &e) != nil || e.Tid != 1 {
			continue
		}
		if e.Name == "ib_uverbs_open" {
			enter = e.Ts
		} else if e.Ph == "E" && leave == 0 {
			leave = e.Ts
		}
	}
	require.Positive(t, enter)
	require.Equal(t, enter+1, leave, "nothing looked at the clock in between")
}

func TestOnly(t *testing.T) {
	var b strings.Builder
	play(tracecase.Only(tracecase.Text(&b, funcgraph.Options{}), 1))
	require.NotContains(t, b.String(), "ib_uverbs_open")
	require.Contains(t, b.String(), "# step 1: ioctl f UVERBS_METHOD_CQ_CREATE\nib_uverbs_ioctl [ib_uverbs]();\n#   = -1 EINVAL")
	require.NotContains(t, b.String(), "ib_uverbs_close")
	require.NotContains(t, b.String(), "what is still open")
}

// TestOnlyDeferred: steps are told apart also when their events come later.
func TestOnlyDeferred(t *testing.T) {
	for i := range 2 {
		var now, later strings.Builder
		play(tracecase.Only(tracecase.Text(&now, funcgraph.Options{}), i))
		d := tracecase.Deferred(tracecase.Only(tracecase.Text(&later, funcgraph.Options{}), i), nil)
		play(d)
		require.NoError(t, d.Close())
		require.Equal(t, now.String(), later.String())
	}
}

func TestSequence(t *testing.T) {
	var b strings.Builder
	p := tracecase.Sequence(&b, sequence.Options{})
	trace.NewTask(1, p).Note(trace.Handle, "fd", 0, 1, 0) // before the first step
	play(p)
	require.Empty(t, b.String())
	require.NoError(t, p.Close())
	for _, want := range []string{"<title>cq/create-twice</title>", "step 0: open f", "24 bytes from 0x1000", ">= 3<", "= -1 EINVAL: attr/duplicate"} {
		require.Contains(t, b.String(), want)
	}
	require.NotContains(t, b.String(), "number 0 taken")
}

func TestChrome(t *testing.T) {
	var b strings.Builder
	p := tracecase.Chrome(&b, chrome.Options{})
	play(p)
	require.NoError(t, p.Close())
	var events []map[string]any
	require.NoError(t, json.Unmarshal([]byte(b.String()), &events))
	require.Contains(t, b.String(), `"name":"step 1: ioctl f UVERBS_METHOD_CQ_CREATE"`)
	require.Contains(t, b.String(), `"args":{"answer":"= -1 EINVAL: attr/duplicate,`)
	require.Contains(t, b.String(), `"args":{"name":"case cq/create-twice"}`)
}

// TestWrappedRefusal: the rule is found wherever it stands in the error.
func TestWrappedRefusal(t *testing.T) {
	einval := "EINVAL"
	got := &casefile.Got{Ret: "-1", Errno: &einval}
	refused := fmt.Errorf("the call: %w", rule.AttrDuplicate)
	for form, printer := range map[string]func(io.Writer) tracecase.BatchPrinter{
		"text": func(w io.Writer) tracecase.BatchPrinter { return tracecase.Text(w, funcgraph.Options{}) },
		"JSON": tracecase.JSON,
	} {
		var b strings.Builder
		p := printer(&b)
		p.Case(cqCase)
		p.Step(cqCase, 1)
		p.Answer(got, refused)
		require.NoError(t, p.Close())
		require.Contains(t, b.String(), "attr/duplicate", form)
	}
}
