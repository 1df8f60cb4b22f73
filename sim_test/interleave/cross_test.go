package interleave

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/rule"
	"uverbsim/sim_test/suite"
)

// ingredient is a call that is run beside every other one.
type ingredient struct {
	name string
	stub string // its step; "@" stands for the name of the thread
	mlx5 string // "" for the same
	// may are the rules by which it may be refused, whatever runs beside it.
	may []*rule.Rule
	// takes and frees are the kind of number that it takes or gives back.
	takes, frees string
	// waits says that it may wait for what no other call brings.
	waits bool
	// once says that there can be one of them only.
	once bool
}

// The rules by which calls of a kind may be refused. All of them come with a
// descriptor, which may be closed.
var (
	uses     = []*rule.Rule{rule.FDBad, rule.ContextDeviceGone}
	creates  = append(slices.Clone(uses), rule.ObjectFileDestroyed)
	on       = []*rule.Rule{rule.ObjectNotFound, rule.ObjectBusyRead, rule.ObjectDeviceGone}
	destroys = []*rule.Rule{rule.FDBad, rule.ObjectNotFound, rule.ObjectBusyWrite}
)

// The kinds of numbers.
const (
	handle     = "handle"
	descriptor = "descriptor"
)

// reused are the rules by which a call may be refused as well whose number was given
// back, and given to something else.
var reused = map[string][]*rule.Rule{
	handle: {rule.ObjectWrongType},
	descriptor: {rule.ContextNone, rule.IoctlNoOperation, rule.WriteMode, rule.MmapNoOperation, rule.MmapWriteShared,
		rule.ReadNoOperation, rule.ObjectFDForeign},
}

func also(rules []*rule.Rule, more ...*rule.Rule) []*rule.Rule {
	return append(slices.Clone(rules), more...)
}

var ingredients = []ingredient{
	{name: "create-pd", takes: handle, stub: pd("@"), mlx5: pdMLX5("@"), may: creates},
	{name: "create-cq", takes: handle, stub: cqCh, mlx5: cqChMLX5, may: also(creates, rule.ObjectFDBad, rule.ObjectDeviceGone)},
	{name: "create-mr", takes: handle, stub: mr("@", "pd2"), may: also(creates, on...)},
	{name: "create-qp", takes: handle, stub: qp, mlx5: qpMLX5, may: also(creates, on...)},
	{name: "create-channel", takes: descriptor, stub: channel("@"), may: creates},
	{name: "destroy-pd", frees: handle, stub: destroyPD, may: also(destroys, rule.PDBusy)},
	{name: "destroy-pd2", frees: handle, stub: destroyPD2, may: also(destroys, rule.PDBusy)},
	{name: "destroy-cq", frees: handle, stub: destroyCQ, may: also(destroys, rule.CQBusy)},
	{name: "destroy-mr", frees: handle, stub: destroyMR, may: destroys},
	{name: "destroy-qp", frees: handle, stub: destroyQP, may: destroys},
	{name: "query-mr", stub: queryMR, may: also(on, rule.FDBad)},
	{name: "query-port", stub: queryPort, may: uses},
	{name: "list-qps", stub: listQPs, may: []*rule.Rule{rule.FDBad}},
	{name: "rereg-pd2", stub: rereg("pd2", "rr"), may: also(on, rule.FDBad, rule.ObjectBusyWrite)},
	{name: "read-channel", stub: readCh, may: []*rule.Rule{rule.FDBad, rule.EventClosed}, waits: true},
	{name: "read-events", stub: readE, may: []*rule.Rule{rule.FDBad}, waits: true},
	{name: "mmap", stub: strings.ReplaceAll(mmap, `"m"`, `"@"`), mlx5: strings.ReplaceAll(mmapR, `"m"`, `"@"`), may: uses},
	{name: "munmap", stub: munmap},
	{name: "open", takes: descriptor, stub: strings.ReplaceAll(open, `"f"`, `"@"`), may: []*rule.Rule{rule.OpenNoNode, rule.OpenDeviceGone}},
	{name: "close", frees: descriptor, stub: closeF, may: []*rule.Rule{rule.FDBad}},
	{name: "close-channel", frees: descriptor, stub: closeCh, may: []*rule.Rule{rule.FDBad}},
	{name: "close-events", frees: descriptor, stub: closeE, may: []*rule.Rule{rule.FDBad}},
	{name: "remove", stub: remove, once: true},
}

// beforehand is what the calls find. The open file that they find holds the device, so
// that an open never meets one whose last reference is gone.
var beforehand = map[string][]string{
	"stub": {open, context, async, channel("ch"), pd("pd"), pd("pd2"), cqCh, mr("mr", "pd"), qp, mmap},
	"mlx5": {open, contextMLX5, async, channel("ch"), pdMLX5("pd"), pdMLX5("pd2"), cqChMLX5, mr("mr", "pd"), qpMLX5, mmapR},
}

// step is what the ingredient does in a thread.
func (n *ingredient) step(driver string, thread int) string {
	s := n.stub
	if driver == "mlx5" && n.mlx5 != "" {
		s = n.mlx5
	}
	return strings.ReplaceAll(s, "@", name(thread))
}

// mixture are calls that run at the same time.
type mixture []*ingredient

func (m mixture) String() string {
	names := make([]string, len(m))
	for i := range m {
		names[i] = m[i].name
	}
	return strings.Join(names, "+")
}

// pairsOf and triplesOf are what the ingredients can be mixed to.
func pairsOf() (all []mixture) {
	for i := range ingredients {
		for j := i; j < len(ingredients); j++ {
			all = append(all, mixture{&ingredients[i], &ingredients[j]})
		}
	}
	return slices.DeleteFunc(all, mixture.impossible)
}

func triplesOf() (all []mixture) {
	for _, m := range pairsOf() {
		for k := range ingredients {
			if third := &ingredients[k]; third.after(m[1]) {
				all = append(all, mixture{m[0], m[1], third})
			}
		}
	}
	return slices.DeleteFunc(all, mixture.impossible)
}

// after says whether an ingredient stands behind another in the list, or is it.
func (n *ingredient) after(other *ingredient) bool {
	at := func(n *ingredient) int {
		return slices.IndexFunc(ingredients, func(o ingredient) bool { return o.name == n.name })
	}
	return at(n) >= at(other)
}

// impossible says that there is more than one of which there can be one only.
func (m mixture) impossible() bool {
	once := 0
	for _, n := range m {
		if n.once {
			once++
		}
	}
	return once > 1
}

// hard are triples that have many ways to go wrong.
var hard = []string{
	"create-cq+close+close-channel", "create-cq+close-channel+remove",
	"create-mr+destroy-pd2+close", "create-mr+destroy-pd2+remove", "create-mr+destroy-pd2+rereg-pd2",
	"create-qp+destroy-cq+close", "create-qp+destroy-cq+remove", "create-qp+destroy-cq+destroy-qp",
	"destroy-pd+destroy-mr+destroy-qp",
	"destroy-mr+rereg-pd2+close", "destroy-mr+rereg-pd2+remove", "query-mr+rereg-pd2+remove",
	"destroy-qp+list-qps+remove",
	"create-pd+read-events+remove", "read-channel+close-channel+remove", "close+close-events+remove",
	"mmap+munmap+close", "mmap+munmap+remove", "create-channel+mmap+close", "open+close+remove",
}

// TestCross: whatever runs beside whatever, nothing panics, nothing hangs, the books
// balance, and each call is refused only as the rules say that it may be.
func TestCross(t *testing.T) {
	met := map[string]map[string]bool{}
	explored, interleavings, bounded := 0, 0, 0
	cross := func(driver string, m mixture, opts Options) {
		t.Run(driver+"/"+m.String(), func(t *testing.T) {
			var calls [][]string
			for i, n := range m {
				calls = append(calls, []string{n.step(driver, i)})
			}
			prog := Case(build(t, t.Name(), driver, beforehand[driver], calls), func(e *Ending) (string, error) {
				return e.Refusals(), m.check(e, met)
			})
			if replays(t, prog) {
				return
			}
			r := Explore(prog, opts)
			require.NoErrorf(t, r.Err, "go test ./sim_test/interleave -v -all -run '%s' -schedule '%s'", suite.Pattern(t.Name()), r.Schedule)
			t.Logf("%d interleavings explored: %v", r.Executions, outcomes(r))
			explored++
			interleavings += r.Executions
			if !r.Complete {
				bounded++
			}
		})
	}
	pairs, triples := pairsOf(), triplesOf()
	for i, driver := range []string{"stub", "mlx5"} {
		for j, m := range pairs {
			if (j+i)%suite.Share(24) == 0 || *toReplay != "" {
				cross(driver, m, Options{Executions: 2000})
			}
		}
		for j, m := range triples {
			switch {
			case slices.Contains(hard, m.String()):
				if suite.All() || *toReplay != "" {
					cross(driver, m, Options{Executions: 2000})
				}
			case j%suite.Share(100) == 0 && j/suite.Share(100)%2 == i || *toReplay != "":
				cross(driver, m, Options{Preemptions: 1, Executions: 30})
			}
		}
	}
	t.Logf("%d pairs and triples, %d interleavings explored; a bound was met in %d", explored, interleavings, bounded)
	if !suite.All() || t.Failed() || explored < 2*len(pairs)+len(triples) {
		return
	}
	var never []string
	some := map[string]bool{}
	for _, n := range ingredients {
		for _, r := range n.may {
			if !met[n.name][r.ID] {
				never = append(never, n.name+" by "+r.ID)
			}
		}
		for id := range met[n.name] {
			some[id] = true
		}
	}
	for _, r := range also(reused[handle], reused[descriptor]...) {
		if !some[r.ID] {
			never = append(never, "anything by "+r.ID)
		}
	}
	require.Empty(t, never, "these are never refused")
}

// may are the rules by which one of the calls may be refused.
func (m mixture) may(i int) []*rule.Rule {
	all := m[i].may
	for kind, rules := range reused {
		taken, freed := false, false
		for j, n := range m {
			taken, freed = taken || j != i && n.takes == kind, freed || j != i && n.frees == kind
		}
		if taken && freed {
			all = also(all, rules...)
		}
	}
	return all
}

// check says whether the calls were answered as they may be, and notes the rules.
func (m mixture) check(e *Ending, met map[string]map[string]bool) error {
	for i, n := range m {
		if e.Waited[i] {
			if !n.waits {
				return fmt.Errorf("%s: %s waits for ever", e.Calls(), n.name)
			}
			continue
		}
		if e.Refused[i][0] == nil {
			continue
		}
		id := e.Rule(i, 0)
		if !slices.ContainsFunc(m.may(i), func(r *rule.Rule) bool { return r.ID == id }) {
			return fmt.Errorf("%s: %s is refused by %s: %w", e.Refusals(), n.name, id, e.Refused[i][0])
		}
		if met[n.name] == nil {
			met[n.name] = map[string]bool{}
		}
		met[n.name][id] = true
	}
	return nil
}

// TestIngredients: they are refused as pairs are, and by nothing else, and the triples
// that are named can be mixed.
func TestIngredients(t *testing.T) {
	names := map[string]bool{}
	for _, m := range triplesOf() {
		names[m.String()] = true
	}
	for _, name := range hard {
		require.True(t, names[name], name)
	}
	for _, n := range ingredients {
		for _, r := range also(n.may, also(reused[handle], reused[descriptor]...)...) {
			require.True(t, slices.ContainsFunc(reasons, func(k reason) bool { return k.name == r.ID }), "%s: %s", n.name, r.ID)
		}
	}
}
