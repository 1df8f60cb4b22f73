package spec

import "structs"

// The enumerators and structs of include/uapi/rdma/bnxt_re-abi.h.

// BNXT_RE_ABI_VERSION, include/uapi/rdma/bnxt_re-abi.h.
const BNXT_RE_ABI_VERSION = 1

// BNXT_RE_CHIP_ID0_CHIP_NUM_SFT, include/uapi/rdma/bnxt_re-abi.h.
const BNXT_RE_CHIP_ID0_CHIP_NUM_SFT = 0x00

// BNXT_RE_CHIP_ID0_CHIP_REV_SFT, include/uapi/rdma/bnxt_re-abi.h.
const BNXT_RE_CHIP_ID0_CHIP_REV_SFT = 0x10

// BNXT_RE_CHIP_ID0_CHIP_MET_SFT, include/uapi/rdma/bnxt_re-abi.h.
const BNXT_RE_CHIP_ID0_CHIP_MET_SFT = 0x18

// An enum without a name, include/uapi/rdma/bnxt_re-abi.h: the bits of
// BnxtReUctxResp.CompMask.
const (
	BNXT_RE_UCNTX_CMASK_HAVE_CCTX          = 0x1
	BNXT_RE_UCNTX_CMASK_HAVE_MODE          = 0x02
	BNXT_RE_UCNTX_CMASK_WC_DPI_ENABLED     = 0x04
	BNXT_RE_UCNTX_CMASK_DBR_PACING_ENABLED = 0x08
	BNXT_RE_UCNTX_CMASK_POW2_DISABLED      = 0x10
	BNXT_RE_UCNTX_CMASK_MSN_TABLE_ENABLED  = 0x40
)

// enum bnxt_re_wqe_mode, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_QPLIB_WQE_MODE_STATIC   = 0x00
	BNXT_QPLIB_WQE_MODE_VARIABLE = 0x01
	BNXT_QPLIB_WQE_MODE_INVALID  = 0x02
)

// An enum without a name, include/uapi/rdma/bnxt_re-abi.h: the bits of
// BnxtReUctxReq.CompMask.
const (
	BNXT_RE_COMP_MASK_REQ_UCNTX_POW2_SUPPORT    = 0x01
	BNXT_RE_COMP_MASK_REQ_UCNTX_VAR_WQE_SUPPORT = 0x02
)

// BnxtReUctxReq is struct bnxt_re_uctx_req.
type BnxtReUctxReq struct {
	_        structs.HostLayout
	CompMask uint64
}

// BnxtReUctxResp is struct bnxt_re_uctx_resp.
type BnxtReUctxResp struct {
	_        structs.HostLayout
	DevID    uint32
	MaxQP    uint32
	PgSize   uint32
	CQESz    uint32
	MaxCqd   uint32
	Rsvd     uint32
	CompMask uint64
	ChipId0  uint32
	ChipId1  uint32
	Mode     uint32
	Rsvd1    uint32
}

// BnxtRePDResp is struct bnxt_re_pd_resp.
type BnxtRePDResp struct {
	_    structs.HostLayout
	Pdid uint32
	Dpi  uint32
	Dbr  uint64
}

// BnxtReCQReq is struct bnxt_re_cq_req.
type BnxtReCQReq struct {
	_        structs.HostLayout
	CQVA     uint64
	CQHandle uint64
}

// enum bnxt_re_cq_mask, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_CQ_TOGGLE_PAGE_SUPPORT = 0x1
)

// BnxtReCQResp is struct bnxt_re_cq_resp.
type BnxtReCQResp struct {
	_        structs.HostLayout
	Cqid     uint32
	Tail     uint32
	Phase    uint32
	Rsvd     uint32
	CompMask uint64
}

// BnxtReResizeCQReq is struct bnxt_re_resize_cq_req.
type BnxtReResizeCQReq struct {
	_    structs.HostLayout
	CQVA uint64
}

// enum bnxt_re_qp_mask, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_QP_REQ_MASK_VAR_WQE_SQ_SLOTS = 0x1
)

// BnxtReQPReq is struct bnxt_re_qp_req.
type BnxtReQPReq struct {
	_        structs.HostLayout
	Qpsva    uint64
	Qprva    uint64
	QPHandle uint64
	CompMask uint64
	SQSlots  uint32
	_        [4]byte
}

// BnxtReQPResp is struct bnxt_re_qp_resp.
type BnxtReQPResp struct {
	_    structs.HostLayout
	Qpid uint32
	Rsvd uint32
}

// BnxtReSRQReq is struct bnxt_re_srq_req.
type BnxtReSRQReq struct {
	_         structs.HostLayout
	Srqva     uint64
	SRQHandle uint64
}

// enum bnxt_re_srq_mask, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_SRQ_TOGGLE_PAGE_SUPPORT = 0x1
)

// BnxtReSRQResp is struct bnxt_re_srq_resp.
type BnxtReSRQResp struct {
	_        structs.HostLayout
	Srqid    uint32
	Rsvd     uint32
	CompMask uint64
}

// enum bnxt_re_shpg_offt, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_BEG_RESV_OFFT = 0x00
	BNXT_RE_AVID_OFFT     = 0x10
	BNXT_RE_AVID_SIZE     = 0x04
	BNXT_RE_END_RESV_OFFT = 0xFF0
)

// enum bnxt_re_objects, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_OBJECT_ALLOC_PAGE = NSFlag + iota
	BNXT_RE_OBJECT_NOTIFY_DRV
	BNXT_RE_OBJECT_GET_TOGGLE_MEM
)

// enum bnxt_re_alloc_page_type, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_ALLOC_WC_PAGE = iota
	BNXT_RE_ALLOC_DBR_BAR_PAGE
	BNXT_RE_ALLOC_DBR_PAGE
)

// enum bnxt_re_var_alloc_page_attrs, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_ALLOC_PAGE_HANDLE = NSFlag + iota
	BNXT_RE_ALLOC_PAGE_TYPE
	BNXT_RE_ALLOC_PAGE_DPI
	BNXT_RE_ALLOC_PAGE_MMAP_OFFSET
	BNXT_RE_ALLOC_PAGE_MMAP_LENGTH
)

// enum bnxt_re_alloc_page_attrs, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_DESTROY_PAGE_HANDLE = NSFlag
)

// enum bnxt_re_alloc_page_methods, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_METHOD_ALLOC_PAGE = NSFlag + iota
	BNXT_RE_METHOD_DESTROY_PAGE
)

// enum bnxt_re_notify_drv_methods, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_METHOD_NOTIFY_DRV = NSFlag
)

// enum bnxt_re_get_toggle_mem_type, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_CQ_TOGGLE_MEM = iota
	BNXT_RE_SRQ_TOGGLE_MEM
)

// enum bnxt_re_var_toggle_mem_attrs, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_TOGGLE_MEM_HANDLE = NSFlag + iota
	BNXT_RE_TOGGLE_MEM_TYPE
	BNXT_RE_TOGGLE_MEM_RES_ID
	BNXT_RE_TOGGLE_MEM_MMAP_PAGE
	BNXT_RE_TOGGLE_MEM_MMAP_OFFSET
	BNXT_RE_TOGGLE_MEM_MMAP_LENGTH
)

// enum bnxt_re_toggle_mem_attrs, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_RELEASE_TOGGLE_MEM_HANDLE = NSFlag
)

// enum bnxt_re_toggle_mem_methods, include/uapi/rdma/bnxt_re-abi.h.
const (
	BNXT_RE_METHOD_GET_TOGGLE_MEM = NSFlag + iota
	BNXT_RE_METHOD_RELEASE_TOGGLE_MEM
)
