package record

import (
	"math/bits"

	"uverbsim/spec"
)

// pointer is an address of user memory that a call hands in and that the kernel
// does not copy from but pins, or keeps for the device.
type pointer struct {
	attr  uint16
	field field
	every int // 0, or the size of the elements of an array, each of which has one

	// length is how many bytes are meant; 0: none, it is no address.
	length func(in input) uint64
	// within, where it is not nil, is another pointer's field: this is an address
	// in the memory of that one, if it lies there, and else no address.
	within *field
}

const (
	coreIn = spec.UVERBS_ATTR_CORE_IN
	uhwIn  = spec.UVERBS_ATTR_UHW_IN
)

// pointers are the addresses that calls of libibverbs and mlx5 hand in.
var pointers = map[method][]pointer{
	command(spec.IB_USER_VERBS_CMD_REG_MR): {
		{attr: coreIn, field: mrStart, length: func(in input) uint64 { return in.number(coreIn, of[spec.RegMR]("Length")) }},
		{attr: coreIn, field: of[spec.RegMR]("HcaVA"), within: &mrStart},
	},
	command(spec.IB_USER_VERBS_CMD_REREG_MR): {
		{attr: coreIn, field: reregStart, length: reregLength},
		{attr: coreIn, field: of[spec.ReregMR]("HcaVA"), within: &reregStart},
	},
	{object: spec.UVERBS_OBJECT_MR, method: spec.UVERBS_METHOD_ADVISE_MR}: {
		{attr: spec.UVERBS_ATTR_ADVISE_MR_SGE_LIST, field: of[spec.SGE]("Addr"), every: spec.SGESize, length: always(1)},
	},

	{object: spec.UVERBS_OBJECT_CQ, method: spec.UVERBS_METHOD_CQ_CREATE}: queue[spec.Mlx5CreateCQ](cqLength(spec.UVERBS_ATTR_CREATE_CQ_CQE, u32)),
	command(spec.IB_USER_VERBS_CMD_CREATE_CQ):                             queue[spec.Mlx5CreateCQ](cqLength(coreIn, of[spec.CreateCQ]("CQE"))),
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_CQ):                         queue[spec.Mlx5CreateCQ](cqLength(coreIn, of[spec.ExCreateCQ]("CQE"))),
	command(spec.IB_USER_VERBS_CMD_RESIZE_CQ): {
		{attr: uhwIn, field: of[spec.Mlx5ResizeCQ]("BufAddr"), length: func(in input) uint64 {
			return entries(in.number(coreIn, of[spec.ResizeCQ]("CQE"))) * in.number(uhwIn, of[spec.Mlx5ResizeCQ]("CQESize"))
		}},
	},

	{object: spec.UVERBS_OBJECT_QP, method: spec.UVERBS_METHOD_QP_CREATE}: qp(func(in input) bool {
		_, hashes := in[spec.UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE]
		return hashes
	}),
	command(spec.IB_USER_VERBS_CMD_CREATE_QP): qp(func(input) bool { return false }),
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_QP): qp(func(in input) bool {
		return in.number(coreIn, of[spec.ExCreateQP]("CompMask"))&spec.IB_UVERBS_CREATE_QP_MASK_IND_TABLE != 0
	}),

	{object: spec.UVERBS_OBJECT_SRQ, method: spec.UVERBS_METHOD_SRQ_CREATE}: queue[spec.Mlx5CreateSRQ](func(in input) uint64 {
		return srqLength(in.number(spec.UVERBS_ATTR_CREATE_SRQ_MAX_WR, u32), in.number(spec.UVERBS_ATTR_CREATE_SRQ_MAX_SGE, u32))
	}),
	command(spec.IB_USER_VERBS_CMD_CREATE_SRQ): queue[spec.Mlx5CreateSRQ](func(in input) uint64 {
		return srqLength(in.number(coreIn, of[spec.CreateSRQ]("MaxWR")), in.number(coreIn, of[spec.CreateSRQ]("MaxSGE")))
	}),
	command(spec.IB_USER_VERBS_CMD_CREATE_XSRQ): queue[spec.Mlx5CreateSRQ](func(in input) uint64 {
		return srqLength(in.number(coreIn, of[spec.CreateXSRQ]("MaxWR")), in.number(coreIn, of[spec.CreateXSRQ]("MaxSGE")))
	}),

	{object: spec.UVERBS_OBJECT_WQ, method: spec.UVERBS_METHOD_WQ_CREATE}: queue[spec.Mlx5CreateWQ](wqLength),
	extended(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ):                         queue[spec.Mlx5CreateWQ](wqLength),

	{object: spec.MLX5_IB_OBJECT_DEVX_UMEM, method: spec.MLX5_IB_METHOD_DEVX_UMEM_REG}: {
		{attr: spec.MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR, field: u64, length: func(in input) uint64 {
			return in.number(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_LEN, u64)
		}},
	},
}

var (
	mrStart    = of[spec.RegMR]("Start")
	reregStart = of[spec.ReregMR]("Start")
)

// doorbellRecord is the length of a doorbell record.
const doorbellRecord = 8

func always(n uint64) func(input) uint64 { return func(input) uint64 { return n } }

// queue are the addresses of an mlx5 queue's buffer and of its doorbell record,
// in the driver's part T of its creation.
func queue[T any](length func(input) uint64) []pointer {
	return []pointer{
		{attr: uhwIn, field: of[T]("BufAddr"), length: length},
		{attr: uhwIn, field: of[T]("DBAddr"), length: always(doorbellRecord)},
	}
}

// entries is how many entries mlx5 makes of those that are asked for: one more,
// and a power of two (mlx5_ib_create_cq, drivers/infiniband/hw/mlx5/cq.c).
func entries(n uint64) uint64 { return powerOfTwo(n + 1) }

func powerOfTwo(n uint64) uint64 {
	if n <= 1 {
		return 1
	}
	return 1 << min(bits.Len64(n-1), 40)
}

// cqLength is the length of a completion queue whose entries are counted there.
func cqLength(attr uint16, f field) func(input) uint64 {
	return func(in input) uint64 {
		return entries(in.number(attr, f)) * in.number(uhwIn, of[spec.Mlx5CreateCQ]("CQESize"))
	}
}

// srqLength models the sizes of mlx5_ib_create_srq,
// drivers/infiniband/hw/mlx5/srq.c: each request has a segment of 16 bytes and
// one for each element, and the least size is 32.
func srqLength(wr, sge uint64) uint64 {
	const segment, least = 16, 32
	return entries(wr) * powerOfTwo(max(least, segment*(min(sge, 1<<16)+1)))
}

func wqLength(in input) uint64 {
	return in.number(uhwIn, of[spec.Mlx5CreateWQ]("RQWQECount")) << min(in.number(uhwIn, of[spec.Mlx5CreateWQ]("RQWQEShift")), 32)
}

// sqLength is the length of a send queue, whose elements have 64 bytes.
func sqLength(in input) uint64 { return in.number(uhwIn, of[spec.Mlx5CreateQP]("SQWQECount")) * 64 }

// qp are the addresses of a queue pair. One that hashes to an indirection table
// has no queues, and its driver's part is another struct; in that of a DCT a key
// takes the place of an address.
func qp(hashes func(input) bool) []pointer {
	own := func(length func(input) uint64) func(input) uint64 {
		return func(in input) uint64 {
			if hashes(in) {
				return 0
			}
			return length(in)
		}
	}
	return []pointer{
		{attr: uhwIn, field: of[spec.Mlx5CreateQP]("BufAddr"), length: own(func(in input) uint64 {
			rq := in.number(uhwIn, of[spec.Mlx5CreateQP]("RQWQECount")) << min(in.number(uhwIn, of[spec.Mlx5CreateQP]("RQWQEShift")), 32)
			return max(rq+sqLength(in), 1)
		})},
		{attr: uhwIn, field: of[spec.Mlx5CreateQP]("DBAddr"), length: own(always(doorbellRecord))},
		{attr: uhwIn, field: of[spec.Mlx5CreateQP]("SQBufAddr"), length: own(func(in input) uint64 {
			if in.number(uhwIn, of[spec.Mlx5CreateQP]("Flags"))&spec.MLX5_QP_FLAG_TYPE_DCT != 0 {
				return 0
			}
			return sqLength(in)
		})},
	}
}

// reregLength is the length of the memory that a memory region gets, 0 if it
// keeps its own.
func reregLength(in input) uint64 {
	if in.number(coreIn, of[spec.ReregMR]("Flags"))&spec.IB_MR_REREG_TRANS == 0 {
		return 0
	}
	return in.number(coreIn, of[spec.ReregMR]("Length"))
}
