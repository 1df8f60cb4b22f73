package explain

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// known is an environment in which some names have values.
func known(values map[string]value, defs ...string) *env {
	return &env{defs: defs, lookup: func(name string) value { return values[name] }}
}

func TestEval(t *testing.T) {
	e := known(map[string]value{
		"a": num(7), "cmd.flags": num(0x12), "u.len()": num(3), "big": num(1<<64 - 1), "id": signed(-1),
		"slot": {kind: null}, "elm": {kind: object}, "yes": is(true), ofAttribute + "UVERBS_ATTR_X": num(9),
	}, "n", "a + 1", "m", "n * 2", "loop", "loop + 1", "v", "b.uint32(UVERBS_ATTR_X)")
	tests := []struct{ expr, want string }{
		{"a", "7"},
		{"a + 1 > 7", "true"},
		{"(a - 1) & ~2", "4"},
		{"cmd.flags & ~0x10 != 0", "true"},
		{"cmd.flags & ~(0x10 | 0x2) != 0", "false"},
		{"u.len() % 4 != 0", "true"},
		{"a << 2 == 28", "true"},
		{"a / 2", "3"},
		{"a / 0", "?"},
		{"a << 70", "?"},
		{"big + 1 == 0", "true"},
		{"id < 0", "true"},
		{"uint32(id)", "4294967295"},
		{"int32(0x80000000) < 0", "true"},
		{"int8(0x7f)", "127"},
		{"min(a, 3) + max(a, 3)", "10"},
		{"slot == nil", "true"},
		{"elm == nil", "false"},
		{"elm != nil", "true"},
		{"a == nil", "?"}, // a number is no pointer
		{"!yes", "false"},
		{"!yes || a == 7", "true"},
		{"unknown || yes", "true"}, // one side settles it
		{"unknown && yes", "?"},
		{"yes && unknown", "?"},
		{"unknown && !yes", "false"},
		{"unknown + 1", "?"},
		{"n", "8"},
		{"m", "16"},
		{"loop", "?"}, // what stands for itself stands for nothing
		{"v == 9", "true"},
		{"b.uint32(a)", "?"},
		{"f(a) == 1", "?"},
		{"UVERBS_ATTR_F_MANDATORY", "1"},
		{"copy(x) fails", "?"},
		{"", "?"},
	}
	for _, tt := range tests {
		got := e.eval(tt.expr)
		text := map[valueKind]string{unknown: "?", null: "null", object: "object"}[got.kind]
		switch got.kind {
		case numeric:
			text = got.n.String()
		case truth:
			text = map[bool]string{true: "true", false: "false"}[got.truth]
		}
		require.Equal(t, tt.want, text, tt.expr)
	}
}

// TestEvalOfParameters: a parameter is what the caller handed over, in the caller's
// names.
func TestEvalOfParameters(t *testing.T) {
	caller := known(map[string]value{"cmd.cqe": num(5)}, "n", "cmd.cqe + 1")
	callee := known(nil)
	callee.binds, callee.caller = []string{"n", "n", "limit", "4"}, caller
	require.True(t, callee.eval("n > limit").truth)
	require.Equal(t, "6", callee.eval("n").n.String())
	require.Equal(t, unknown, callee.eval("cmd.cqe").kind, "the caller's names are not the callee's")
}

// TestEvalOfStructs: a struct that is handed on has the members that were set when it was made.
func TestEvalOfStructs(t *testing.T) {
	handler := known(map[string]value{"cmd.cqe": num(5)})
	made := known(nil)
	made.binds, made.caller = []string{"req.cqe", "cmd.cqe", "req.comp_mask", "0"}, handler
	handed := known(map[string]value{"in.flags": num(3)})
	handed.binds, handed.caller = []string{"in", "req"}, made
	require.Equal(t, "5", handed.eval("in.cqe").n.String())
	require.False(t, handed.eval("in.comp_mask != 0").truth)
	require.Equal(t, "3", handed.eval("in.flags").n.String(), "what nobody has bound is looked up")
	require.Equal(t, unknown, handed.eval("out.cqe").kind)
}

func TestParts(t *testing.T) {
	require.Equal(t, []string{"a != 1 && b != 2", "c", "d == 3"}, parts("a != 1 && b != 2 || c || d == 3"))
	require.Equal(t, []string{"x(y) fails"}, parts("x(y) fails"))
}

func TestNamesIn(t *testing.T) {
	require.Equal(t, []string{"ucmd.flags", "A", "n", "f(m, 2)", "m"}, namesIn("ucmd.flags & ~A != 0 || n > f(m, 2)"))
}

func TestShown(t *testing.T) {
	require.Equal(t, "uattr->len < val_spec->u.ptr.min_len", shown("(*kernel.Bundle).processPtr", "u.len() < val.min_len"))
	require.Equal(t, "attr->type == IB_FLOW_ATTR_SNIFFER", shown("methods.x", "attr.type_ == IB_FLOW_ATTR_SNIFFER"))
	require.Equal(t, "o == NULL", shown("uobject.x", "o == nil"))
	require.Equal(t, "u.len() < 2", shown("methods.x", "u.len() < 2"), "names of the parser are the kernel package's")
}

// TestKernelNamesAreMet: the spellings that are replaced are those of conditions.
func TestKernelNamesAreMet(t *testing.T) {
	var all []string
	for id, f := range functions {
		if strings.Contains(id, "kernel.") {
			eachNode(f, func(n *node) {
				all = append(all, n.cond)
				for _, a := range n.arms {
					all = append(all, a.cond)
				}
			})
		}
	}
	text := strings.Join(all, "\n")
	for _, name := range []string{"u.attr_data()", "u.elem_id()", "u.enum_reserved()", "u.len()", "u.flags()", "val.len",
		"val.min_len", "val.zero_trailing", "b.is_cleared(u, val.len)", "spec.min_items", "spec.max_items",
		"m.mandatory & ~b.present != 0", "elm == nil", "a == nil"} {
		require.Contains(t, text, name)
	}
	for name := range ofAttr {
		if name != "access" && name != "object" && name != "elm" && name != "e.is_inline()" && name != "spec.access" {
			require.Containsf(t, text, name, "no condition of the parser speaks of %s", name)
		}
	}
}
