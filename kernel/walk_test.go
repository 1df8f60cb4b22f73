package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/trace"
)

// nodes counts the nodes of the tree that are told of, by what they were visited for.
type nodes map[string]int

func (n nodes) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Node {
		n[e.Name]++
	}
}

// TestTracedWalks: a call tells of the nodes on the road to its method, to its
// attributes and to the types of its objects.
func TestTracedWalks(t *testing.T) {
	n := nodes{}
	r := newRig(t, trace.NewTask(1, n))
	r.call(t, testCreate, 0)
	levels := r.d.API.radix.Height()
	require.Equal(t, nodes{"method": levels, "attribute": 1, "object": levels}, n)
}
