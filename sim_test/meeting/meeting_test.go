package meeting

import (
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/trace"
)

// told keeps what a test is told, and what it does at its end.
type told struct {
	testing.TB
	errors int
	end    func()
}

func (t *told) Errorf(string, ...any) { t.errors++ }
func (t *told) Cleanup(end func())    { t.end = end }

// TestMeeting: two who come to one of the functions meet there, and elsewhere or before
// it is held nobody waits; a test in which nobody has met fails.
func TestMeeting(t *testing.T) {
	tb := &told{TB: t}
	m := New(tb, "here", "there")
	enter := func(id int, name string) { trace.NewTask(id, m).Enter(trace.Uverbs, name).Leave() }
	begin := time.Now()
	enter(1, "here")
	m.On(true)
	enter(1, "elsewhere")
	require.Less(t, time.Since(begin), patience)
	tb.end()
	require.Equal(t, 1, tb.errors)

	var both sync.WaitGroup
	both.Go(func() { enter(1, "here") })
	both.Go(func() { enter(2, "there") })
	both.Wait()
	tb.end()
	require.Equal(t, 1, tb.errors)
	begin = time.Now()
	enter(1, "here") // the other has made its last call
	require.GreaterOrEqual(t, time.Since(begin), patience)
}
