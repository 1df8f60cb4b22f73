package explain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestInTurn: the arms of a branch are checks one after the other if each of them
// refuses or returns, and does nothing else.
func TestInTurn(t *testing.T) {
	check := []node{{rules: []string{"x/a"}, cond: "a"}}
	tests := []struct {
		name string
		n    node
		want bool
	}{
		{"checks", node{arms: []arm{{"a", true, check}, {"b", true, check}}}, true},
		{"one returns", node{arms: []arm{{"a", true, check}, {"b", true, nil}}}, true},
		{"one goes on", node{arms: []arm{{"a", true, check}, {"b", false, check}}}, false},
		{"one calls", node{arms: []arm{{"a", true, check}, {"b", true, []node{{calls: []string{"f"}}}}}}, false},
		{"one does more", node{arms: []arm{{"a", true, check}, {"b", true, append(check, check...)}}}, false},
		{"a single one", node{arms: []arm{{"a", true, check}}}, false},
	}
	for _, tt := range tests {
		require.Equal(t, tt.want, inTurn(&tt.n), tt.name)
	}
}

// TestMemberOf: the header of a write() command and the two structs behind it have
// members of one name.
func TestMemberOf(t *testing.T) {
	tests := []struct{ base, member, name, part string }{
		{"h", "reserved", "cmd_hdr_reserved", partHeader},
		{"h", "in_words", "in_words", partHeader},
		{"cmd", "reserved", "reserved", notDriver},
		{"attr", "flags", "flags", notDriver},
		{"burst", "rate", "rate", ""},
		{"ucmd", "flags", "flags", partDriver},
	}
	for _, tt := range tests {
		name, part := memberOf(tt.base, tt.member)
		require.Equal(t, tt.name, name)
		require.Equal(t, tt.part, part)
	}
}

// TestMeant: which of several members of one name is the guilty one.
func TestMeant(t *testing.T) {
	list := []Member{
		{Name: "reserved", Value: "0", Part: partRequest}, {Name: "reserved", Value: "0000", Part: partRequest},
		{Name: "reserved", Value: "1", Part: partDriver}, {Name: "flags", Value: "0x4", Part: partRequest},
		{Name: "flags", Value: "0x0", Part: partDriver}, {Name: "port", Value: "0", Part: partRequest},
		{Name: "port", Value: "2", Part: partRequest},
	}
	tests := []struct {
		name, part, cond string
		values           []Value
		want             []int
	}{
		{"reserved", "", "x.reserved != 0", nil, []int{2}},
		{"reserved", partRequest, "cmd.reserved != 0", nil, []int{0, 1}},
		{"flags", notDriver, "attr.flags & ~3 != 0", nil, []int{3}},
		{"flags", partDriver, "ucmd.flags != 0", nil, []int{4}},
		{"port", "", "!valid(dest.port)", []Value{number("port", 2)}, []int{6}},
		{"port", "", "!valid(dest.port)", nil, []int{5, 6}},
		{"none", "", "", nil, nil},
	}
	for _, tt := range tests {
		var got []int
		for _, m := range meant(list, tt.name, tt.part, tt.cond, tt.values) {
			for i := range list {
				if m == &list[i] {
					got = append(got, i)
				}
			}
		}
		require.Equal(t, tt.want, got, "%s %s %s", tt.name, tt.part, tt.cond)
	}
}

func TestEnumerators(t *testing.T) {
	// enum ib_uverbs_srq_type in include/uapi/rdma/ib_user_ioctl_verbs.h.
	require.Equal(t, "IB_UVERBS_SRQT_BASIC (0), IB_UVERBS_SRQT_XRC (1), IB_UVERBS_SRQT_TM (2)",
		enumerators("Pass a member of enum ib_uverbs_srq_type."))
	require.Empty(t, enumerators("Ask for less."))
	require.Empty(t, enumerators("The enum element is wrong."))
}
