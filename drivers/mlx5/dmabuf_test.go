package mlx5

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/spec"
)

// TestDevxUmemDmabuf: a user's own commands can name memory of another driver, which
// its exporter has to keep where it is as long as that lasts.
func TestDevxUmemDmabuf(t *testing.T) {
	const ps = copyuser.PageSize
	r := newRig(t, Config{})
	r.devxContext()
	buf := process.NewDmaBuf(4 * ps)
	fd, err := buf.Export(r.task, syscall.O_RDWR)
	require.NoError(t, err)
	before := r.counts()
	out := r.out(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4)
	register := func(offset uint64) error {
		return r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_REG,
			handleAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0),
			constAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, offset), constAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, 2*ps),
			constAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, spec.IB_ACCESS_LOCAL_WRITE),
			attr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, 0, uint64(fd)), out)
	}
	require.ErrorIs(t, register(3*ps), syscall.EINVAL, "it ends behind the dma-buf")
	require.True(t, buf.Move(nil))
	require.NoError(t, register(ps))
	require.False(t, buf.Move(nil), "it is pinned")
	require.Equal(t, before["mapped"]+2, r.counts()["mapped"])
	require.Equal(t, 1, r.counts()["umem"])
	require.Zero(t, r.task.Mem.PinnedPages())
	require.NoError(t, r.task.Close(fd))
	require.NoError(t, r.task.Close(r.fd))
	require.Zero(t, r.counts()["umem"])
	require.LessOrEqual(t, r.counts()["mapped"], before["mapped"])
	require.True(t, buf.Move(nil))
	attached, _ := buf.Attachments()
	require.Zero(t, attached)
}
