package sequence_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/sequence"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

var handle = spec.Attr{Name: "UVERBS_ATTR_CREATE_CQ_HANDLE", Type: spec.TypeIDR, Object: spec.UVERBS_OBJECT_CQ, Access: spec.AccessNew, Mandatory: true}

// createCQ makes the events of a call that makes a CQ on a device with firmware,
// which does a DMA for it.
func createCQ(d *sequence.Diagram) {
	t, device := trace.NewTask(1, d), trace.NewTask(0, d)
	ioctl := t.Enter(trace.Uverbs, "ib_uverbs_ioctl")
	t.Note(trace.CopyIn, "", 0x1000, 24, 24)
	verbs := t.Enter(trace.Uverbs, "ib_uverbs_cmd_verbs")
	for _, slot := range []uint64{1, 33, 0} {
		t.Note(trace.Node, "method", 0x1840, 6, slot)
	}
	t.Note(trace.Node, "attribute", 0x1841, 0, 1)
	t.NoteAttr(handle.Name, &handle, 0, 0, 0)
	t.Note(trace.Handle, "UVERBS_OBJECT_CQ", 3, 1, 0)
	method := t.Enter(trace.Uverbs, "ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE")
	driver := t.Enter("mlx5_ib", "mlx5_ib_create_cq")
	device.Note(trace.DMA, "cqe", 0x2000, 64, 1)
	t.Note(trace.Firmware, "CREATE_CQ", 0x400, 0, 0)
	driver.Leave()
	t.Note(trace.CopyOut, "", 0x3000, 4, 0)
	t.Note(trace.Refuse, rule.AttrDuplicate.ID, 22, 0, 0)
	method.Leave()
	verbs.Leave()
	ioctl.Leave()
}

// texts are the texts of a diagram in their order, each once, which must be well
// formed.
func texts(t *testing.T, d *sequence.Diagram) (all []string, title, desc string) {
	t.Helper()
	var b bytes.Buffer
	_, err := d.WriteTo(&b)
	require.NoError(t, err)
	dec := xml.NewDecoder(&b)
	in := ""
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return all, title, desc
		}
		require.NoError(t, err)
		switch tok := tok.(type) {
		case xml.StartElement:
			in = tok.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			s := string(tok)
			switch {
			case in == "title":
				title = s
			case in == "desc":
				desc = s
			case in == "text" && (len(all) == 0 || all[len(all)-1] != s):
				all = append(all, s)
			}
		}
	}
}

func TestRows(t *testing.T) {
	d := sequence.New("a <title>", "what it is about", sequence.Options{})
	d.Step("step 0: ioctl")
	createCQ(d)
	d.Answer("= -1 EINVAL", true)
	all, title, desc := texts(t, d)
	require.Equal(t, "a <title>", title)
	require.Contains(t, desc, "what it is about")
	require.Contains(t, desc, "2 for firmware commands")
	require.Equal(t, []string{
		"a <title>", "what it is about",
		"program", "user memory", "uverbs core", "objects", "driver", "device", "host memory",
		"step 0: ioctl",
		"ib_uverbs_ioctl",
		"24 bytes from 0x1000",
		"tree: method key 0x1840 (obj 3 method 0): slots 1, 33, 0",
		"attribute 0: CREATE_CQ_HANDLE, 0 bytes (IDR of UVERBS_OBJECT_CQ, NEW, mandatory)",
		"CQ: number 3 taken",
		"handler: ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE",
		"mlx5_ib_create_cq",
		"CREATE_CQ (0x400)",
		"cqe: 64 bytes",
		"done",
		"returns",
		"4 bytes to 0x3000: fault after 0",
		"refused by attr/duplicate: EINVAL",
		"= -1 EINVAL",
	}, all)
}

// TestSameRows: what is repeated is drawn once, with how often.
func TestSameRows(t *testing.T) {
	d := sequence.New("t", "", sequence.Options{})
	task := trace.NewTask(1, d)
	span := task.Enter("mlx5_ib", "mlx5_ib_alloc_ucontext")
	for range 8 {
		task.Note(trace.Firmware, "ALLOC_UAR", 0x802, 0, 0)
	}
	task.Note(trace.Firmware, "CREATE_CQ", 0x400, 3, 0x99)
	span.Leave()
	all, _, _ := texts(t, d)
	require.Equal(t, []string{"mlx5_ib_alloc_ucontext", "ALLOC_UAR (0x802) (8 times)", "done (8 times)", "CREATE_CQ (0x400)", "status 3, syndrome 0x99"}, all[8:])
}

func TestLocks(t *testing.T) {
	for _, on := range []bool{false, true} {
		d := sequence.New("t", "", sequence.Options{Locks: on})
		task := trace.NewTask(1, d)
		span := task.Enter(trace.Uverbs, "ib_uverbs_close")
		task.Note(trace.Lock, "lists_mutex", 0, 0, 0)
		task.Note(trace.Usecnt, "UVERBS_OBJECT_CQ", 3, 1<<64-1, 0)
		span.Leave()
		all, _, _ := texts(t, d)
		require.Equal(t, on, strings.Contains(strings.Join(all, "\n"), "lock lists_mutex\nCQ 3: use count -1"))
	}
}

// TestRowsLeftOut: a long trace is cut, and says so.
func TestRowsLeftOut(t *testing.T) {
	d := sequence.New("t", "", sequence.Options{Rows: 100})
	task := trace.NewTask(1, d)
	for i := range 500 {
		task.Note(trace.CopyIn, "", uint64(i), 8, 8)
	}
	all, _, desc := texts(t, d)
	require.Equal(t, "400 more rows are left out.", all[len(all)-1])
	require.Contains(t, desc, "400 rows are left out.")
	require.Contains(t, all, "8 bytes from 0x63")
	require.NotContains(t, all, "8 bytes from 0x64")
	lanes := 0
	for _, s := range all {
		if s == "driver" {
			lanes++
		}
	}
	require.Equal(t, 3, lanes, "the names of the lanes stand again where they would be out of sight")
}

// TestBackground: the diagram has a background of its own, so that it can be read
// on a dark page and on a light one, and its colours are written nowhere else than in
// its style.
func TestBackground(t *testing.T) {
	d := sequence.New("t", "", sequence.Options{})
	createCQ(d)
	var b strings.Builder
	_, err := d.WriteTo(&b)
	require.NoError(t, err)
	require.Contains(t, b.String(), "rect.page { fill: #ffffff;")
	require.Contains(t, b.String(), `<rect x="0" y="0"`)
	_, body, _ := strings.Cut(b.String(), "</style>")
	require.NotContains(t, body, "#")
}

// TestLabels: behind each label lies a box, so that no line of a lane goes through
// it.
func TestLabels(t *testing.T) {
	d := sequence.New("t", "", sequence.Options{})
	createCQ(d)
	var b bytes.Buffer
	_, err := d.WriteTo(&b)
	require.NoError(t, err)
	dec := xml.NewDecoder(&b)
	type shape struct{ x, y, width, height int }
	attr := func(e xml.StartElement, name string) string {
		for _, a := range e.Attr {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	number := func(e xml.StartElement, name string) int {
		n, _ := strconv.Atoi(attr(e, name))
		return n
	}
	var before shape
	labels := 0
	for {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		e, ok := tok.(xml.StartElement)
		if !ok {
			continue
		}
		at := shape{number(e, "x"), number(e, "y"), number(e, "width"), number(e, "height")}
		if e.Name.Local == "text" && strings.HasPrefix(attr(e, "class"), "label") {
			labels++
			text, err := dec.Token()
			require.NoError(t, err)
			require.Less(t, before.x, at.x)
			require.Greater(t, before.x+before.width, at.x+6*len(text.(xml.CharData)), "%s", text)
			require.Less(t, before.y, at.y-8)
			require.Greater(t, before.y+before.height, at.y)
		}
		before = at
	}
	require.Greater(t, labels, 10)
}

// TestNothingCopied: the kernel copies the attributes of a request that has none.
func TestNothingCopied(t *testing.T) {
	d := sequence.New("t", "", sequence.Options{})
	trace.NewTask(1, d).Note(trace.CopyIn, "", 0x1000, 0, 0)
	all, _, _ := texts(t, d)
	require.Equal(t, "0 bytes: no memory is touched", all[len(all)-1])
}

// TestDrawnTwice: a diagram can be drawn while the case goes on, and again.
func TestDrawnTwice(t *testing.T) {
	d := sequence.New("t", "", sequence.Options{})
	task := trace.NewTask(1, d)
	task.Note(trace.CopyIn, "", 0x1000, 24, 24)
	once, _, _ := texts(t, d)
	same, _, _ := texts(t, d)
	require.Equal(t, once, same)
	task.Note(trace.Firmware, "CREATE_CQ", 0x400, 0, 0)
	more, _, _ := texts(t, d)
	require.Equal(t, once, more[:len(once)])
	require.Greater(t, len(more), len(once))
}

// TestTasksAtOnce: several tasks may add to a diagram at once, and nothing of
// theirs is lost.
func TestTasksAtOnce(t *testing.T) {
	const tasks, notes = 4, 200
	d := sequence.New("t", "", sequence.Options{Rows: 2 * tasks * notes})
	var wg sync.WaitGroup
	for id := range tasks {
		task := trace.NewTask(id+1, d)
		wg.Go(func() {
			for range notes {
				task.Note(trace.Firmware, "CREATE_CQ", 0x400, 0, 0)
				d.WriteTo(io.Discard)
			}
		})
	}
	wg.Wait()
	_, _, desc := texts(t, d)
	require.Contains(t, desc, fmt.Sprintf(" %d for firmware commands", 2*tasks*notes))
}

func TestEmpty(t *testing.T) {
	all, _, _ := texts(t, sequence.New("nothing", "", sequence.Options{}))
	require.Contains(t, all, "program")
}

// TestCut: a text that is too wide is cut between two letters, whatever they are; one that is not
// stays whole.
func TestCut(t *testing.T) {
	wide := strings.Repeat("é", 400)
	all, title, _ := texts(t, sequence.New(wide, wide, sequence.Options{}))
	require.Equal(t, wide, title)
	require.Regexp(t, "^é{100,}…$", all[1])
	fits := strings.Repeat("é", 120)
	all, _, _ = texts(t, sequence.New("t", fits, sequence.Options{}))
	require.Equal(t, fits, all[1])
}

type fullDisk struct{}

var errFull = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErr(t *testing.T) {
	_, err := sequence.New("t", "", sequence.Options{}).WriteTo(fullDisk{})
	require.ErrorIs(t, err, errFull)
}
