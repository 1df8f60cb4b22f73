// Package sim_test holds the model to what real kernels answered: corpus/ has
// the recorded cases, player plays them on any target, model is the target that
// the modelled kernel is, stub the driver that some cases ask for. The tests
// play every case, balance the books around every call that is refused, fail
// every step that can fail, and hold the rooms to their floors.
package sim_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/report/replay"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
)

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

// TestCorpus plays every recorded case.
func TestCorpus(t *testing.T) {
	for _, f := range readCorpus(t) {
		t.Run(f.name, func(t *testing.T) {
			for i, c := range f.cases {
				if testing.Short() && i%shortSubset != 0 {
					continue
				}
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					r := player.Play(new(model.Model), c, player.Options{Repeat: repeat()})
					shown.note(f.name, r)
					if !r.Passed() {
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
