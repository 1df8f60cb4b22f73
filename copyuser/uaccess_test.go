package copyuser_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/trace"
)

// recorder keeps what a task reports, and lets the step called fail fail.
type recorder struct {
	events []trace.Event
	fail   string
}

func (r *recorder) Event(_ *trace.Task, e *trace.Event) { r.events = append(r.events, *e) }

func (r *recorder) Fail(_ *trace.Task, _ trace.Step, what string) bool { return what == r.fail }

const base copyuser.Addr = 0x20ff0

// TestUserAccess calls each helper where it succeeds, where it faults in the
// middle, and where it is made to fail. The memory is 16 bytes at base.
func TestUserAccess(t *testing.T) {
	type call = func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool
	const at, width = uint64(base), 8
	cases := []struct {
		name, step string
		kind       trace.Kind
		width      uint64
		partial    uint64 // bytes done 4 bytes before the end
		call       call
	}{
		{"CopyFromUser", "copy_from_user", trace.CopyIn, width, 4, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			return copyuser.CopyFromUser(t, m, make([]byte, width), a)
		}},
		{"CopyToUser", "copy_to_user", trace.CopyOut, width, 4, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			return copyuser.CopyToUser(t, m, a, pattern(width))
		}},
		{"ClearUser", "clear_user", trace.Clear, width, 4, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			return copyuser.ClearUser(t, m, a, width)
		}},
		{"GetUser64", "get_user", trace.CopyIn, 8, 0, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			_, ok := copyuser.GetUser64(t, m, a)
			return ok
		}},
		{"PutUser64", "put_user", trace.CopyOut, 8, 0, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			return copyuser.PutUser64(t, m, a, 1)
		}},
		{"PutUser32", "put_user", trace.CopyOut, 4, 0, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			return copyuser.PutUser32(t, m, a+2, 1)
		}},
		{"PutUser16", "put_user", trace.CopyOut, 2, 0, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			return copyuser.PutUser16(t, m, a+3, 1)
		}},
		{"IsBufferCleared", "memdup_user", trace.CopyIn, width, 4, func(t *trace.Task, m copyuser.Memory, a copyuser.Addr) bool {
			_, ok := copyuser.IsBufferCleared(t, m, a, width)
			return ok
		}},
	}
	shift := map[string]uint64{"PutUser32": 2, "PutUser16": 3}
	for _, c := range cases {
		for _, when := range []struct {
			name string
			off  uint64
			fail string
			done uint64
			ok   bool
		}{
			{"all there", 0, "", c.width, true},
			{"end missing", 12, "", c.partial, false},
			{"made to fail", 0, c.step, 0, false},
			{"other step fails", 0, "kmalloc", c.width, true},
		} {
			t.Run(c.name+", "+when.name, func(t *testing.T) {
				r := &recorder{fail: when.fail}
				m := copyuser.NewBytes(base, pattern(16))
				require.Equal(t, when.ok, c.call(trace.NewTask(1, r), m, base+copyuser.Addr(when.off)))
				want := trace.Event{Kind: c.kind, A: at + when.off + shift[c.name], B: c.width, C: when.done}
				got := notes(r.events)
				if c.name == "IsBufferCleared" && when.fail == c.step {
					require.Empty(t, got, "there is no copy without memory for it")
					return
				}
				require.Empty(t, cmp.Diff([]trace.Event{want}, got))

				m = copyuser.NewBytes(base, pattern(16))
				if when.fail == "" {
					require.Equal(t, when.ok, c.call(nil, m, base+copyuser.Addr(when.off)), "without a trace")
				}
			})
		}
	}
}

// notes returns the events that are not about functions.
func notes(events []trace.Event) (kept []trace.Event) {
	for _, e := range events {
		if e.Kind != trace.Enter && e.Kind != trace.Leave {
			kept = append(kept, e)
		}
	}
	return kept
}

// TestCopyFromUserZeroes: what could not be copied is zero afterwards.
func TestCopyFromUserZeroes(t *testing.T) {
	m := copyuser.NewBytes(base, pattern(16))
	dst := bytes.Repeat([]byte{0xee}, 8)
	require.False(t, copyuser.CopyFromUser(nil, m, dst, base+12))
	require.Equal(t, []byte{13, 14, 15, 16, 0, 0, 0, 0}, dst)

	dst = bytes.Repeat([]byte{0xee}, 8)
	r := &recorder{fail: "copy_from_user"}
	require.False(t, copyuser.CopyFromUser(trace.NewTask(1, r), m, dst, base))
	require.Equal(t, make([]byte, 8), dst)
}

func TestIsBufferCleared(t *testing.T) {
	data := make([]byte, 70000)
	data[3000] = 1
	m := copyuser.NewBytes(base, data)
	for _, c := range []struct {
		name        string
		off, n      uint64
		cleared, ok bool
	}{
		{"nothing", 0, 0, true, true},
		{"before the one", 0, 3000, true, true},
		{"with the one at its end", 0, 3001, false, true},
		{"with the one at its start", 3000, 100, false, true},
		{"behind the one", 3001, 65535, true, true},
		{"too long, though zero", 3001, 65536, false, true},
		{"unreadable end", 69990, 11, false, false},
		{"one and unreadable end", 3000, 65535 + 1500, false, true},
		{"unreadable", 70000, 1, false, false},
	} {
		cleared, ok := copyuser.IsBufferCleared(nil, m, base+copyuser.Addr(c.off), c.n)
		require.Equal(t, [2]bool{c.cleared, c.ok}, [2]bool{cleared, ok}, c.name)
	}
}

// TestIsBufferClearedAllocation: without memory for the copy the answer is no.
func TestIsBufferClearedAllocation(t *testing.T) {
	r := &recorder{fail: "memdup_user"}
	cleared, ok := copyuser.IsBufferCleared(trace.NewTask(1, r), copyuser.NewBytes(base, make([]byte, 8)), base, 8)
	require.False(t, cleared)
	require.False(t, ok)
}
