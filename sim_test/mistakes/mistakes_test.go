package mistakes_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	// What the command is made of, so that a result from before a change of it is
	// not taken for one of now.
	_ "uverbsim/report/explain"
	_ "uverbsim/sim_test/model"
)

// mistakes says for each request what has to be told: which check refused it, the
// value that is wrong, and what to do. It is written from the kernel's source.
var mistakes = []struct {
	file   string
	errno  string
	rule   string   // the check, and where it is
	values []string // what is wrong, as it was
	do     []string // what would have been accepted
}{
	// A beginner's.
	{
		file: "comp-vector", errno: "EINVAL",
		rule:   "cq/comp-vector, EINVAL in ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE",
		values: []string{"attr->comp_vector >= device.num_comp_vectors", "UVERBS_ATTR_CREATE_CQ_COMP_VECTOR = 1", "num_comp_vectors = 1"},
		do:     []string{"below num_comp_vectors"},
	},
	{
		file: "no-cqe", errno: "EINVAL",
		rule:   "attr/missing, EINVAL in ib_uverbs_run_method (drivers/infiniband/core/uverbs_ioctl.c)",
		values: []string{"UVERBS_ATTR_CREATE_CQ_CQE = not sent", "UVERBS_ATTR_CREATE_CQ_CQE missing"},
		do:     []string{"Send every mandatory attribute", "UVERBS_ATTR_CREATE_CQ_CQE, id 1: PTR_IN u32, 4 bytes."},
	},
	{
		file: "reserved-field", errno: "EINVAL",
		rule:   "mlx5-cq/cqe-size, EINVAL in create_cq_user (drivers/infiniband/hw/mlx5/cq.c)",
		values: []string{"of these ucmd.reserved1 != 0", "values reserved1 = 1", "reserved0 = 0, reserved1 = 1 <-"},
		do:     []string{"clear the rest of the struct"},
	},
	// A proxy author's.
	{
		file: "length", errno: "EINVAL",
		rule:   "header/length, EINVAL in ib_uverbs_ioctl (drivers/infiniband/core/uverbs_ioctl.c)",
		values: []string{"length = 55", "num_attrs = 2", "24 + 16 * num_attrs = 56"},
		do:     []string{"length 56 goes with num_attrs 2."},
	},
	{
		file: "buffer-address", errno: "EFAULT",
		rule:   "pin/unmapped, EFAULT in __get_user_pages (mm/gup.c)",
		values: []string{"buf_addr = an address that is not mapped (recorded as bad)", "its length = 268435456 bytes"},
		do:     []string{"Map all of the memory first.", "buf_addr is the address that is meant"},
	},
	{
		file: "other-file", errno: "ENOENT",
		rule: "object/not-found, ENOENT in lookup_get_idr_uobject (drivers/infiniband/core/rdma_core.c)",
		values: []string{
			"UVERBS_ATTR_DESTROY_PD_HANDLE = 0, which no object of this file has", "wanted = UVERBS_OBJECT_PD",
			"objects of the file = none", "in the other open file f = 0 UVERBS_OBJECT_PD",
		},
		do: []string{"that this file descriptor's own calls returned"},
	},
	{
		file: "tail", errno: "EOPNOTSUPP",
		rule:   "mlx5-wq/tail, EOPNOTSUPP in prepare_user_rq (drivers/infiniband/hw/mlx5/qp.c)",
		values: []string{"UVERBS_ATTR_UHW_IN = 56 bytes", "UVERBS_ATTR_UHW_IN's tail = 48 bytes are known, byte 48 of 56"},
		do:     []string{"struct mlx5_ib_create_wq, 48 bytes"},
	},
	// A driver author's.
	{
		file: "uhw-short", errno: "EINVAL",
		rule:   "mlx5-cq/request-size, EINVAL in create_cq_user (drivers/infiniband/hw/mlx5/cq.c)",
		values: []string{"n = 20", "shorter than 22 bytes"},
		do: []string{
			"Pass struct mlx5_ib_create_cq, 32 bytes, behind the 32 bytes of struct ib_uverbs_create_cq.", "in_words = 18",
		},
	},
	{
		file: "driver-id", errno: "EINVAL",
		rule:   "header/driver-id, EINVAL in ib_uverbs_cmd_verbs (drivers/infiniband/core/uverbs_ioctl.c)",
		values: []string{"driver_id = 0 RDMA_DRIVER_UNKNOWN", "the device's = 14 RDMA_DRIVER_RXE"},
		do:     []string{"driver_id 14 RDMA_DRIVER_RXE."},
	},
	{
		file: "pruned", errno: "EPROTONOSUPPORT",
		rule:   "method/unknown, EPROTONOSUPPORT in ib_uverbs_cmd_verbs (drivers/infiniband/core/uverbs_ioctl.c)",
		values: []string{"object_id = 0x7, UVERBS_OBJECT_MR", "method_id = 0x0, UVERBS_METHOD_DM_MR_REG, which this device lacks"},
		do:     []string{"UVERBS_OBJECT_DM needs the driver's dealloc_dm, which it lacks."},
	},
}

// build builds the command once.
func build(t *testing.T) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "uverbsim")
	out, err := exec.Command("go", "build", "-o", bin, "uverbsim/cmd/uverbsim").CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	return bin
}

// TestMistakes: one command says of each request what is wrong with it.
func TestMistakes(t *testing.T) {
	bin := build(t)
	for _, m := range mistakes {
		t.Run(m.file, func(t *testing.T) {
			t.Parallel()
			out, err := exec.Command(bin, "explain", m.file+".json").CombinedOutput()
			require.NoErrorf(t, err, "%s", out)
			told := strings.Join(strings.Fields(string(out)), " ")
			require.Equal(t, 1, strings.Count(told, "refused by"), "one call is refused")
			require.NotContains(t, told, "not as recorded")
			require.Contains(t, told, ": "+m.errno+" refused by "+m.rule)
			for _, s := range append(m.values, m.do...) {
				require.Contains(t, told, s)
			}
		})
	}
}

// TestEachIsHeld: there is no file that the test does not know.
func TestEachIsHeld(t *testing.T) {
	files, err := filepath.Glob("*.json")
	require.NoError(t, err)
	require.Len(t, files, len(mistakes))
	for _, m := range mistakes {
		_, err := os.Stat(m.file + ".json")
		require.NoError(t, err)
	}
}

// TestREADMEListsThem: the folder's README has each file, with what refuses it.
func TestREADMEListsThem(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, m := range mistakes {
		id, _, _ := strings.Cut(m.rule, ",")
		listed := false
		for line := range strings.Lines(string(readme)) {
			if strings.HasPrefix(line, "| `"+m.file+".json` |") {
				listed = true
				require.Contains(t, line, "| `"+m.errno+"`, `"+id+"` |")
			}
		}
		require.True(t, listed, m.file)
	}
}

// TestREADMEShowsIt: what the README shows of an explanation is what comes out.
func TestREADMEShowsIt(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, shown, found := strings.Cut(string(readme), "\n    step 2: ioctl f UVERBS_METHOD_CQ_CREATE")
	require.True(t, found, "the README shows a refusal")
	shown, _, _ = strings.Cut("    step 2: ioctl f UVERBS_METHOD_CQ_CREATE"+shown, "\n\n")
	var want []string
	for line := range strings.Lines(shown) {
		want = append(want, strings.TrimPrefix(strings.TrimRight(line, "\n"), "    "))
	}
	require.Greater(t, len(want), 5)
	out, err := exec.Command(build(t), "explain", "reserved-field.json").CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	require.Contains(t, string(out), strings.Join(want, "\n")+"\n")
}
