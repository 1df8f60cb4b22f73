package rules

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/rule"
)

// TestEveryAreaHasATitle: the areas of parts are those of the rules, each once.
func TestEveryAreaHasATitle(t *testing.T) {
	titles := map[string]string{}
	for _, p := range parts {
		require.NotEmpty(t, p.title)
		for _, a := range p.areas {
			require.NotContainsf(t, titles, a.name, "areas.go has %s twice", a.name)
			require.Regexpf(t, `^\w[^\n.]+$`, a.title, a.name)
			titles[a.name] = a.title
		}
	}
	used := map[string]bool{}
	for _, r := range rule.All() {
		used[AreaOf(r.ID)] = true
		if titles[AreaOf(r.ID)] == "" {
			t.Errorf("%s: areas.go has no title for the area %s", r.ID, AreaOf(r.ID))
		}
	}
	for a := range titles {
		require.Truef(t, used[a], "areas.go has the area %s, in which no rule is", a)
	}
}

// TestRecorded: each rule has cases or a reason, and the cases are there.
func TestRecorded(t *testing.T) {
	es := Recorded().All()
	require.Len(t, es, len(rule.All()))
	for _, e := range es {
		require.Samef(t, e, Recorded().Find(e.ID), e.ID)
		require.NotEqualf(t, e.Count > 0, e.Reason != nil, "%s needs either cases or a reason", e.ID)
		require.LessOrEqual(t, len(e.Cases), e.Count, e.ID)
		for _, c := range e.Cases {
			require.FileExists(t, "../../"+c.Path())
		}
	}
}

// After a change to a rule, a reason or an area,
//
//	go test ./report/rules -run TestPage -update-docs
//
// writes docs/rules.md anew. What cases show is another matter: see TestRuleCoverage
// in sim_test.
var updateDocs = flag.Bool("update-docs", false, "write docs/rules.md anew")

// TestPage holds docs/rules.md to the catalogue that the command has.
func TestPage(t *testing.T) {
	const file = "../../docs/rules.md"
	var page strings.Builder
	require.NoError(t, Markdown(&page, Recorded()))
	if *updateDocs {
		require.NoError(t, os.WriteFile(file, []byte(page.String()), 0o644))
		return
	}
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(strings.Split(page.String(), "\n"), strings.Split(string(b), "\n")),
		"docs/rules.md is not up to date: go test ./report/rules -run TestPage -update-docs")
}

func TestPageLinksLeadSomewhere(t *testing.T) {
	var page strings.Builder
	require.NoError(t, Markdown(&page, Recorded()))
	for _, link := range strings.Split(page.String(), "](#")[1:] {
		id, _, _ := strings.Cut(link, ")")
		require.Equalf(t, 1, strings.Count(page.String(), `<a id="`+id+`"></a>`), "#%s", id)
	}
	for _, r := range rule.All() {
		require.Equal(t, 1, strings.Count(page.String(), `<a id="`+r.ID+`"></a>`), r.ID)
	}
	_, entries, _ := strings.Cut(page.String(), "## Contents")
	for line := range strings.Lines(entries) {
		require.LessOrEqual(t, len([]rune(strings.TrimSuffix(line, "\n"))), 160, line)
	}
}

func TestShownIsReadAsItIsWritten(t *testing.T) {
	s := Shown{}
	for _, name := range []string{"a", "b/c", "d", "e"} {
		s.Add("attr/duplicate", Case{"one", name})
	}
	s.Add("cq/busy", Case{"two", "f/g"})
	require.Equal(t, "attr/duplicate 4 one/a one/b/c one/d\ncq/busy 1 two/f/g\n", string(s.Text()))
	read, err := ParseShown(s.Text())
	require.NoError(t, err)
	require.Equal(t, s, read)
}

func TestParseShownRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"attr/duplicate 1":             "line 1: an id, a count and cases are wanted",
		"attr/duplicate x f/n":         "line 1: x is no count",
		"attr/duplicate 1 f/n f/m":     "line 1: 1 is no count",
		"cq/busy 1 f/n\nno/rule 1 f/n": "line 2: there is no rule no/rule",
	} {
		_, err := ParseShown([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func TestParseUnshown(t *testing.T) {
	reasons, err := ParseUnshown([]byte("never: So it is.\ncq/busy\nqp/busy\n\nopen: Not yet.\nah/no-memory\n"))
	require.NoError(t, err)
	require.Equal(t, map[string]*Reason{
		"cq/busy": {"never", "So it is."}, "qp/busy": {"never", "So it is."}, "ah/no-memory": {"open", "Not yet."},
	}, reasons)
	for text, want := range map[string]string{
		"often: So it is.\ncq/busy":                      "no kind of reason",
		"never: so\ncq/busy":                             "no sentence",
		"never: So it is.\n":                             "no rule has the reason",
		"never: So it is.\nqp/busy\ncq/busy":             "not sorted",
		"never: So it is.\nno/rule":                      "no rule no/rule",
		"never: So.\ncq/busy\n\nopen: Not yet.\ncq/busy": "two reasons",
	} {
		_, err := ParseUnshown([]byte(text))
		require.ErrorContains(t, err, want)
	}
}

func idsOf(es []*Entry) []string {
	var ids []string
	for _, e := range es {
		ids = append(ids, e.ID)
	}
	return ids
}

func TestSelect(t *testing.T) {
	c := Recorded()
	for _, test := range []struct {
		args, want []string
	}{
		{[]string{"header/length"}, []string{"header/length"}},
		{[]string{"header/"}, []string{"header/driver-id", "header/fault", "header/length", "header/reserved"}},
		{[]string{"port", "gid/empty"}, []string{"gid/empty", "port/invalid"}},
		{[]string{"gid", "gid/empty"}, []string{"gid-table/too-small", "gid/empty", "gid/index"}},
		{[]string{"ib_uverbs_ioctl"}, []string{"cmd/unknown", "header/fault", "header/length", "header/reserved"}},
	} {
		es, err := c.Select(test.args)
		require.NoError(t, err)
		require.Equal(t, test.want, idsOf(es))
	}
	all, err := c.Select(nil)
	require.NoError(t, err)
	require.Len(t, all, len(rule.All()))
}

func TestUnknownRule(t *testing.T) {
	for arg, nearest := range map[string]string{
		"attr/duplicat3": "attr/duplicate", "duplicate": "attr/duplicate", "HEADER/LENGTH": "header/length",
		"qp/comp-vector": "cq/comp-vector", "cq/bussy": "cq/busy",
	} {
		_, err := Recorded().Select([]string{"cq", arg})
		var unknown *UnknownError
		require.ErrorAs(t, err, &unknown)
		require.Equal(t, arg, unknown.Name)
		require.Equal(t, nearest, unknown.Nearest[0], arg)
		require.LessOrEqual(t, len(unknown.Nearest), maxNearest)
	}
	_, err := Recorded().Select([]string{""})
	require.EqualError(t, err, `there is no rule ""`)
	_, err = Recorded().Select([]string{"nosuch/"})
	require.EqualError(t, err, "there is no rule nosuch/", "nothing is near")
	_, err = Recorded().Select([]string{"a\nb"})
	require.NotContains(t, err.Error(), "\n")
}

func TestWithErrno(t *testing.T) {
	for _, name := range []string{"ENODATA", "enodata", "61"} {
		es, err := WithErrno(Recorded().All(), name)
		require.NoError(t, err)
		require.NotEmpty(t, es)
		for _, e := range es {
			require.Equal(t, syscall.ENODATA, e.Errno)
		}
	}
	_, err := WithErrno(Recorded().All(), "EINVALID")
	require.ErrorContains(t, err, "there is no rule with the errno EINVALID: the nearest is EINVAL")
	_, err = WithErrno(Recorded().All(), "EQQQQQQQ")
	require.ErrorContains(t, err, "there is no rule with the errno EQQQQQQQ: rules have EACCES, ")
}

func TestCount(t *testing.T) {
	shown, unshown := two(t)
	format := &Entry{Rule: unshown.Rule, Reason: &Reason{"format", "So it is."}}
	require.Equal(t, Totals{All: 3, Shown: 1, Met: 2, ByKind: map[string]int{"never": 1, "format": 1}},
		Count([]*Entry{shown, unshown, format}))
}

func TestGroups(t *testing.T) {
	es, err := Recorded().Select([]string{"cq", "header", "attr/type", "attr/reserved", "attr/duplicate"})
	require.NoError(t, err)
	var areas []string
	for _, g := range ByArea(es) {
		areas = append(areas, AreaOf(g.Entries[0].ID))
	}
	require.Equal(t, []string{"header", "attr", "cq"}, areas)
	gs := ByFunc(es)
	require.True(t, slices.ContainsFunc(gs, func(g Group) bool {
		return g.Title == "uverbs_process_attr in drivers/infiniband/core/uverbs_ioctl.c" &&
			cmp.Equal(idsOf(g.Entries), []string{"attr/reserved", "attr/type"})
	}))
	require.True(t, slices.IsSortedFunc(gs, func(a, b Group) int {
		return strings.Compare(a.Entries[0].File, b.Entries[0].File)
	}))
}

// two is a catalogue in which one rule is shown by four cases, and one has a
// reason.
func two(t *testing.T) (shown, unshown *Entry) {
	s := Shown{}
	for _, name := range []string{"a", "b", "c", "d"} {
		s.Add("attr/duplicate", Case{"linux", "attr/" + name})
	}
	c := New(s, map[string]*Reason{"attr/type": {"never", "No table has one."}})
	require.NotNil(t, c.Find("attr/duplicate"))
	return c.Find("attr/duplicate"), c.Find("attr/type")
}

func TestWhole(t *testing.T) {
	shown, unshown := two(t)
	var b strings.Builder
	require.NoError(t, Whole(&b, shown))
	require.Equal(t, `rule   attr/duplicate
errno  EINVAL
check  uverbs_set_attr in drivers/infiniband/core/uverbs_ioctl.c
why    An attribute that the method knows was sent twice.
do     Send each attribute once.
shown  uverbsim explain --only attr/a sim_test/corpus/linux.jsonl
       uverbsim explain --only attr/b sim_test/corpus/linux.jsonl
       uverbsim explain --only attr/c sim_test/corpus/linux.jsonl
       and 1 more recorded case
`, b.String())
	b.Reset()
	require.NoError(t, Whole(&b, unshown))
	require.Contains(t, b.String(), "no case  No table has one.\n")
}

func TestTable(t *testing.T) {
	shown, unshown := two(t)
	var b strings.Builder
	require.NoError(t, Table(&b, ByArea([]*Entry{shown, unshown})))
	require.NoError(t, Sum(&b, []*Entry{shown, unshown}))
	require.Equal(t, `attr: one attribute
  attr/duplicate  EINVAL      An attribute that the method knows was sent twice.
  attr/type       EOPNOTSUPP  The attribute is declared with a type that the parser does not know.

2 rules, 1 of them shown by recorded cases
`, b.String())
}

func TestJSON(t *testing.T) {
	shown, unshown := two(t)
	var b strings.Builder
	require.NoError(t, JSON(&b, []*Entry{shown, unshown}))
	dec := json.NewDecoder(strings.NewReader(b.String()))
	dec.DisallowUnknownFields()
	var first, second Record
	require.NoError(t, dec.Decode(&first))
	require.NoError(t, dec.Decode(&second))
	require.Equal(t, Record{ID: "attr/duplicate", Area: "attr", Errno: "EINVAL", Code: 22,
		Func: "uverbs_set_attr", File: "drivers/infiniband/core/uverbs_ioctl.c",
		Why: rule.AttrDuplicate.Why, Do: rule.AttrDuplicate.Do, Cases: 4,
		Shown: []RecordedCase{{"attr/a", "sim_test/corpus/linux.jsonl"}, {"attr/b", "sim_test/corpus/linux.jsonl"},
			{"attr/c", "sim_test/corpus/linux.jsonl"}}}, first)
	require.Equal(t, &NoCase{"never", "No table has one."}, second.NoCase)
	require.Zero(t, second.Cases)
}
