package schema

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

// TestChoices: where the data of an ENUM_IN is follows from the shortest and the
// longest of its choices.
func TestChoices(t *testing.T) {
	for _, tt := range []struct {
		lens [2]uint16
		want string
	}{
		{[2]uint16{0, 2}, dataValue},
		{[2]uint16{8, 8}, dataValue},
		{[2]uint16{2, 9}, dataEither},
		{[2]uint16{9, 2}, dataEither},
		{[2]uint16{9, 56}, dataAddress},
	} {
		a := spec.Attr{Type: spec.TypeEnumIn, Enum: []spec.Attr{
			{ID: 0, Name: "A", Type: spec.TypePtrIn, MinLen: tt.lens[0], Len: tt.lens[0]},
			{Type: spec.TypeNA},
			{ID: 2, Name: "C", Type: spec.TypePtrIn, MinLen: tt.lens[1], Len: tt.lens[1]},
		}}
		var x Attribute
		(&builder{}).choices(&a, &x)
		require.Equal(t, tt.want, x.Data, tt.lens)
		require.Equal(t, []Choice{
			{0, "A", int(tt.lens[0]), int(tt.lens[0])}, {2, "C", int(tt.lens[1]), int(tt.lens[1])},
		}, x.Choices)
	}
}

// TestNewer: each of newer kernels' names is at its place, which names a method
// where it is one or an attribute.
func TestNewer(t *testing.T) {
	at := map[place]string{}
	for _, n := range newer() {
		p := place{n.Object, none, none, none}
		if n.Method != nil {
			require.GreaterOrEqual(t, *n.Method, 0, n.Name)
			p.method = *n.Method
		}
		if n.Attr != nil {
			require.GreaterOrEqual(t, *n.Attr, 0, n.Name)
			p.attr = *n.Attr
		}
		require.Empty(t, at[p], n.Name)
		at[p] = n.Name
		require.Equal(t, spec.NewerName(p.object, p.method, p.attr), n.Name)
	}
	require.Equal(t, "UVERBS_OBJECT_DMAH", at[place{17, none, none, none}])
	require.Equal(t, "UVERBS_METHOD_QUERY_PORT_SPEED", at[place{spec.UVERBS_OBJECT_DEVICE, 7, none, none}])
	require.Equal(t, "UVERBS_ATTR_CREATE_CQ_BUFFER_VA", at[place{spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE, 8, none}])
}
