package clients

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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

// differences says in what way the tests did not come to what the list says, and what
// the list does not say.
func (l *list) differences(got map[string]outcome) []string {
	var differ []string
	for test, o := range got {
		switch s := l.sectionOf(test); {
		case s == nil:
			differ = append(differ, fmt.Sprintf("%s: %s (not in the list)", test, o))
		case !s.accepts(o):
			differ = append(differ, fmt.Sprintf("%s: %s (in the list: %s)", test, o, s.heading()))
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
	return differ
}
