package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// What a process maps of device memory and what the adapter has there are the
// same bytes, and where an operation is mapped the adapter does it.
func TestDeviceMemoryIsOne(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	index := r.out(spec.MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, 2)
	dm := handleAttr(spec.UVERBS_ATTR_ALLOC_DM_HANDLE, 0)
	attrs := []spec.IoctlAttr{dm, constAttr(spec.UVERBS_ATTR_ALLOC_DM_LENGTH, 2*copyuser.PageSize),
		attr(spec.UVERBS_ATTR_ALLOC_DM_ALIGNMENT, 4, 0), index, r.out(spec.MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, 8)}
	require.NoError(t, r.call(r.fd, spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_ALLOC, attrs...))
	at, err := r.mmap(spec.MLX5_IB_MMAP_DEVICE_MEM, uint64(le.Uint16(r.answer(index, 2))), 2*copyuser.PageSize, protRW)
	require.NoError(t, err)

	const memory = 0x100_0000 // memic_bar_start_addr of the recorded adapter
	data := []byte("on the second page, and from the first")
	edge := copyuser.Addr(copyuser.PageSize - 20)
	require.True(t, r.task.Mem.Store(at+edge, data))
	got := make([]byte, len(data))
	require.NoError(t, r.dev.bar.ReadAt(got, memory+uint64(edge)))
	require.Equal(t, data, got)
	require.NoError(t, r.dev.bar.WriteAt(data[3:], memory+uint64(edge)))
	require.Equal(t, data[3:], r.bytes(at+edge, len(data)-3))
	require.Equal(t, 1, r.counts()["memic"])

	mapOp := func(op byte) copyuser.Addr {
		index := r.out(spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, 2)
		require.NoError(t, r.call(r.fd, spec.UVERBS_OBJECT_DM, spec.MLX5_IB_METHOD_DM_MAP_OP_ADDR,
			handleAttr(spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE, uint32(attrs[0].Data)),
			r.in(spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP, []byte{op}), index,
			r.out(spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, 8)))
		at, err := r.mmap(spec.MLX5_IB_MMAP_DEVICE_MEM, uint64(le.Uint16(r.answer(index, 2))), 2*copyuser.PageSize, protRW)
		require.NoError(t, err)
		return at
	}
	const word = copyuser.PageSize + 64
	increment, testAndSet := mapOp(0), mapOp(1)
	for range 2 {
		require.True(t, r.task.Mem.Store(increment+word, []byte{1}))
	}
	require.Equal(t, []byte{2}, r.bytes(at+word, 1))
	require.Equal(t, []byte{2}, r.bytes(testAndSet+word, 1))
	require.Equal(t, []byte{1}, r.bytes(at+word, 1))
}
