// Package suite says what go test runs by itself and what it leaves out: with -all
// the tests of a package that imports it run also what takes long. docs/testing.md
// has the suites.
//
// A test that is left out, or that lacks a program, says what would have it run. In
// CI, where the environment has CI=true, a program that is missing is a failure.
package suite

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var all = flag.Bool("all", false, "run also what is left out for how long it takes")

// All says whether -all was given.
func All() bool { return *all }

// ci says whether the tests run in CI, where nothing may be missing.
func ci() bool { return os.Getenv("CI") == "true" }

// Long leaves a test out unless -all was given.
func Long(t testing.TB) {
	t.Helper()
	if !All() {
		t.Skipf("LEFT OUT FOR HOW LONG IT TAKES: %s", command(directory(), t.Name()))
	}
}

// Share is one, or with -all every: of so many cases one is played.
func Share(one int) int {
	if All() {
		return 1
	}
	return one
}

// InShard says of which of the things that are counted from 0 a shard "i/n" consists.
func InShard(t testing.TB, shard string) func(index int) bool {
	t.Helper()
	var i, n int
	if _, err := fmt.Sscanf(shard, "%d/%d", &i, &n); err != nil || i < 1 || i > n || shard != fmt.Sprintf("%d/%d", i, n) {
		t.Fatalf("-shard %s: it is i/n, with i from 1 to n", shard)
	}
	return func(index int) bool { return index%n == i-1 }
}

// AtOnce has so many of the tests that call t.Parallel run at once, unless -parallel
// says otherwise. It is for a TestMain whose tests wait for time to pass more than
// they compute.
func AtOnce(n int) {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", strconv.Itoa(n)); err != nil {
		panic(err)
	}
}

// Need has a test be skipped where a program is not installed, but not in CI.
func Need(t testing.TB, programs ...string) {
	t.Helper()
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			Missing(t, "%s is not installed", p)
		}
	}
}

// Missing has a test be skipped for want of something that could be there, but not
// in CI, where it fails.
func Missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if ci() {
		t.Fatalf(format, args...)
	}
	t.Skipf(format, args...)
}

// Pattern is what -run takes for one test, or for a subtest below another pattern.
func Pattern(test string) string {
	var run []string
	for part := range strings.SplitSeq(test, "/") {
		run = append(run, "^"+regexp.QuoteMeta(part)+"$")
	}
	return strings.Join(run, "/")
}

// command is what runs a test of the package in a directory with -all.
func command(dir, test string) string {
	return "go test ./" + filepath.ToSlash(dir) + " -run '" + Pattern(test) + "' -all"
}

// directory is that of the package under test, which its tests run in, from the root
// of the module.
func directory() string {
	dir, err := os.Getwd()
	if err != nil {
		return "..."
	}
	for root := dir; ; root = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			below, _ := filepath.Rel(root, dir) // it is below
			return below
		}
		if root == filepath.Dir(root) {
			return dir
		}
	}
}
