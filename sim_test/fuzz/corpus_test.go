package fuzz

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
	"uverbsim/spec"
)

// worker says whether this is a process that is handed its inputs: it needs no
// seeds.
func worker() bool {
	f := flag.Lookup("test.fuzzworker")
	return f != nil && f.Value.String() == "true"
}

// corpusFolder is where the recorded cases are: in the sources, or, as a fleet has
// it, beside the program.
func corpusFolder() string {
	if program, err := os.Executable(); err == nil {
		if beside := filepath.Join(filepath.Dir(program), "corpus"); isFolder(beside) {
			return beside
		}
	}
	return "../corpus"
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// readCorpus is the recorded cases on the newest kernel, read once.
var readCorpus = sync.OnceValues(func() (list []*casefile.Case, err error) {
	names, err := filepath.Glob(filepath.Join(corpusFolder(), "linux-6.12*.jsonl"))
	for _, name := range names {
		if strings.Contains(name, "sweep") || strings.Contains(name, "-fuzz") || strings.Contains(name, "removal") {
			continue
		}
		cases, err := casefile.ReadFile(name)
		if err != nil {
			return nil, err
		}
		list = append(list, cases...)
	}
	return list, err
})

// recorded are the recorded cases of a driver.
func recorded(tb testing.TB, driver string) []*casefile.Case {
	all, err := readCorpus()
	require.NoError(tb, err)
	of := slices.DeleteFunc(slices.Clone(all), func(c *casefile.Case) bool { return c.Driver != driver })
	require.NotEmpty(tb, of)
	return of
}

// shows names what a step shows: a method or command, and the answer.
func shows(s *casefile.Step) string {
	what := s.Op()
	switch a := s.Do.(type) {
	case *casefile.Ioctl:
		what = fmt.Sprint(what, a.Hdr.ObjectID, ".", a.Hdr.MethodID, command(a))
	case *casefile.Write:
		if len(a.Data) >= 4 {
			what = fmt.Sprint(what, a.Data[0], a.Data[3])
		}
	}
	if s.Got != nil && s.Got.Errno != nil {
		what += *s.Got.Errno
	}
	return what
}

// command is the one that an INVOKE_WRITE is of.
func command(a *casefile.Ioctl) string {
	if a.Hdr.ObjectID == spec.UVERBS_OBJECT_DEVICE && a.Hdr.MethodID == spec.UVERBS_METHOD_INVOKE_WRITE {
		for i := range a.Attrs {
			if a.Attrs[i].ID == spec.UVERBS_ATTR_WRITE_CMD {
				return fmt.Sprint(":", a.Attrs[i].Data.N)
			}
		}
	}
	return ""
}

// showcase are recorded cases of a driver of which each shows what none before it
// does, with the operations and the capabilities of an ordinary device.
func showcase(tb testing.TB, driver string) []*casefile.Case {
	seen := map[string]bool{}
	var list []*casefile.Case
	for _, c := range recorded(tb, driver) {
		if d := c.Device; d != nil && (len(d.Caps) > 0 || d.Profile != "" || len(d.Lacks) > 0) {
			continue
		}
		fresh := false
		for i := range c.Steps {
			if what := shows(&c.Steps[i]); !seen[what] {
				seen[what], fresh = true, true
			}
		}
		if fresh {
			list = append(list, c)
		}
	}
	require.NotEmpty(tb, list)
	return list
}

// seedPrograms adds the recorded cases of the bed's driver as programs.
func (b *bed) seedPrograms(f *testing.F) {
	if worker() {
		return
	}
	n := 0
	for _, c := range showcase(f, b.device.Driver) {
		program, _, err := b.programOf(c)
		if err != nil {
			if !strings.Contains(err.Error(), "no program does that") {
				f.Log(err)
			}
			continue
		}
		if len(program) < mostBytes {
			f.Add(program)
			n++
		}
	}
	require.Positive(f, n)
	f.Logf("%d seeds", n)
}
