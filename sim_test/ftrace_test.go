package sim_test

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/trace"
)

// ftraceDir has traces of a real kernel, made by its function_graph tracer
// while it played the cases in cases.jsonl beside them.
const ftraceDir = "testdata/ftrace"

// graph is the calls of a trace in order, each indented by how deep it lies:
// those of ib_uverbs, and the driver's entry points, which are the driver's
// functions that no other function of the driver called.
type graph struct {
	lines []string
	stack []frame
	shown bool // the graph that is open has one of the roots
}

type frame struct {
	module string
	kept   bool
}

const driverModule = "rdma_rxe"

// roots are the functions whose graphs the tracer was told to show; what is
// called from elsewhere (the close of an event descriptor) it left out.
var roots = map[string]bool{"ib_uverbs_open": true, "ib_uverbs_ioctl": true, "ib_uverbs_write": true, "ib_uverbs_close": true}

func (g *graph) enter(module, name string) {
	kept := module == trace.Uverbs || module == driverModule && !g.in(driverModule)
	if len(g.stack) == 0 {
		g.shown = roots[name]
	}
	kept = kept && g.shown
	if kept {
		depth := 0
		for _, f := range g.stack {
			if f.kept {
				depth++
			}
		}
		g.lines = append(g.lines, strings.Repeat("  ", depth)+name)
	}
	g.stack = append(g.stack, frame{module, kept})
}

func (g *graph) in(module string) bool {
	for _, f := range g.stack {
		if f.module == module {
			return true
		}
	}
	return false
}

func (g *graph) leave() { g.stack = g.stack[:len(g.stack)-1] }

var (
	callLine = regexp.MustCompile(`^ *(\S+) \[(\w+)\]\(\)(;| \{)$`)
	endLine  = regexp.MustCompile(`^ *\}`)
	nameLine = regexp.MustCompile(`^# case ([^,]+),`)
)

// readFtrace reads a trace of a real kernel and the name of its case.
func readFtrace(t *testing.T, path string) (name string, lines []string) {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var g graph
	sc := bufio.NewScanner(f)
	for sc.Scan() {
		line := sc.Text()
		switch m := callLine.FindStringSubmatch(line); {
		case m != nil:
			g.enter(m[2], m[1])
			if m[3] == ";" {
				g.leave()
			}
		case endLine.MatchString(line):
			g.leave()
		case nameLine.MatchString(line):
			name = nameLine.FindStringSubmatch(line)[1]
		default:
			require.Truef(t, strings.HasPrefix(line, "#"), "%s: a line of unknown form: %q", path, line)
		}
	}
	require.NoError(t, sc.Err())
	require.Empty(t, g.stack, "functions that were not left")
	require.NotEmpty(t, name)
	return name, g.lines
}

// sink makes a graph of the model's own events; what the compiler inlined in
// the recorded kernel is not in its trace.
type sink struct {
	mu sync.Mutex
	graph
}

func (s *sink) Event(_ *trace.Task, e *trace.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case e.Inlined:
	case e.Kind == trace.Enter:
		s.enter(e.Module, e.Name)
	case e.Kind == trace.Leave:
		s.leave()
	}
}

// TestFtrace plays the traced cases and wants the functions of ib_uverbs and
// the driver's entry points in the real kernel's order and nesting.
func TestFtrace(t *testing.T) {
	cases := map[string]*casefile.Case{}
	f, err := os.Open(filepath.Join(ftraceDir, "cases.jsonl"))
	require.NoError(t, err)
	defer f.Close()
	for c, err := range casefile.Read(f, f.Name()) {
		require.NoError(t, err)
		cases[c.Name] = c
	}
	traces, err := filepath.Glob(filepath.Join(ftraceDir, "*.txt"))
	require.NoError(t, err)
	require.Len(t, traces, len(cases), "a trace for each case")
	for _, path := range traces {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			name, want := readFtrace(t, path)
			require.NotEmpty(t, want)
			c := cases[name]
			require.NotNilf(t, c, "no case %s", name)
			var s sink
			target := &model.Model{Trace: func(*casefile.Case) trace.Sink { return &s }}
			r := player.Play(target, c, player.Options{})
			require.True(t, r.Passed(), "the case itself")
			if d := cmp.Diff(want, s.lines); d != "" {
				t.Errorf("real (-) and model (+) differ:\n%s", d)
			}
		})
	}
}
