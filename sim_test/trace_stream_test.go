package sim_test

import (
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// stream keeps all events of a machine.
type stream struct {
	mu     sync.Mutex
	events []trace.Event
	tasks  []int
}

func (s *stream) Event(t *trace.Task, e *trace.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.events = append(s.events, *e)
	s.tasks = append(s.tasks, t.ID)
}

// has says whether there is such an event.
func (s *stream) has(is func(e *trace.Event) bool) bool {
	return slices.ContainsFunc(s.events, func(e trace.Event) bool { return is(&e) })
}

// streamOf plays a case of a file and returns all that happened.
func streamOf(t *testing.T, file, name string) *stream {
	t.Helper()
	f, err := os.Open(file)
	require.NoError(t, err)
	defer f.Close()
	for c, err := range casefile.Read(f, file) {
		require.NoError(t, err)
		if c.Name != name {
			continue
		}
		s := new(stream)
		r := player.Play(&model.Model{Trace: func(*casefile.Case) trace.Sink { return s }}, c, player.Options{})
		require.True(t, r.Passed())
		return s
	}
	t.Fatalf("%s has no case %s", file, name)
	return nil
}

// TestStream: what a call does is in the stream, of each kind.
func TestStream(t *testing.T) {
	resize := streamOf(t, "corpus/linux-6.12-mlx5.jsonl", "mlx5/resize/cqe-100")
	busy := streamOf(t, "corpus/linux-6.12-rxe.jsonl", "busy/pd-with-mr")
	for _, want := range []struct {
		what string
		in   *stream
		is   func(e *trace.Event) bool
	}{
		{"a function of the driver", resize, func(e *trace.Event) bool { return e.Kind == trace.Enter && e.Name == "mlx5_ib_resize_cq" }},
		{"and its end", resize, func(e *trace.Event) bool { return e.Kind == trace.Leave && e.Name == "mlx5_ib_resize_cq" }},
		{"the copy of a header", resize, func(e *trace.Event) bool {
			return e.Kind == trace.CopyIn && e.A != 0 && e.B == spec.IoctlHdrSize && e.C == e.B
		}},
		{"an answer", resize, func(e *trace.Event) bool { return e.Kind == trace.CopyOut && e.A != 0 && e.B == 8 && e.C == 8 }},
		{"a node on the way to a method", resize, func(e *trace.Event) bool { return e.Kind == trace.Node && e.Name == "method" && e.B == 12 }},
		{"a node on the way to an object", resize, func(e *trace.Event) bool { return e.Kind == trace.Node && e.Name == "object" && e.B == 12 }},
		{"an attribute with its spec", resize, func(e *trace.Event) bool {
			a, ok := e.Spec.(*spec.Attr)
			return e.Kind == trace.Attr && ok && a.ID == uint16(e.A) && a.Name == e.Name
		}},
		{"a lock", resize, func(e *trace.Event) bool { return e.Kind == trace.Lock && e.Name == "hw_destroy_rwsem" }},
		{"its release", resize, func(e *trace.Event) bool { return e.Kind == trace.Unlock && e.Name == "hw_destroy_rwsem" }},
		{"a reference", resize, func(e *trace.Event) bool { return e.Kind == trace.Ref && e.Name == "UVERBS_OBJECT_CQ" }},
		{"a use of a handle's object", resize, func(e *trace.Event) bool { return e.Kind == trace.Usecnt && e.Name == "UVERBS_OBJECT_CQ" }},
		{"a use of an object of ib_core", busy, func(e *trace.Event) bool { return e.Kind == trace.Usecnt && e.Name == "ib_pd" && e.B == 1 }},
		{"and its end", busy, func(e *trace.Event) bool { return e.Kind == trace.Usecnt && e.Name == "ib_pd" && e.B == 0 }},
		{"a new handle", resize, func(e *trace.Event) bool { return e.Kind == trace.Handle && e.Name == "UVERBS_OBJECT_CQ" && e.B == 1 }},
		{"a free one", resize, func(e *trace.Event) bool { return e.Kind == trace.Handle && e.Name == "UVERBS_OBJECT_CQ" && e.B == 0 }},
		{"a firmware command", resize, func(e *trace.Event) bool {
			return e.Kind == trace.Firmware && e.Name == "MODIFY_CQ" && e.A == 0x403 && e.B == 0
		}},
		{"memory that the device reads", resize, func(e *trace.Event) bool {
			return e.Kind == trace.DMA && e.Name == "cq doorbell record" && e.B == 4 && e.C == 0
		}},
		{"memory that it writes", resize, func(e *trace.Event) bool { return e.Kind == trace.DMA && e.Name == "cqe" && e.B == 64 && e.C == 1 }},
		{"a refusal", busy, func(e *trace.Event) bool { return e.Kind == trace.Refuse && e.A == 16 /* EBUSY */ }},
	} {
		require.True(t, want.in.has(want.is), want.what)
	}

	// The device's own work belongs to a task of its own.
	for i := range resize.events {
		require.Equal(t, resize.events[i].Kind == trace.DMA, resize.tasks[i] == 0)
	}
}
