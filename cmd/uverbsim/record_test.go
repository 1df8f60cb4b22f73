package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// TestNoGuest: a machine without QEMU is told in one line what to install.
func TestNoGuest(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, command := range []string{"record", "compare", "shrink"} {
		status, out, errs := uverbsim(t, opens, command, "-")
		require.Equal(t, 2, status, command)
		require.Empty(t, out)
		require.Contains(t, errs, "qemu-system-x86_64 is missing: apt-get install qemu-system-x86\n")
		require.Equal(t, 1, strings.Count(errs, "\n"))
	}
}

func TestRecordErrors(t *testing.T) {
	for want, args := range map[string][]string{
		"/dev/null is no uverbs device":            {"record", "--target", "/dev/null", "-"},
		"no such file":                             {"record", "none.jsonl"},
		"standard input:1: a case needs":           {"compare", "-"},
		"no case of standard input begins with z/": {"record", "--only", "z/", "-"},
		"/dev/null is no uverbs device: ":          {"replay", "--target", "/dev/null", "-"},
	} {
		in := opens
		if args[0] == "compare" {
			in = "{}"
		}
		status, _, errs := uverbsim(t, in, args...)
		require.Equal(t, 2, status, want)
		require.Contains(t, errs, want)
	}
}

// TestComparedModel: a kernel that is not modelled is not compared with another one, unless that is
// asked for.
func TestComparedModel(t *testing.T) {
	answers := func(kernel string) []*casefile.Case {
		return []*casefile.Case{{Name: "a/b", Driver: "rxe", Kernel: kernel}}
	}
	var m comparedModel
	require.NoError(t, m.fits(answers("6.1.0-44-amd64 (Debian 6.1.164-1)")))
	require.EqualError(t, m.fits(answers("6.8.0-45-generic")),
		"case a/b is of kernel 6.8.0-45-generic, which is not modelled: choose one by --kernel, "+kernelNames())
	m.kernel = "6.12"
	require.NoError(t, m.fits(answers("6.8.0-45-generic")))
	played, err := m.make()
	require.NoError(t, err)
	require.Equal(t, spec.Linux6_12, played.Kernel)
	m.kernel = "6.8"
	_, err = m.make()
	require.EqualError(t, err, "--kernel 6.8: one of "+kernelNames())
}

// TestRepeatRefused: cases are played 0 or more times.
func TestRepeatRefused(t *testing.T) {
	for _, command := range []string{"replay", "record"} {
		status, out, errs := uverbsim(t, opens, command, "--repeat", "-3", "-")
		require.Equal(t, 2, status, command)
		require.Empty(t, out)
		require.Equal(t, "uverbsim: --repeat -3: 0 or more\n", errs)
	}
}

// TestUnanswered names the first case that a kernel has not answered.
func TestUnanswered(t *testing.T) {
	cases := []*casefile.Case{{Name: "a/b", Line: 1}, {Name: "a/c", Line: 3}, {Name: "a/d", Line: 4}}
	from := []string{"x", "x", "y"}
	require.NoError(t, unanswered(cases, from, cases))
	require.EqualError(t, unanswered(cases, from, []*casefile.Case{cases[0], cases[2]}),
		"the kernel has answered 2 of 3 cases: not x:3, case a/c")
	require.EqualError(t, unanswered(cases, from, cases[:2]), "the kernel has answered 2 of 3 cases: not y:4, case a/d")
}

// TestWriteChanged names the steps that a kernel answers otherwise than before.
func TestWriteChanged(t *testing.T) {
	read := func(lines ...string) []*casefile.Case {
		var cases []*casefile.Case
		for _, l := range lines {
			c, err := casefile.Unmarshal([]byte(l))
			require.NoError(t, err)
			cases = append(cases, c)
		}
		return cases
	}
	before := read(opens, closes, reads)
	after := read(opens, strings.Replace(closes, `"ret":-1,"errno":"EIO"`, `"ret":0,"errno":""`, 1))
	var b strings.Builder
	require.Equal(t, 1, writeChanged(&b, before, after))
	require.Equal(t, "a/closes: step 1 is answered otherwise than recorded\n1 of 2 recorded steps are answered as recorded\n", b.String())
	b.Reset()
	require.Zero(t, writeChanged(&b, read(strings.Replace(opens, `,"got":{"ret":"*","errno":""}`, "", 1)), after))
	require.Empty(t, b.String(), "nothing was recorded before")
}
