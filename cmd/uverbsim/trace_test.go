package main

import (
	"encoding/json"
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

func TestTraceFormats(t *testing.T) {
	out, err := execute(newTraceCmd(), shortHeader, "--format", "json", "-")
	require.NoError(t, err)
	same, err := execute(newTraceCmd(), shortHeader, "--json", "-")
	require.NoError(t, err)
	require.Equal(t, same, out)

	out, err = execute(newTraceCmd(), shortHeader, "--format", "chrome", "-")
	require.NoError(t, err)
	var events []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &events))
	require.Contains(t, out, `"name":"refuse header/length"`)
	again, err := execute(newTraceCmd(), shortHeader, "--format", "chrome", "-")
	require.NoError(t, err)
	require.Equal(t, out, again, "the logical clock is the same each time")
	out, err = execute(newTraceCmd(), shortHeader, "--format", "chrome", "--clock", "real", "--step", "1", "-")
	require.NoError(t, err)
	var timed []struct {
		Name string
		Ts   float64
	}
	require.NoError(t, json.Unmarshal([]byte(out), &timed))
	for _, e := range timed {
		if e.Name == "ib_uverbs_ioctl" {
			require.Positive(t, e.Ts)
		}
	}
	require.Contains(t, out, `"name":"ib_uverbs_ioctl"`)

	out, err = execute(newTraceCmd(), shortHeader, "--format", "svg", "-")
	require.NoError(t, err)
	require.Contains(t, out, "refused by header/length: EINVAL")
}

func TestTraceStep(t *testing.T) {
	out, err := execute(newTraceCmd(), shortHeader, "--step", "1", "-")
	require.NoError(t, err)
	require.Contains(t, out, "# step 1: ioctl f UVERBS_METHOD_GET_CONTEXT\nib_uverbs_ioctl [ib_uverbs]();\n")
	require.NotContains(t, out, "ib_uverbs_open")
}

// TestTraceUnplayable: what was traced until a case could not be played any more is
// printed, whole.
func TestTraceUnplayable(t *testing.T) {
	const unplayable = `{"v":1,"name":"cq/none","why":"a handle that was never made","driver":"stub","steps":[` +
		`{"op":"open","fd":"f"},` +
		`{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":0,"length":23},"attrs":[{"id":0,"len":0,"flags":0}],"save":{"h":{"attr":0}}},` +
		`{"op":"ioctl","fd":"f","hdr":{"object_id":3,"method_id":1},"attrs":[{"id":0,"len":0,"flags":0,"data":{"handle":"h"}}]}]}`
	out, err := execute(newTraceCmd(), unplayable, "--format", "chrome", "-")
	require.ErrorContains(t, err, "standard input:1: case cq/none cannot be played: step 2")
	var events []map[string]any
	require.NoError(t, json.Unmarshal([]byte(out), &events))
	require.Contains(t, out, "ib_uverbs_open")
}

func TestTraceRefuses(t *testing.T) {
	for _, test := range []struct {
		want string
		args []string
	}{
		{"--format dot: one of ftrace, json, chrome, svg", []string{"--format", "dot"}},
		{"--json and --format svg", []string{"--json", "--format", "svg"}},
		{"--json and --format ftrace: one of the two", []string{"--json", "--format", "ftrace"}},
		{"--notes is for --format ftrace, not for json", []string{"--json", "--notes"}},
		{"--notes is for --format ftrace, not for svg", []string{"--format", "svg", "--notes"}},
		{"--locks is for --format ftrace or svg, not for chrome", []string{"--format", "chrome", "--locks"}},
		{"--inlined is for --format ftrace or chrome, not for json", []string{"--format", "json", "--inlined"}},
		{"--rows is for --format svg, not for ftrace", []string{"--rows", "9"}},
		{"--clock is for --format chrome, not for json", []string{"--json", "--clock", "real"}},
		{"--clock wall: logical or real", []string{"--format", "chrome", "--clock", "wall"}},
		{"--rows 0: a number from 1 on", []string{"--format", "svg", "--rows", "0"}},
		{"--step 2: case hdr/short has the steps 0 to 1", []string{"--step", "2"}},
		{"--step -1: case hdr/short has the steps 0 to 1", []string{"--step", "-1"}},
	} {
		_, err := execute(newTraceCmd(), shortHeader, append(test.args, "-")...)
		require.ErrorContains(t, err, test.want)
	}
	_, err := execute(newTraceCmd(), shortHeader+"\n"+shortHeader, "--format", "svg", "-")
	require.ErrorContains(t, err, "--format svg draws one case, and there are 2")

	_, err = execute(newTraceCmd(), shortHeader, "--only", "cq/", "-")
	require.ErrorContains(t, err, "no case")
	_, err = execute(newTraceCmd(), shortHeader, "--driver", "mlx4", "-")
	require.ErrorContains(t, err, "mlx4")
	_, err = execute(newTraceCmd(), "{", "-")
	require.Error(t, err)
	_, err = execute(newTraceCmd(), "", "/nonexistent")
	require.Error(t, err)
}
