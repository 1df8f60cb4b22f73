package spec

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each struct of the table is one of this package's, in the order of their
// size, and belongs to a command that passes something on to the driver.
func TestUdata(t *testing.T) {
	core := Core()
	for k, u := range udata {
		w := FindWrite(core, k.command, false)
		if w == nil {
			w = FindWrite(core, k.command, true)
		}
		if ex := FindWrite(core, k.command, true); ex == nil {
			require.True(t, w != nil && w.HasUdata || k.command == IB_USER_VERBS_CMD_QUERY_DEVICE, "command %d", k.command)
		}
		require.NotEmpty(t, append(u.In, u.Out...))
		for _, list := range [][]string{u.In, u.Out} {
			size := uintptr(0)
			for _, c := range list {
				v := NewStruct(c)
				require.NotNil(t, v, c)
				n := reflect.TypeOf(v).Elem().Size()
				require.Greater(t, n, size, c)
				size = n
			}
		}
	}
	require.Equal(t, []string{"struct mlx5_ib_create_cq"}, UdataOf(RDMA_DRIVER_MLX5, IB_USER_VERBS_CMD_CREATE_CQ).In)
	require.Empty(t, UdataOf(RDMA_DRIVER_UNKNOWN, IB_USER_VERBS_CMD_CREATE_CQ))
}

// Every method that passes something on to the driver is in the table, but the
// one whose command tells.
func TestUdataOfMethod(t *testing.T) {
	n := 0
	for _, d := range Core() {
		for _, m := range d.Object.Methods {
			if m.Attr(UVERBS_ATTR_UHW_IN) == nil {
				continue
			}
			n++
			_, ok := commandOf[[2]uint16{d.Object.ID, m.ID}]
			require.Equal(t, m.Name != "UVERBS_METHOD_INVOKE_WRITE", ok, m.Name)
		}
	}
	require.Equal(t, len(commandOf)+1, n)
	require.Equal(t, []string{"struct rxe_create_cq_resp"}, UdataOfMethod(RDMA_DRIVER_RXE, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE).Out)
	require.Empty(t, UdataOfMethod(RDMA_DRIVER_MLX5, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_DESTROY))
}
