package mlx5

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestAllocUcontextRefusals follows the recorded cases mlx5/ctx/NAME. A refused
// request leaves the file without a context and the adapter without objects of
// its own (mlx5/ctx/retry).
func TestAllocUcontextRefusals(t *testing.T) {
	r := newRig(t, Config{})
	empty := r.counts()
	edit := func(f func(*spec.Mlx5AllocUcontextReqV2)) []byte {
		req := request()
		f(&req)
		return append([]byte(nil), spec.Bytes(&req)...)
	}
	whole := edit(func(*spec.Mlx5AllocUcontextReqV2) {})
	for _, c := range []struct {
		name string
		in   []byte
		want *rule.Rule
	}{
		{"len-0", nil, rule.MLX5UctxRequestSize},
		{"len-7", whole[:7], rule.MLX5UctxRequestSize},
		{"len-9", whole[:9], rule.MLX5UctxRequestSize},
		{"len-12", whole[:12], rule.MLX5UctxRequestSize},
		{"flags-80000000", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.Flags = 1 << 31 }), rule.MLX5UctxFlags},
		{"comp-mask", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.CompMask = 1 }), rule.MLX5UctxReserved},
		{"reserved1", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.Reserved1 = 1 }), rule.MLX5UctxReserved},
		{"reserved2-hi", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.Reserved2 = 1 << 31 }), rule.MLX5UctxReserved},
		{"flags-2-comp", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.Flags, q.CompMask = 2, 1 }), rule.MLX5UctxFlags},
		{"total-0", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.TotalNumBfregs = 0 }), rule.MLX5UctxNoBfregs},
		{"low-16", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.NumLowLatencyBfregs = 16 }), rule.MLX5UctxLowLatency},
		{"total-513", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.TotalNumBfregs = 513 }), rule.MLX5UctxManyBfregs},
		{"total-max-1", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.TotalNumBfregs = 1<<32 - 2 }), rule.MLX5UctxManyBfregs},
		{"total-big-low-big", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.TotalNumBfregs, q.NumLowLatencyBfregs = 5000, 5000 }),
			rule.MLX5UctxLowLatency},
		{"devx-total-0", edit(func(q *spec.Mlx5AllocUcontextReqV2) { q.Flags, q.TotalNumBfregs = 1, 0 }), rule.MLX5UctxNoBfregs},
	} {
		_, err := r.getContext(r.fd, c.in, 72)
		require.Equal(t, error(c.want), err, c.name)
		require.Empty(t, cmp.Diff(empty, r.counts()), c.name)
	}
	r.context(request())
	_, err := r.getContext(r.fd, whole, 72)
	require.ErrorIs(t, err, syscall.EINVAL, "twice")
}

// TestAllocUcontextResponse follows the recorded cases mlx5/ctx/out-len-N: the
// answer is as long as the user's room, up to 72 bytes, and says so.
func TestAllocUcontextResponse(t *testing.T) {
	r := newRig(t, Config{})
	req := request()
	for _, n := range []int{8, 28, 32, 40, 64, 68, 72, 73, 128} {
		fd := r.open()
		b, err := r.getContext(fd, spec.Bytes(&req), n)
		require.NoError(t, err)
		written := min(n, 72)
		var resp spec.Mlx5AllocUcontextResp
		copy(spec.Bytes(&resp), b[:written])
		if n >= 64 { // response_length lies at 60
			require.Equal(t, uint32(written), resp.ResponseLength, "out-len-%d", n)
		}
		for _, c := range b[written:] {
			require.Equal(t, byte(0xa5), c, "out-len-%d", n)
		}
	}
}

// TestAllocUcontextObjects: a context is eight pages of registers (16 registers of
// which two lie on a page) and a transport domain; DYN_UAR has no page, and a DEVX
// context is a user of the adapter besides (mlx5/ctx/caps-dyn, mlx5/ctx/devx-dyn).
func TestAllocUcontextObjects(t *testing.T) {
	for _, c := range []struct {
		name  string
		flags uint32
		caps  uint64
		want  map[string]int
	}{
		{"static", 0, 0, map[string]int{"uar": 8, "td": 1}},
		{"dyn", 0, spec.MLX5_LIB_CAP_DYN_UAR, map[string]int{"td": 1}},
		{"devx-dyn", spec.MLX5_IB_ALLOC_UCTX_DEVX, spec.MLX5_LIB_CAP_DYN_UAR, map[string]int{"td": 1, "uctx": 1}},
	} {
		r := newRig(t, Config{})
		empty := r.counts()
		req := request()
		req.Flags, req.LibCaps = c.flags, c.caps
		r.context(req)
		got := r.counts()
		for kind, n := range empty {
			if got[kind] -= n; got[kind] == 0 {
				delete(got, kind)
			}
		}
		require.Empty(t, cmp.Diff(c.want, got), c.name)
		require.NoError(t, r.task.Close(r.fd))
		require.Empty(t, cmp.Diff(empty, r.counts()), c.name)
	}
}

// TestAllocUcontextInactive: while the adapter is in error no context is made.
func TestAllocUcontextInactive(t *testing.T) {
	r := newRig(t, Config{})
	fd := r.open()
	r.dev.Fail(nil)
	req := request()
	_, err := r.getContext(fd, spec.Bytes(&req), 72)
	require.Equal(t, error(rule.MLX5UctxInactive), err)
}

// TestProfileDecides: what a device lacks is not there for its users. Without DEVX
// users a context cannot be one, and the objects for it do not exist.
func TestProfileDecides(t *testing.T) {
	p, err := hw.Recorded.With(map[string]uint64{"log_max_uctx": 0})
	require.NoError(t, err)
	r := newRig(t, Config{Profile: p})
	req := request()
	req.Flags = spec.MLX5_IB_ALLOC_UCTX_DEVX
	_, err = r.getContext(r.fd, spec.Bytes(&req), 72)
	require.Equal(t, error(rule.MLX5DevxNoUctx), err)
	r.context(request())
	err = r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_QUERY_EQN)
	require.ErrorIs(t, err, syscall.EPROTONOSUPPORT)
}

// TestDevxPrivileges: a DEVX user of a process without CAP_NET_RAW is made, but
// not asked the right to send raw packets for. The adapter here would not give
// it, which the driver does not know, so that asking for it is seen.
func TestDevxPrivileges(t *testing.T) {
	p, err := hw.Recorded.With(map[string]uint64{"uctx_cap": uctxCapInternalRes})
	require.NoError(t, err)
	r := newRig(t, Config{Profile: p})
	capUctxCap.field.Set(r.dev.caps[capUctxCap.page], uctxCapInternalRes|uctxCapRawTX)
	req := request()
	req.Flags = spec.MLX5_IB_ALLOC_UCTX_DEVX
	_, err = r.getContext(r.fd, spec.Bytes(&req), 72)
	require.Error(t, err)
	require.NoError(t, r.task.Capset(process.CAP_NET_RAW))
	r.devxContext()
}
