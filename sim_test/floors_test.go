package sim_test

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors says which rooms and modules each room may import besides the
// standard library; test files may import anything. A room stands above all
// that it imports.
var floors = map[string][]string{
	"radixtree":            {},
	"rule":                 {},
	"trace":                {},
	"spec":                 {},
	"casefile":             {},
	"copyuser":             {"rule", "trace", "github.com/google/btree"},
	"process":              {"copyuser", "rule", "trace"},
	"uobject":              {"process", "copyuser", "spec", "trace", "rule"},
	"core":                 {"uobject", "process", "copyuser", "spec", "trace", "rule"},
	"kernel":               {"core", "uobject", "process", "copyuser", "spec", "trace", "rule", "radixtree"},
	"methods":              {"kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule"},
	"drivers/mlx5/hw":      {"trace"},
	"drivers/mlx5":         {"drivers/mlx5/hw", "kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule"},
	"drivers/rxe":          {"kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule"},
	"verbs":                {"spec", "copyuser"},
	"interpose/seccomp":    {"golang.org/x/sys/unix"},
	"interpose/procstatus": {},
	"interpose/record":     {"interpose/procstatus", "interpose/watch", "casefile", "kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule", "radixtree"},
	"interpose":            {"interpose/live", "interpose/procstatus", "interpose/seccomp", "interpose/sysfs", "interpose/watch", "kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule", "radixtree", "golang.org/x/sys/unix"},
	"interpose/watch":      {"kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule", "radixtree"},
	"interpose/sysfs":      {"kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule", "radixtree"},
	"report":               {"interpose/watch", "kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule", "radixtree", "casefile", "github.com/ajstarks/svgo"},
	"interpose/ptrace":     {"interpose/procstatus", "interpose/watch", "interpose/seccomp", "copyuser", "rule", "spec", "golang.org/x/sys/unix"},
	"interpose/live":       {"copyuser", "rule", "trace", "golang.org/x/sys/unix"},
	// Programs on a machine with a device stand above both.
	"report/demo":     {"report", "interpose/watch", "verbs", "methods", "drivers/mlx5", "drivers/mlx5/hw", "kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule"},
	"report/lab":      {"report", "verbs", "methods", "drivers/mlx5", "drivers/mlx5/hw", "kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule", "gonum.org/v1/plot"},
	"report/pingpong": {"report", "verbs", "methods", "drivers/mlx5", "drivers/mlx5/hw", "kernel", "core", "uobject", "process", "copyuser", "spec", "trace", "rule"},
}

// free may import any room: nothing stands above them.
var free = []string{"sim_test", "cmd/uverbsim", "scripts"}

// room returns the room that a package of this module lies in.
func room(pkg string) string {
	path := strings.TrimPrefix(pkg, "uverbsim/")
	best := ""
	for r := range floors {
		if (path == r || strings.HasPrefix(path, r+"/")) && len(r) > len(best) {
			best = r
		}
	}
	return best
}

// TestFloors holds every package's imports to the floors.
func TestFloors(t *testing.T) {
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "uverbsim/...").Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		t.Fatalf("go list: %s", exit.Stderr)
	}
	require.NoError(t, err)
	seen := map[string]bool{}
	dec := json.NewDecoder(strings.NewReader(string(out)))
	for {
		var pkg struct {
			ImportPath string
			Imports    []string
		}
		if err := dec.Decode(&pkg); errors.Is(err, io.EOF) {
			break
		} else {
			require.NoError(t, err)
		}
		path := strings.TrimPrefix(pkg.ImportPath, "uverbsim/")
		if slices.ContainsFunc(free, func(r string) bool { return path == r || strings.HasPrefix(path, r+"/") }) {
			continue
		}
		own := room(pkg.ImportPath)
		require.NotEmptyf(t, own, "%s is in no room of the table", pkg.ImportPath)
		seen[own] = true
		for _, imp := range pkg.Imports {
			checkImport(t, pkg.ImportPath, own, imp)
		}
	}
	for r := range floors {
		require.Truef(t, seen[r], "room %s has no package", r)
	}
}

func checkImport(t *testing.T, pkg, own, imp string) {
	t.Helper()
	if !strings.Contains(imp, ".") && !strings.HasPrefix(imp, "uverbsim/") {
		return // the standard library
	}
	to := imp
	if strings.HasPrefix(imp, "uverbsim/") {
		if to = room(imp); to == own {
			return
		}
	}
	if !slices.ContainsFunc(floors[own], func(r string) bool {
		return to == r || strings.Contains(r, ".") && strings.HasPrefix(to, r+"/") // a package of a module
	}) {
		t.Errorf("%s may not import %s: room %s may import only %v", pkg, imp, own, floors[own])
	}
}

// TestFloorsHaveNoWayUp: if one room may import another, that one may not,
// directly or by others, import it.
func TestFloorsHaveNoWayUp(t *testing.T) {
	var reach func(from string, seen map[string]bool)
	reach = func(from string, seen map[string]bool) {
		for _, to := range floors[from] {
			if !seen[to] {
				seen[to] = true
				reach(to, seen)
			}
		}
	}
	for r := range floors {
		seen := map[string]bool{}
		reach(r, seen)
		require.Falsef(t, seen[r], "%s can reach itself", r)
	}
}
