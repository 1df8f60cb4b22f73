package demo_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/report/demo"
	"uverbsim/trace"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares text with a file of testdata, or writes the file.
func golden(t *testing.T, name string, write func(io.Writer) error) {
	t.Helper()
	var got bytes.Buffer
	require.NoError(t, write(&got))
	file := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(file, got.Bytes(), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s is not what is written now; go test -update writes it anew:\n%s", file, diff)
	}
}

func TestText(t *testing.T) {
	golden(t, "demo.txt", func(w io.Writer) error { return demo.Text(w, false) })
}

func TestBrief(t *testing.T) {
	golden(t, "brief.txt", func(w io.Writer) error { return demo.Text(w, true) })
}

// TestJSON: the creation of the queue and a mistake, as a program reads them.
func TestJSON(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, demo.JSON(&b))
	lines := bytes.Split(bytes.TrimSpace(b.Bytes()), []byte("\n"))

	var step struct {
		Acts []struct {
			Result string
			Ioctl  *struct {
				Method   string
				Length   int
				NumAttrs int `json:"num_attrs"`
				Attrs    []struct {
					Name, Value, Answer string
					Sent, Left          struct {
						AttrID int `json:"attr_id"`
						Flags  int
					}
				}
			}
			Events []struct {
				Kind, Name string
				Numbers    map[string]string
			}
		}
	}
	require.NoError(t, json.Unmarshal(lines[3], &step))
	create := step.Acts[len(step.Acts)-1]
	require.Equal(t, "UVERBS_METHOD_CQ_CREATE", create.Ioctl.Method)
	require.Equal(t, []int{24 + 9*16, 9}, []int{create.Ioctl.Length, create.Ioctl.NumAttrs})
	require.Equal(t, "0", create.Result)
	resp := create.Ioctl.Attrs[1]
	require.Equal(t, "UVERBS_ATTR_CREATE_CQ_RESP_CQE", resp.Name)
	require.Equal(t, "255", resp.Answer)
	require.Equal(t, []int{6, 1, 3}, []int{resp.Sent.AttrID, resp.Sent.Flags, resp.Left.Flags}, "VALID_OUTPUT is set")
	firmware := map[string]string{}
	for _, e := range create.Events {
		if e.Kind == "firmware" {
			firmware[e.Name] = e.Numbers["opcode"]
		}
	}
	require.Equal(t, "0x400", firmware["CREATE_CQ"])

	var mistake struct{ Errno, Rule, Func, File, Why, Do string }
	require.NoError(t, json.Unmarshal(lines[len(lines)-1], &mistake))
	require.Equal(t, []string{"EINVAL", "attr/duplicate", "uverbs_set_attr", "drivers/infiniband/core/uverbs_ioctl.c"},
		[]string{mistake.Errno, mistake.Rule, mistake.Func, mistake.File})
	require.NotEmpty(t, mistake.Why)
	require.NotEmpty(t, mistake.Do)
}

// TestJSONLines: one object a line, the steps and then the mistakes, each
// counted from 1.
func TestJSONLines(t *testing.T) {
	var b bytes.Buffer
	require.NoError(t, demo.JSON(&b))
	steps, mistakes := 0, 0
	for line := range bytes.Lines(b.Bytes()) {
		var o struct {
			Step, Mistake int
			Title         string
		}
		require.NoError(t, json.Unmarshal(line, &o))
		require.NotEmpty(t, o.Title)
		if o.Mistake == 0 {
			steps++
			require.Equal(t, steps, o.Step)
			require.Zero(t, mistakes, "the steps come first")
			continue
		}
		mistakes++
		require.Equal(t, mistakes, o.Mistake)
	}
	require.Equal(t, []int{10, 7}, []int{steps, mistakes})
}

// TestMistakes: where Linux 6.12 refuses each mistake, by its source, and with
// which errno; and the name that the check has in the catalogue.
func TestMistakes(t *testing.T) {
	want := []struct {
		errno syscall.Errno
		rule  string
		fun   string // the function that has the check
	}{
		// hdr.length != struct_size(&hdr, attrs, hdr.num_attrs)
		{syscall.EINVAL, "header/length", "ib_uverbs_ioctl"},
		// hdr.reserved1 || hdr.reserved2
		{syscall.EPROTONOSUPPORT, "header/reserved", "ib_uverbs_ioctl"},
		// attr.comp_vector >= attrs->ufile->device->num_comp_vectors
		{syscall.EINVAL, "cq/comp-vector", "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE"},
		// f->f_op != fd_type->fops || uobject->ufile != ufile
		{syscall.EBADF, "object/fd-foreign", "lookup_get_fd_uobject"},
		// ucmd.cqe_size != 64 && ucmd.cqe_size != 128
		{syscall.EINVAL, "mlx5-cq/cqe-size", "create_cq_user"},
		// no area has the first page of the buffer
		{syscall.EFAULT, "pin/unmapped", "__get_user_pages"},
		// test_bit(attr_bkey, pbundle->bundle.attr_present)
		{syscall.EINVAL, "attr/duplicate", "uverbs_set_attr"},
	}
	n := 0
	for m, err := range demo.Mistakes() {
		require.NoError(t, err)
		require.Less(t, n, len(want))
		t.Run(m.Title, func(t *testing.T) {
			require.Equal(t, want[n].errno, m.Rule.Errno)
			require.Equal(t, want[n].rule, m.Rule.ID)
			require.Equal(t, want[n].fun, m.Rule.Func)
			require.NotEmpty(t, m.Path)
			require.Equal(t, "ib_uverbs_ioctl", m.Path[0])
			require.Equal(t, want[n].fun, m.Path[len(m.Path)-1])
		})
		n++
	}
	require.Equal(t, len(want), n)
}

// TestMistakeThatNobodyNotices: EPROTONOSUPPORT has the library take the older
// command, which succeeds.
func TestMistakeThatNobodyNotices(t *testing.T) {
	for m, err := range demo.Mistakes() {
		require.NoError(t, err)
		if m.Rule.Errno != syscall.EPROTONOSUPPORT {
			require.Empty(t, m.Then, m.Title)
			continue
		}
		require.Len(t, m.Then, 1)
		require.Equal(t, "UVERBS_METHOD_INVOKE_WRITE of IB_USER_VERBS_CMD_CREATE_CQ", m.Then[0].Ioctl.Name())
		require.Equal(t, "0", m.Then[0].Result)
	}
}

// TestTripShowsEverything: somewhere on the trip there is every kind of thing
// that it is to show.
func TestTripShowsEverything(t *testing.T) {
	seen := map[trace.Kind]bool{}
	for s, err := range demo.Trip() {
		require.NoError(t, err)
		for _, a := range s.Acts {
			if a.Quiet {
				continue
			}
			for i := range a.Events {
				seen[a.Events[i].Kind] = true
			}
		}
	}
	for _, k := range []trace.Kind{trace.Enter, trace.Leave, trace.CopyIn, trace.CopyOut, trace.Node, trace.Attr,
		trace.Handle, trace.Firmware, trace.DMA} {
		require.True(t, seen[k], k)
	}
}

// TestTripStops: who has seen enough may leave.
func TestTripStops(t *testing.T) {
	n := 0
	for range demo.Trip() {
		if n++; n == 2 {
			break
		}
	}
	require.Equal(t, 2, n)
}

var errFull = errors.New("no space")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriterFails(t *testing.T) {
	require.ErrorIs(t, demo.Text(fullDisk{}, true), errFull)
	require.ErrorIs(t, demo.JSON(fullDisk{}), errFull)
}
