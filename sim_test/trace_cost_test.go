package sim_test

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/report/chrome"
	"uverbsim/report/funcgraph"
	"uverbsim/report/tracecase"
	"uverbsim/spec"
	"uverbsim/trace"
)

// tracedCalls are the calls whose cost is held: each returns what makes it once.
var tracedCalls = []struct {
	name, driver string
	rendered     bool // the budget holds also for a function graph that is rendered at once
	make         func(tb testing.TB, c *caller) func()
}{
	{"refused at the header", "mlx5", true, func(tb testing.TB, c *caller) func() {
		at := c.queryPort(tb)
		require.True(tb, c.task.Mem.PutUint16(at, 23)) // the length
		return func() { c.refused(tb, at) }
	}},
	{"refused at a length", "mlx5", false, func(tb testing.TB, c *caller) func() {
		at := c.call(tb, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT,
			spec.IoctlAttr{AttrID: spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, Len: 0, Data: 1})
		return func() { c.refused(tb, at) }
	}},
	{"QUERY_PORT on rxe", "rxe", false, queryPortCall},
	{"QUERY_PORT on mlx5", "mlx5", true, queryPortCall},
	{"a CQ made and destroyed on rxe", "rxe", true, cqCall},
	{"a CQ made and destroyed on mlx5", "mlx5", true, cqCall},
}

func queryPortCall(tb testing.TB, c *caller) func() {
	at := c.queryPort(tb)
	return func() { c.do(tb, at) }
}

func cqCall(tb testing.TB, c *caller) func() {
	l := c.cqLife(tb)
	return func() { c.live(tb, l) }
}

func (c *caller) refused(tb testing.TB, at copyuser.Addr) {
	if _, err := c.task.Ioctl(c.fd, spec.RDMA_VERBS_IOCTL, at); err == nil {
		tb.Fatal("the call was not refused")
	}
}

// tracedFormats are what becomes of the events: recorded, to be rendered when the
// call is over, as `uverbsim trace` and `uverbsim run --trace` do it; or rendered
// at once, all to a writer that discards.
var tracedFormats = []struct {
	name string
	sink func(w io.Writer) trace.Sink
}{
	{"recorded", func(w io.Writer) trace.Sink { return trace.NewRecorder(discard{}) }},
	{"ftrace", func(w io.Writer) trace.Sink { return funcgraph.New(w, funcgraph.Options{}) }},
	{"ftrace, notes, inlined", func(w io.Writer) trace.Sink {
		return funcgraph.New(w, funcgraph.Options{Notes: true, Inlined: true})
	}},
	{"json", func(w io.Writer) trace.Sink { return tracecase.JSON(w) }},
	{"chrome", func(w io.Writer) trace.Sink { return chrome.New(w, chrome.Options{}) }},
}

// discard is where a recorder's events go that nobody renders.
type discard struct{}

func (discard) Event(*trace.Task, *trace.Event)   {}
func (discard) Events(*trace.Task, []trace.Event) {}

// Indexes into what tracedTimes returns.
const (
	recorded = 1 + iota
	functionGraph
)

// traceBudget is how many times slower a call may be while it is traced.
const traceBudget = 3

// TestTraceAllocatesNothing: a call that allocates nothing does not when it is
// traced either, whatever the renderer; and tracing adds no allocation to one that
// does.
func TestTraceAllocatesNothing(t *testing.T) {
	for _, call := range tracedCalls {
		c := newCaller(t, call.driver)
		run := call.make(t, c)
		run()
		off := testing.AllocsPerRun(100, run)
		for _, f := range tracedFormats {
			t.Run(call.name+"/"+f.name, func(t *testing.T) {
				c.task.Trace = trace.NewTask(1, f.sink(io.Discard))
				defer func() { c.task.Trace = nil }()
				run()
				require.Equal(t, off, testing.AllocsPerRun(100, run))
			})
		}
	}
}

// TestTraceCost holds the budget of a call that is traced, whatever the call: its
// events are recorded, and rendered later. What rendering them at once costs is held
// for the function graph of most calls, and told of the others.
func TestTraceCost(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("it measures time")
	}
	var table strings.Builder
	tw := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(tw, "\ncall\toff")
	for _, f := range tracedFormats {
		fmt.Fprint(tw, "\t", f.name)
	}
	fmt.Fprintln(tw)
	for _, call := range tracedCalls {
		held := []int{recorded}
		if call.rendered {
			held = append(held, functionGraph)
		}
		over := func(times []time.Duration) bool {
			return slices.ContainsFunc(held, func(i int) bool { return ratio(times, i) > traceBudget })
		}
		begin := time.Now()
		times := tracedTimes(t, call.driver, call.make)
		for over(times) && time.Since(begin) < longest {
			times = tracedTimes(t, call.driver, call.make)
		}
		require.Falsef(t, over(times), "%s takes %v, recorded %v, as a function graph %v", call.name, times[0], times[recorded], times[functionGraph])
		fmt.Fprintf(tw, "%s\t%d ns", call.name, times[0].Nanoseconds())
		for i := range times[1:] {
			fmt.Fprintf(tw, "\t%d ns, %.1f", times[1+i].Nanoseconds(), ratio(times, 1+i))
		}
		fmt.Fprintln(tw)
	}
	tw.Flush()
	t.Log(table.String())
}

func ratio(times []time.Duration, i int) float64 { return float64(times[i]) / float64(times[0]) }

// tracedTimes returns how long the call takes with tracing off, and with each
// format: the least of many short runs, which take turns, so that what else the
// machine does meets all of them.
func tracedTimes(tb testing.TB, driver string, prepare func(testing.TB, *caller) func()) []time.Duration {
	const rounds, calls = 30, 100
	runs := make([]func(), 1+len(tracedFormats))
	for i := range runs {
		c := newCaller(tb, driver)
		runs[i] = prepare(tb, c)
		runs[i]()
		if i > 0 {
			c.task.Trace = trace.NewTask(1, tracedFormats[i-1].sink(io.Discard))
		}
	}
	best := make([]time.Duration, len(runs))
	for range rounds {
		for i, run := range runs {
			begun := time.Now()
			for range calls {
				run()
			}
			took := time.Since(begun) / calls
			if best[i] == 0 || took < best[i] {
				best[i] = took
			}
		}
	}
	return best
}

// BenchmarkTraced is the cost of traced calls; off is without.
func BenchmarkTraced(b *testing.B) {
	for _, call := range tracedCalls {
		for i := range 1 + len(tracedFormats) {
			name, task := "off", (*trace.Task)(nil)
			if i > 0 {
				name, task = tracedFormats[i-1].name, trace.NewTask(1, tracedFormats[i-1].sink(io.Discard))
			}
			b.Run(call.name+"/"+name, func(b *testing.B) {
				c := newCaller(b, call.driver)
				run := call.make(b, c)
				c.task.Trace = task
				b.ReportAllocs()
				for b.Loop() {
					run()
				}
			})
		}
	}
}
