package mlx5

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/process"
	"uverbsim/sim_test/meeting"
	"uverbsim/spec"
	"uverbsim/trace"
)

// command is a write() command that lies in the process's memory.
type command struct {
	at     copyuser.Addr
	n      uint64
	resp   copyuser.Addr
	worked atomic.Bool // once at least
}

// command prepares a write() command; one with a response has its address first.
func (r *rig) command(number uint32, respLen int, body []byte) *command {
	r.Helper()
	c := &command{resp: r.take(64)}
	cmd := le.AppendUint32(nil, number)
	cmd = le.AppendUint16(cmd, uint16(8+len(body))/4)
	cmd = le.AppendUint16(cmd, uint16(respLen)/4)
	if respLen != 0 {
		le.PutUint64(body, uint64(c.resp))
	}
	return r.stored(c, append(cmd, body...))
}

// extended prepares an extended command whose response is the core's part of 8 bytes
// and the driver's behind it.
func (r *rig) extended(number uint32, driverLen int, body []byte) *command {
	r.Helper()
	c := &command{resp: r.take(64)}
	cmd := le.AppendUint32(nil, number|spec.IB_USER_VERBS_CMD_FLAG_EXTENDED)
	cmd = le.AppendUint16(cmd, uint16(len(body)/8))
	cmd = le.AppendUint16(cmd, 1)
	cmd = le.AppendUint64(cmd, uint64(c.resp))
	cmd = le.AppendUint16(cmd, 0)
	cmd = le.AppendUint16(cmd, uint16(driverLen/8))
	cmd = le.AppendUint32(cmd, 0)
	return r.stored(c, append(cmd, body...))
}

func (r *rig) stored(c *command, b []byte) *command {
	c.at, c.n = r.take(len(b)), uint64(len(b))
	require.True(r, r.task.Mem.Store(c.at, b))
	r.Cleanup(func() { require.True(r, c.worked.Load(), "a command was never carried out") })
	return c
}

func (r *rig) do(task *process.Task, c *command) error {
	_, err := task.Write(r.fd, c.at, c.n)
	if err == nil {
		c.worked.Store(true)
	}
	return err
}

// doing is one thread's part: it makes the commands one after the other, whatever
// they answer.
func (r *rig) doing(list ...*command) func(*process.Task) {
	return func(task *process.Task) {
		for _, c := range list {
			_ = r.do(task, c)
		}
	}
}

// TestUnlockedFields: calls on one object that hold no common lock, as they hold none
// in the kernel, are made by two threads at once. It is for the race detector, which
// reports each field that they share and that is not guarded.
func TestUnlockedFields(t *testing.T) {
	for _, c := range []struct {
		name    string
		profile *hw.Profile
		at      []string // where each call of the one meets one of the other
		make    func(r *rig) (round func() (one, other func(*process.Task)))
	}{
		{"two RESIZE_CQ", nil, []string{"mlx5_ib_resize_cq"}, resizes},
		{"MODIFY_QP and QUERY_QP of a DCT", nil, []string{"_ib_modify_qp", "mlx5_ib_query_qp"}, dctCalls},
		{"REREG_MR and ADVISE_MR", hw.ConnectX6Dx, []string{"mlx5_ib_rereg_user_mr", "mlx5_ib_advise_mr"}, reregAndAdvise},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := meeting.New(t, c.at...)
			r := newTracedRig(t, Config{Profile: c.profile}, trace.NewTask(1, m))
			r.context(request())
			round := c.make(r)
			second := r.task.Process.NewTask(trace.NewTask(2, m))
			for range 20 {
				one, other := round()
				m.On(true)
				var both sync.WaitGroup
				both.Go(func() { one(r.task) })
				both.Go(func() { other(second) })
				both.Wait()
				m.On(false)
			}
		})
	}
}

func resizes(r *rig) func() (one, other func(*process.Task)) {
	made, err := r.createCQ(r.cqArgs())
	require.NoError(r, err)
	resize := func(cqe uint32) *command {
		ucmd := spec.Mlx5ResizeCQ{BufAddr: uint64(r.take(4 * copyuser.PageSize)), CQESize: 64}
		req := spec.ResizeCQ{CQHandle: made.handle, CQE: cqe}
		return r.command(spec.IB_USER_VERBS_CMD_RESIZE_CQ, 8, append(spec.Bytes(&req), spec.Bytes(&ucmd)...))
	}
	small, large, larger := resize(31), resize(63), resize(127)
	return func() (one, other func(*process.Task)) {
		return r.doing(small, large, small), r.doing(larger, small, large)
	}
}

func dctCalls(r *rig) func() (one, other func(*process.Task)) {
	a := r.qpArgs(spec.IB_QPT_DRIVER)
	var err error
	a.srq, _, err = r.createSRQ(a.pd, 8, 1, spec.Mlx5CreateSRQ{BufAddr: a.ucmd.BufAddr, DBAddr: a.ucmd.DBAddr})
	require.NoError(r, err)
	a.ucmd.Flags = spec.MLX5_QP_FLAG_TYPE_DCT
	h, _, err := r.createQP(&a)
	require.NoError(r, err) // a handle comes again, and so the commands serve for each DCT
	init := spec.ModifyQP{QPHandle: h, QPState: spec.IB_QPS_INIT, PortNum: 1,
		AttrMask: spec.IB_QP_STATE | spec.IB_QP_ACCESS_FLAGS | spec.IB_QP_PKEY_INDEX | spec.IB_QP_PORT}
	ready := spec.ExModifyQP{Base: spec.ModifyQP{QPHandle: h, QPState: spec.IB_QPS_RTR, PathMtu: 3,
		AttrMask: spec.IB_QP_STATE | spec.IB_QP_MIN_RNR_TIMER | spec.IB_QP_AV | spec.IB_QP_PATH_MTU}}
	ready.Base.Dest.IsGlobal, ready.Base.Dest.PortNum = 1, 1
	query := spec.QueryQP{QPHandle: h, AttrMask: spec.IB_QP_STATE | spec.IB_QP_PORT}
	toInit := r.command(spec.IB_USER_VERBS_CMD_MODIFY_QP, 0, spec.Bytes(&init))
	toRTR := r.extended(spec.IB_USER_VERBS_EX_CMD_MODIFY_QP, modifyQPRespSize, spec.Bytes(&ready))
	ask := r.command(spec.IB_USER_VERBS_CMD_QUERY_QP, len(spec.Bytes(&spec.QueryQPResp{})), spec.Bytes(&query))
	return func() (one, other func(*process.Task)) {
		require.NoError(r, r.destroyQP(h))
		again, _, err := r.createQP(&a)
		require.NoError(r, err)
		require.Equal(r, h, again)
		return r.doing(toInit, toRTR, ask, ask), r.doing(toInit, ask, toRTR, ask)
	}
}

func reregAndAdvise(r *rig) func() (one, other func(*process.Task)) {
	pds := [2]uint32{r.allocPD(), r.allocPD()}
	page := uint64(r.take(copyuser.PageSize))
	reg := spec.RegMR{Start: page, Length: copyuser.PageSize, HcaVA: page, PDHandle: pds[0],
		AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE | spec.IB_UVERBS_ACCESS_ON_DEMAND}
	made := r.command(spec.IB_USER_VERBS_CMD_REG_MR, 12, spec.Bytes(&reg))
	require.NoError(r, r.do(r.task, made))
	h, lkey := r.u32(made.resp), r.u32(made.resp+4)
	rereg := func(pd uint32, access uint32) *command {
		req := spec.ReregMR{MRHandle: h, Flags: mrReregPD | mrReregAccess, PDHandle: pd, AccessFlags: reg.AccessFlags | access}
		return r.command(spec.IB_USER_VERBS_CMD_REREG_MR, 8, spec.Bytes(&req))
	}
	away, back := rereg(pds[1], spec.IB_UVERBS_ACCESS_REMOTE_WRITE), rereg(pds[0], 0)
	sge := spec.SGE{Addr: page, Length: copyuser.PageSize, Lkey: lkey}
	advise := r.prepare(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_ADVISE_MR,
		handleAttr(spec.UVERBS_ATTR_ADVISE_MR_PD_HANDLE, pds[0]),
		constAttr(spec.UVERBS_ATTR_ADVISE_MR_ADVICE, spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE),
		attr(spec.UVERBS_ATTR_ADVISE_MR_FLAGS, 4, spec.IB_UVERBS_ADVISE_MR_FLAG_FLUSH),
		r.in(spec.UVERBS_ATTR_ADVISE_MR_SGE_LIST, spec.Bytes(&sge)))
	prefetch := func(task *process.Task) {
		for range 4 {
			_, _ = task.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, advise)
		}
	}
	return func() (one, other func(*process.Task)) {
		_, err := r.task.Ioctl(r.fd, spec.RDMA_VERBS_IOCTL, advise)
		require.NoError(r, err, "the region is where it was")
		return r.doing(away, back, away, back), prefetch
	}
}
