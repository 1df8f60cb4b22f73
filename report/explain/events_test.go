package explain

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/trace"
)

func TestRecorder(t *testing.T) {
	r := NewRecorder()
	one, other := trace.NewTask(1, r), trace.NewTask(2, r)
	one.Enter(trace.Uverbs, "before").Leave()
	r.Begin(one)
	span := one.Enter(trace.Uverbs, "ib_uverbs_ioctl")
	attr := one.EnterInlined(trace.Uverbs, "uverbs_set_attr")
	one.Note(trace.Attr, "unknown", 9, 0, 3)
	other.Enter(trace.Uverbs, "elsewhere").Leave()
	attr.Leave()
	span.Leave()
	one.Enter(trace.Uverbs, "after").Leave()
	v := r.End(one)
	require.Len(t, v.Children, 2)
	require.Equal(t, "ib_uverbs_ioctl", v.Children[0].Name)
	require.Equal(t, "after", v.Children[1].Name)
	set := v.Children[0].Children[0]
	require.Equal(t, "uverbs_set_attr", set.Name)
	require.Equal(t, 3, set.User)
	require.False(t, set.Known)
	require.Nil(t, r.End(one), "it is not listened to any more")
}
