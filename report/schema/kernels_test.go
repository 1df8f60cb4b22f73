package schema

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

// TestEnumsOfEachKernel compares the enums with the headers of each kernel whose
// headers were read, as far as they are of the UAPI.
func TestEnumsOfEachKernel(t *testing.T) {
	for _, k := range []*spec.Kernel{spec.Linux6_1, spec.Linux6_12} {
		b, err := os.ReadFile("../../spec/testdata/constants-" + k.Name + ".json")
		require.NoError(t, err)
		var headers map[string]map[string]uint64
		require.NoError(t, json.Unmarshal(b, &headers))
		compared := 0
		for _, d := range Drivers() {
			for name, list := range build(t, d.Name, k).Enums {
				want, ok := headers[name]
				if !ok {
					continue
				}
				got := map[string]uint64{}
				for _, e := range list {
					got[e.Name] = e.Value
				}
				require.Equal(t, want, got, "%s %s", k.Name, name)
				compared++
			}
		}
		require.Greater(t, compared, 20)
	}
}

// TestOlderKernel has what 6.1 lacks (see the table of features of package spec).
func TestOlderKernel(t *testing.T) {
	doc := build(t, "rxe", spec.Linux6_1)
	sel, err := doc.Find("mr.rereg_mr")
	require.NoError(t, err)
	require.Equal(t, "rxe has no rereg_user_mr", sel.Write.Pruned)

	doc = build(t, "mlx5", spec.Linux6_1)
	sel, err = doc.Find("cq.create")
	require.NoError(t, err)
	require.Nil(t, sel.Method.attr("MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX"))
	require.Equal(t, 104, doc.Structs["struct mlx5_ib_query_device_resp"].Size)

	doc = build(t, "bnxt_re", spec.Linux6_1)
	require.Equal(t, 24, doc.Structs["struct bnxt_re_qp_req"].Size)
	require.NotContains(t, doc.Structs, "struct bnxt_re_resize_cq_req")
	sel, err = doc.Find("cq.resize_cq")
	require.NoError(t, err)
	require.Equal(t, "bnxt_re has no resize_cq", sel.Write.Pruned)
}
