package spec

// Feature is one thing in which the versions of the kernel differ. Code asks a
// kernel for a feature (Kernel.Has), never for its version.
type Feature uint8

// The features, named after what a kernel does that has them.
const (
	MRAccessFlush Feature = iota
	OnDemandUnsupported
	UmemPinByAccess
	QueryPortSpeedEx
	RxeMaxMsgSize
	RxeFlush
	RxeGrantedQPSize
	RxeGrantedSRQSize
	RxeMRAccess
	RxeReregMR
	RxeCreateQPUdataFirst
	RxeModifyQPStateLast
	RxeQPAccess
	RxeMRRkey
	RxeMRAllRights
	MLX5CreateCQUAR
	MLX5DataDirect
	MLX5QueryDeviceRegC0
	MLX5EncapICM
	EFAQueryMR
	BNXTObjects
	MANA
)

// FeatureInfo is the row of a feature in the table of features.
type FeatureInfo struct {
	Name  string // "mr-access-flush"
	Since string // the first kernel that has it: "6.12"

	Func, File string // the kernel's function that differs, and its file
	With       string // what a kernel does that has the feature
	Without    string // what one does that lacks it

	// Cases are names of recorded cases that show it: they are answered
	// otherwise by a kernel that differs in this feature. Empty is a difference
	// of the sources that no recording shows.
	Cases []string

	// Declares are the parts of definitions that come with it.
	Declares []Declared

	// Headers are the enumerators and structs that come with it in the UAPI's
	// headers: "IB_UVERBS_WR_FLUSH", "struct efa_ibv_create_qp" for a struct
	// that is new or has grown, and "BNXT_RE_*" for all that begin so and are
	// new.
	Headers []string
}

// Declared names a part of a driver's definitions, or of the core's: an object,
// a method of it, or an attribute of that. Method and Attr are -1 where none is
// meant.
type Declared struct {
	Driver               uint32 // a RDMA_DRIVER_ constant, RDMA_DRIVER_UNKNOWN for the core
	Object, Method, Attr int
}

// Info returns the feature's row.
func (f Feature) Info() FeatureInfo { return features[f] }

// String returns the feature's name.
func (f Feature) String() string { return features[f].Name }

// Features returns all features, in the order of the table.
func Features() []Feature {
	all := make([]Feature, len(features))
	for i := range all {
		all[i] = Feature(i)
	}
	return all
}

const (
	ibVerbsH     = "include/rdma/ib_verbs.h"
	umemC        = "drivers/infiniband/core/umem.c"
	stdDeviceC   = "drivers/infiniband/core/uverbs_std_types_device.c"
	ibIoctlVerbs = "include/uapi/rdma/ib_user_ioctl_verbs.h"
	rxeC         = "drivers/infiniband/sw/rxe/rxe.c"
	rxeMR        = "drivers/infiniband/sw/rxe/rxe_mr.c"
	rxeQP        = "drivers/infiniband/sw/rxe/rxe_qp.c"
	rxeSRQ       = "drivers/infiniband/sw/rxe/rxe_srq.c"
	rxeVerbs     = "drivers/infiniband/sw/rxe/rxe_verbs.c"
	mlx5CQ       = "drivers/infiniband/hw/mlx5/cq.c"
	mlx5DMC      = "drivers/infiniband/hw/mlx5/dm.c"
	mlx5MainC    = "drivers/infiniband/hw/mlx5/main.c"
	mlx5StdC     = "drivers/infiniband/hw/mlx5/std_types.c"
	efaVerbs     = "drivers/infiniband/hw/efa/efa_verbs.c"
	bnxtVerbs    = "drivers/infiniband/hw/bnxt_re/ib_verbs.c"
)

// features is the table of features.
var features = [...]FeatureInfo{
	MRAccessFlush: {
		Name: "mr-access-flush", Since: "6.12", Func: "ib_check_mr_access", File: ibVerbsH,
		With:    "The access bits 8 and 9 are rights to flush. They are EOPNOTSUPP where device_cap_flags lack them.",
		Without: "The access bits 8 and 9 are unknown: EINVAL.",
		Cases:   []string{"mr/access-100"},
		Headers: []string{"IB_UVERBS_ACCESS_FLUSH_*"},
	},
	OnDemandUnsupported: {
		Name: "on-demand-unsupported", Since: "6.12", Func: "ib_check_mr_access", File: ibVerbsH,
		With:    "On-demand paging is EOPNOTSUPP for a device that has none.",
		Without: "It is EINVAL.",
	},
	UmemPinByAccess: {
		Name: "umem-pin-by-access", Since: "6.12", Func: "ib_umem_get", File: umemC,
		With: "Memory is pinned for reading or for writing, as the access rights say.",
		Without: "Memory is always pinned for writing; where the rights do not say so, by force (FOLL_FORCE): " +
			"private memory without any protection bit can be registered, shared memory that may not be written cannot.",
		Cases: []string{"mr/noaccess"},
	},
	QueryPortSpeedEx: {
		Name: "query-port-speed-ex", Since: "6.12", Func: "ib_uverbs_handler_UVERBS_METHOD_QUERY_PORT", File: stdDeviceC,
		With:    "Bytes 44 to 47 of QUERY_PORT's answer are the active speed in full.",
		Without: "They are reserved and 0.",
		Cases:   []string{"ptrout/port-ok"},
		Headers: []string{"struct ib_uverbs_query_port_resp_ex"},
	},
	RxeMaxMsgSize: {
		Name: "rxe-max-msg-size", Since: "6.12", Func: "rxe_init_port_param", File: rxeC,
		With:    "rxe's port tells 2 GiB as the longest message.",
		Without: "It tells 8 MiB.",
		Cases:   []string{"ptrout/port-ok"},
	},
	RxeFlush: {
		Name: "rxe-flush", Since: "6.12", Func: "rxe_init_device_param", File: rxeC,
		With:    "rxe's device_cap_flags_ex have FLUSH_GLOBAL, FLUSH_PERSISTENT and ATOMIC_WRITE.",
		Without: "They have none of the three.",
		Cases:   []string{"write/ex-query-device"},
		Headers: []string{
			"IB_UVERBS_DEVICE_FLUSH_*", "IB_UVERBS_DEVICE_ATOMIC_WRITE", "IB_UVERBS_WR_FLUSH", "IB_UVERBS_WR_ATOMIC_WRITE",
			"IB_UVERBS_WC_FLUSH", "IB_UVERBS_WC_ATOMIC_WRITE", "IB_FLUSH_*", "struct rxe_send_wr.flush",
		},
	},
	RxeGrantedQPSize: {
		Name: "rxe-granted-qp-size", Since: "6.12", Func: "rxe_init_sq", File: rxeQP,
		With:    "The answer of a QP's creation tells how many work requests its queues were made for, which is a power of two less one.",
		Without: "It repeats max_send_wr and max_recv_wr as they were asked for.",
		Cases:   []string{"qp/create-rc", "qp/write-create"},
	},
	RxeGrantedSRQSize: {
		Name: "rxe-granted-srq-size", Since: "6.12", Func: "rxe_srq_from_init", File: rxeSRQ,
		With:    "The answer of an SRQ's creation tells how many receives its queue was made for, which is a power of two less one.",
		Without: "It repeats max_wr as it was asked for.",
		Cases:   []string{"srq/type-0", "srq/write-create"},
	},
	RxeMRAccess: {
		Name: "rxe-mr-access", Since: "6.12", Func: "rxe_reg_user_mr", File: rxeVerbs,
		With:    "rxe refuses access rights that it does not know (ZERO_BASED, HUGETLB) with EOPNOTSUPP.",
		Without: "It takes what the core takes.",
		Cases:   []string{"mr/access-80"},
	},
	RxeReregMR: {
		Name: "rxe-rereg-mr", Since: "6.12", Func: "rxe_rereg_user_mr", File: rxeVerbs,
		With:    "rxe can give an MR another PD or other access rights.",
		Without: "rxe has no such operation, so that REREG_MR is pruned: EOPNOTSUPP, whatever it is asked.",
		Cases:   []string{"mr/rereg-2", "mr/rereg-new-pd", "mr/rereg-trans-misaligned"},
	},
	RxeCreateQPUdataFirst: {
		Name: "rxe-create-qp-udata-first", Since: "6.12", Func: "rxe_create_qp", File: rxeVerbs,
		With:    "rxe looks at a driver's request that should not be there first.",
		Without: "It looks at it last, after the create flags and the capabilities.",
	},
	RxeModifyQPStateLast: {
		Name: "rxe-modify-qp-state-last", Since: "6.12", Func: "rxe_qp_chk_attr", File: rxeQP,
		With:    "MODIFY_QP's attributes are looked at first, and then, if the state is among them, whether the transition is possible.",
		Without: "Whether the transition is possible is looked at first, also if the state stays as it is.",
	},
	RxeQPAccess: {
		Name: "rxe-qp-access", Since: "6.12", Func: "rxe_qp_chk_attr", File: rxeQP,
		With:    "MODIFY_QP refuses access rights for a QP that is neither RC nor UC, and rights that rxe does not know, with EINVAL.",
		Without: "It takes any.",
	},
	RxeMRRkey: {
		Name: "rxe-mr-rkey", Since: "6.12", Func: "rxe_mr_init", File: rxeMR,
		With:    "The remote key of an MR is its local key.",
		Without: "It is 0 if the access rights have no remote one.",
	},
	RxeMRAllRights: {
		Name: "rxe-mr-all-rights", Since: "6.12", Func: "lookup_mr", File: rxeMR,
		With:    "A work request needs all of the rights that it uses.",
		Without: "One of them is enough.",
	},
	MLX5CreateCQUAR: {
		Name: "mlx5-create-cq-uar", Since: "6.12", Func: "create_cq_user", File: mlx5CQ,
		With:     "CQ_CREATE has mlx5's attribute with the index of a UAR.",
		Without:  "CQ_CREATE has no attribute of mlx5's.",
		Declares: []Declared{{RDMA_DRIVER_MLX5, UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX}},
		Headers:  []string{"MLX5_IB_ATTR_CREATE_CQ_UAR_INDEX", "UVERBS_ID_DRIVER_NS*"},
	},
	MLX5DataDirect: {
		Name: "mlx5-data-direct", Since: "6.12", Func: "mlx5_ib_handler_MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH", File: mlx5StdC,
		With:    "mlx5 can reach dma-bufs through a data-direct device.",
		Without: "Neither the method that names that device is there nor the attribute of REG_DMABUF_MR that asks for it.",
		Declares: []Declared{
			{RDMA_DRIVER_MLX5, UVERBS_OBJECT_DEVICE, MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH, none},
			{RDMA_DRIVER_MLX5, UVERBS_OBJECT_MR, UVERBS_METHOD_REG_DMABUF_MR, MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS},
		},
		Headers: []string{
			"MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH", "MLX5_IB_ATTR_GET_DATA_DIRECT_SYSFS_PATH",
			"MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS", "MLX5_IB_UAPI_REG_DMABUF_ACCESS_DATA_DIRECT",
		},
	},
	MLX5QueryDeviceRegC0: {
		Name: "mlx5-query-device-reg-c0", Since: "6.12", Func: "mlx5_ib_query_device", File: mlx5MainC,
		With:    "mlx5's part of QUERY_DEVICE's answer ends with the register C0.",
		Without: "It ends before.",
		Headers: []string{"struct mlx5_ib_query_device_resp"},
	},
	MLX5EncapICM: {
		Name: "mlx5-encap-icm", Since: "6.12", Func: "mlx5_ib_alloc_dm", File: mlx5DMC,
		With:    "DM_ALLOC knows a kind of device memory for encapsulation headers.",
		Without: "That kind is EOPNOTSUPP.",
		Headers: []string{"MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM"},
	},
	EFAQueryMR: {
		Name: "efa-query-mr", Since: "6.12", Func: "efa_ib_handler_EFA_IB_METHOD_MR_QUERY", File: efaVerbs,
		With:     "efa has a method that tells through what an MR is reached, and flags for a QP's creation.",
		Without:  "efa adds nothing to the core's methods.",
		Declares: []Declared{{RDMA_DRIVER_EFA, UVERBS_OBJECT_MR, EFA_IB_METHOD_MR_QUERY, none}},
		Headers:  []string{"EFA_*", "struct efa_ibv_create_qp"},
	},
	BNXTObjects: {
		Name: "bnxt-objects", Since: "6.12", Func: "bnxt_re_uapi_defs", File: bnxtVerbs,
		With:    "bnxt_re has objects of its own, for doorbell pages and toggle memory.",
		Without: "bnxt_re adds nothing to the core's methods.",
		Declares: []Declared{
			{RDMA_DRIVER_BNXT_RE, BNXT_RE_OBJECT_ALLOC_PAGE, none, none},
			{RDMA_DRIVER_BNXT_RE, BNXT_RE_OBJECT_NOTIFY_DRV, none, none},
			{RDMA_DRIVER_BNXT_RE, BNXT_RE_OBJECT_GET_TOGGLE_MEM, none, none},
		},
		Headers: []string{"BNXT_RE_*", "struct bnxt_re_*"},
	},
	MANA: {
		Name: "mana", Since: "6.12", Func: "enum rdma_driver_id", File: ibIoctlVerbs,
		With:    "The driver mana has an id.",
		Without: "There is no such driver.",
		Headers: []string{"RDMA_DRIVER_MANA"},
	},
}
