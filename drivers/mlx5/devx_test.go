package mlx5

import (
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// devxObject makes a firmware object and returns its handle and the adapter's
// answer.
func (r *rig) devxObject(cmd []byte, outLen int) (uint32, []byte, error) {
	r.Helper()
	attrs := []spec.IoctlAttr{
		handleAttr(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE, 0),
		r.in(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, cmd), r.out(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, outLen),
	}
	err := r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_CREATE, attrs...)
	return uint32(attrs[0].Data), r.answer(attrs[2], outLen), err
}

func (r *rig) devxDestroy(h uint32) error {
	return r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
		handleAttr(spec.MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE, h))
}

func (r *rig) devxQuery(h uint32, cmd []byte) ([]byte, error) {
	r.Helper()
	out := r.out(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, 64)
	err := r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_QUERY,
		handleAttr(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE, h), r.in(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN, cmd), out)
	return r.answer(out, 64), err
}

// cmdOf is a command of n bytes with nothing but its opcode, and a number in bytes
// 8 to 11.
func cmdOf(opcode uint16, n int, number uint32) []byte {
	b := make([]byte, n)
	be.PutUint16(b, opcode)
	be.PutUint32(b[8:], number)
	return b
}

// TestDevxObjects: each command that makes an object which the adapter keeps is
// undone by the driver's own, when the handle goes (mlx5/devx-obj/destroy).
func TestDevxObjects(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	empty := r.counts()
	made := 0
	for op, cr := range devxCreations {
		switch op {
		case ifc.MLX5_CMD_OP_CREATE_UMEM, ifc.MLX5_CMD_OP_CREATE_CQ, ifc.MLX5_CMD_OP_CREATE_PSV: // see elsewhere
			continue
		}
		name, _ := ifc.FindCommand(op)
		h, out, err := r.devxObject(cmdOf(op, int(max(name.In, 16)), 0), 64)
		require.NoError(t, err, name.Name)
		require.Zero(t, out[0], name.Name)
		if !cr.inInput {
			require.NotEmpty(t, cmp.Diff(empty, r.counts()), name.Name)
			made++
		}
		require.NoError(t, r.devxDestroy(h), name.Name)
		require.Empty(t, cmp.Diff(empty, r.counts()), name.Name)
	}
	require.Equal(t, 23, made)
}

// TestDevxRefusals follows the recorded cases mlx5/devx-obj/NAME and
// mlx5/devx-other/NAME.
func TestDevxRefusals(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	tunnel := cmdOf(ifc.MLX5_CMD_OP_ALLOC_PD, 16, 0)
	tunnel[5] = 1
	psv := cmdOf(ifc.MLX5_CMD_OP_CREATE_PSV, 16, 15<<28)
	for _, c := range []struct {
		name string
		cmd  []byte
		want *rule.Rule
	}{
		{"tunnel", tunnel, rule.MLX5DevxCreateTunnel},
		{"psv-15", psv, rule.MLX5DevxNotCreate},
		{"create-101", cmdOf(0x101, 16, 0), rule.MLX5DevxNotCreate},
		{"create-a08", cmdOf(ifc.MLX5_CMD_OP_CREATE_UMEM, 48, 0), rule.MLX5DevxNotCreate},
		{"a key of 79 bytes", cmdOf(ifc.MLX5_CMD_OP_CREATE_MKEY, 79, 0), rule.MLX5DevxMkeySize},
		{"create-400: no event queue 0", cmdOf(ifc.MLX5_CMD_OP_CREATE_CQ, 272, 0), rule.MLX5CQNoEQ},
	} {
		_, _, err := r.devxObject(c.cmd, 16)
		require.Equal(t, error(c.want), err, c.name)
	}

	h, out, err := r.devxObject(cmdOf(ifc.MLX5_CMD_OP_CREATE_TIS, 192, 0), 16)
	require.NoError(t, err)
	tisn := be.Uint32(out[8:])
	for _, c := range []struct {
		name string
		cmd  []byte
		want error
	}{
		{"query-tis", cmdOf(ifc.MLX5_CMD_OP_QUERY_TIS, 16, tisn), nil},
		{"query-tis-wrong", cmdOf(ifc.MLX5_CMD_OP_QUERY_TIS, 16, tisn+1), rule.MLX5DevxQueryObject},
		{"query-pd: another kind of object", cmdOf(ifc.MLX5_CMD_OP_QUERY_TIR, 16, tisn), rule.MLX5DevxQueryObject},
		{"query-op-200", cmdOf(ifc.MLX5_CMD_OP_CREATE_MKEY, 16, tisn), rule.MLX5DevxNotQuery},
	} {
		_, err := r.devxQuery(h, c.cmd)
		require.Equal(t, c.want, err, c.name)
	}
}

// other sends a command that needs no object.
func (r *rig) other(fd int, cmd []byte, outLen int) ([]byte, error) {
	r.Helper()
	out := r.out(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, outLen)
	err := r.call(fd, spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_OTHER,
		r.in(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, cmd), out)
	return r.answer(out, outLen), err
}

// TestDevxOther follows mlx5/devx-other/op-100, nodevx-102, nodevx-105, op-200 and
// fw-error: what a context that is no DEVX user may send runs under the driver's own
// uid; a refusal's answer is copied out.
func TestDevxOther(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	plain := r.open()
	req := request()
	_, err := r.getContext(plain, spec.Bytes(&req), 72)
	require.NoError(t, err)

	caps := cmdOf(ifc.MLX5_CMD_OP_QUERY_HCA_CAP, 16, 0)
	a, err := r.other(r.fd, caps, 4112)
	require.NoError(t, err)
	b, err := r.other(plain, caps, 4112)
	require.NoError(t, err)
	require.Equal(t, a, b)
	require.Equal(t, r.dev.caps[ifc.MLX5_CAP_GENERAL], a[16:][:len(r.dev.caps[0])])

	_, err = r.other(plain, cmdOf(ifc.MLX5_CMD_OP_QUERY_ADAPTER, 16, 0), 272)
	require.Equal(t, error(rule.MLX5DevxNoUID), err)
	_, err = r.other(r.fd, cmdOf(ifc.MLX5_CMD_OP_CREATE_MKEY, 16, 0), 16)
	require.Equal(t, error(rule.MLX5DevxNotGeneral), err)

	bad := cmdOf(ifc.MLX5_CMD_OP_QUERY_HCA_CAP, 16, 0)
	be.PutUint16(bad[6:], 0xfffe)
	out, err := r.other(r.fd, bad, 16)
	require.ErrorIs(t, err, syscall.EREMOTEIO)
	status, syndrome := hw.Result(out)
	require.NotZero(t, status)
	require.NotZero(t, syndrome)
}

// unread is how many events or answers a descriptor has.
func (r *rig) unread(fd int) int {
	f := r.task.Fget(fd)
	defer f.Put(r.task)
	return f.Private.(*uobject.Object).Ext.(interface{ Unread() int }).Unread()
}

// TestDevxEvents: a user's own completion queue, made by its own command, and its
// error, which a descriptor tells. The adapter has the events of old, since the
// recorded one's masks have none of completion queues.
func TestDevxEvents(t *testing.T) {
	p, err := hw.Recorded.With(map[string]uint64{"event_cap": 0})
	require.NoError(t, err)
	r := newRig(t, Config{Profile: p})
	r.devxContext()
	cmd := make([]byte, 272) // without memory for its entries
	be.PutUint16(cmd, ifc.MLX5_CMD_OP_CREATE_CQ)
	cqc.eqn.Set(cqcIn.Bytes(cmd), uint64(r.queryEQN(0)))
	h, out, err := r.devxObject(cmd, 16)
	require.NoError(t, err)
	cqn := be.Uint32(out[8:])

	fd := r.eventFD(0)
	require.NoError(t, r.subscribe(fd, h, 0x1234, ifc.MLX5_EVENT_TYPE_CQ_ERROR))
	_, err = r.read(fd, 72)
	require.Equal(t, error(rule.MLX5DevxEventReadAgain), err)

	require.ErrorIs(t, r.dev.HW.Complete(cqn, hw.Completion{}), hw.ErrCQAccess)
	for r.dev.Step(nil) {
	}
	require.Equal(t, 1, r.unread(fd))
	_, err = r.read(fd, 71)
	require.Equal(t, error(rule.MLX5DevxEventReadShort), err)
	b, err := r.read(fd, 72)
	require.NoError(t, err)
	require.Equal(t, uint64(0x1234), le.Uint64(b))
	require.Zero(t, r.unread(fd))
	eqe, _ := hw.DecodeEQE(b[8:])
	got, _ := eqe.CQError()
	require.Equal(t, cqn, got)

	require.NoError(t, r.subscribe(fd, h, 1, ifc.MLX5_EVENT_TYPE_COMP))
	require.NoError(t, r.devxDestroy(h))
	require.Empty(t, r.dev.devxEvents.byKey, "the subscriptions went with the object")
}

// TestDevxUmem follows mlx5/umem: registered memory is pinned and reachable until it
// goes, and is given to the adapter in pages that cover no more than it.
func TestDevxUmem(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	before := r.counts()
	h, id := r.registerUmem(3*copyuser.PageSize, spec.IB_ACCESS_LOCAL_WRITE)
	require.NotZero(t, id)
	require.Equal(t, before["mapped"]+3, r.counts()["mapped"])
	require.Equal(t, 1, r.counts()["umem"])
	require.NoError(t, r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_DEREG,
		handleAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE, h)))
	require.Empty(t, cmp.Diff(before, r.counts()))

	const base = 1 << 40
	for _, c := range []struct {
		off, n, bitmap, want uint64
	}{
		{0, 4096, 1 << 12, 4096},
		{64, 100, ^uint64(0xfff), 4096},
		{0, 8192, ^uint64(0xfff), 8192},
		{0, 3 * 4096, ^uint64(0xfff), 4096}, // no larger page ends where the memory does
		{0, 8192, 1 << 13, 8192},
		{0, 4096, 1 << 13, 0},
		{0, 4096, 1 << 11, 0},
	} {
		require.Equal(t, c.want, memory(base, c.off, c.n).devxBestPageSize(c.bitmap), "%+v", c)
	}
}

func (r *rig) queryEQN(vector uint32) uint32 {
	r.Helper()
	out := r.out(spec.MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, 4)
	require.NoError(r, r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_QUERY_EQN,
		attr(spec.MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC, 4, uint64(vector)), out))
	return r.u32(addrOf(out))
}

// registerUmem registers fresh memory and returns its handle and its number.
func (r *rig) registerUmem(n int, access uint64) (handle, id uint32) {
	r.Helper()
	out := r.out(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, 4)
	attrs := []spec.IoctlAttr{handleAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE, 0),
		constAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, uint64(r.take(n))),
		constAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, uint64(n)), constAttr(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, access), out}
	require.NoError(r, r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_REG, attrs...))
	return uint32(attrs[0].Data), r.u32(addrOf(out))
}

func (r *rig) eventFD(flags uint64) int {
	r.Helper()
	attrs := []spec.IoctlAttr{handleAttr(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, 0),
		constAttr(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, flags)}
	require.NoError(r, r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, spec.MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, attrs...))
	return int(int32(attrs[0].Data))
}

func (r *rig) subscribe(fd int, obj uint32, cookie uint64, events ...uint16) error {
	r.Helper()
	var list []byte
	for _, e := range events {
		list = le.AppendUint16(list, e)
	}
	return r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
		attr(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, 0, uint64(fd)),
		handleAttr(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, obj),
		r.in(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, list),
		constAttr(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, cookie))
}

// TestDevxSubscribe follows mlx5/devx-sub/count-17, obj-100 and mixed: nothing is
// subscribed to unless all is.
func TestDevxSubscribe(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	h, _, err := r.devxObject(cmdOf(ifc.MLX5_CMD_OP_CREATE_QP, 272, 0), 16)
	require.NoError(t, err)
	fd := r.eventFD(0)
	require.Equal(t, error(rule.MLX5DevxSubscribeCount), r.subscribe(fd, h, 0, make([]uint16, 17)...))
	require.Equal(t, error(rule.MLX5DevxSubscribeType), r.subscribe(fd, h, 0, 0x100))
	require.Equal(t, error(rule.MLX5DevxSubscribeType), r.subscribe(fd, h, 0, 0, 0x100))
	require.Empty(t, r.dev.devxEvents.byKey)
	require.NoError(t, r.subscribe(fd, h, 0, make([]uint16, 16)...))
	require.NoError(t, r.task.Close(fd))
	require.Empty(t, r.dev.devxEvents.byKey, "they went with the descriptor")
}

// TestDevxOmitData: without data an event is its cookie, and there once until it is
// read.
func TestDevxOmitData(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	h, out, err := r.devxObject(cmdOf(ifc.MLX5_CMD_OP_CREATE_QP, 272, 0), 16)
	require.NoError(t, err)
	fd := r.eventFD(spec.MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA)
	require.NoError(t, r.subscribe(fd, h, 77, eventCommEst))
	eqe := hw.EQE{Type: eventCommEst}
	copy(eqe.Data[24:], out[8:12])
	for range 3 {
		r.dev.devxEventNotifier(nil, &eqe, make([]byte, hw.EQESize))
	}
	b, err := r.read(fd, 8)
	require.NoError(t, err)
	require.Equal(t, uint64(77), le.Uint64(b))
	_, err = r.read(fd, 8)
	require.Equal(t, error(rule.MLX5DevxEventReadAgain), err)
	r.dev.devxEventNotifier(nil, &eqe, make([]byte, hw.EQESize))
	_, err = r.read(fd, 8)
	require.NoError(t, err)

	require.NoError(t, r.dev.Remove(r.m.NewProcess(process.Options{}).MainTask()))
	f := r.task.Fget(fd)
	defer f.Put(r.task)
	require.Equal(t, uint16(process.POLLIN|process.POLLRDNORM|pollRDHUP), devxEventPoll(r.task, f))
}

// TestDevxAsyncQuery follows mlx5/devx-cmdfd: answers are read one by one, with the
// number that the query gave them, into a buffer that is long enough.
func TestDevxAsyncQuery(t *testing.T) {
	r := newRig(t, Config{})
	r.devxContext()
	h, out, err := r.devxObject(cmdOf(ifc.MLX5_CMD_OP_CREATE_TIS, 192, 0), 16)
	require.NoError(t, err)
	attrs := []spec.IoctlAttr{handleAttr(spec.MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, 0)}
	require.NoError(t, r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, spec.MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, attrs...))
	fd := int(int32(attrs[0].Data))
	query := func(wrID uint64, n uint64) error {
		return r.call(r.fd, spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY,
			handleAttr(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE, h),
			r.in(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN, cmdOf(ifc.MLX5_CMD_OP_QUERY_TIS, 16, be.Uint32(out[8:]))),
			constAttr(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, n),
			attr(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD, 0, uint64(fd)),
			constAttr(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID, wrID))
	}
	_, err = r.read(fd, 24)
	require.Equal(t, error(rule.MLX5DevxCmdReadAgain), err)
	require.NoError(t, query(5, 16))
	require.Equal(t, 1, r.unread(fd))
	_, err = r.read(fd, 23)
	require.Equal(t, error(rule.MLX5DevxCmdReadShort), err)
	b, err := r.read(fd, 24)
	require.NoError(t, err)
	require.Len(t, b, 24)
	require.Equal(t, uint64(5), le.Uint64(b))
	require.Zero(t, b[8])

	for range 16 { // all but a byte of a MiB
		require.NoError(t, query(0, 1<<16-1))
	}
	require.NoError(t, query(0, 16))
	require.Equal(t, error(rule.MLX5DevxAsyncBacklog), query(0, 1))
}
