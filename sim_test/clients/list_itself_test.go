package clients

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const someList = `What they come to.

== pass
tests.test_a.A.test_one
tests.test_a.A.test_two

== fail: rdmacm
Another device.
tests.test_a.A.test_rdmacm

== skip here: no huge pages
Huge pages.
tests.test_a.A.test_huge

== skip: not supported
A capability.
tests.test_b.B.test_one
`

func writeList(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "list")
	require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	return name
}

// TestOutcomes reads what unittest prints, with what tests print amid it.
func TestOutcomes(t *testing.T) {
	require.Equal(t, map[string]outcome{
		"tests.test_a.A.test_one":    {kind: "pass"},
		"tests.test_a.A.test_two":    {kind: "pass"},
		"tests.test_a.A.test_huge":   {"skip", "no huge pages"},
		"tests.test_a.A.test_gpu":    {"skip", "no dma-bufs of /dev/dri/N"},
		"tests.test_a.A.test_rdmacm": {kind: "fail"},
		"tests.test_b.B.test_one":    {kind: "fail"},
	}, outcomes(t, `test_one (tests.test_a.A.test_one) ... ok
test_two (tests.test_a.A.test_two)
What it is about. ... said by the test
and more
ok
test_huge (tests.test_a.A.test_huge) ... skipped 'no huge pages'
test_gpu (tests.test_a.A.test_gpu) ... skipped "no dma-bufs of /dev/dri/renderD128"
test_rdmacm (tests.test_a.A.test_rdmacm) ... ERROR
test_one (tests.test_b.B.test_one)
About. ... FAIL

======================================================================
ERROR: test_rdmacm (tests.test_a.A.test_rdmacm)
----------------------------------------------------------------------
`))
}

// TestDifferences has each way in which tests can differ from the list.
func TestDifferences(t *testing.T) {
	l := readList(t, writeList(t, someList), nil)
	as := map[string]outcome{
		"tests.test_a.A.test_one":    {kind: "pass"},
		"tests.test_a.A.test_two":    {kind: "pass"},
		"tests.test_a.A.test_rdmacm": {kind: "fail"},
		"tests.test_a.A.test_huge":   {"skip", "no huge pages"},
		"tests.test_b.B.test_one":    {"skip", "not supported"},
	}
	require.Empty(t, l.differences(as))
	for name, test := range map[string]struct {
		test string
		o    outcome
		want []string
	}{
		"fails":          {"tests.test_a.A.test_one", outcome{kind: "fail"}, []string{"tests.test_a.A.test_one: fail (in the list: pass)"}},
		"is skipped":     {"tests.test_a.A.test_one", outcome{"skip", "why"}, []string{"tests.test_a.A.test_one: skip: why (in the list: pass)"}},
		"passes":         {"tests.test_b.B.test_one", outcome{kind: "pass"}, []string{"tests.test_b.B.test_one: pass (in the list: skip: not supported)"}},
		"another reason": {"tests.test_b.B.test_one", outcome{"skip", "why"}, []string{"tests.test_b.B.test_one: skip: why (in the list: skip: not supported)"}},
		"no failure":     {"tests.test_a.A.test_rdmacm", outcome{kind: "pass"}, []string{"tests.test_a.A.test_rdmacm: pass (in the list: fail: rdmacm)"}},
		"is new":         {"tests.test_c.C.test_one", outcome{kind: "pass"}, []string{"tests.test_c.C.test_one: pass (not in the list)"}},
		"the host has":   {"tests.test_a.A.test_huge", outcome{kind: "pass"}, nil},
		"and it fails":   {"tests.test_a.A.test_huge", outcome{kind: "fail"}, []string{"tests.test_a.A.test_huge: fail (in the list: skip here: no huge pages)"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]outcome{}
			for k, v := range as {
				got[k] = v
			}
			got[test.test] = test.o
			require.Equal(t, test.want, l.differences(got))
		})
	}
	delete(as, "tests.test_a.A.test_two")
	require.Equal(t, []string{"tests.test_a.A.test_two: did not run (in the list: pass)"}, l.differences(as))
}

// TestListUpdate has a list say something else, with the sections that it has.
func TestListUpdate(t *testing.T) {
	name := writeList(t, someList)
	l := readList(t, name, nil)
	got := map[string]outcome{
		"tests.test_a.A.test_one":    {kind: "pass"},
		"tests.test_a.A.test_two":    {"skip", "why"},
		"tests.test_a.A.test_rdmacm": {kind: "pass"},
		"tests.test_a.A.test_huge":   {kind: "pass"},
		"tests.test_b.B.test_one":    {"skip", "not supported"},
		"tests.test_b.B.test_two":    {"skip", "no huge pages"},
	}
	l.update(t, got)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, `What they come to.

== pass
tests.test_a.A.test_one
tests.test_a.A.test_rdmacm

== skip here: no huge pages
Huge pages.
tests.test_a.A.test_huge
tests.test_b.B.test_two

== skip: not supported
A capability.
tests.test_b.B.test_one

== skip: why
tests.test_a.A.test_two
`, string(text))
	require.Equal(t, []string{"nothing is said of what it would take: skip: why"}, readList(t, name, nil).differences(got))
}

// TestListBase has a list that says in what another is wrong.
func TestListBase(t *testing.T) {
	base := readList(t, writeList(t, someList), nil)
	name := writeList(t, "")
	got := map[string]outcome{
		"tests.test_a.A.test_one":    {"skip", "not root"},
		"tests.test_a.A.test_two":    {kind: "pass"},
		"tests.test_a.A.test_rdmacm": {kind: "fail"},
		"tests.test_a.A.test_huge":   {"skip", "no huge pages"},
		"tests.test_b.B.test_one":    {"skip", "not supported"},
	}
	readList(t, name, base).update(t, got)
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	require.Equal(t, "== skip: not root\ntests.test_a.A.test_one\n", string(text))

	name = writeList(t, "== skip: not root\nTo be root.\ntests.test_a.A.test_one\n")
	require.Empty(t, readList(t, name, base).differences(got))
	got["tests.test_a.A.test_one"] = outcome{kind: "pass"}
	require.Equal(t, []string{"tests.test_a.A.test_one: pass (in the list: skip: not root)"}, readList(t, name, base).differences(got))
	readList(t, name, base).update(t, got)
	text, err = os.ReadFile(name)
	require.NoError(t, err)
	require.Empty(t, string(text))
}
