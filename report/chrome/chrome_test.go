package chrome_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/report/chrome"
	"uverbsim/spec"
	"uverbsim/trace"
)

// call makes the events of a function that calls an inlined one, which calls a
// leaf.
func call(t *trace.Task) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_cmd_verbs").Leave()
	defer t.EnterInlined(trace.Uverbs, "ib_uverbs_run_method").Leave()
	t.Note(trace.CopyIn, "", 0x1000, 16, 8)
	t.NoteAttr("UVERBS_ATTR_CREATE_CQ_CQE", &cqe, 1, 4, 0)
	t.Enter("mlx5_ib", "mlx5_ib_create_cq").Leave()
	t.Note(trace.Refuse, `a "strange" one`, 22, 0, 0)
}

var cqe = spec.Attr{ID: 1, Name: "UVERBS_ATTR_CREATE_CQ_CQE", Type: spec.TypePtrIn, Len: 4, MinLen: 4, Mandatory: true}

func ExampleWriter() {
	w := chrome.New(os.Stdout, chrome.Options{NoInlined: true})
	w.Process("a machine")
	t := trace.NewTask(1, w)
	span := t.Enter(trace.Uverbs, "ib_uverbs_ioctl")
	t.Note(trace.CopyIn, "", 0x1000, 24, 24)
	span.Leave()
	w.Close()
	// Output:
	// [
	// {"ph":"M","pid":1,"name":"process_name","args":{"name":"a machine"}},
	// {"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"task 1"}},
	// {"ph":"B","pid":1,"tid":1,"ts":1,"cat":"ib_uverbs","name":"ib_uverbs_ioctl"},
	// {"ph":"i","s":"t","pid":1,"tid":1,"ts":2,"cat":"copy_in","name":"copy_in","args":{"address":"0x1000","bytes":"24","copied":"24"}},
	// {"ph":"E","pid":1,"tid":1,"ts":3}
	// ]
}

// event is an event as the format's document has it.
type event struct {
	Ph, Name, Cat, S string
	Pid, Tid         int
	Ts               *float64
	Args             map[string]string
}

type lane struct{ pid, tid int }

// parse holds a file to the format: an array of events; B and E nest in each
// thread; a thread's times do not go back; each thread has a name.
func parse(t *testing.T, text string) []event {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(text))
	dec.DisallowUnknownFields()
	var events []event
	require.NoError(t, dec.Decode(&events))
	depth, last, named := map[lane]int{}, map[lane]float64{}, map[lane]bool{}
	for _, e := range events {
		l := lane{e.Pid, e.Tid}
		require.Positive(t, e.Pid)
		if e.Ph == "M" {
			require.Nil(t, e.Ts)
			require.Contains(t, []string{"process_name", "thread_name"}, e.Name)
			require.NotEmpty(t, e.Args["name"])
			named[l] = true
			continue
		}
		require.NotNil(t, e.Ts)
		require.GreaterOrEqual(t, *e.Ts, last[l])
		last[l] = *e.Ts
		require.True(t, named[l], "a thread without a name")
		switch e.Ph {
		case "B":
			require.NotEmpty(t, e.Name)
			require.NotEmpty(t, e.Cat)
			depth[l]++
		case "E":
			depth[l]--
			require.GreaterOrEqual(t, depth[l], 0, "an end without a beginning")
		case "i":
			require.NotEmpty(t, e.Name)
			require.Equal(t, "t", e.S)
		default:
			t.Errorf("a phase that the format does not have: %q", e.Ph)
		}
	}
	for l, n := range depth {
		require.Zerof(t, n, "thread %d of process %d has functions that do not end", l.tid, l.pid)
	}
	return events
}

func TestFormat(t *testing.T) {
	var b strings.Builder
	w := chrome.New(&b, chrome.Options{})
	w.Process("one")
	w.Step("step 0")
	one, two, device := trace.NewTask(1, w), trace.NewTask(2, w), trace.NewTask(0, w)
	outer := one.Enter(trace.Uverbs, "ib_uverbs_ioctl")
	one.Flush()
	call(two)
	device.Note(trace.DMA, "cqe", 0x2000, 64, 1)
	call(one)
	outer.Leave()
	w.Answer("= 0")
	w.Process("two")
	blocked := trace.NewTask(1, w)
	blocked.Enter(trace.Uverbs, "ib_uverbs_close")
	blocked.Flush() // and is never left
	require.NoError(t, w.Close())
	require.NoError(t, w.Close(), "once more")
	events := parse(t, b.String())

	count := map[string]int{}
	for _, e := range events {
		count[e.Ph+" "+e.Name]++
	}
	require.Equal(t, 1, count["B step 0"])
	require.Equal(t, 2, count["B ib_uverbs_cmd_verbs"])
	require.Equal(t, 2, count["B ib_uverbs_run_method"])
	require.Equal(t, 2, count[`i refuse a "strange" one`])
	require.Equal(t, 2, count["i attr UVERBS_ATTR_CREATE_CQ_CQE"])
	require.Equal(t, 1, count["i dma cqe"])
	require.Equal(t, 2, count["M process_name"])
	require.Equal(t, 5, count["M thread_name"], "steps, task 1, task 2, the device, and task 1 of the other machine")
	for _, e := range events {
		if e.Name == "attr UVERBS_ATTR_CREATE_CQ_CQE" {
			require.Equal(t, map[string]string{"attr_id": "0x1", "len": "4", "index": "0", "spec": "PTR_IN, 4 bytes, mandatory"}, e.Args)
		}
	}
}

func TestNothing(t *testing.T) {
	var b strings.Builder
	require.NoError(t, chrome.New(&b, chrome.Options{}).Close())
	require.Empty(t, parse(t, b.String()))
}

func TestNotesAndInlinedLeftOut(t *testing.T) {
	var b strings.Builder
	w := chrome.New(&b, chrome.Options{NoInlined: true, NoNotes: true})
	call(trace.NewTask(1, w))
	require.NoError(t, w.Close())
	var names []string
	for _, e := range parse(t, b.String()) {
		if e.Ph != "M" && e.Ph != "E" {
			names = append(names, e.Name)
		}
	}
	require.Equal(t, []string{"ib_uverbs_cmd_verbs", "mlx5_ib_create_cq"}, names)
}

// TestClock: the times are those at which the events happened, not those at which
// they are written.
func TestClock(t *testing.T) {
	now := time.Duration(0)
	clock := func() time.Duration { now += 1500 * time.Nanosecond; return now }
	var b strings.Builder
	w := chrome.New(&b, chrome.Options{Clock: clock})
	r := trace.NewRecorder(w)
	trace.NewTask(1, trace.Timed(r, clock)).Enter(trace.Uverbs, "f").Leave()
	now = time.Hour
	r.Drain()
	require.NoError(t, w.Close())
	events := parse(t, b.String())
	require.Equal(t, 1.5, *events[1].Ts)
	require.Equal(t, 3.0, *events[2].Ts)
}

// TestLogicalClock: each event is a microsecond after the one before it.
func TestLogicalClock(t *testing.T) {
	var b strings.Builder
	w := chrome.New(&b, chrome.Options{})
	task := trace.NewTask(1, w)
	for range 1000 {
		task.Note(trace.Lock, "lists_mutex", 0, 0, 0)
	}
	require.NoError(t, w.Close())
	for i, e := range parse(t, b.String())[1:] {
		require.Equal(t, float64(i+1), *e.Ts)
	}
}

// TestEventAtOnce: what is handed over as one event is written at once, and not
// with the next.
func TestEventAtOnce(t *testing.T) {
	var b strings.Builder
	w := chrome.New(&b, chrome.Options{})
	task := trace.NewTask(1, w)
	for _, name := range []string{"lists_mutex", "ucontext_lock"} {
		w.Event(task, &trace.Event{Kind: trace.Lock, Name: name})
		require.Contains(t, b.String(), name)
	}
}

// TestTasksAtOnce: several tasks may write at once, and each event is whole.
func TestTasksAtOnce(t *testing.T) {
	const tasks, notes = 4, 2000
	var b strings.Builder
	w := chrome.New(&b, chrome.Options{})
	var wg sync.WaitGroup
	for id := range tasks {
		task := trace.NewTask(id+1, w)
		wg.Go(func() {
			for range notes / 2 {
				w.Event(task, &trace.Event{Kind: trace.Lock, Name: "lists_mutex"})
				task.Note(trace.Lock, "lists_mutex", 0, 0, 0)
			}
		})
	}
	wg.Wait()
	require.NoError(t, w.Close())
	require.Len(t, parse(t, b.String()), tasks+tasks*notes, "and the names of the tasks")
}

type fullDisk struct{}

var errFull = errors.New("no space")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestErrIsKept(t *testing.T) {
	w := chrome.New(fullDisk{}, chrome.Options{})
	call(trace.NewTask(1, w))
	require.ErrorIs(t, w.Err(), errFull)
	require.ErrorIs(t, w.Close(), errFull)
}
