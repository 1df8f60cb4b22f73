package faults

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/casefile"
	"uverbsim/spec"
)

// TestMethod: a step is what its method says, and a command only where that invokes one.
func TestMethod(t *testing.T) {
	// The id is also that of CREATE_CQ_USER_HANDLE.
	command := casefile.Attr{ID: spec.UVERBS_ATTR_WRITE_CMD, Data: casefile.Value{Kind: casefile.Number, N: spec.IB_USER_VERBS_CMD_QUERY_PORT}}
	ioctl := func(object, method uint16) *casefile.Ioctl {
		return &casefile.Ioctl{Hdr: casefile.Hdr{ObjectID: object, MethodID: method}, Attrs: []casefile.Attr{command}}
	}
	for _, tt := range []struct {
		do      *casefile.Ioctl
		method  string
		creates bool
		invokes bool
	}{
		{ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE), "IB_USER_VERBS_CMD_QUERY_PORT", false, true},
		{ioctl(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT), "UVERBS_METHOD_QUERY_PORT", false, false},
		{ioctl(spec.UVERBS_OBJECT_CQ, spec.UVERBS_METHOD_CQ_CREATE), "UVERBS_METHOD_CQ_CREATE", true, false},
		{ioctl(spec.UVERBS_OBJECT_CQ, 99), "", false, false},
	} {
		c := &casefile.Case{Driver: "rxe", Steps: []casefile.Step{{Do: tt.do}}}
		require.Equal(t, tt.method, Method(c, 0))
		require.Equal(t, tt.creates, Creates(c, 0), tt.method)
		require.Equal(t, tt.invokes, invokes(&Outcome{Case: c, Call: new(Call)}), tt.method)
	}
}
