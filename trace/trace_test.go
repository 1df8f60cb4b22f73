package trace_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/trace"
)

// script is a sink that writes down what it is told, fails the steps that it
// is told to, and notes scheduling points.
type script struct {
	lines []string
	fail  map[string]bool
}

func (s *script) Event(t *trace.Task, e *trace.Event) {
	s.lines = append(s.lines, fmt.Sprint(t.ID, " ", e.Kind, " ", e.Name, " ", e.A, " ", e.Inlined))
}
func (s *script) Fail(_ *trace.Task, _ trace.Step, what string) bool { return s.fail[what] }
func (s *script) Before(_ *trace.Task, p *trace.Point) {
	s.lines = append(s.lines, "before "+p.Verb+" "+p.Name)
}

func TestTaskReports(t *testing.T) {
	s := &script{fail: map[string]bool{"uobject": true}}
	task := trace.NewTask(7, s)
	span := task.EnterInlined(trace.Uverbs, "f")
	task.Note(trace.Handle, "CQ", 3, 1, 0)
	require.True(t, task.Fail(trace.Alloc, "uobject"))
	require.False(t, task.Fail(trace.Alloc, "other"))
	sem := trace.RWSem{Name: "hw_destroy_rwsem"}
	sem.DownRead(task)
	sem.UpRead(task)
	span.Leave()
	require.Equal(t, []string{
		fmt.Sprint("7 ", trace.Enter, " f 0 true"),
		fmt.Sprint("7 ", trace.Handle, " CQ 3 false"),
		"before down_read hw_destroy_rwsem",
		fmt.Sprint("7 ", trace.Lock, " hw_destroy_rwsem 0 false"),
		"before up_read hw_destroy_rwsem",
		fmt.Sprint("7 ", trace.Unlock, " hw_destroy_rwsem 0 false"),
		fmt.Sprint("7 ", trace.Leave, " f 0 true"),
	}, s.lines)
}

func TestTryDownRead(t *testing.T) {
	var sem trace.RWSem
	require.True(t, sem.TryDownRead(nil))
	require.True(t, sem.TryDownRead(nil), "readers share")
	sem.UpRead(nil)
	sem.UpRead(nil)
	sem.DownWrite(nil)
	require.False(t, sem.TryDownRead(nil))
	sem.UpWrite(nil)
	require.True(t, sem.TryDownRead(nil))
}

func TestOffCostsNothing(t *testing.T) {
	var task *trace.Task
	var mu trace.Mutex
	require.Zero(t, testing.AllocsPerRun(100, func() {
		defer task.Enter(trace.Uverbs, "f").Leave()
		mu.Lock(task)
		mu.Unlock(task)
		task.Note(trace.Ref, "CQ", 1, 2, 3)
		if task.Fail(trace.Copy, "copy_from_user") {
			t.Error("a step failed with nobody to make it")
		}
	}))
}

func BenchmarkOff(b *testing.B) {
	var task *trace.Task
	b.ReportAllocs()
	for b.Loop() {
		task.Enter(trace.Uverbs, "f").Leave()
	}
}

// TestCut: a copy is asked about twice, before its first byte and in its middle, one
// of a byte once, and one of nothing never.
func TestCut(t *testing.T) {
	s := &stepper{}
	task := trace.NewTask(1, s)
	require.Equal(t, 8, task.Cut("c", 8))
	require.Equal(t, 1, task.Cut("c", 1))
	require.Zero(t, task.Cut("c", 0))
	require.Equal(t, []trace.Step{trace.Copy, trace.Middle, trace.Copy}, s.asked)
	s.fail = trace.Middle
	require.Equal(t, 4, task.Cut("c", 8))
	s.fail = trace.Copy
	require.Zero(t, task.Cut("c", 8))
	require.Equal(t, 8, (*trace.Task)(nil).Cut("c", 8))
}

// stepper makes steps of one kind fail.
type stepper struct {
	fail  trace.Step
	asked []trace.Step
}

func (*stepper) Event(*trace.Task, *trace.Event) {}
func (s *stepper) Fail(_ *trace.Task, k trace.Step, _ string) bool {
	s.asked = append(s.asked, k)
	return s.fail != trace.Alloc && k == s.fail
}

func TestFunctions(t *testing.T) {
	task := trace.NewTask(1, &stepper{})
	outer := task.Enter(trace.Uverbs, "f")
	inner := task.EnterInlined(trace.Uverbs, "g")
	require.Equal(t, []string{"f", "g"}, task.Functions())
	inner.Leave()
	require.Equal(t, []string{"f"}, task.Functions())
	outer.Leave()
	require.Empty(t, task.Functions())
	require.Nil(t, (*trace.Task)(nil).Functions())
}

// TestHeld: a lock says whether somebody holds it, and is as before when it has said so.
func TestHeld(t *testing.T) {
	var m trace.Mutex
	require.False(t, m.Held())
	m.Lock(nil)
	require.True(t, m.Held())
	m.Unlock(nil)
	require.False(t, m.Held())

	var s trace.RWSem
	require.False(t, s.Held())
	s.DownRead(nil)
	require.True(t, s.Held())
	require.True(t, s.TryDownRead(nil), "asking has not shut others out")
	s.UpRead(nil)
	s.UpRead(nil)
	require.False(t, s.Held())
	s.DownWrite(nil)
	require.True(t, s.Held())
	s.UpWrite(nil)
	require.False(t, s.Held())
}
