package faults

import (
	"slices"
	"syscall"

	"uverbsim/trace"
)

// Exception is a place at which the table by kind does not hold: what a call answers
// in which such a step fails.
type Exception struct {
	Kinds  []trace.Step // of these kinds, none for any
	What   []string     // one of these steps, none for any
	In     []string     // within all of these functions
	Either []string     // and within one of these, none for any
	Errno  []syscall.Errno
	Copied bool // or EFAULT, if what the device said cannot be copied out
	GoesOn bool // the call answers what it does without the fault
	Why    string
}

func (e *Exception) of(s *Step) bool {
	if len(e.Kinds) > 0 && !slices.Contains(e.Kinds, s.Kind) || len(e.What) > 0 && !slices.Contains(e.What, s.What) {
		return false
	}
	for _, f := range e.In {
		if !s.In(f) {
			return false
		}
	}
	return len(e.Either) == 0 || slices.ContainsFunc(e.Either, s.In)
}

var (
	commands = []trace.Step{trace.Command, trace.Timeout, trace.Alloc} // and the memory for one
	op       = []trace.Step{trace.Op}
)

// devxCommands are the handlers that pass a command of the user's on, and what the
// device says to it.
var devxCommands = []string{
	"mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE", "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OTHER",
	"mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_QUERY", "mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_MODIFY",
}

// Exceptions are all of them. The first that is met holds.
var Exceptions = []Exception{
	// What answers nobody.
	{In: []string{"ib_uverbs_async_handler"}, GoesOn: true,
		Why: "ib_uverbs_async_handler returns nothing: an event that there is no memory for is lost"},
	{In: []string{"ib_uverbs_comp_handler"}, GoesOn: true,
		Why: "ib_uverbs_comp_handler returns nothing: a completion event that there is no memory for is lost"},
	{In: []string{"rdma_umap_open"}, GoesOn: true,
		Why: "rdma_umap_open cannot fail: it takes the pages out of the child's mapping"},
	{In: []string{"mlx5_ib_mmap_free"}, GoesOn: true,
		Why: "mlx5_ib_mmap_free returns nothing"},
	{In: []string{"rdma_alloc_abort_uobject"}, GoesOn: true,
		Why: "rdma_alloc_abort_uobject returns nothing: the answer is the one that made it abort"},

	// What is not looked at.
	{Kinds: op, What: []string{"req_notify_cq"}, In: []string{"ib_uverbs_req_notify_cq"}, GoesOn: true,
		Why: "ib_uverbs_req_notify_cq does not look at what ib_req_notify_cq answers"},
	{Kinds: op, What: []string{"query_qp"}, In: []string{"is_valid_mcast_lid"}, GoesOn: true,
		Why: "is_valid_mcast_lid asks all ports when it cannot learn the queue pair's"},
	{Kinds: op, What: []string{"destroy_qp"}, In: []string{"__ib_destroy_shared_qp"}, GoesOn: true,
		Why: "__ib_destroy_shared_qp answers 0 whatever ib_destroy_qp does"},
	{In: []string{"destroy_qp_common"}, GoesOn: true,
		Why: "destroy_qp_common returns nothing: it warns"},
	{In: []string{"deallocate_uars"}, GoesOn: true,
		Why: "deallocate_uars does not look at what mlx5_cmd_uar_dealloc answers"},
	{In: []string{"mlx5_ib_dealloc_transport_domain"}, GoesOn: true,
		Why: "mlx5_ib_dealloc_transport_domain returns nothing"},
	{In: []string{"mlx5_ib_devx_destroy"}, GoesOn: true,
		Why: "mlx5_ib_devx_destroy returns nothing"},
	{In: []string{"mlx5_del_flow_rules"}, GoesOn: true,
		Why: "mlx5_del_flow_rules returns nothing: fs_core.c warns"},
	{In: []string{"put_flow_table"}, GoesOn: true,
		Why: "put_flow_table does not look at what mlx5_destroy_flow_table answers"},
	{Kinds: commands, What: []string{"DEALLOC_UAR"}, In: []string{"uar_mmap"}, GoesOn: true,
		Why: "uar_mmap answers why the register could not be mapped"},
	{Kinds: commands, What: []string{"DEALLOC_PD"}, In: []string{"mlx5_ib_alloc_pd"}, GoesOn: true,
		Why: "mlx5_ib_alloc_pd answers that its number could not be told"},
	{Kinds: commands, What: []string{"DEALLOC_FLOW_COUNTER"}, GoesOn: true,
		Why: "mlx5_fc_destroy returns nothing"},
	{Kinds: commands, What: []string{"DEALLOC_MODIFY_HEADER_CONTEXT"}, GoesOn: true,
		Why: "mlx5_modify_header_dealloc returns nothing"},
	{Kinds: commands, What: []string{"DESTROY_CQ"}, In: []string{"mlx5_ib_create_cq"}, GoesOn: true,
		Why: "mlx5_ib_create_cq answers that its number could not be told"},
	{Kinds: commands, What: []string{"DESTROY_DCT", "DRAIN_DCT"}, In: []string{"mlx5_ib_modify_dct"}, GoesOn: true,
		Why: "mlx5_ib_modify_dct answers that its number could not be told"},
	{Kinds: commands, What: []string{"DESTROY_MKEY"}, In: []string{"mlx5_ib_alloc_mw"}, GoesOn: true,
		Why: "mlx5_ib_alloc_mw answers that what it says could not be told"},
	{Kinds: commands, What: []string{"DESTROY_RMP", "DESTROY_XRC_SRQ"}, In: []string{"mlx5_ib_create_srq"}, GoesOn: true,
		Why: "mlx5_ib_create_srq answers that its number could not be told"},
	{Kinds: commands, What: []string{"DESTROY_RQ"}, In: []string{"mlx5_ib_create_wq"}, GoesOn: true,
		Why: "mlx5_ib_create_wq answers that what it says could not be told"},
	{Kinds: commands, What: []string{"DESTROY_RQT"}, In: []string{"mlx5_ib_create_rwq_ind_table"}, GoesOn: true,
		Why: "mlx5_ib_create_rwq_ind_table answers that what it says could not be told"},
	{Kinds: commands, What: []string{"DESTROY_SQ", "DESTROY_RQ", "DESTROY_TIS", "DESTROY_TIR"}, In: []string{"create_raw_packet_qp"}, GoesOn: true,
		Why: "create_raw_packet_qp answers why the next of its parts could not be made"},
	{Kinds: commands, What: []string{"QUERY_NIC_VPORT_CONTEXT"}, In: []string{"mlx5_query_min_inline"}, GoesOn: true,
		Why: "mlx5_query_min_inline returns nothing"},
	{Kinds: commands, What: []string{"QUERY_NIC_VPORT_CONTEXT"}, In: []string{"mlx5_query_port_roce"}, GoesOn: true,
		Why: "mlx5_query_port_roce does not look at what mlx5_query_nic_vport_qkey_viol_cntr answers"},
	{Kinds: []trace.Step{trace.Command, trace.Timeout}, In: []string{"mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY"}, GoesOn: true,
		Why: "mlx5_cmd_exec_cb is answered in the event"},
	{Kinds: commands, In: []string{"mlx5_ib_handler_MLX5_IB_METHOD_DEVX_OBJ_CREATE", "mlx5_cmd_exec"}, GoesOn: true,
		Why: "the handler of DEVX_OBJ_CREATE answers why the object could not be told"},
	{In: []string{"uverbs_destroy_ufile_hw"}, GoesOn: true, // behind those that the call looks at as little in it
		Why: "uverbs_destroy_ufile_hw returns nothing: a file that is closed, or whose device goes, is let go whatever fails"},

	// What is answered otherwise.
	{Kinds: []trace.Step{trace.Command}, Either: devxCommands, Errno: []syscall.Errno{syscall.EREMOTEIO}, Copied: true,
		Why: "mlx5_cmd_do answers EREMOTEIO to a caller that looks at the status itself; what the device said is copied out, which may fault"},
	{Kinds: []trace.Step{trace.Alloc}, What: []string{"io_remap_pfn_range"}, In: []string{"rdma_user_mmap_io"}, Errno: []syscall.Errno{syscall.EAGAIN},
		Why: "rdma_user_mmap_io answers EAGAIN whatever io_remap_pfn_range does"},
	{Kinds: []trace.Step{trace.Alloc}, What: []string{"mlx5_ib_dm_op_entry"}, Errno: []syscall.Errno{syscall.ENOENT},
		Why: "the handler of DM_MAP_OP_ADDR answers what map_existing_op has left in err when kzalloc fails"},
	{What: []string{"memdup_user"}, In: []string{"mlx5_ib_query_device"}, Errno: []syscall.Errno{syscall.EINVAL},
		Why: "ib_is_buffer_cleared answers that a buffer which it cannot look at is not cleared; mlx5_ib_query_device refuses that with EINVAL"},
	{What: []string{"memdup_user"}, In: []string{"mlx5_ib_create_qp"}, Errno: []syscall.Errno{syscall.EINVAL},
		Why: "ib_is_buffer_cleared answers that a buffer which it cannot look at is not cleared; check_ucmd_data and process_udata_size refuse that with EINVAL"},
	{What: []string{"memdup_user"}, In: []string{"create_srq_user"}, Errno: []syscall.Errno{syscall.EINVAL},
		Why: "ib_is_buffer_cleared answers that a buffer which it cannot look at is not cleared; create_srq_user refuses that with EINVAL"},
	{What: []string{"memdup_user"}, Errno: []syscall.Errno{syscall.EOPNOTSUPP},
		Why: "ib_is_buffer_cleared answers that a buffer which it cannot look at is not cleared; uverbs_request, uverbs_request_finish, uverbs_process_attr and most drivers refuse that with EOPNOTSUPP"},
}

// closing is the exception for what fails while a file is closed.
var closing = func() *Exception {
	i := slices.IndexFunc(Exceptions, func(e Exception) bool { return slices.Equal(e.In, []string{"uverbs_destroy_ufile_hw"}) })
	return &Exceptions[i]
}()
