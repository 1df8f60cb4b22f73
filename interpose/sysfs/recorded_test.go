package sysfs_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/rxe"
	"uverbsim/interpose/sysfs"
)

// The twin is compared with what a real kernel showed of the same device
// (testdata/list.sh).

// missing are the places of a real kernel that the twin leaves out.
var missing = patterns{
	`/hw_counters(/|$)`:              "no modelled device counts these",
	`/link$`:                         "power management of the link",
	`/msi_irqs(/|$)`:                 "interrupts",
	`/ptp(/|$)`:                      "the adapter's clock as a device of its own",
	`/mlx5_core\.(eth|rdma)\.0(/|$)`: "auxiliary devices",
	`/pools$`:                        "the kernel's memory",
	`/(rescan|remove)$`:              "what root alone does to the bus",
	`/resource0(_wc)?$`:              "root alone can map the registers",
	`/net/[^/]+/queues(/|$)`:         "queues of the network device",
	`/net/[^/]+/carrier_\w+$`:        "how often the link has changed",
	`/net/[^/]+/phys_\w+$`:           "names of the adapter's ports and switches",
}

// differ are the places whose content is another one.
var differ = patterns{
	`/statistics/tx_(bytes|packets)$`: "the kernel has sent some before the list was made",
}

// patterns are expressions for paths, with the reason.
type patterns map[string]string

func (p patterns) match(path string) bool {
	return slices.ContainsFunc(slices.Collect(maps.Keys(p)), func(re string) bool { return regexp.MustCompile(re).MatchString(path) })
}

func TestRecordedMLX5(t *testing.T) {
	m := machine()
	adapter(t, m, mlx5.Config{})
	compare(t, "testdata/mlx5.txt", write(t, m, sysfs.Options{CPUs: 1}))
}

func TestRecordedRxe(t *testing.T) {
	m := machine()
	soft(t, m, rxe.Config{})
	compare(t, "testdata/rxe.txt", write(t, m, sysfs.Options{CPUs: 1}))
}

// TestPatterns: each difference is one of the recorded kernels'.
func TestPatterns(t *testing.T) {
	var all string
	for _, file := range []string{"testdata/mlx5.txt", "testdata/rxe.txt"} {
		b, err := os.ReadFile(file)
		require.NoError(t, err)
		for l := range strings.Lines(string(b)) {
			all += strings.SplitN(strings.TrimSpace(l), " ", 4)[2] + "\n"
		}
	}
	for _, p := range []patterns{missing, differ} {
		for re := range p {
			require.Regexp(t, "(?m)"+re, all)
		}
	}
}

// beyond are the places that list.sh leaves out or does not go to.
var beyond = regexp.MustCompile(`/\d\d+$|^/dev/char/|^/sys/bus/pci/(drivers/|drivers$)`)

func compare(t *testing.T, file string, tree *sysfs.Tree) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var want []string
	recorded := map[string]string{} // how the kernel shows a place, by its path
	for _, l := range strings.Split(strings.TrimSpace(string(b)), "\n") {
		f := strings.SplitN(l, " ", 4)
		if f[0] == "#" || missing.match(f[2]) {
			continue
		}
		recorded[f[2]] = f[0]
		switch {
		case f[0] == "E": // the twin's file is empty
			l = fmt.Sprintf("F %s %s ", f[1], f[2])
		case f[0] == "C": // the twin's file stands for it
			l = fmt.Sprintf("C %s %s", f[1], f[2])
		case differ.match(f[2]):
			l = fmt.Sprintf("%s %s %s", f[0], f[1], f[2])
		}
		want = append(want, l)
	}
	sort.Strings(want)
	if diff := cmp.Diff(want, list(t, tree, recorded)); diff != "" {
		t.Errorf("the kernel's places (-) and the twin's (+):\n%s", diff)
	}
}

// list lists the twin as list.sh does, but for the directories that the real
// machine has too.
func list(t *testing.T, tree *sysfs.Tree, recorded map[string]string) []string {
	t.Helper()
	var all []string
	for p, info := range names(t, tree) {
		if _, ours := tree.Resolve(p); !ours || beyond.MatchString(p) {
			continue
		}
		if info.IsDir() && recorded[p] == "" && above(p, recorded) {
			continue
		}
		all = append(all, describe(t, tree, p, info, recorded[p]))
	}
	sort.Strings(all)
	return all
}

// above says whether a directory is above a place of the list, which does not
// begin at the top.
func above(dir string, recorded map[string]string) bool {
	for p := range recorded {
		if strings.HasPrefix(p, dir+"/") {
			return true
		}
	}
	return false
}

func describe(t *testing.T, tree *sysfs.Tree, p string, info fs.FileInfo, kind string) string {
	t.Helper()
	e, _ := tree.Resolve(p)
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(tree.Dir() + p)
		require.NoError(t, err)
		return "L 777 " + p + " " + target
	case info.IsDir():
		return fmt.Sprintf("D %o %s", info.Mode().Perm(), p)
	case e.Kind == sysfs.DeviceNode:
		return fmt.Sprintf("C %o %s", info.Mode().Perm(), p)
	case kind == "B":
		return fmt.Sprintf("B %o %s", info.Mode().Perm(), p)
	case differ.match(p):
		return fmt.Sprintf("F %o %s", info.Mode().Perm(), p)
	}
	b, err := os.ReadFile(tree.Dir() + p)
	require.NoError(t, err)
	return fmt.Sprintf("F %o %s %s", info.Mode().Perm(), p, strings.ReplaceAll(string(b), "\n", `\n`))
}
