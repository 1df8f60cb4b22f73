package mlx5

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestCreateCQ follows the recorded cases mlx5/cq/NAME that succeed: a power of
// two of entries, one of which the user does not have.
func TestCreateCQ(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	first := r.cqArgs() // makes the event queue, which stays
	made, err := r.createCQ(first)
	require.NoError(t, err)
	_, _, err = r.destroyCQ(made.handle)
	require.NoError(t, err)
	empty := r.counts()
	for _, c := range []struct {
		name string
		edit func(*cqArgs)
		want uint32
	}{
		{"create", func(*cqArgs) {}, 31},
		{"cqe-3", func(a *cqArgs) { a.cqe = 3 }, 3},
		{"cqe-62", func(a *cqArgs) { a.cqe = 62 }, 63},
		{"cqe-63", func(a *cqArgs) { a.cqe = 63 }, 63},
		{"in-len-22", func(a *cqArgs) { a.inLen = 22 }, 31},
		{"flags-short", func(a *cqArgs) { a.inLen, a.ucmd.Flags = 22, 0xffff }, 31},
		{"comp-1-1-64", func(a *cqArgs) { a.ucmd.CQECompEn, a.ucmd.CQECompResFormat = 1, 1 }, 31},
		{"comp-2-1-64", func(a *cqArgs) { a.ucmd.CQECompEn, a.ucmd.CQECompResFormat = 2, 1 }, 31},
		{"db-off-63", func(a *cqArgs) { a.ucmd.DBAddr += 63 }, 31},
		{"the core's flags", func(a *cqArgs) {
			a.flags = spec.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION | spec.IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN
		}, 31},
	} {
		a := r.cqArgs()
		c.edit(&a)
		made, err := r.createCQ(a)
		require.NoError(t, err, c.name)
		require.Equal(t, c.want, made.entries, c.name)
		require.Equal(t, empty["cq"]+1, r.counts()["cq"], c.name)
		require.Equal(t, uint32(0xa5a5a5a5), r.u32(a.out+4), "%s: only the number is answered", c.name)
		_, _, err = r.destroyCQ(made.handle)
		require.NoError(t, err, c.name)
		require.Empty(t, cmp.Diff(empty, r.counts()), c.name)
	}
}

// TestCreateCQRefusals follows the recorded cases mlx5/cq/NAME that are refused.
// Nothing is left of them, pinned or in the adapter.
func TestCreateCQRefusals(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	made, err := r.createCQ(r.cqArgs())
	require.NoError(t, err)
	before := r.counts()
	readOnly, err := r.task.Mmap(-1, copyuser.PageSize, syscall.PROT_READ, syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS, 0)
	require.NoError(t, err)
	for _, c := range []struct {
		name string
		edit func(*cqArgs)
		want *rule.Rule
	}{
		{"in-len-8", func(a *cqArgs) { a.inLen = 8 }, rule.MLX5CQRequestSize},
		{"21 bytes", func(a *cqArgs) { a.inLen = 21 }, rule.MLX5CQRequestSize},
		{"cqe-size-1", func(a *cqArgs) { a.ucmd.CQESize = 1 }, rule.MLX5CQShape},
		{"cqe-size-192", func(a *cqArgs) { a.ucmd.CQESize = 192 }, rule.MLX5CQShape},
		{"reserved-r0-hi", func(a *cqArgs) { a.ucmd.Reserved0 = 0x80 }, rule.MLX5CQShape},
		{"reserved-r1", func(a *cqArgs) { a.ucmd.Reserved1 = 1 }, rule.MLX5CQShape},
		{"flags-1", func(a *cqArgs) { a.ucmd.Flags = 1 }, rule.MLX5CQPadding},
		{"flags-8", func(a *cqArgs) { a.ucmd.Flags = 8 }, rule.MLX5CQUserFlags},
		{"flags-8000", func(a *cqArgs) { a.ucmd.Flags = 0x8000 }, rule.MLX5CQUserFlags},
		{"order-flags-r", func(a *cqArgs) { a.ucmd.Flags, a.ucmd.Reserved0 = 8, 1 }, rule.MLX5CQUserFlags},
		{"comp-1-0-128", func(a *cqArgs) { a.ucmd.CQESize, a.ucmd.CQECompEn = 128, 1 }, rule.MLX5CQFormat},
		{"order-comp-pad", func(a *cqArgs) { a.ucmd.Flags, a.ucmd.CQECompEn = 1, 1 }, rule.MLX5CQFormat},
		{"buf-off-4", func(a *cqArgs) { a.ucmd.BufAddr += 4 }, rule.MLX5CQAlignment},
		{"buf-off-64", func(a *cqArgs) { a.ucmd.BufAddr += 64 }, rule.MLX5CQAlignment},
		{"order-align-db", func(a *cqArgs) { a.ucmd.BufAddr, a.ucmd.DBAddr = a.ucmd.BufAddr+64, 0 }, rule.MLX5CQAlignment},
		{"an unmapped buffer", func(a *cqArgs) { a.ucmd.BufAddr = uint64(r.none) }, rule.PinUnmapped},
		{"buf-readonly", func(a *cqArgs) { a.ucmd.BufAddr = uint64(readOnly) }, rule.PinWrite},
		{"buf-short", func(a *cqArgs) { a.cqe, a.ucmd.BufAddr = 127, uint64(r.none-copyuser.PageSize) }, rule.PinUnmapped},
		{"db-unmapped", func(a *cqArgs) { a.ucmd.DBAddr = uint64(r.none) }, rule.PinUnmapped},
		{"cqe-4194303-nobuf", func(a *cqArgs) { a.cqe, a.ucmd.BufAddr = 1<<22-1, 1<<20 }, rule.PinUnmapped},
		{"cqe-4194304-nobuf", func(a *cqArgs) { a.cqe = 1 << 22 }, rule.MLX5CQEntriesRounded},
		{"cqe-2147483648-nobuf", func(a *cqArgs) { a.cqe = 1 << 31 }, rule.MLX5CQEntries},
		{"a vector that is not there", func(a *cqArgs) { a.vector = 1 }, rule.CQCompVector},
		{"out-none", func(a *cqArgs) { a.noOut = true }, rule.MLX5CQResponseFault},
		{"out-readonly", func(a *cqArgs) { a.out = readOnly }, rule.MLX5CQResponseFault},
	} {
		a := r.cqArgs()
		c.edit(&a)
		_, err := r.createCQ(a)
		require.Equal(t, error(c.want), err, c.name)
		require.Empty(t, cmp.Diff(before, r.counts()), c.name)
	}
	_, _, err = r.destroyCQ(made.handle)
	require.NoError(t, err)
}

// TestCreateCQUAR follows mlx5/cq/uar-attr-…, mlx5/cq/order-dyn-comp and -dyn-db: in
// a context without registers a queue needs a UAR, by attribute or by field.
func TestCreateCQUAR(t *testing.T) {
	r := newRig(t, Config{})
	req := request()
	req.LibCaps = spec.MLX5_LIB_CAP_DYN_UAR
	r.context(req)

	a := r.cqArgs()
	a.ucmd.CQECompEn = 1
	_, err := r.createCQ(a)
	require.Equal(t, error(rule.MLX5CQNoUAR), err, "order-dyn-comp")
	a.ucmd.DBAddr = uint64(r.none)
	_, err = r.createCQ(a)
	require.Equal(t, error(rule.PinUnmapped), err, "order-dyn-db")

	u, err := r.allocUARObj(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
	require.NoError(t, err)
	a = r.cqArgs()
	a.ucmd.Flags, a.ucmd.UARPageIndex = spec.MLX5_IB_CREATE_CQ_FLAGS_UAR_PAGE_INDEX, uint16(u.page)
	_, err = r.createCQ(a)
	require.NoError(t, err)
}

// TestSharedDoorbell follows mlx5/cq/same-db: records in one page pin it once, and
// it goes with the last.
func TestSharedDoorbell(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	a, b := r.cqArgs(), r.cqArgs()
	b.ucmd.DBAddr = a.ucmd.DBAddr + 64
	first, err := r.createCQ(a)
	require.NoError(t, err)
	one := r.counts()["mapped"]
	second, err := r.createCQ(b)
	require.NoError(t, err)
	require.Equal(t, one+1, r.counts()["mapped"], "a page of entries and no other page")
	_, _, err = r.destroyCQ(first.handle)
	require.NoError(t, err)
	require.Equal(t, one, r.counts()["mapped"])
	_, _, err = r.destroyCQ(second.handle)
	require.NoError(t, err)
	require.Equal(t, one-2, r.counts()["mapped"])
}

// resizeCQ gives a queue a new buffer, by the write() command.
func (r *rig) resizeCQ(h uint32, cqe uint32, ucmd spec.Mlx5ResizeCQ) (uint32, error) {
	r.Helper()
	resp := r.take(8)
	cmd := le.AppendUint32(nil, spec.IB_USER_VERBS_CMD_RESIZE_CQ)
	cmd = le.AppendUint16(cmd, (8+16+16)/4)
	cmd = le.AppendUint16(cmd, 2)
	cmd = le.AppendUint64(cmd, uint64(resp))
	cmd = le.AppendUint32(le.AppendUint32(cmd, h), cqe)
	cmd = append(cmd, spec.Bytes(&ucmd)...)
	at := r.take(len(cmd))
	require.True(r, r.task.Mem.Store(at, cmd))
	_, err := r.task.Write(r.fd, at, uint64(len(cmd)))
	return r.u32(resp), err
}

// TestResizeCQ follows the recorded cases mlx5/resize/NAME: the old buffer is
// pinned until the adapter has the new one, and again after a refusal.
func TestResizeCQ(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	made, err := r.createCQ(r.cqArgs())
	require.NoError(t, err)
	buf := uint64(r.take(4 * copyuser.PageSize))
	before := r.counts()
	for _, c := range []struct {
		name string
		cqe  uint32
		ucmd spec.Mlx5ResizeCQ
		got  uint32
		want error
	}{
		{"cqe-4194304-nobuf", 1 << 22, spec.Mlx5ResizeCQ{}, 0, rule.MLX5ResizeEntriesRounded},
		{"cqe-2147483648-nobuf", 1 << 31, spec.Mlx5ResizeCQ{}, 0, rule.MLX5ResizeEntries},
		{"size-0", 63, spec.Mlx5ResizeCQ{BufAddr: buf}, 0, rule.UmemEmpty},
		{"buf-off-64", 63, spec.Mlx5ResizeCQ{BufAddr: buf + 64, CQESize: 64}, 0, rule.MLX5ResizeAlignment},
		{"buf-kernel", 63, spec.Mlx5ResizeCQ{BufAddr: 1 << 63, CQESize: 64}, 0, rule.PinRange},
		{"reserved", 63, spec.Mlx5ResizeCQ{BufAddr: buf, CQESize: 64, Reserved1: 1}, 0, rule.MLX5ResizeReserved},
		{"cqe-31", 31, spec.Mlx5ResizeCQ{}, 31, nil},
	} {
		got, err := r.resizeCQ(made.handle, c.cqe, c.ucmd)
		require.Equal(t, c.want, err, c.name)
		if err == nil {
			require.Equal(t, c.got, got, c.name)
		}
		require.Empty(t, cmp.Diff(before, r.counts()), c.name)
	}
	got, err := r.resizeCQ(made.handle, 100, spec.Mlx5ResizeCQ{BufAddr: buf, CQESize: 64})
	require.NoError(t, err)
	require.Equal(t, uint32(127), got)
	require.Equal(t, before["mapped"]+1, r.counts()["mapped"], "two pages instead of one")
}
