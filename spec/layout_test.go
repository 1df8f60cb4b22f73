package spec

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLayout holds the layouts of each kernel whose headers were read to what gcc
// made of them.
func TestLayout(t *testing.T) {
	for _, k := range []*Kernel{Linux6_1, Linux6_12} {
		var want map[string]layout
		loadJSON(t, "layout-"+k.Name+".json", &want)
		for name := range wireTypes() {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				members, size := k.Layout("struct " + name)
				l := want[name]
				require.EqualValues(t, l.Size, size)
				var has [][3]any
				for _, m := range members {
					if !strings.HasPrefix(m.Type, "struct ") {
						require.Regexp(t, "^[us](8|16|32|64)$", m.Type)
					}
					has = append(has, [3]any{m.Name, float64(m.Offset), float64(m.Size)})
				}
				var wants [][3]any
				for _, m := range l.Members {
					if m[2].(float64) != 0 { // an array without a length
						wants = append(wants, m)
					}
				}
				require.Equal(t, wants, has)
			})
		}
	}
}

func TestLayoutTypes(t *testing.T) {
	members, size := Linux6_12.Layout("struct ib_uverbs_query_port_resp_ex")
	require.Equal(t, 48, size)
	var types []string
	for _, m := range members {
		types = append(types, m.Name+" "+m.CType())
	}
	require.Equal(t, []string{
		"legacy_resp struct ib_uverbs_query_port_resp", "port_cap_flags2 u16", "reserved u8[2]", "active_speed_ex u32",
	}, types)

	members, size = Linux6_1.Layout("struct ib_uverbs_query_port_resp_ex")
	require.Equal(t, 48, size)
	require.Equal(t, "reserved u8[6]", members[2].Name+" "+members[2].CType())

	members, _ = Linux6_12.Layout("ib_uverbs_create_cq")
	require.Equal(t, Member{Name: "comp_channel", Offset: 24, Size: 4, Type: "s32"}, members[4])

	members, _ = Linux6_12.Layout("ib_uverbs_odp_caps")
	require.Equal(t, "per_transport_caps u32[3]", members[1].Name+" "+members[1].CType())

	_, size = Linux6_12.Layout("struct ib_uverbs_nothing")
	require.Zero(t, size)
}
