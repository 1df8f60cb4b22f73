package live

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/player"
)

// excuse says how a case is answered otherwise than recorded, and why.
type excuse struct {
	why    string
	cannot string // the operation that cannot be played, and with it the case
	steps  steps  // all that are answered otherwise
}

// steps are what steps may answer, by their numbers from 0. An answer is as answerOf
// gives it; behind a * it may be anything.
type steps map[int][]string

// asRecorded is the answer of a step that is answered otherwise at times only.
const asRecorded = ""

// read is the answer of a read that gets those bytes, and should fail.
func read(hex string) string { return fmt.Sprintf(`ret=%d errno="" hex=%s`, len(hex)/2, hex) }

// answerOf are the members of an answer that are not as recorded.
func answerOf(differences []casefile.Difference) string {
	var members []string
	for _, d := range differences {
		members = append(members, d.Path+"="+cmp.Or(d.Got, `""`))
	}
	return strings.Join(members, " ")
}

// covers says whether the answer is one of those.
func covers(answers []string, got string) bool {
	return slices.ContainsFunc(answers, func(a string) bool {
		start, _, any := strings.Cut(a, "*")
		return a == got || any && strings.HasPrefix(got, start)
	})
}

// lacks says where the result is not what the excuse is for, "" if nowhere.
func (e excuse) lacks(r *result) string {
	if e.cannot != r.Cannot {
		return fmt.Sprintf("the operation that cannot be played is %q, not %q", r.Cannot, e.cannot)
	}
	if r.Failed != "" {
		return r.Failed
	}
	numbers := slices.AppendSeq(slices.Collect(maps.Keys(e.steps)), maps.Keys(r.Differs))
	slices.Sort(numbers)
	for _, i := range numbers {
		if want, excused := e.steps[i]; !excused {
			return fmt.Sprintf("step %d answers otherwise: %s", i, r.Differs[i])
		} else if !covers(want, r.Differs[i]) {
			return fmt.Sprintf("step %d answers %q, not %q", i, r.Differs[i], want)
		}
	}
	return ""
}

// TestDiffersAreCases: each case that is excused is one, has a reason, and has the
// steps that are excused.
func TestDiffersAreCases(t *testing.T) {
	recorded := map[string]map[string]*casefile.Case{}
	for key, e := range differs {
		file, name, _ := strings.Cut(key, "/")
		if recorded[file] == nil {
			recorded[file] = map[string]*casefile.Case{}
			cases, err := casefile.ReadFile("../corpus/" + file + ".jsonl")
			require.NoError(t, err)
			for _, c := range cases {
				recorded[file][c.Name] = c
			}
		}
		c := recorded[file][name]
		require.NotNil(t, c, "there is no case %s", key)
		require.NotEmpty(t, e.why, key)
		require.NotEqual(t, e.cannot == "", len(e.steps) == 0, "%s: one of cannot and steps", key)
		for i, answers := range e.steps {
			require.Less(t, i, len(c.Steps), key)
			require.NotEqual(t, []string{asRecorded}, answers, "%s: step %d", key, i)
			require.NotEmpty(t, answers, "%s: step %d", key, i)
		}
	}
}

// TestExcuse: a case is excused if it differs in the way that is said, and in no other.
func TestExcuse(t *testing.T) {
	at := excuse{why: endOfFile, steps: steps{4: {quiet, hungUp}, 5: {asRecorded, "ret=*"}}}
	unplayed := excuse{why: cgroups, cannot: "cgroup"}
	for _, c := range []struct {
		excuse excuse
		result result
		lacks  string // how it begins
	}{
		{at, result{Differs: map[int]string{4: quiet}}, ""},
		{at, result{Differs: map[int]string{4: hungUp, 5: "ret=3 hex=123456"}}, ""},
		{at, result{Passed: true}, `step 4 answers ""`},
		{at, result{Differs: map[int]string{5: "ret=3"}}, `step 4 answers ""`},
		{at, result{Differs: map[int]string{4: "revents=1"}}, `step 4 answers "revents=1"`},
		{at, result{Differs: map[int]string{4: hungUp + " ret=2"}}, "step 4 answers "},
		{at, result{Differs: map[int]string{4: quiet, 5: "errno=EIO"}}, `step 5 answers "errno=EIO"`},
		{at, result{Differs: map[int]string{3: again, 4: quiet}}, "step 3 answers otherwise: " + again},
		{at, result{Differs: map[int]string{4: quiet}, Failed: "stuck"}, "stuck"},
		{at, result{Cannot: "cgroup"}, `the operation that cannot be played is "cgroup"`},
		{unplayed, result{Cannot: "cgroup"}, ""},
		{unplayed, result{Cannot: "remove"}, `the operation that cannot be played is "remove"`},
		{unplayed, result{Passed: true}, `the operation that cannot be played is ""`},
		{unplayed, result{Cannot: "cgroup", Differs: map[int]string{0: again}}, "step 0 answers otherwise"},
	} {
		got := c.excuse.lacks(&c.result)
		require.Equal(t, c.lacks == "", got == "", got)
		require.True(t, strings.HasPrefix(got, c.lacks), "%q does not begin with %q", got, c.lacks)
	}
}

// TestResultOf: a result has what differs and nothing else.
func TestResultOf(t *testing.T) {
	cgroup := &player.Unplayable{Op: "cgroup"}
	errno := casefile.Difference{Path: "errno", Want: "EIO"}
	for _, c := range []struct {
		played player.Result
		want   result
	}{
		{player.Result{Case: new(casefile.Case)}, result{Passed: true}},
		{player.Result{
			Case:  &casefile.Case{Steps: make([]casefile.Step, 2)},
			Steps: []player.StepResult{{}, {Differences: []casefile.Difference{{Path: "ret", Got: "0"}, errno}}},
		}, result{Differs: map[int]string{1: `ret=0 errno=""`}}},
		{player.Result{Case: new(casefile.Case), Err: fmt.Errorf("the device: %w", cgroup)}, result{Cannot: "cgroup"}},
		{player.Result{Case: new(casefile.Case), Err: player.ErrStuck}, result{Failed: player.ErrStuck.Error()}},
	} {
		require.Equal(t, c.want, *resultOf(&c.played))
	}
}
