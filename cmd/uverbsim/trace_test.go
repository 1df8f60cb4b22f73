package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A case that opens the node, asks for a context with a header that is too
// short, and closes nothing.
const shortHeader = `{"v":1,"name":"hdr/short","why":"the length counts every attribute","driver":"stub","steps":[` +
	`{"op":"open","fd":"f"},` +
	`{"op":"ioctl","fd":"f","hdr":{"object_id":0,"method_id":3,"length":23},"attrs":[]}]}`

func TestTrace(t *testing.T) {
	out, err := execute(newTraceCmd(), shortHeader, "-")
	require.NoError(t, err)
	require.Equal(t, `# case hdr/short
# the length counts every attribute
# tracer: function_graph
#
#               FUNCTION CALLS
#               |   |   |   |
# step 0: open f
ib_uverbs_open [ib_uverbs]() {
  rdma_dev_access_netns [ib_core]();
  setup_ufile_idr_uobject [ib_uverbs]();
} /* ib_uverbs_open [ib_uverbs] */
#   = *
# step 1: ioctl f UVERBS_METHOD_GET_CONTEXT
ib_uverbs_ioctl [ib_uverbs]();
#   = -1 EINVAL: header/length, The header's length is above 4096 or is not exactly 24 + 16 * num_attrs.
# end: what is still open is closed
ib_uverbs_close [ib_uverbs]() {
  uverbs_destroy_ufile_hw [ib_uverbs]();
  ib_uverbs_release_file [ib_uverbs]() {
    release_ufile_idr_uobject [ib_uverbs]();
  } /* ib_uverbs_release_file [ib_uverbs] */
} /* ib_uverbs_close [ib_uverbs] */
`, out)
}

func TestTraceNotes(t *testing.T) {
	out, err := execute(newTraceCmd(), shortHeader, "--notes", "-")
	require.NoError(t, err)
	require.Contains(t, out, "  /* refused: header/length, EINVAL */\n")
	require.NotContains(t, out, "lock ")
	out, err = execute(newTraceCmd(), shortHeader, "--locks", "-")
	require.NoError(t, err)
	require.Contains(t, out, "/* lock ")
}

func TestTraceJSON(t *testing.T) {
	out, err := execute(newTraceCmd(), shortHeader, "--json", "-")
	require.NoError(t, err)
	require.Contains(t, out, `{"answer":{"ret":"-1","errno":"EINVAL","rule":"header/length"}}`+"\n")
}

func TestTraceRefuses(t *testing.T) {
	_, err := execute(newTraceCmd(), shortHeader, "--only", "cq/", "-")
	require.ErrorContains(t, err, "no case")
	_, err = execute(newTraceCmd(), shortHeader, "--driver", "mlx4", "-")
	require.ErrorContains(t, err, "mlx4")
	_, err = execute(newTraceCmd(), "{", "-")
	require.Error(t, err)
	_, err = execute(newTraceCmd(), "", "/nonexistent")
	require.Error(t, err)
}
