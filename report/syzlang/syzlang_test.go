package syzlang

import (
	"flag"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/report/schema"
	"uverbsim/spec"
)

var update = flag.Bool("update", false, "write the golden files")

func build(t *testing.T, driver string) *schema.Document {
	t.Helper()
	d, err := schema.DriverByName(driver)
	require.NoError(t, err)
	doc, err := schema.Build(d, spec.Linux6_12)
	require.NoError(t, err)
	return doc
}

// check wants a description to be well formed: all that is used is defined, all
// that is defined is used, and the structs are as long as the kernel's.
func check(t *testing.T, doc *schema.Document, text string) *file {
	t.Helper()
	f := parse(t, text)
	for call, name := range f.calls {
		require.Equal(t, call, name)
		size := f.sizeOf(t, typeExpr{name: name}, nil)
		b := f.blocks[name]
		if b.fields[0].name != "length" {
			continue // a command of write()
		}
		n, err := strconv.Atoi(b.fields[3].typ.args[0].name)
		require.NoError(t, err)
		require.Equal(t, len(b.fields)-7, n, name)
		require.Equal(t, spec.IoctlHdrSize+spec.IoctlAttrSize*n, size, name)
	}
	for name, used := range f.used {
		require.True(t, used || strings.HasPrefix(name, "call ") || f.calls[name] != "", "%s is not used", name)
	}
	for name, s := range doc.Structs {
		n := "uverbs_c_" + strings.ReplaceAll(strings.TrimPrefix(strings.TrimPrefix(name, "struct "), "ib_uverbs_"), ".", "_")
		if f.blocks[n] != nil && len(s.Tails) == 0 {
			require.Equal(t, s.Size, f.sizeOf(t, typeExpr{name: n}, nil), name)
		}
	}
	return f
}

// TestWhatIsLacking wants every method and command that the device has and
// syzkaller's file has not, and no other.
func TestWhatIsLacking(t *testing.T) {
	for _, d := range schema.Drivers() {
		t.Run(d.Name, func(t *testing.T) {
			doc := build(t, d.Name)
			var b strings.Builder
			require.NoError(t, Print(&b, doc))
			f := check(t, doc, b.String())
			want := map[string]bool{}
			for _, o := range doc.Objects {
				for _, m := range o.Methods {
					if m.Pruned == "" && Lacks(m.Name) {
						want[callName(m.Name)] = true
					}
				}
				for _, w := range o.Writes {
					if w.Pruned == "" && Lacks(w.Name) {
						want["uverbs_"+w.Short] = true
					}
				}
			}
			got := map[string]bool{}
			for call := range f.calls {
				got[strings.TrimSuffix(call, "_all")] = true
			}
			require.Equal(t, want, got)
		})
	}
}

// TestEachPart describes each method and command by itself.
func TestEachPart(t *testing.T) {
	for _, d := range schema.Drivers() {
		doc := build(t, d.Name)
		for i := range doc.Objects {
			o := &doc.Objects[i]
			for j := range o.Methods {
				var b strings.Builder
				require.NoError(t, PrintSelection(&b, doc, schema.Selection{Object: o, Method: &o.Methods[j]}))
				check(t, doc, b.String())
			}
			for j := range o.Writes {
				var b strings.Builder
				require.NoError(t, PrintSelection(&b, doc, schema.Selection{Object: o, Write: &o.Writes[j]}))
				check(t, doc, b.String())
			}
		}
	}
}

// TestKnown wants what is known to be names that there are.
func TestKnown(t *testing.T) {
	doc := build(t, "core")
	for name := range known {
		_, err := doc.Find(name)
		require.NoError(t, err)
	}
	for object := range resources {
		_, err := doc.Find(object)
		require.NoError(t, err)
	}
	require.True(t, Lacks("UVERBS_METHOD_CQ_CREATE"))
	require.True(t, Lacks("IB_USER_VERBS_EX_CMD_MODIFY_CQ"))
	require.False(t, Lacks("UVERBS_METHOD_COUNTERS_READ"))
}

// TestKnownBySyzkaller holds what is known against the command words that stand in
// the structs of syzkaller's file, in its order; DESTROY_RWQ_IND_TBL, whose struct
// there has none, is 0x80000038 by ib_user_verbs.h. Beside them it has three
// ioctls, all of COUNTERS.
func TestKnownBySyzkaller(t *testing.T) {
	words := []uint32{
		0, 0x80000001, 2, 3, 4, 5, 8, 9, 0xb, 0xd, 0xe, 0x10, 0x11, 0x80000012, 0x12, 0x13, 0x14, 0x15, 0x17,
		0x18, 0x80000018, 0x1b, 0x19, 0x1a, 0x80000034, 0x80000036, 0x80000035, 0x80000037, 0x80000038,
		0x1c, 0x1d, 0x1e, 0x1f, 0x20, 0x27, 0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x80000032, 0x80000033,
	}
	for _, o := range build(t, "core").Objects {
		for _, w := range o.Writes {
			require.Equal(t, !slices.Contains(words, w.Command), Lacks(w.Name), w.Name)
		}
		for _, m := range o.Methods {
			counters := slices.Contains([]string{"UVERBS_METHOD_COUNTERS_CREATE", "UVERBS_METHOD_COUNTERS_DESTROY", "UVERBS_METHOD_COUNTERS_READ"}, m.Name)
			require.Equal(t, !counters, Lacks(m.Name), m.Name)
		}
	}
	require.Len(t, known, len(words)+3)
}

func TestGolden(t *testing.T) {
	doc := build(t, "mlx5")
	for file, name := range map[string]string{
		"cq-create.txt": "cq.create", "create-flow.txt": "flow.create_flow", "modify-cq.txt": "cq.ex_modify_cq", "open-qp.txt": "xrcd.open_qp",
	} {
		sel, err := doc.Find(name)
		require.NoError(t, err)
		var b strings.Builder
		require.NoError(t, PrintSelection(&b, doc, sel))
		if *update {
			require.NoError(t, os.WriteFile("testdata/"+file, []byte(b.String()), 0o644))
		}
		want, err := os.ReadFile("testdata/" + file)
		require.NoError(t, err)
		require.Equal(t, string(want), b.String())
	}
}
