package methods

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// graph writes the functions that are entered as ftrace's function_graph does,
// without those that the compiler inlined in the recorded kernels.
type graph struct {
	strings.Builder
	depth int
}

func (g *graph) Event(_ *trace.Task, e *trace.Event) {
	if e.Inlined {
		return
	}
	switch e.Kind {
	case trace.Enter:
		g.WriteString(strings.Repeat("  ", g.depth) + e.Name + "\n")
		g.depth++
	case trace.Leave:
		g.depth--
	}
}

// take returns what was written since the last look.
func (g *graph) take() string {
	s := g.String()
	g.Reset()
	return s
}

// TestTrace compares with the function_graph traces of a real 6.12 kernel that
// were recorded of the cases cq/create-destroy, busy/pd-with-mr and
// mr/reg-query-destroy, less the functions of the driver and of restrack.c.
func TestTrace(t *testing.T) {
	g := &graph{}
	r := newRig(t, trace.NewTask(1, g))
	g.take()

	r.ok(device, getContextID)
	require.Equal(t, `ib_uverbs_ioctl
  ib_uverbs_cmd_verbs
    _uverbs_alloc
    uverbs_fill_udata
    ib_uverbs_handler_UVERBS_METHOD_GET_CONTEXT
      uverbs_copy_to
      uverbs_copy_to
      ib_alloc_ucontext
      ib_init_ucontext
        ib_rdmacg_try_charge
`, g.take())

	cq := r.newCQ()
	require.Equal(t, `ib_uverbs_ioctl
  ib_uverbs_cmd_verbs
    _uverbs_alloc
    uverbs_get_uobject_from_file
      rdma_alloc_begin_uobject
        alloc_begin_idr_uobject
          alloc_uobj
            ib_uverbs_get_ucontext_file
          ib_rdmacg_try_charge
    uverbs_fill_udata
    ib_uverbs_handler_UVERBS_METHOD_CQ_CREATE
      uverbs_get_flags32
      uverbs_finalize_uobj_create
      uverbs_copy_to
    uverbs_finalize_object
      rdma_alloc_commit_uobject
        alloc_commit_idr_uobject
`, g.take())

	_, err := r.destroy(destroyCQ, cq)
	require.NoError(t, err)
	require.Equal(t, `ib_uverbs_ioctl
  ib_uverbs_cmd_verbs
    _uverbs_alloc
    uverbs_get_uobject_from_file
      rdma_lookup_get_uobject
        lookup_get_idr_uobject
          lookup_get_idr_uobject.part.0
    uobj_destroy
      uverbs_destroy_uobject
        destroy_hw_idr_uobject
          uverbs_free_cq
            ib_destroy_cq_user
            ib_uverbs_release_ucq
              ib_uverbs_release_uevent
          ib_rdmacg_uncharge
        remove_handle_idr_uobject
    ib_uverbs_handler_UVERBS_METHOD_CQ_DESTROY
      uverbs_copy_to
    rdma_lookup_put_uobject
      lookup_put_idr_uobject
`, g.take())

	pd := r.newPD()
	mr := r.newMR(pd, core.AccessLocalWrite)
	g.take()
	_, err = r.destroy(destroyPD, pd)
	require.Error(t, err)
	require.Equal(t, `ib_uverbs_ioctl
  ib_uverbs_cmd_verbs
    _uverbs_alloc
    uverbs_get_uobject_from_file
      rdma_lookup_get_uobject
        lookup_get_idr_uobject
          lookup_get_idr_uobject.part.0
    uobj_destroy
      uverbs_destroy_uobject
        destroy_hw_idr_uobject
          uverbs_free_pd
    uverbs_finalize_object
      rdma_lookup_put_uobject
        lookup_put_idr_uobject
`, g.take())

	r.ok(objMR, spec.UVERBS_METHOD_QUERY_MR, queryMRAttrs(r, mr)...)
	require.Equal(t, `ib_uverbs_ioctl
  ib_uverbs_cmd_verbs
    _uverbs_alloc
    uverbs_get_uobject_from_file
      rdma_lookup_get_uobject
        lookup_get_idr_uobject
          lookup_get_idr_uobject.part.0
    ib_uverbs_handler_UVERBS_METHOD_QUERY_MR
      uverbs_copy_to
      uverbs_copy_to
      uverbs_copy_to
      uverbs_copy_to
    uverbs_finalize_object
      rdma_lookup_put_uobject
        lookup_put_idr_uobject
`, g.take())

	_, err = r.destroy(destroyMR, mr)
	require.NoError(t, err)
	require.Equal(t, `ib_uverbs_ioctl
  ib_uverbs_cmd_verbs
    _uverbs_alloc
    uverbs_get_uobject_from_file
      rdma_lookup_get_uobject
        lookup_get_idr_uobject
          lookup_get_idr_uobject.part.0
    uobj_destroy
      uverbs_destroy_uobject
        destroy_hw_idr_uobject
          uverbs_free_mr
            ib_dereg_mr_user
          ib_rdmacg_uncharge
        remove_handle_idr_uobject
    uverbs_destroy_def_handler
    rdma_lookup_put_uobject
      lookup_put_idr_uobject
`, g.take())
}

// TestTraceSharedQP compares the functions of ib_uverbs and ib_core below the
// handler and below the destruction with those of the recorded trace of OPEN_XRCD
// and QP_CREATE of an XRC target QP, less restrack.c, and less the kernel's
// own read-write contexts and counters.
func TestTraceSharedQP(t *testing.T) {
	g := &graph{}
	r := newContext(t, trace.NewTask(1, g))
	xrcd := r.newXRCD()
	g.take()
	r.ok(objQP, qpCreat, r.qpAttrs(spec.IB_UVERBS_QPT_XRC_TGT, num(spec.UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, 0, xrcd))...)
	require.Contains(t, g.take(), `
    ib_uverbs_handler_UVERBS_METHOD_QP_CREATE
      _uverbs_get_const_unsigned
      uverbs_get_flags32
      ib_create_qp_user
        create_qp.part.0
        __ib_open_qp
      ib_qp_usecnt_inc
      uverbs_finalize_uobj_create
      uverbs_copy_to_struct_or_zero
        uverbs_copy_to
      uverbs_copy_to
`)
	require.NoError(t, r.p.Close(r.fd))
	require.Contains(t, g.take(), `
          uverbs_free_qp
            ib_destroy_qp_user
              ib_close_qp
              ib_destroy_qp_user
                ib_qp_usecnt_dec
            ib_uverbs_release_uevent
          ib_rdmacg_uncharge
      uverbs_destroy_uobject
        destroy_hw_idr_uobject
          uverbs_free_xrcd
            ib_uverbs_dealloc_xrcd
              ib_dealloc_xrcd_user
          ib_rdmacg_uncharge
`)
}

// TestTraceChannel compares a CQ with a completion channel and an async event
// descriptor, closed with its file, with the recorded traces
// close-cq-channel-file and comp-event-delivery.
func TestTraceChannel(t *testing.T) {
	g := &graph{}
	r := newContext(t, trace.NewTask(1, g))
	g.take()
	r.newAsync()
	require.Contains(t, g.take(), `
    ib_uverbs_handler_UVERBS_METHOD_ASYNC_EVENT_ALLOC
      ib_uverbs_init_async_event_file
        ib_register_event_handler
`)
	fd := r.newChannel()
	cq := r.newCQ(num(spec.UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, 0, uint64(fd)))
	g.take()
	_, err := r.destroy(destroyCQ, cq)
	require.NoError(t, err)
	require.Contains(t, g.take(), `
          uverbs_free_cq
            ib_destroy_cq_user
            ib_uverbs_release_ucq
              uverbs_uobject_put
              ib_uverbs_release_uevent
                uverbs_uobject_put
          ib_rdmacg_uncharge
`)
	require.NoError(t, r.p.Close(r.fd))
	require.Contains(t, g.take(), `
        destroy_hw_fd_uobject
          uverbs_completion_event_file_destroy_uobj
            ib_uverbs_free_event_queue
      uverbs_destroy_uobject
        destroy_hw_fd_uobject
          uverbs_async_event_destroy_uobj
            ib_unregister_event_handler
`)
}
