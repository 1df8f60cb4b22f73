package specdiff

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/schema"
	"uverbsim/spec"
)

var update = flag.Bool("update", false, "write the golden files")

func build(t *testing.T, driver string, k *spec.Kernel) *schema.Document {
	t.Helper()
	d, err := schema.DriverByName(driver)
	require.NoError(t, err)
	doc, err := schema.Build(d, k)
	require.NoError(t, err)
	return doc
}

func TestGolden(t *testing.T) {
	for _, driver := range []string{"mlx5", "rxe", "bnxt_re"} {
		t.Run(driver, func(t *testing.T) {
			var b strings.Builder
			require.NoError(t, Print(&b, build(t, driver, spec.Linux6_1), build(t, driver, spec.Linux6_12),
				FeaturesOf(spec.Linux6_1, spec.Linux6_12)))
			file := "testdata/" + driver + ".txt"
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(b.String()), 0o644))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Equal(t, string(want), b.String())
			for line := range strings.Lines(b.String()) {
				require.LessOrEqual(t, len(strings.TrimRight(line, "\n")), width, "%s", line)
			}
		})
	}
}

func TestNothing(t *testing.T) {
	doc := build(t, "mlx5", spec.Linux6_12)
	require.Empty(t, Compare(doc, doc))
	var b strings.Builder
	require.NoError(t, Print(&b, doc, doc, FeaturesOf(spec.Linux6_12, spec.Linux6_12)))
	require.Equal(t, "mlx5, from 6.12 to 6.12\n\nNothing that is declared differs.\n", b.String())
}

// TestBackwards wants each change the other way round from the other side.
func TestBackwards(t *testing.T) {
	other := map[Op]Op{Added: Removed, Removed: Added, Changed: Changed}
	for _, d := range schema.Drivers() {
		a, b := build(t, d.Name, spec.Linux6_1), build(t, d.Name, spec.Linux6_12)
		there, back := Compare(a, b), Compare(b, a)
		require.Len(t, back, len(there))
		for i, c := range there {
			require.Equal(t, other[c.Op], back[i].Op)
			require.Equal(t, c.Name, back[i].Name)
		}
	}
	f := FeaturesOf(spec.Linux6_12, spec.Linux6_1)
	require.Empty(t, f.Gained)
	require.Equal(t, FeaturesOf(spec.Linux6_1, spec.Linux6_12).Gained, f.Lost)
}

// TestEveryDeclaredFeature wants each part of the definitions that a feature
// declares (spec.FeatureInfo.Declares) to be told as a change, or as a part of
// one.
func TestEveryDeclaredFeature(t *testing.T) {
	for _, f := range spec.Features() {
		for _, d := range f.Info().Declares {
			driver := ""
			for _, x := range schema.Drivers() {
				if x.ID == d.Driver {
					driver = x.Name
				}
			}
			before, after := build(t, driver, spec.Linux6_12.Without(f)), build(t, driver, spec.Linux6_12)
			changes := Compare(before, after)
			require.NotEmpty(t, changes)
			found := false
			for _, c := range changes {
				found = found || c.Op == Added && c.Kind != "struct" && c.Kind != "enumerator"
			}
			require.True(t, found, "%v: %v", f, changes)
		}
	}
}

func TestChanged(t *testing.T) {
	a, b := build(t, "rxe", spec.Linux6_12), build(t, "rxe", spec.Linux6_12)
	sel, err := b.Find("cq.create")
	require.NoError(t, err)
	for i := range sel.Method.Attrs {
		if x := &sel.Method.Attrs[i]; x.Name == "UVERBS_ATTR_CREATE_CQ_FLAGS" {
			least := 8
			x.MinLen, x.Mandatory = &least, true
		}
	}
	require.Equal(t, []Change{{
		Changed, "attribute", "UVERBS_OBJECT_CQ.UVERBS_METHOD_CQ_CREATE.UVERBS_ATTR_CREATE_CQ_FLAGS",
		[]string{"at least 4 -> 8", "mandatory none -> yes"},
	}}, Compare(a, b))
}

func TestElsewhere(t *testing.T) {
	require.True(t, elsewhere(spec.RxeFlush, "mlx5"))
	require.False(t, elsewhere(spec.RxeFlush, "rxe"))
	require.False(t, elsewhere(spec.MRAccessFlush, "mlx5"))
	require.False(t, elsewhere(spec.BNXTObjects, "bnxt_re"))
	require.True(t, elsewhere(spec.MANA, "rxe"))
}
