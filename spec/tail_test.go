package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestTails wants an array behind each struct that ends with one in the headers,
// and of types that there are.
func TestTails(t *testing.T) {
	var layouts map[string]layout
	loadJSON(t, "layout-6.12.json", &layouts)
	inside := map[string]bool{
		"ib_uverbs_flow_attr":     true, // its flow_specs follow struct ib_uverbs_create_flow
		"ib_uverbs_flow_spec_hdr": true, // the rest of one of these
	}
	for name, l := range layouts {
		if n := len(l.Members); n > 0 && l.Members[n-1][2].(float64) == 0 && !inside[name] &&
			l.Members[n-1][0] != "driver_data" && !strings.HasPrefix(name, "rxe_") { // rxe shares memory with the program
			require.NotEmpty(t, TailsOf("struct "+name), name)
			require.Equal(t, l.Members[n-1][0], TailsOf(name)[0].Name)
		}
	}
	for name, list := range tails {
		_, size := Linux6_12.Layout(name)
		require.NotZero(t, size, name)
		for _, tail := range list {
			for _, v := range tail.Variants {
				members, size := Linux6_12.Layout(v)
				require.NotZero(t, size, v)
				require.Equal(t, tail.Type, members[0].Type, v)
			}
			if strings.HasPrefix(tail.Type, "struct ") {
				_, size := Linux6_12.Layout(tail.Type)
				require.NotZero(t, size, tail.Type)
			}
		}
	}
}

func TestElements(t *testing.T) {
	unused := map[string]bool{}
	for name := range elements {
		unused[name] = true
	}
	for _, l := range lists {
		for _, d := range l.defs() {
			for _, m := range d.Object.Methods {
				for _, a := range m.Attrs {
					delete(unused, a.Name)
					require.False(t, ElementOf(a.Name) != "" && a.CType != "", a.Name)
				}
			}
		}
	}
	require.Empty(t, unused)
}

// TestFlowSpecs wants every struct that begins with the header of a flow's
// specification to be one of them.
func TestFlowSpecs(t *testing.T) {
	var want []string
	for name := range wireTypes() {
		members, _ := Linux6_12.Layout(name)
		if members[0].Type == "struct ib_uverbs_flow_spec_hdr" {
			want = append(want, "struct "+name)
		}
	}
	require.ElementsMatch(t, want, TailsOf("struct ib_uverbs_create_flow")[0].Variants)
}
