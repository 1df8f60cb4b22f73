package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// inRoot has a test run in the root of the project.
func inRoot(t *testing.T) { t.Chdir(root) }

// TestFind: what is found is what a search of the sources for the declarations finds.
func TestFind(t *testing.T) {
	inRoot(t)
	targets, err := find(t.Context(), nil)
	require.NoError(t, err)
	var got, want []string
	for _, t := range targets {
		got = append(got, t.String())
	}
	declared := regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)
	require.NoError(t, filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range declared.FindAllStringSubmatch(string(text), -1) {
			want = append(want, "uverbsim/"+filepath.Dir(path)+":"+m[1])
		}
		return err
	}))
	slices.Sort(got)
	slices.Sort(want)
	require.Equal(t, want, got)
	require.Greater(t, len(got), 40)

	one, err := find(t.Context(), []string{"FuzzProgramMLX5"})
	require.NoError(t, err)
	require.Len(t, one, 1)
	of, err := find(t.Context(), []string{"./spec:FuzzKeys"})
	require.NoError(t, err)
	require.Equal(t, "uverbsim/spec:FuzzKeys", of[0].String())
	require.Len(t, of, 1)
	for _, nothing := range []string{"FuzzNothing", "./spec:FuzzNothing", "./trace"} {
		_, err = find(t.Context(), []string{"./spec", nothing})
		require.ErrorContains(t, err, "no target "+nothing)
	}

	// Names add up: what one of them names is run, once.
	several, err := find(t.Context(), []string{"./spec", "FuzzProgramMLX5", "./spec:FuzzKeys"})
	require.NoError(t, err)
	spec, err := find(t.Context(), []string{"./spec"})
	require.NoError(t, err)
	require.Greater(t, len(spec), 1)
	require.Len(t, several, len(spec)+1)
	require.Equal(t, one[0].String(), several[len(spec)].String())
}

// TestWatchdog: each target ends when it hangs.
func TestWatchdog(t *testing.T) {
	inRoot(t)
	targets, err := find(t.Context(), nil)
	require.NoError(t, err)
	for _, dir := range slices.Compact(dirs(targets)) {
		files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
		require.NoError(t, err)
		watched := 0
		for _, f := range files {
			text, err := os.ReadFile(f)
			require.NoError(t, err)
			for _, body := range regexp.MustCompile(`\.Fuzz\(func\([^)]*\) \{`).Split(string(text), -1)[1:] {
				watched++
				body, _, _ = strings.Cut(body, "\n}\n") // the function ends there
				if !strings.HasPrefix(strings.TrimSpace(body), "watchdog.On(") && !strings.Contains(body, "b.play(") {
					t.Errorf("%s: a target without watchdog.On", f)
				}
			}
		}
		require.Positive(t, watched, dir)
	}
}

func dirs(targets []*target) (list []string) {
	for _, t := range targets {
		list = append(list, t.dir)
	}
	return list
}

// TestFleet runs the script that builds the targets for a fleet, with a script in the
// place of the image's that notes what it is asked for: it is each target, once, under
// a name of its own.
func TestFleet(t *testing.T) {
	inRoot(t)
	here, err := os.Getwd()
	require.NoError(t, err)
	targets, err := find(t.Context(), nil)
	require.NoError(t, err)
	bin, out := t.TempDir(), t.TempDir()
	fake := "#!/bin/sh\necho \"$1:$2 $3\" >>\"$OUT/asked\"\ntouch \"$OUT/$3\"\nchmod +x \"$OUT/$3\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "compile_native_go_fuzzer_v2"), []byte(fake), 0o755))
	cmd := exec.Command("fuzz/oss-fuzz/build.sh")
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "OUT="+out, "SRC="+filepath.Dir(here), "UVERBSIM="+here)
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	asked, err := os.ReadFile(filepath.Join(out, "asked"))
	require.NoError(t, err)
	var got, names, want []string
	for line := range strings.Lines(string(asked)) {
		target, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		got, names = append(got, target), append(names, name)
	}
	for _, t := range targets {
		want = append(want, t.String())
	}
	require.Equal(t, want, got)
	slices.Sort(names)
	require.Len(t, slices.Compact(names), len(want))
	cases, err := filepath.Glob(filepath.Join(out, "corpus", "*.jsonl"))
	require.NoError(t, err)
	require.NotEmpty(t, cases)

	// The image's script looks for the function's name in the package's folder and
	// below, and gives up where it begins another one's.
	for _, target := range targets {
		n := 0
		require.NoError(t, filepath.WalkDir(target.dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && strings.HasSuffix(path, ".go") {
				text, _ := os.ReadFile(path) // it was just listed
				for line := range strings.Lines(string(text)) {
					if strings.Contains(line, "func "+target.Name) && strings.Contains(line, "testing.F") {
						n++
					}
				}
			}
			return err
		}))
		require.Equal(t, 1, n, "declarations that begin with %s in %s", target.Name, target.dir)
	}
}

// TestRead takes the words of Go's fuzzing to pieces.
func TestRead(t *testing.T) {
	begun := 0
	r := read(strings.NewReader("fuzz: elapsed: 0s, gathering baseline coverage: 0/3 completed\n"+
		"fuzz: elapsed: 0s, gathering baseline coverage: 3/3 completed, now fuzzing with 1 workers\n"+
		"fuzz: elapsed: 3s, execs: 100 (33/sec), new interesting: 2 (total: 5)\n"+
		"fuzz: elapsed: 6s, execs: 325967 (108655/sec), new interesting: 11 (total: 202)\n"+
		"--- FAIL: FuzzX (6.00s)\n    Failing input written to testdata/fuzz/FuzzX/771e938e4458e983\nFAIL\n"), "/dir", func() { begun++ })
	require.Equal(t, 1, begun)
	require.EqualValues(t, 325967, r.Executions)
	require.EqualValues(t, 11, r.NewInteresting)
	require.Len(t, r.Failures, 1)
	require.Equal(t, "/dir/testdata/fuzz/FuzzX/771e938e4458e983", r.Failures[0].Input)
	require.Contains(t, r.Failures[0].Output, "--- FAIL: FuzzX")
	require.False(t, r.Failures[0].over())

	never := func() { t.Fatal("it did not begin") }
	for _, why := range []string{"context deadline exceeded", "context canceled"} {
		late := read(strings.NewReader("--- FAIL: FuzzX (4.06s)\n    "+why+"\nFAIL\n"), "/dir", never)
		require.True(t, late.Failures[0].over(), why)
		hang := read(strings.NewReader("panic: FuzzX: not over after 20s\n    "+why+"\n"), "/dir", never)
		require.False(t, hang.Failures[0].over(), why)
	}
}

// play runs a session of three targets whose slices are made up: of each 100
// executions, and of the last, if it fails, a failure.
func play(t *testing.T, o options, fails bool) (*session, string) {
	var out bytes.Buffer
	s := &session{options: o, log: &bytes.Buffer{}, targets: []*target{{Name: "FuzzA"}, {Name: "FuzzB"}, {Name: "FuzzC"}},
		slice: func(_ context.Context, t *target, turn turn) result {
			r := result{Executions: 100, NewInteresting: 1, Seconds: turn.slice.Seconds()}
			if fails && t.Name == "FuzzC" {
				r.Failures = []failure{{Input: "testdata/fuzz/FuzzC/1", Output: "why"}}
			}
			return r
		}}
	s.run(t.Context())
	require.NoError(t, s.report(&out))
	return s, out.String()
}

func TestTurns(t *testing.T) {
	s, text := play(t, options{slice: time.Second, jobs: 2}, false)
	require.EqualValues(t, 300, s.total(), "each once")
	require.Equal(t, 0, s.status())
	require.Contains(t, text, "3 targets")

	s, _ = play(t, options{slice: time.Second, jobs: 1, executions: 1000}, false)
	require.EqualValues(t, 1000, s.total())
	for _, target := range s.targets {
		require.GreaterOrEqual(t, target.Executions, int64(300), "in turns")
	}

	s, _ = play(t, options{slice: time.Second, jobs: 1, executions: 1}, false)
	require.EqualValues(t, 300, s.total(), "each has a turn")

	s, text = play(t, options{slice: time.Second, jobs: 2, executions: 2000, json: true}, true)
	require.Equal(t, 1, s.status())
	var sum summary
	require.NoError(t, json.Unmarshal([]byte(text), &sum))
	require.Equal(t, 1, sum.Failures)
	require.GreaterOrEqual(t, sum.Executions, int64(2000))
	require.EqualValues(t, 100, sum.Targets[2].Executions, "what fails is not run again")
	require.Equal(t, "testdata/fuzz/FuzzC/1", sum.Targets[2].Failures[0].Input)
}

// TestIdle: a target that executed nothing is named, whether it had a turn or not, and
// the run was not a good one. A failure counts for more.
func TestIdle(t *testing.T) {
	executions := map[string]int64{"FuzzA": 100, "FuzzB": 0, "FuzzC": 0}
	fails := ""
	idle := func(o options) (int, string) {
		var log bytes.Buffer
		s := &session{options: o, log: &log, targets: []*target{{Package: "p", Name: "FuzzA"}, {Package: "p", Name: "FuzzB"}, {Package: "p", Name: "FuzzC"}},
			slice: func(_ context.Context, t *target, _ turn) result {
				r := result{Executions: executions[t.Name], Seconds: 6.4}
				if t.Name == fails {
					r.Failures = []failure{{}}
				}
				return r
			}}
		s.run(t.Context())
		log.Reset() // what each slice says
		return s.status(), log.String()
	}
	once := options{slice: time.Second, jobs: 1}
	status, text := idle(once)
	require.Equal(t, 2, status)
	require.Equal(t, "fuzz: p:FuzzB: not one execution in 6s\nfuzz: p:FuzzC: not one execution in 6s\n", text)
	fails = "FuzzC"
	status, text = idle(once)
	require.Equal(t, 1, status)
	require.Equal(t, "fuzz: p:FuzzB: not one execution in 6s\n", text)
	status, text = idle(options{slice: time.Second, jobs: 1, time: time.Nanosecond}) // it is over before the first turn
	require.Equal(t, 2, status)
	require.Equal(t, "fuzz: p:FuzzA: no turn\nfuzz: p:FuzzB: no turn\nfuzz: p:FuzzC: no turn\n", text)
}

// TestShare: with -time a slice is shorter where each would not have one otherwise, and
// no turn is longer than what is left.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		time, slice   time.Duration
		jobs, had     int // had a turn, of four targets
		want, longest time.Duration
	}{
		{time.Minute, 10 * time.Second, 1, 0, 10 * time.Second, time.Minute},
		{time.Minute, 20 * time.Second, 1, 0, 15 * time.Second, time.Minute},
		{time.Minute, 20 * time.Second, 2, 0, 20 * time.Second, time.Minute},
		{20 * time.Second, 20 * time.Second, 2, 0, 10 * time.Second, 20 * time.Second},
		{20 * time.Second, 20 * time.Second, 1 << 40, 0, 20 * time.Second, 20 * time.Second},
		{20 * time.Second, 20 * time.Second, 1, 2, 10 * time.Second, 20 * time.Second},
		{20 * time.Second, 20 * time.Second, 1, 4, 20 * time.Second, 20 * time.Second},
		{2 * time.Second, 20 * time.Second, 1, 0, time.Second, 2 * time.Second},
		{time.Hour, 20 * time.Second, 1, 0, 20 * time.Second, 20*time.Second + overtime},
		{1<<63 - 1, mostSlice, 1 << 40, 0, mostSlice, mostSlice + overtime},
		{0, 20 * time.Second, 1, 0, 20 * time.Second, 20*time.Second + overtime},
	} {
		s := &session{options: options{time: c.time, slice: c.slice, jobs: c.jobs}, start: time.Now()}
		for i := range 4 {
			s.targets = append(s.targets, &target{})
			if i < c.had {
				s.targets[i].spent = 1
			}
		}
		if c.time == 0 {
			s.executions = 1
		}
		_, got := s.next()
		require.InDelta(t, c.want.Seconds(), got.slice.Seconds(), 0.5, "%+v", c)
		require.InDelta(t, c.longest.Seconds(), got.most.Seconds(), 1.5, "%+v", c)
	}
}

// slow is a target that begins with two seconds of inputs. Its name is put in, since it
// is none of the project's.
const slow = `package slow

import (
	"testing"
	"time"
)

func %s(f *testing.F) {
	for i := range 20 {
		f.Add(i)
	}
	f.Fuzz(func(*testing.T, int) { time.Sleep(100 * time.Millisecond) })
}
`

// TestSlice runs a target whose inputs take longer than its slice, and which fuzzes all
// the same. When the time is over it ends, wherever it is.
func TestSlice(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module slow\n\ngo 1.26\n"), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "slow_test.go"), fmt.Appendf(nil, slow, "FuzzSlow"), 0o666))
	t.Chdir(dir)
	targets, err := find(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, targets, 1)
	require.NoError(t, build(t.Context(), targets, dir, &bytes.Buffer{}))
	targets[0].cache = filepath.Join(dir, "cache")

	r := runSlice(t.Context(), targets[0], turn{time.Second, 4 * time.Minute})
	require.Empty(t, r.Failures)
	require.Positive(t, r.Executions)
	require.Greater(t, r.Seconds, 3.0, "two for the inputs, and the least slice")
	require.Less(t, r.Seconds, 180.0, "the slice ends it, and not the time")

	r = runSlice(t.Context(), targets[0], turn{time.Second, time.Second})
	require.Empty(t, r.Failures)
	require.Zero(t, r.Executions)
}

// TestBounds: what is out of bounds is refused before anything is looked for, which
// fails here.
func TestBounds(t *testing.T) {
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-time", "-5s"}, "-time -5s: at least 1s"},
		{[]string{"-time", "0"}, "-time 0s: at least 1s"},
		{[]string{"-time", "999ms", "-list"}, "-time 999ms: at least 1s"},
		{[]string{"-executions", "-1"}, "-executions -1: at least 1"},
		{[]string{"-executions", "0"}, "-executions 0: at least 1"},
		{[]string{"-slice", "-3s"}, "-slice -3s: 1s to 24h0m0s"},
		{[]string{"-slice", "0"}, "-slice 0s: 1s to 24h0m0s"},
		{[]string{"-slice", "24h1s"}, "-slice 24h0m1s: 1s to 24h0m0s"},
		{[]string{"-jobs", "0"}, "-jobs 0: at least 1"},
		{[]string{"-time", "1s", "-executions", "1", "-slice", "24h", "-jobs", "1"}, "go list: context canceled"},
		{nil, "go list: context canceled"},
	} {
		var out, log bytes.Buffer
		require.Equal(t, 2, run(over, c.args, &out, &log))
		require.Equal(t, "fuzz: "+c.want+"\n", log.String())
		require.Empty(t, out.String())
	}
}

func TestUsage(t *testing.T) {
	var out, log bytes.Buffer
	require.Equal(t, 0, run(t.Context(), []string{"-help"}, &out, &log))
	require.Contains(t, log.String(), "-executions")
	require.Equal(t, 2, run(t.Context(), []string{"-nothing"}, &out, &log))
}

// TestNoPackage: what go list says of a package that there is none of is told in one line.
func TestNoPackage(t *testing.T) {
	inRoot(t)
	var out, log bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"./nosuch"}, &out, &log))
	require.Empty(t, out.String())
	require.Regexp(t, `^fuzz: go list: .*nosuch.*\n$`, log.String())
}
