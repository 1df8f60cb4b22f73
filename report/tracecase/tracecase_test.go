package tracecase_test

import (
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/funcgraph"
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
	for _, p := range []tracecase.Printer{tracecase.Text(fullDisk{}, funcgraph.Options{}), tracecase.JSON(fullDisk{})} {
		play(p)
		require.ErrorIs(t, p.Err(), errFull)
	}
}
