package trace_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/trace"
)

// log is a Batcher that writes down what comes.
type log struct{ lines []string }

func (l *log) Event(t *trace.Task, e *trace.Event) {
	l.lines = append(l.lines, fmt.Sprint(t.ID, " ", e.Name))
}

func (l *log) Events(t *trace.Task, events []trace.Event) {
	for i := range events {
		l.Event(t, &events[i])
	}
	l.lines = append(l.lines, "-")
}

// TestBatches: a task hands over what it has when its outermost function is left,
// and before another task can see what it has done.
func TestBatches(t *testing.T) {
	var l log
	one := trace.NewTask(1, &l)
	var mu trace.Mutex
	mu.Name = "m"
	outer := one.Enter(trace.Uverbs, "f")
	one.Note(trace.CopyIn, "n", 0, 0, 0)
	require.Empty(t, l.lines)
	mu.Lock(one)
	require.Equal(t, []string{"1 f", "1 n", "-"}, l.lines, "before a lock is taken")
	l.lines = nil
	mu.Unlock(one)
	require.Equal(t, []string{"1 m", "-"}, l.lines, "before it is released")
	l.lines = nil
	one.Before(trace.Ref, "get", "CQ", trace.Nothing, &mu)
	require.Equal(t, []string{"1 m", "-"}, l.lines, "before a reference is taken")
	l.lines = nil
	inner := one.Enter(trace.Uverbs, "g")
	inner.Leave()
	one.Flush()
	one.Flush()
	require.Equal(t, []string{"1 g", "1 g", "-"}, l.lines)
	l.lines = nil
	outer.Leave()
	require.Equal(t, []string{"1 f", "-"}, l.lines)
	l.lines = nil
	one.Note(trace.Handle, "fd", 3, 1, 0)
	require.Equal(t, []string{"1 fd", "-"}, l.lines, "outside of all functions")
}

// TestManyEvents: none of many is lost.
func TestManyEvents(t *testing.T) {
	var l log
	task := trace.NewTask(1, &l)
	span := task.Enter(trace.Uverbs, "f")
	for range 1000 {
		task.Note(trace.CopyIn, "n", 0, 0, 0)
	}
	span.Leave()
	n := 0
	for _, line := range l.lines {
		if line != "-" {
			n++
		}
	}
	require.Equal(t, 1002, n)
}

func TestRecorder(t *testing.T) {
	var l log
	r := trace.NewRecorder(&l)
	one, two := trace.NewTask(1, r), trace.NewTask(2, r)
	one.Enter(trace.Uverbs, "f").Leave()
	one.Enter(trace.Uverbs, "g").Leave()
	two.Enter(trace.Uverbs, "f").Leave()
	one.Enter(trace.Uverbs, "h").Leave()
	require.Empty(t, l.lines)
	r.Drain()
	require.Equal(t, []string{"1 f", "1 f", "1 g", "1 g", "-", "2 f", "2 f", "-", "1 h", "1 h", "-"}, l.lines)
	l.lines = nil
	r.Drain()
	require.Empty(t, l.lines)
}

// TestRecorderIsFull: what does not fit any more is handed on, and nothing is lost.
func TestRecorderIsFull(t *testing.T) {
	var l log
	r := trace.NewRecorder(&l)
	task := trace.NewTask(1, r)
	const n = 10000
	for i := range n {
		task.Note(trace.Handle, fmt.Sprint(i), 0, 0, 0)
	}
	require.NotEmpty(t, l.lines)
	r.Drain()
	i := 0
	for _, line := range l.lines {
		if line != "-" {
			require.Equal(t, fmt.Sprint("1 ", i), line)
			i++
		}
	}
	require.Equal(t, n, i)
}

// picky is a Batcher that wants no inlined functions, and of the rest only functions
// and firmware commands.
type picky struct{ log }

func (*picky) Wants(k trace.Kind, inlined bool) bool {
	return k == trace.Firmware || (k == trace.Enter || k == trace.Leave) && !inlined
}

func TestFilter(t *testing.T) {
	for name, wrap := range map[string]func(*picky) (trace.Sink, func()){
		"itself":   func(p *picky) (trace.Sink, func()) { return p, func() {} },
		"recorder": func(p *picky) (trace.Sink, func()) { r := trace.NewRecorder(p); return r, r.Drain },
		"timed": func(p *picky) (trace.Sink, func()) {
			return trace.Timed(p, func() time.Duration { return 0 }), func() {}
		},
	} {
		var l picky
		sink, drain := wrap(&l)
		task := trace.NewTask(1, sink)
		outer := task.Enter(trace.Uverbs, "f")
		inlined := task.EnterInlined(trace.Uverbs, "g")
		task.Note(trace.CopyIn, "copy", 0, 0, 0)
		task.NoteAttr("attr", nil, 0, 0, 0)
		task.Note(trace.Firmware, "CREATE_CQ", 0, 0, 0)
		inlined.Leave()
		outer.Leave()
		drain()
		require.Equal(t, []string{"1 f", "1 CREATE_CQ", "1 f", "-"}, l.lines, name)
	}
}

// times is a Batcher that writes down when events happened.
type times struct{ log }

func (l *times) Events(_ *trace.Task, events []trace.Event) {
	for i := range events {
		l.lines = append(l.lines, events[i].Time.String())
	}
}

func TestTimed(t *testing.T) {
	now := time.Duration(0)
	clock := func() time.Duration { now += time.Second; return now }
	var l times
	task := trace.NewTask(1, trace.Timed(&l, clock))
	task.Enter(trace.Uverbs, "f").Leave()
	task.Note(trace.Handle, "fd", 0, 0, 0)
	require.Equal(t, []string{"1s", "2s", "3s"}, l.lines)
}
