package schema

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

// TestFindEachName wants each name, short or full, to lead to what has it.
func TestFindEachName(t *testing.T) {
	for _, d := range Drivers() {
		doc := build(t, d.Name, spec.Linux6_12)
		for i := range doc.Objects {
			o := &doc.Objects[i]
			for _, name := range []string{o.Name, o.Short} {
				sel, err := doc.Find(name)
				require.NoError(t, err)
				require.Equal(t, o.Name, sel.Object.Name)
			}
			for _, m := range o.Methods {
				for _, name := range []string{m.Name, o.Short + "." + m.Short, o.Name + "." + m.Name} {
					sel, err := doc.Find(name)
					require.NoError(t, err)
					require.NotNil(t, sel.Method, name)
					require.Equal(t, m.Name, sel.Method.Name)
				}
			}
			for _, w := range o.Writes {
				for _, name := range []string{w.Name, o.Short + "." + w.Short} {
					sel, err := doc.Find(name)
					require.NoError(t, err)
					require.NotNil(t, sel.Write, name)
					require.Equal(t, w.Name, sel.Write.Name)
				}
			}
		}
	}
}

func TestFind(t *testing.T) {
	doc := build(t, "mlx5", spec.Linux6_12)
	for name, want := range map[string]string{
		"cq":                         "UVERBS_OBJECT_CQ",
		"Uverbs_Object_Cq":           "UVERBS_OBJECT_CQ",
		"cq.create":                  "UVERBS_METHOD_CQ_CREATE",
		"cq.ex_create_cq":            "IB_USER_VERBS_EX_CMD_CREATE_CQ",
		"devx-umem.reg":              "MLX5_IB_METHOD_DEVX_UMEM_REG",
		"uar.alloc":                  "MLX5_IB_METHOD_UAR_OBJ_ALLOC",
		"device.query_port":          "UVERBS_METHOD_QUERY_PORT",
		"device.mlx5_query_port":     "MLX5_IB_METHOD_QUERY_PORT",
		"device.cmd_query_port":      "IB_USER_VERBS_CMD_QUERY_PORT",
		"uverbs_method_cq_destroy":   "UVERBS_METHOD_CQ_DESTROY",
		"IB_USER_VERBS_CMD_REG_MR":   "IB_USER_VERBS_CMD_REG_MR",
		"cq.UVERBS_METHOD_CQ_CREATE": "UVERBS_METHOD_CQ_CREATE",
	} {
		sel, err := doc.Find(name)
		require.NoError(t, err, name)
		switch {
		case sel.Method != nil:
			require.Equal(t, want, sel.Method.Name)
		case sel.Write != nil:
			require.Equal(t, want, sel.Write.Name)
		default:
			require.Equal(t, want, sel.Object.Name)
		}
	}
	for name, want := range map[string]string{
		"qc":         `no object "QC" on mlx5, kernel 6.12: the nearest is CQ`,
		"cq.creat":   `UVERBS_OBJECT_CQ has no method or command "CREAT" on mlx5, kernel 6.12: the nearest is CQ.CREATE`,
		"srq.modfy":  `UVERBS_OBJECT_SRQ has no method or command "MODFY" on mlx5, kernel 6.12: the nearest is SRQ.MODIFY_SRQ`,
		"flow_match": `no object "FLOW_MATCH" on mlx5, kernel 6.12: the nearest is FLOW_MATCHER`,
		"match":      `no object "MATCH" on mlx5, kernel 6.12: there is FLOW_MATCHER`,
		"ah.zzzzzzz": `UVERBS_OBJECT_AH has no method or command "ZZZZZZZ" on mlx5, kernel 6.12: there are DESTROY, CREATE_AH, DESTROY_AH`,
	} {
		_, err := doc.Find(name)
		require.EqualError(t, err, want)
	}
	_, err := doc.Find("nosuch") // of which nothing is near
	require.EqualError(t, err,
		`no object "NOSUCH" on mlx5, kernel 6.12: there are DEVICE, PD, COMP_CHANNEL, CQ, QP, SRQ, AH, MR and 19 more`)
}

func TestDriverByName(t *testing.T) {
	_, err := DriverByName("mlx4")
	require.EqualError(t, err, `driver "mlx4": one of core, mlx5, rxe, efa, bnxt_re`)
}

// FuzzFind wants every name to be found or to be refused in one line.
func FuzzFind(f *testing.F) {
	for _, name := range []string{"cq", "cq.create", "", ".", "cq.", "UVERBS_METHOD_CQ_CREATE", "a\nb", "\xff.\x00", "IB_USER_VERBS_"} {
		f.Add(name)
	}
	d, err := DriverByName("mlx5")
	require.NoError(f, err)
	doc, err := Build(d, spec.Linux6_12)
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, name string) {
		watchdog.On(t)
		if len(name) > 1000 {
			return
		}
		sel, err := doc.Find(name)
		if err != nil {
			require.NotContains(t, err.Error(), "\n")
			return
		}
		require.NotNil(t, sel.Object)
		require.False(t, sel.Method != nil && sel.Write != nil)
		first, last := sel.Keys()
		require.LessOrEqual(t, first, last)
		require.Len(t, doc.Only(sel).Objects, 1)
	})
}
