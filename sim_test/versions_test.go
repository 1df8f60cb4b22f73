package sim_test

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/sim_test/model"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
)

// The same cases, recorded on both kernels.
const (
	recordedOld = "linux-6.1-rxe"
	recordedNew = "linux-6.12-rxe"
)

func casesByName(t *testing.T, file string) map[string]*casefile.Case {
	byName := map[string]*casefile.Case{}
	for _, f := range readCorpus(t) {
		if f.name == file {
			for _, c := range f.cases {
				byName[c.Name] = c
			}
		}
	}
	require.NotEmpty(t, byName, file)
	return byName
}

// TestFeaturesAreShown takes each feature away from the newer kernel, and gives
// it to the older one: the cases that the table names for it must then be
// answered otherwise than they were recorded.
func TestFeaturesAreShown(t *testing.T) {
	cases := map[*spec.Kernel]map[string]*casefile.Case{
		spec.Linux6_1: casesByName(t, recordedOld), spec.Linux6_12: casesByName(t, recordedNew)}
	for _, f := range spec.Features() {
		if !spec.Linux6_12.Has(f) {
			require.Empty(t, f.Info().Cases, "%v: nothing was recorded on a kernel that has it", f)
			continue
		}
		require.False(t, spec.Linux6_1.Has(f), f)
		for k, other := range map[*spec.Kernel]*spec.Kernel{
			spec.Linux6_1: spec.Linux6_1.With(f), spec.Linux6_12: spec.Linux6_12.Without(f)} {
			for _, name := range f.Info().Cases {
				c := cases[k][name]
				require.NotNilf(t, c, "%v: Linux %s has no recorded case %s", f, k.Name, name)
				require.Truef(t, plays(k, c), "%s on Linux %s", name, k.Name)
				require.Falsef(t, plays(other, c), "%v does not show in %s on Linux %s", f, name, k.Name)
			}
		}
	}
}

func plays(k *spec.Kernel, c *casefile.Case) bool {
	return player.Play(&model.Model{Kernel: k}, c, player.Options{Repeat: 2}).Passed()
}

// TestEveryDifferenceHasItsFeature wants the features that a recorded case
// shows to account for all that differs between the recordings: a case that the
// kernels answer otherwise is also answered otherwise by a kernel that lacks
// just these.
func TestEveryDifferenceHasItsFeature(t *testing.T) {
	shown := spec.Linux6_12
	for _, f := range spec.Features() {
		if len(f.Info().Cases) > 0 {
			shown = shown.Without(f)
		}
	}
	old, differ := casesByName(t, recordedOld), 0
	for name, c := range casesByName(t, recordedNew) {
		if o := old[name]; o != nil && !sameAnswers(o, c) {
			differ++
			require.True(t, plays(shown, o), name)
			require.False(t, plays(shown, c), name)
		}
	}
	require.NotZero(t, differ)
}

func sameAnswers(a, b *casefile.Case) bool {
	for i := range a.Steps {
		if !cmp.Equal(a.Steps[i].Got, b.Steps[i].Got) {
			return false
		}
	}
	return true
}

// TestVersionsDoc holds docs/versions.md to the table of features.
func TestVersionsDoc(t *testing.T) {
	b, err := os.ReadFile(versionsDoc)
	require.NoError(t, err)
	head, _, ok := strings.Cut(string(b), shownHeading)
	require.True(t, ok, "%s has no %q", versionsDoc, shownHeading)
	for _, k := range spec.Kernels() {
		require.Contains(t, head, "| "+k.Name+" | "+k.Release+" |")
	}
	want := head + featureSections()
	if *updateDocs {
		require.NoError(t, os.WriteFile(versionsDoc, []byte(want), 0o644))
		return
	}
	require.Empty(t, cmp.Diff(want, string(b)), "-table +%s", versionsDoc)
}

const (
	versionsDoc  = "../docs/versions.md"
	shownHeading = "## What recorded cases show\n"
)

// After a change to the table of features,
//
//	go test ./sim_test -run TestVersionsDoc -update-docs
//
// writes the features into the document anew.
var updateDocs = flag.Bool("update-docs", false, "write the features into "+versionsDoc+" anew")

// featureSections is the document from the heading on.
func featureSections() string {
	var shown, read strings.Builder
	for _, f := range spec.Features() {
		i := f.Info()
		if len(i.Cases) > 0 {
			writeFeature(&shown, &i)
		} else {
			writeFeature(&read, &i)
		}
	}
	return shownHeading + shown.String() + "\n## What the sources alone show\n" + read.String()
}

// writeFeature writes a feature as the document has it.
func writeFeature(w *strings.Builder, i *spec.FeatureInfo) {
	fmt.Fprintf(w, "\n### %s\n\n`%s` in `%s`", i.Name, i.Func, i.File)
	if len(i.Cases) > 0 {
		fmt.Fprintf(w, "; case `%s`", strings.Join(i.Cases, "`, `"))
	}
	fmt.Fprintf(w, "\n\n- since %s: %s\n- before: %s\n", i.Since, i.With, i.Without)
}

// TestFeatureNames holds the names to one form.
func TestFeatureNames(t *testing.T) {
	var names []string
	for _, f := range spec.Features() {
		require.Regexp(t, `^[a-z0-9]+(-[a-z0-9]+)*$`, f.String())
		names = append(names, f.String())
	}
	slices.Sort(names)
	require.Len(t, slices.Compact(names), len(spec.Features()))
}

// TestDriversOnEachKernel loads each driver into each kernel.
func TestDriversOnEachKernel(t *testing.T) {
	for _, k := range spec.Kernels() {
		for _, driver := range []string{"mlx5", "rxe", "stub"} {
			booted, err := (&model.Model{Kernel: k}).Boot(&casefile.Case{Driver: driver})
			require.NoErrorf(t, err, "%s on Linux %s", driver, k.Name)
			require.Same(t, k, booted.(*model.Machine).Driver.Device().IBDevice().Kernel)
			booted.Shutdown()
		}
	}
}

// TestDeclarationsOnEachKernel: what a feature declares is in the tree of
// mlx5's device only where the kernel has the feature.
func TestDeclarationsOnEachKernel(t *testing.T) {
	for _, k := range spec.Kernels() {
		booted, err := (&model.Model{Kernel: k}).Boot(&casefile.Case{Driver: "mlx5"})
		require.NoError(t, err)
		api, declared := booted.(*model.Machine).Driver.Device().API, 0
		for _, f := range spec.Features() {
			for _, d := range f.Info().Declares {
				if d.Driver == spec.RDMA_DRIVER_MLX5 || d.Driver == spec.RDMA_DRIVER_UNKNOWN {
					declared++
					require.Equalf(t, k.Has(f), api.Lookup(keyOf(d)) != nil, "%v on Linux %s", f, k.Name)
				}
			}
		}
		require.NotZero(t, declared)
		booted.Shutdown()
	}
}

func keyOf(d spec.Declared) uint32 {
	key := spec.KeyObj(uint16(d.Object))
	if d.Method >= 0 {
		key |= spec.KeyIoctlMethod(uint16(d.Method))
	}
	if d.Attr >= 0 {
		key |= spec.KeyAttr(uint16(d.Attr))
	}
	return key
}
