package funcgraph_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/funcgraph"
	"uverbsim/trace"
)

// call makes the events of an outer function that calls an inlined one, which
// calls a leaf.
func call(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_cmd_verbs").Leave()
	defer t.EnterInlined(trace.Uverbs, "ib_uverbs_run_method").Leave()
	t.Note(trace.CopyIn, "", 0x1000, 16, 8)
	t.Enter("mlx5_ib", "mlx5_ib_create_cq").Leave()
	t.Note(trace.Refuse, "attr/duplicate", 22, 0, 0)
}

func ExamplePrinter() {
	p := funcgraph.New(os.Stdout, funcgraph.Options{})
	call(trace.NewTask(1, p))
	// Output:
	// ib_uverbs_cmd_verbs [ib_uverbs]() {
	//   mlx5_ib_create_cq [mlx5_ib]();
	// } /* ib_uverbs_cmd_verbs [ib_uverbs] */
}

func TestNotesAndInlined(t *testing.T) {
	var b strings.Builder
	p := funcgraph.New(&b, funcgraph.Options{Notes: true, Inlined: true, Indent: "| "})
	call(trace.NewTask(1, p))
	require.NoError(t, p.Err())
	require.Equal(t, `| ib_uverbs_cmd_verbs [ib_uverbs]() {
|   ib_uverbs_run_method [ib_uverbs]() /* inlined */ {
|     /* 16 bytes from the user at 0x1000: fault after 8 */
|     mlx5_ib_create_cq [mlx5_ib]();
|     /* refused: attr/duplicate, EINVAL */
|   } /* ib_uverbs_run_method [ib_uverbs] (inlined) */
| } /* ib_uverbs_cmd_verbs [ib_uverbs] */
`, b.String())
}

type fullDisk struct{}

var errFull = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrIsKept(t *testing.T) {
	p := funcgraph.New(fullDisk{}, funcgraph.Options{})
	call(trace.NewTask(1, p))
	require.ErrorIs(t, p.Err(), errFull)
}
