// Package sim_test holds the model to what real kernels answered: corpus/ has
// the recorded cases, player plays them on any target, model is the target that
// the modelled kernel is, stub the driver that some cases ask for. The tests
// play every case, balance the books around every call that is refused, and hold
// the rooms to their floors; package faults fails every step that can fail.
package sim_test

import (
	"flag"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/sim_test/suite"
)

// shard is which part of the recorded cases TestCorpus and TestBooks play, so that
// several machines can share them. docs/fuzzing.md has an example.
var shard = flag.String("shard", "1/1", "i/n: play the i-th of n parts of the recorded cases")

// inShard says whether the case of that index in its file is this shard's.
func inShard(t *testing.T) func(index int) bool {
	t.Helper()
	return suite.InShard(t, *shard)
}

// shortSubset is how many cases one that -short plays stands for.
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
	mine := inShard(t)
	for _, f := range readCorpus(t) {
		t.Run(f.name, func(t *testing.T) {
			for i, c := range f.cases {
				if !mine(i) || testing.Short() && i%shortSubset != 0 {
					continue
				}
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					r := player.Play(new(model.Model), c, player.Options{Repeat: repeat()})
					shown.note(f.name, r)
					if !r.Passed() {
						t.Error(r.Text(f.name))
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

// racing says whether the outcome of a case is a matter of chance.
func racing(c *casefile.Case) bool {
	for i := range c.Steps {
		if _, ok := c.Steps[i].Do.(*casefile.Par); ok {
			return true
		}
	}
	return false
}

// TestShards: each case is in one shard, however many there are.
func TestShards(t *testing.T) {
	defer func(was string) { *shard = was }(*shard)
	for n := range 5 {
		for index := range 20 {
			in := 0
			for i := range n + 1 {
				*shard = fmt.Sprintf("%d/%d", i+1, n+1)
				if inShard(t)(index) {
					in++
				}
			}
			require.Equal(t, 1, in, "case %d of %d shards", index, n+1)
		}
	}
}
