package rxe

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// calls is a sink that notes this module's functions as ftrace's
// function_graph does, one a line, indented by how deep it lies.
type calls struct {
	mu    sync.Mutex
	depth int
	lines []string
	on    bool
}

func (c *calls) Event(_ *trace.Task, e *trace.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e.Module != module || e.Inlined {
		return
	}
	switch e.Kind {
	case trace.Enter:
		if c.on {
			c.lines = append(c.lines, strings.Repeat("  ", c.depth)+e.Name)
		}
		c.depth++
	case trace.Leave:
		c.depth--
	}
}

// of returns what do called.
func (c *calls) of(do func()) string {
	c.lines, c.on = nil, true
	do()
	c.on = false
	return strings.Join(c.lines, "\n")
}

func graph(text string) string {
	return strings.TrimSpace(strings.ReplaceAll(text, "\t", ""))
}

// TestTrace holds the driver's calls against function_graph traces of Linux
// 6.12.117 (Debian): cq/create-destroy, mr/reg-query-destroy, a CQ that is
// mapped, the close of a file with an SRQ and a QP, and ev/arm-then-complete.
// Where a QP goes the model says one function more: the tracer showed no
// release of a queue's memory so deep.
func TestTrace(t *testing.T) {
	c := new(calls)
	r := newTracedRig(t, Config{Work: func(func()) {}}, trace.NewTask(1, c))
	same := func(what, want string, do func()) {
		t.Helper()
		require.Equal(t, graph(want), c.of(do), what)
	}

	ctx := &core.Ucontext{Device: r.dev}
	same("GET_CONTEXT", `
		rxe_alloc_ucontext
		  __rxe_add_to_pool`,
		func() { require.NoError(t, r.dev.Ops.AllocUcontext(ctx, r.udata(nil, 0))) })
	same("close", `
		rxe_dealloc_ucontext
		  __rxe_cleanup`,
		func() { r.dev.Ops.DeallocUcontext(r.task, ctx) })

	pd := &core.PD{Device: r.dev}
	same("ALLOC_PD", `
		rxe_alloc_pd
		  __rxe_add_to_pool`,
		func() { require.NoError(t, r.dev.Ops.AllocPD(pd, r.udata(nil, 0))) })
	same("DEALLOC_PD", `
		rxe_dealloc_pd
		  __rxe_cleanup`,
		func() { require.NoError(t, r.dev.Ops.DeallocPD(pd, r.udata(nil, 0))) })

	var mr *core.MR
	at := r.take(64)
	same("REG_MR", `
		rxe_reg_user_mr
		  __rxe_add_to_pool
		  __rxe_get
		  rxe_mr_init_user
		    __alloc_mr_page_info
		  __rxe_finalize`,
		func() { mr = r.newMR(at, 64, 1) })
	same("MR_DESTROY", `
		rxe_dereg_mr
		  __rxe_cleanup
		    rxe_mr_cleanup
		      __rxe_put`,
		func() { require.NoError(t, r.dev.Ops.DeregMR(mr, r.udata(nil, 0))) })

	var cq *core.CQ
	same("CQ_CREATE", `
		rxe_create_cq
		  rxe_cq_chk_attr
		  __rxe_add_to_pool
		  rxe_cq_from_init
		    rxe_queue_init
		    do_mmap_info
		      rxe_create_mmap_info`,
		func() { cq = r.newCQ(16) })
	same("REQ_NOTIFY_CQ", `
		rxe_req_notify_cq`,
		func() { require.NoError(t, r.dev.Ops.ReqNotifyCQ(r.task, cq, core.NotifyNextComp)) })

	var srq *core.SRQ
	same("SRQ_CREATE", `
		rxe_create_srq
		  rxe_srq_chk_init
		  __rxe_add_to_pool
		  __rxe_get
		  rxe_srq_from_init
		    rxe_queue_init
		    do_mmap_info
		      rxe_create_mmap_info`,
		func() {
			var err error
			srq, _, err = r.srq(core.SRQAttr{MaxWR: 4}, r.udata(nil, 24))
			require.NoError(t, err)
		})

	var qp *core.QP
	init := r.rcInit(cq)
	init.SRQ = srq
	same("QP_CREATE with an SRQ", `
		rxe_create_qp
		  rxe_qp_chk_init
		    rxe_qp_chk_cap
		  __rxe_add_to_pool
		  rxe_qp_from_init
		    __rxe_get
		    __rxe_get
		    __rxe_get
		    __rxe_get
		    rxe_queue_init
		    do_mmap_info
		      rxe_create_mmap_info
		    rxe_init_task
		    rxe_init_task
		  __rxe_finalize`,
		func() { qp = r.newQP(init) })
	same("QP_DESTROY with an SRQ", `
		rxe_destroy_qp
		  rxe_qp_chk_destroy
		  __rxe_cleanup
		    rxe_qp_cleanup
		      rxe_qp_do_cleanup
		        rxe_cleanup_task
		        rxe_cleanup_task
		        rxe_sender
		        rxe_receiver
		        rxe_queue_cleanup
		          rxe_mmap_release
		        __rxe_put
		        __rxe_put
		        __rxe_put
		        __rxe_put`,
		func() { require.NoError(t, r.dev.Ops.DestroyQP(qp, r.udata(nil, 0))) })
	same("SRQ_DESTROY", `
		rxe_destroy_srq
		  __rxe_cleanup
		    rxe_srq_cleanup
		      __rxe_put
		      rxe_queue_cleanup
		        rxe_mmap_release`,
		func() { require.NoError(t, r.dev.Ops.DestroySRQ(srq, r.udata(nil, 0))) })

	same("QP_CREATE", `
		rxe_create_qp
		  rxe_qp_chk_init
		    rxe_qp_chk_cap
		  __rxe_add_to_pool
		  rxe_qp_from_init
		    __rxe_get
		    __rxe_get
		    __rxe_get
		    rxe_queue_init
		    do_mmap_info
		      rxe_create_mmap_info
		    rxe_init_task
		    rxe_queue_init
		    do_mmap_info
		      rxe_create_mmap_info
		    rxe_init_task
		  __rxe_finalize`,
		func() { qp = r.newQP(r.rcInit(cq)) })
	same("MODIFY_QP to INIT", `
		rxe_modify_qp
		  rxe_qp_chk_attr
		  rxe_qp_from_attr`,
		func() { require.NoError(t, r.modify(qp, toInit, r.peerAttr(spec.IB_QPS_INIT, 17))) })
	same("MODIFY_QP to RTR", `
		rxe_modify_qp
		  rxe_qp_chk_attr
		    rxe_av_chk_attr
		      chk_attr
		  rxe_qp_from_attr
		    rxe_disable_task
		    rxe_enable_task
		    rxe_init_av
		      rxe_av_from_attr
		      rxe_av_fill_ip_info`,
		func() { require.NoError(t, r.modify(qp, toRTR, r.peerAttr(spec.IB_QPS_RTR, 17))) })
	same("MODIFY_QP to RTS", `
		rxe_modify_qp
		  rxe_qp_chk_attr
		  rxe_qp_from_attr`,
		func() { require.NoError(t, r.modify(qp, toRTS, r.peerAttr(spec.IB_QPS_RTS, 17))) })
	same("POST_SEND", `
		rxe_post_send
		  rxe_sched_task
		    __rxe_get`,
		func() {
			_, err := r.dev.Ops.PostSend(r.task, qp, nil)
			require.NoError(t, err)
		})
	same("CQ_DESTROY", `
		rxe_destroy_cq
		  __rxe_cleanup
		    rxe_cq_cleanup
		      rxe_queue_cleanup
		        rxe_mmap_release`,
		func() { require.NoError(t, r.dev.Ops.DestroyCQ(r.newCQUntraced(c), r.udata(nil, 0))) })
}

// newCQUntraced makes a CQ without a note of it.
func (r *rig) newCQUntraced(c *calls) *core.CQ {
	c.on = false
	defer func() { c.on = true }()
	return r.newCQ(16)
}

// TestTraceMmap is the trace of a CQ that is mapped and unmapped.
func TestTraceMmap(t *testing.T) {
	u := newUser(t)
	c := new(calls)
	u.task = u.task.NewTask(trace.NewTask(1, c))
	_, mi := u.queue()
	require.Equal(t, "rxe_mmap\nrxe_vma_close", c.of(func() {
		at, err := u.mmap(mi.Offset, uint64(mi.Size), 1)
		require.NoError(t, err)
		require.NoError(t, u.task.Munmap(at, uint64(mi.Size)))
	}))
}

// queued is a sink that notes how many messages a QP has whenever its state is let
// go of.
type queued struct {
	qp   *rxeQP
	seen []int
}

func (q *queued) Event(_ *trace.Task, e *trace.Event) {
	if e.Kind == trace.Unlock && e.Name == q.qp.stateLock.Name {
		q.seen = append(q.seen, len(q.qp.reqPkts.list))
	}
}

// TestTakenIsQueued: nobody sees a QP that took a message and has it not: it could
// be reset, and the message would hold it for ever.
func TestTakenIsQueued(t *testing.T) {
	r := newRig(t, Config{Work: func(func()) {}})
	qp := r.newQP(r.rcInit(r.newCQ(1)))
	r.connect(qp, qp.QPNum)
	q := &queued{qp: toRqp(qp)}
	q.qp.xmit(trace.NewTask(1, q), &message{isRequest: true})
	require.Equal(t, []int{0, 1}, q.seen, "sent, taken")
}
