package mlx5

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// TestMmap follows the recorded cases mlx5/mmap/NAME, in a context with eight
// pages of registers.
func TestMmap(t *testing.T) {
	const page = copyuser.PageSize
	r := newRig(t, Config{})
	r.context(request())
	for _, c := range []struct {
		name                   string
		command, index, length uint64
		prot                   int
		want                   error
	}{
		{"uar-0-7", spec.MLX5_IB_MMAP_REGULAR_PAGE, 7, page, protRW, nil},
		{"uar-0-8", spec.MLX5_IB_MMAP_REGULAR_PAGE, 8, page, protRW, rule.MLX5MmapUARIndex},
		{"uar-2-255", spec.MLX5_IB_MMAP_WC_PAGE, 255, page, protRW, rule.MLX5MmapUARIndex},
		{"uar-3-7", spec.MLX5_IB_MMAP_NC_PAGE, 7, page, protRW, nil},
		{"cmd-1-r", spec.MLX5_IB_MMAP_GET_CONTIGUOUS_PAGES, 0, page, syscall.PROT_READ, rule.MLX5MmapContiguous},
		{"cmd-4-rw", 4, 0, page, protRW, rule.MLX5MmapNoEntry},
		{"cmd-9-rw", 9, 0, page, protRW, rule.MLX5MmapNoEntry},
		{"len-0-4095", spec.MLX5_IB_MMAP_REGULAR_PAGE, 0, page - 1, protRW, nil},
		{"two pages", spec.MLX5_IB_MMAP_REGULAR_PAGE, 0, 2 * page, protRW, rule.MLX5MmapUARLength},
		{"dyn-255-0", spec.MLX5_IB_MMAP_ALLOC_WC, 255, page, protRW, nil},
		{"dyn-0-2", spec.MLX5_IB_MMAP_ALLOC_WC, 0x200, page, protRW, rule.MLX5MmapUARIndex},
		{"dyn-twice", spec.MLX5_IB_MMAP_ALLOC_WC, 255, page, protRW, rule.MLX5MmapDynBusy},
		{"cmd-5-r", spec.MLX5_IB_MMAP_CORE_CLOCK, 0, page, syscall.PROT_READ, nil},
		{"the clock for writing", spec.MLX5_IB_MMAP_CORE_CLOCK, 0, page, protRW, rule.MLX5MmapClockWrite},
		{"len-5-8192", spec.MLX5_IB_MMAP_CORE_CLOCK, 0, 2 * page, syscall.PROT_READ, rule.MLX5MmapClockLength},
		{"len-7-8192", spec.MLX5_IB_MMAP_CLOCK_INFO, 0, 2 * page, syscall.PROT_READ, rule.MLX5MmapInfoShape},
		{"clockinfo-255", spec.MLX5_IB_MMAP_CLOCK_INFO, 255, page, syscall.PROT_READ, rule.MLX5MmapInfoVersion},
		{"exec-7", spec.MLX5_IB_MMAP_CLOCK_INFO, 0, page, syscall.PROT_READ | syscall.PROT_EXEC, rule.MLX5MmapInfoAccess},
	} {
		_, err := r.mmap(c.command, c.index, c.length, c.prot)
		require.Equal(t, c.want, err, c.name)
	}
}

// TestMmapInfoNoMemory: the page of the clock is not mapped if there is no memory for
// page tables, and can be mapped later.
func TestMmapInfoNoMemory(t *testing.T) {
	n := noRoom{"vm_insert_page"}
	r := newTracedRig(t, Config{}, trace.NewTask(1, &n))
	r.context(request())
	areas := r.task.Mem.Areas()
	_, err := r.mmap(spec.MLX5_IB_MMAP_CLOCK_INFO, 0, copyuser.PageSize, syscall.PROT_READ)
	require.Equal(t, error(rule.MLX5MmapInfoNoMemory), err)
	require.Equal(t, areas, r.task.Mem.Areas())
	n.what = ""
	_, err = r.mmap(spec.MLX5_IB_MMAP_CLOCK_INFO, 0, copyuser.PageSize, syscall.PROT_READ)
	require.NoError(t, err)
	require.Equal(t, areas+1, r.task.Mem.Areas())
}

// TestMmapDynContext follows mlx5/mmap/dynctx-0: a context without registers has
// none to map.
func TestMmapDynContext(t *testing.T) {
	r := newRig(t, Config{})
	req := request()
	req.LibCaps = spec.MLX5_LIB_CAP_DYN_UAR
	r.context(req)
	for _, command := range []uint64{spec.MLX5_IB_MMAP_REGULAR_PAGE, spec.MLX5_IB_MMAP_ALLOC_WC} {
		_, err := r.mmap(command, 0, copyuser.PageSize, protRW)
		require.Equal(t, error(rule.MLX5MmapNoRegisters), err)
	}
	_, err := r.mmap(spec.MLX5_IB_MMAP_CORE_CLOCK, 0, copyuser.PageSize, syscall.PROT_READ)
	require.NoError(t, err)
}

// TestNoWriteCombining: a machine that cannot combine writes refuses what asks for
// it, and nothing else.
func TestNoWriteCombining(t *testing.T) {
	r := newRig(t, Config{NoWriteCombining: true})
	r.context(request())
	for _, command := range []uint64{spec.MLX5_IB_MMAP_WC_PAGE, spec.MLX5_IB_MMAP_ALLOC_WC} {
		_, err := r.mmap(command, 0, copyuser.PageSize, protRW)
		require.Equal(t, error(rule.MLX5MmapNoWC), err)
	}
	_, err := r.mmap(spec.MLX5_IB_MMAP_REGULAR_PAGE, 0, copyuser.PageSize, protRW)
	require.NoError(t, err)
	_, err = r.allocUARObj(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF)
	require.Equal(t, error(rule.MLX5UARNoWC), err)
	_, err = r.allocUARObj(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
	require.NoError(t, err)
}

// TestClockPage: the page reads the adapter's counter, big-endian, and nothing
// else.
func TestClockPage(t *testing.T) {
	r := newRig(t, Config{Clock: func() uint64 { return 0x0102030405060708 }})
	r.context(request())
	at, err := r.mmap(spec.MLX5_IB_MMAP_CORE_CLOCK, 0, copyuser.PageSize, syscall.PROT_READ)
	require.NoError(t, err)
	require.Equal(t, []byte{1, 2, 3, 4, 5, 6, 7, 8, 0, 0, 0, 0}, r.bytes(at, 12))
	require.ErrorIs(t, r.task.Mprotect(at, copyuser.PageSize, protRW), syscall.EACCES, "mlx5/mmap/clock-write")
}

// uarObj is a UAR object as its user knows it.
type uarObj struct {
	handle, page, length uint32
	offset               uint64
}

func (r *rig) allocUARObj(typ uint64) (uarObj, error) {
	r.Helper()
	attrs := []spec.IoctlAttr{
		handleAttr(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0), constAttr(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, typ),
		r.out(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8), r.out(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4),
		r.out(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4),
	}
	err := r.call(r.fd, spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC, attrs...)
	return uarObj{uint32(attrs[0].Data), r.u32(addrOf(attrs[4])), r.u32(addrOf(attrs[3])), r.u64(addrOf(attrs[2]))}, err
}

func (r *rig) destroyUARObj(h uint32) error {
	return r.call(r.fd, spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_DESTROY,
		handleAttr(spec.MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, h))
}

// TestUARObj follows mlx5/uar/many, mlx5/uar/destroy and mlx5/mmap/uar-obj-0:
// offsets go up by a page, a destroyed object's page lives as long as it is mapped,
// and cannot be mapped any more.
func TestUARObj(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	before := r.counts()["uar"]
	a, err := r.allocUARObj(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF)
	require.NoError(t, err)
	b, err := r.allocUARObj(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
	require.NoError(t, err)
	require.Equal(t, a.offset+copyuser.PageSize, b.offset)
	require.Equal(t, uint32(copyuser.PageSize), a.length)
	require.NotEqual(t, a.page, b.page)

	at, err := r.task.Mmap(r.fd, copyuser.PageSize, protRW, syscall.MAP_SHARED, a.offset)
	require.NoError(t, err)
	require.NoError(t, r.destroyUARObj(a.handle))
	require.ErrorIs(t, r.destroyUARObj(a.handle), syscall.ENOENT)
	require.Equal(t, before+2, r.counts()["uar"], "it is mapped")
	_, err = r.task.Mmap(r.fd, copyuser.PageSize, protRW, syscall.MAP_SHARED, a.offset)
	require.Equal(t, error(rule.MLX5MmapNoEntry), err)
	require.NoError(t, r.task.Munmap(at, copyuser.PageSize))
	require.Equal(t, before+1, r.counts()["uar"])

	for _, typ := range []uint64{2, 1<<32 - 1} {
		_, err = r.allocUARObj(typ)
		require.Equal(t, error(rule.MLX5UARType), err, "mlx5/uar/type-%#x", typ)
	}
	_, err = r.allocUARObj(1 << 32)
	require.Equal(t, error(rule.ConstRange), err, "mlx5/uar/type-0x100000000")
	require.Equal(t, before+1, r.counts()["uar"])
}

// TestUARObjFault follows mlx5/uar/fault-len: an answer that cannot be written
// takes the UAR back.
func TestUARObjFault(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	before := r.counts()
	for missing := range 3 {
		attrs := []spec.IoctlAttr{
			r.out(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, 8), r.out(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, 4),
			r.out(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, 4),
			handleAttr(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, 0),
			constAttr(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF),
		}
		attrs[missing].Data = uint64(r.none)
		err := r.call(r.fd, spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC, attrs...)
		require.Equal(t, error(rule.AttrOutputFault), err)
		require.Equal(t, before, r.counts())
	}
}
