package rxe

import (
	"uverbsim/copyuser"
	"uverbsim/spec"
)

const defaultMaxValue = 1 << 20 // DEFAULT_MAX_VALUE

// enum rxe_device_param, drivers/infiniband/sw/rxe/rxe_param.h. Indexes are
// the numbers of objects in their pool.
const (
	maxMRSize          = 1<<64 - 1
	pageSizeCap        = 0xfffff000
	maxQPWR            = defaultMaxValue
	maxSGE             = 32
	maxWQESize         = sendWQESize + maxSGE*sgeSize
	maxInlineData      = maxWQESize - sendWQESize
	maxSGERd           = 32
	maxCQ              = defaultMaxValue
	maxLogCQE          = 15
	maxPD              = defaultMaxValue
	maxQPRdAtom        = 128
	maxResRdAtom       = 0x3f000
	maxQPInitRdAtom    = 128
	maxMcastGrp        = 8192
	maxMcastQPAttach   = 56
	maxTotMcastQP      = 0x70000
	maxAH              = 1<<15 - 1
	minAHIndex         = 1
	maxAHIndex         = maxAH
	maxSRQWR           = defaultMaxValue
	minSRQWR           = 1
	maxSRQSGE          = 27
	minSRQSGE          = 1
	maxPkeys           = 64
	localCAAckDelay    = 15
	maxUcontext        = defaultMaxValue
	minQPIndex         = 16
	maxQPIndex         = defaultMaxValue
	maxQP              = defaultMaxValue - minQPIndex
	minSRQIndex        = 0x00020001
	maxSRQIndex        = defaultMaxValue
	maxSRQ             = defaultMaxValue - minSRQIndex
	minMRIndex         = 1
	maxMRIndex         = defaultMaxValue >> 1
	maxMR              = maxMRIndex - minMRIndex
	minMWIndex         = maxMRIndex + 1
	maxMWIndex         = defaultMaxValue
	maxMW              = maxMWIndex - minMWIndex
	vendorID           = 0xffffff
	kernelAllowsUnreg  = 1 << 4 // IBK_ALLOW_USER_UNREG, include/rdma/ib_verbs.h
	deviceCapFlagsHigh = spec.IB_UVERBS_DEVICE_FLUSH_GLOBAL |
		spec.IB_UVERBS_DEVICE_FLUSH_PERSISTENT |
		spec.IB_UVERBS_DEVICE_ATOMIC_WRITE
	deviceCapFlagsLow = spec.IB_UVERBS_DEVICE_BAD_PKEY_CNTR |
		spec.IB_UVERBS_DEVICE_BAD_QKEY_CNTR |
		spec.IB_UVERBS_DEVICE_AUTO_PATH_MIG |
		spec.IB_UVERBS_DEVICE_CHANGE_PHY_PORT |
		spec.IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE |
		spec.IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT |
		spec.IB_UVERBS_DEVICE_SYS_IMAGE_GUID |
		spec.IB_UVERBS_DEVICE_RC_RNR_NAK_GEN |
		spec.IB_UVERBS_DEVICE_SRQ_RESIZE |
		spec.IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS |
		spec.IB_UVERBS_DEVICE_MEM_WINDOW |
		spec.IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B
)

// enum rxe_port_param, drivers/infiniband/sw/rxe/rxe_param.h, those that are
// not 0.
const (
	portGIDTblLen   = 1024
	portCapFlags    = spec.IB_UVERBS_PCF_CM_SUP
	portMaxMsgSz    = 1 << 31
	portOldMaxMsgSz = 0x800000 // without spec.RxeMaxMsgSize
	portMaxVLNum    = 1
	portPkeyTblLen  = 1
	maxHdrLength    = 80 // RXE_MAX_HDR_LENGTH, rxe_hdr.h
	defaultPkeyFull = 0xffff
	numPorts        = 1
)

// The sizes of what lies in queues, in bytes: struct ib_sge, struct rxe_cqe
// (of which struct ib_wc, the kernel's own completion, is the larger half),
// and the two work queue elements of include/uapi/rdma/rdma_user_rxe.h.
const (
	sgeSize     = 16
	cqeSize     = 72
	sendWQESize = 208
	recvWQESize = 40
)

// cacheLineSize is cache_line_size() of the modelled machine.
const cacheLineSize = 64

// pageAlign rounds a length up to whole pages (PAGE_ALIGN).
func pageAlign(n uint64) uint64 {
	return (n + copyuser.PageSize - 1) &^ (copyuser.PageSize - 1)
}

// ethMTU returns the largest IB MTU that fits into a packet of an interface
// with that MTU in bytes, 0 if none does. It models eth_mtu_int_to_enum in
// drivers/infiniband/sw/rxe/rxe_param.h.
func ethMTU(mtu int) uint8 {
	mtu -= maxHdrLength
	for i := uint8(spec.IB_MTU_4096); i >= spec.IB_MTU_256; i-- {
		if mtu >= mtuBytes(i) {
			return i
		}
	}
	return 0
}

// mtuBytes models ib_mtu_enum_to_int in include/rdma/ib_verbs.h.
func mtuBytes(mtu uint8) int { return 128 << mtu }
