package clients

import (
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// rdmaCoreTests is where Debian's python3-pyverbs has rdma-core's own tests.
const rdmaCoreTests = "/usr/share/doc/rdma-core/tests"

// TestRDMACore runs rdma-core's own tests and compares what each comes to with the
// list in testdata; for nobody another one says what is different. A test that
// passes and should not is a failure like one that should and does not.
func TestRDMACore(t *testing.T) {
	long(t)
	needPyverbs(t)
	need(t, "ip")
	if os.Geteuid() != 0 {
		t.Skip("the lists are for root, and for whom only root can become")
	}
	const all, different = "testdata/rdma-core-44.txt", "testdata/rdma-core-44-nobody.txt"
	t.Run("root", func(t *testing.T) {
		runTests(t, self, readList(t, all, nil))
	})
	t.Run("nobody", func(t *testing.T) {
		// A queue of the largest size is more than a user may lock without being
		// allowed to.
		runTests(t, nobody, readList(t, different, readList(t, all, nil)), "--memlock", "unlimited")
	})
}

func runTests(t *testing.T, u user, l *list, flags ...string) {
	t.Helper()
	dir := u.dir(t)
	copyTests(t, filepath.Join(dir, "tests"))
	args := append([]string{"run", "--device", "mlx5,profile=connectx6dx"}, flags...)
	args = append(args, "--", python, "tests/run_tests.py", "-v", "--dev", "mlx5_0", "--gid", "1")
	r := u.run(t, args, in(dir), env("PYTHONWARNINGS=ignore"))
	require.True(t, r.status.Exited(), "%s", r)
	r.calm(t)
	got := outcomes(t, r.stderr)
	if *update {
		l.update(t, got)
	}
	l.compare(t, got, r.stderr)
}

// copyTests makes a copy that Python can run: in the package some are compressed.
func copyTests(t *testing.T, to string) {
	t.Helper()
	entries, err := os.ReadDir(rdmaCoreTests)
	if os.IsNotExist(err) && os.Getenv("CI") != "true" {
		t.Skipf("%s is not there: python3-pyverbs was installed without its documentation", rdmaCoreTests)
	}
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(to, 0o755))
	for _, e := range entries {
		f, err := os.Open(filepath.Join(rdmaCoreTests, e.Name()))
		require.NoError(t, err)
		defer f.Close()
		var text io.Reader = f
		name, zipped := strings.CutSuffix(e.Name(), ".gz")
		if zipped {
			text, err = gzip.NewReader(f)
			require.NoError(t, err)
		}
		b, err := io.ReadAll(text)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(to, name), b, 0o644))
	}
}

// outcome is what a test came to: "pass", "fail", or "skip" with a reason.
type outcome struct{ kind, reason string }

func (o outcome) String() string {
	if o.reason == "" {
		return o.kind
	}
	return o.kind + ": " + o.reason
}

var (
	testLine   = regexp.MustCompile(`(?m)^(test_\w+) \((tests\.[\w.]+)\)`)
	statusLine = regexp.MustCompile(`(?m)(?:^|\.\.\. )(ok|ERROR|FAIL|skipped ['"](.*)['"])$`)
	numbers    = regexp.MustCompile(`\b(0x[0-9a-fA-F]+|renderD\d+)\b`)
)

// outcomes reads what Python's unittest prints with -v: after each test's name and
// description, and what the test prints itself, what it came to.
func outcomes(t *testing.T, out string) map[string]outcome {
	t.Helper()
	out, _, ok := strings.Cut(out, "\n===") // where the failures are told
	if !ok {
		out, _, _ = strings.Cut(out, "\n---")
	}
	found := map[string]outcome{}
	tests := testLine.FindAllStringSubmatchIndex(out, -1)
	for i, at := range tests {
		end := len(out)
		if i+1 < len(tests) {
			end = tests[i+1][0]
		}
		name := out[at[4]:at[5]]
		m := statusLine.FindStringSubmatch(out[at[1]:end])
		require.NotNil(t, m, "%s: %s", name, out[at[0]:end])
		switch m[1] {
		case "ok":
			found[name] = outcome{kind: "pass"}
		case "ERROR", "FAIL":
			found[name] = outcome{kind: "fail"}
		default:
			found[name] = outcome{"skip", numbers.ReplaceAllString(m[2], "N")}
		}
	}
	return found
}

// list says what each test comes to. It is a text of sections: a heading "== pass",
// "== fail: TITLE", "== skip: REASON" or "== skip here: REASON", a few sentences,
// and the names of tests. A test that is skipped for want of something of the host's
// ("skip here") may come to anything but a failure where the host has it.
//
// A list that stands on another says only of which tests the other is wrong.
type list struct {
	path     string
	base     *list
	preamble []string
	sections []*section
}

type section struct {
	kind, title string
	text        []string
	tests       []string
}

const here = "skip here"

func readList(t *testing.T, path string, base *list) *list {
	t.Helper()
	b, err := os.ReadFile(path)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	l := &list{path: path, base: base}
	var s *section
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSuffix(line, "\n")
		heading, isHeading := strings.CutPrefix(line, "== ")
		switch {
		case isHeading:
			kind, title, _ := strings.Cut(heading, ": ")
			s = &section{kind: kind, title: title}
			l.sections = append(l.sections, s)
		case s == nil:
			l.preamble = append(l.preamble, line)
		case strings.HasPrefix(line, "tests."):
			s.tests = append(s.tests, line)
		case line != "":
			s.text = append(s.text, line)
		}
	}
	return l
}

func (s *section) heading() string {
	if s.title == "" {
		return s.kind
	}
	return s.kind + ": " + s.title
}

// accepts says whether a test of the section may come to that.
func (s *section) accepts(o outcome) bool {
	switch s.kind {
	case here:
		return o.kind != "fail"
	case "skip":
		return o == outcome{"skip", s.title}
	}
	return o.kind == s.kind
}

func (l *list) sectionOf(test string) *section {
	for _, s := range l.sections {
		if slices.Contains(s.tests, test) {
			return s
		}
	}
	if l.base != nil {
		return l.base.sectionOf(test)
	}
	return nil
}

// all returns the sections of the list and of what it stands on.
func (l *list) all() []*section {
	if l.base == nil {
		return l.sections
	}
	return append(slices.Clone(l.sections), l.base.sections...)
}

// update has the list say what was found, and writes it. Sections and what they say
// stay as they are; new ones come last.
func (l *list) update(t *testing.T, got map[string]outcome) {
	t.Helper()
	for _, s := range l.sections {
		s.tests = slices.DeleteFunc(s.tests, func(test string) bool {
			o, ran := got[test]
			return !ran || !s.accepts(o) || l.base != nil && l.base.accepts(test, o)
		})
	}
	for _, test := range slices.Sorted(maps.Keys(got)) {
		if o := got[test]; !l.accepts(test, o) {
			s := l.place(o)
			s.tests = append(s.tests, test)
		}
	}
	l.sections = slices.DeleteFunc(l.sections, func(s *section) bool { return len(s.tests) == 0 })
	var b strings.Builder
	for _, line := range l.preamble {
		fmt.Fprintln(&b, line)
	}
	for i, s := range l.sections {
		if i > 0 {
			fmt.Fprintln(&b)
		}
		fmt.Fprintf(&b, "== %s\n", s.heading())
		for _, line := range s.text {
			fmt.Fprintln(&b, line)
		}
		slices.Sort(s.tests)
		for _, test := range s.tests {
			fmt.Fprintln(&b, test)
		}
	}
	require.NoError(t, os.WriteFile(l.path, []byte(b.String()), 0o644))
}

// accepts says whether a test may come to that.
func (l *list) accepts(test string, o outcome) bool {
	s := l.sectionOf(test)
	return s != nil && s.accepts(o)
}

// place returns the section for what a test came to, a new one if there is none.
func (l *list) place(o outcome) *section {
	for _, s := range l.sections {
		if s.accepts(o) && (s.kind != here || o.reason == s.title) {
			return s
		}
	}
	s := &section{kind: o.kind, title: o.reason}
	l.sections = append(l.sections, s)
	return s
}

// compare holds what was found to the list.
func (l *list) compare(t *testing.T, got map[string]outcome, out string) {
	t.Helper()
	var differ []string
	for test, o := range got {
		s := l.sectionOf(test)
		switch {
		case s == nil:
			differ = append(differ, fmt.Sprintf("%s: %s (not in the list)", test, o))
		case !s.accepts(o):
			differ = append(differ, fmt.Sprintf("%s: %s (in the list: %s)%s", test, o, s.heading(), trouble(test, out)))
		}
	}
	for _, s := range l.sections {
		if s.kind != "pass" && len(s.text) == 0 {
			differ = append(differ, "nothing is said of what it would take: "+s.heading())
		}
	}
	for _, s := range l.all() {
		for _, test := range s.tests {
			if _, ok := got[test]; !ok {
				differ = append(differ, test+": did not run (in the list: "+s.heading()+")")
			}
		}
	}
	slices.Sort(differ)
	if len(differ) > 0 {
		t.Errorf("not what %s says (-update has it say this):\n%s", l.path, strings.Join(differ, "\n"))
	}
	passed := 0
	for test, o := range got {
		switch o.kind {
		case "pass":
			passed++
		case "fail":
			if !strings.Contains(test, "rdmacm") { // that needs another device
				t.Errorf("%s fails%s", test, trouble(test, out))
			}
		}
	}
	if enough := 150; l.base == nil && passed < enough {
		t.Errorf("only %d tests pass", passed)
	}
}

// trouble returns what is told of a test that failed.
func trouble(test, out string) string {
	for block := range strings.SplitSeq(out, "\n======") {
		heading, told, _ := strings.Cut(strings.TrimLeft(block, "=\n"), "\n")
		if strings.HasSuffix(heading, "("+test+")") {
			return "\n\t" + strings.ReplaceAll(strings.TrimSpace(told), "\n", "\n\t")
		}
	}
	return ""
}
