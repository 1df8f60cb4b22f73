// Package sim_test holds the model to what real kernels answered: corpus/ has
// the recorded cases, player plays them on any target, model is the target that
// the modelled kernel is, stub the driver that some cases ask for. The tests
// play every case, balance the books around every call that is refused, fail
// every step that can fail, and hold the rooms to their floors.
package sim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/replay"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

// pendingFile has the cases that the model does not answer yet, one a line, as
// the file's name and the case's: linux-6.12-rxe/qp/create. They are played
// too: one that passes has to be taken off the list, unless its threads race,
// so that it passes by chance. What is demanded cannot be on it.
const pendingFile = "pending.txt"

// After a change that makes more cases pass,
//
//	go test ./sim_test -run TestCorpus -update-pending
//
// writes the list anew. It never puts a demanded case on it.
var updatePending = flag.Bool("update-pending", false, "write "+pendingFile+" anew, less what is demanded")

// shortSubset is how many cases stand for one that -short plays.
const shortSubset = 8

// corpusFile is a file of recorded cases.
type corpusFile struct {
	name  string // without its extension
	cases []*casefile.Case
}

// corpus reads all files of recorded cases.
var corpus = sync.OnceValues(func() ([]corpusFile, error) {
	names, err := filepath.Glob("corpus/*.jsonl")
	if err != nil {
		return nil, err
	}
	var files []corpusFile
	for _, name := range names {
		cases, err := casefile.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files = append(files, corpusFile{strings.TrimSuffix(filepath.Base(name), ".jsonl"), cases})
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("no recorded cases")
	}
	return files, nil
})

func readCorpus(t *testing.T) []corpusFile {
	t.Helper()
	files, err := corpus()
	require.NoError(t, err)
	return files
}

func readPending(t *testing.T) []string {
	t.Helper()
	b, err := os.ReadFile(pendingFile)
	require.NoError(t, err)
	return strings.Fields(string(b))
}

// TestCorpus plays every recorded case.
func TestCorpus(t *testing.T) {
	files := readCorpus(t)
	pending := map[string]bool{}
	for _, name := range readPending(t) {
		pending[name] = true
	}
	update := newUpdate(t, pending)
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			for i, c := range f.cases {
				if testing.Short() && i%shortSubset != 0 {
					continue
				}
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					r := player.Play(new(model.Model), c, player.Options{Repeat: repeat()})
					id := f.name + "/" + c.Name
					shown.note(id, r)
					switch {
					case update.wanted && !demanded(f.name, c):
						update.note(id, r)
					case r.Passed() && pending[id] && !racing(c):
						t.Errorf("the case passes: take %s off %s", id, pendingFile)
					case !r.Passed() && !pending[id]:
						t.Error(text(t, f.name, r))
					}
				})
			}
		})
	}
}

// repeat bounds how often a case is played that was recorded many times.
func repeat() int {
	if testing.Short() {
		return 2
	}
	return 20
}

func text(t *testing.T, file string, r *player.Result) string {
	t.Helper()
	c := &replay.Case{File: file, Case: r.Case, Err: r.Err}
	for _, s := range r.Steps {
		c.Steps = append(c.Steps, replay.Step(s))
	}
	var b strings.Builder
	require.NoError(t, replay.Text(&b, false).Case(c))
	return b.String()
}

// racing says whether the outcome of a case is a matter of chance.
func racing(c *casefile.Case) bool {
	for i := range c.Steps {
		if _, ok := c.Steps[i].Do.(*casefile.Par); ok {
			return true
		}
	}
	return false
}

// update gathers a new list.
type update struct {
	wanted bool
	old    map[string]bool
	mu     sync.Mutex
	failed []string
}

func newUpdate(t *testing.T, old map[string]bool) *update {
	u := &update{wanted: *updatePending, old: old}
	if !u.wanted {
		return u
	}
	require.False(t, testing.Short(), "a list is made of all cases")
	t.Cleanup(func() {
		slices.Sort(u.failed)
		text := strings.Join(append(u.failed, ""), "\n")
		require.NoError(t, os.WriteFile(pendingFile, []byte(text), 0o644))
	})
	return u
}

func (u *update) note(id string, r *player.Result) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if !r.Passed() || u.old[id] && racing(r.Case) {
		u.failed = append(u.failed, id)
	}
}

// TestPending holds the list to its rules: sorted, every name once, each a case
// that there is and that is not demanded.
func TestPending(t *testing.T) {
	names := readPending(t)
	require.True(t, slices.IsSorted(names), "%s is not sorted", pendingFile)
	may := map[string]bool{}
	for _, f := range readCorpus(t) {
		for _, c := range f.cases {
			may[f.name+"/"+c.Name] = !demanded(f.name, c)
		}
	}
	for i, name := range names {
		ok, known := may[name]
		require.Truef(t, known, "%s: there is no case %s", pendingFile, name)
		require.Truef(t, ok, "%s: %s is demanded and has to pass", pendingFile, name)
		require.Falsef(t, i > 0 && names[i-1] == name, "%s has %s twice", pendingFile, name)
	}
}

// TestDemanded counts what is demanded, so that a slip in the table of demands
// does not let a whole area go.
func TestDemanded(t *testing.T) {
	got := map[string]int{}
	for _, f := range readCorpus(t) {
		for _, c := range f.cases {
			if demanded(f.name, c) {
				area, _, _ := strings.Cut(c.Name, "/")
				got[f.name+" "+area]++
			}
		}
	}
	for _, d := range demands {
		for _, p := range d.prefixes {
			n := 0
			for _, f := range readCorpus(t) {
				for _, c := range f.cases {
					if d.of(f.name) && strings.HasPrefix(c.Name, p) && demanded(f.name, c) {
						n++
					}
				}
			}
			require.NotZerof(t, n, "%s: nothing that begins with %s is demanded", d.file, p)
		}
	}
	t.Log(got)
}
