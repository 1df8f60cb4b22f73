package core

import (
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/trace"
)

// DeviceOps are a driver's operations (struct ib_device_ops). A nil field is
// an operation that the driver lacks; what depends on it is pruned from the
// device's API. Operations that the kernel hands no udata take the calling
// task.
type DeviceOps struct {
	AllocUcontext        func(ctx *Ucontext, udata *Udata) error
	DeallocUcontext      func(task *process.Task, ctx *Ucontext)
	DisassociateUcontext func(task *process.Task, ctx *Ucontext)
	QueryUcontext        func(ctx *Ucontext, attrs Attrs) error
	Mmap                 func(task *process.Task, ctx *Ucontext, area *copyuser.Area) error
	MmapFree             func(t *trace.Task, entry *MmapEntry)

	QueryDevice func(task *process.Task, dev *Device, attr *DeviceAttr, udata *Udata) error
	QueryPort   func(task *process.Task, dev *Device, port uint32, attr *PortAttr) error
	QueryPkey   func(task *process.Task, dev *Device, port uint32, index uint16) (uint16, error)
	QueryGID    func(task *process.Task, dev *Device, port uint32, index int) ([16]byte, error)

	AllocPD   func(pd *PD, udata *Udata) error
	DeallocPD func(pd *PD, udata *Udata) error

	CreateCQ    func(cq *CQ, attr *CQInitAttr, attrs Attrs) error
	ModifyCQ    func(task *process.Task, cq *CQ, count, period uint16) error
	ResizeCQ    func(cq *CQ, cqe int32, udata *Udata) error
	DestroyCQ   func(cq *CQ, udata *Udata) error
	PollCQ      func(task *process.Task, cq *CQ, n int) ([]WC, error)
	ReqNotifyCQ func(task *process.Task, cq *CQ, flags NotifyFlags) error

	RegUserMR       func(pd *PD, start, length, virtAddr uint64, access uint32, udata *Udata) (*MR, error)
	RegUserMRDmabuf func(pd *PD, offset, length, virtAddr uint64, fd int, access uint32, attrs Attrs) (*MR, error)
	RegDMMR         func(pd *PD, dm *DM, attr *DMMRAttr, attrs Attrs) (*MR, error)
	ReregUserMR     func(mr *MR, flags uint32, start, length, virtAddr uint64, access uint32, pd *PD, udata *Udata) (*MR, error)
	DeregMR         func(mr *MR, udata *Udata) error
	AdviseMR        func(pd *PD, advice, flags uint32, sg []SGE, attrs Attrs) error

	AllocMW   func(mw *MW, udata *Udata) error
	DeallocMW func(task *process.Task, mw *MW) error

	CreateUserAH func(ah *AH, attr *AHAttr, udata *Udata) error
	DestroyAH    func(task *process.Task, ah *AH, flags uint32) error

	CreateSRQ   func(srq *SRQ, attr *SRQInitAttr, udata *Udata) error
	ModifySRQ   func(srq *SRQ, attr *SRQAttr, mask uint32, udata *Udata) error
	QuerySRQ    func(task *process.Task, srq *SRQ, attr *SRQAttr) error
	DestroySRQ  func(srq *SRQ, udata *Udata) error
	PostSRQRecv func(task *process.Task, srq *SRQ, wrs []RecvWR) (bad int, err error)

	CreateQP    func(qp *QP, attr *QPInitAttr, udata *Udata) error
	ModifyQP    func(qp *QP, attr *QPAttr, mask uint32, udata *Udata) error
	QueryQP     func(task *process.Task, qp *QP, attr *QPAttr, mask uint32, init *QPInitAttr) error
	DestroyQP   func(qp *QP, udata *Udata) error
	PostSend    func(task *process.Task, qp *QP, wrs []SendWR) (bad int, err error)
	PostRecv    func(task *process.Task, qp *QP, wrs []RecvWR) (bad int, err error)
	AttachMcast func(task *process.Task, qp *QP, gid [16]byte, lid uint16) error
	DetachMcast func(task *process.Task, qp *QP, gid [16]byte, lid uint16) error

	AllocXRCD   func(xrcd *XRCD, udata *Udata) error
	DeallocXRCD func(xrcd *XRCD, udata *Udata) error

	CreateWQ           func(pd *PD, attr *WQInitAttr, udata *Udata) (*WQ, error)
	ModifyWQ           func(wq *WQ, attr *WQAttr, mask uint32, udata *Udata) error
	DestroyWQ          func(wq *WQ, udata *Udata) error
	CreateRWQIndTable  func(tbl *RWQIndTable, attr *RWQIndTableInitAttr, udata *Udata) error
	DestroyRWQIndTable func(task *process.Task, tbl *RWQIndTable) error

	CreateFlow        func(qp *QP, attr *FlowAttr, udata *Udata) (*Flow, error)
	DestroyFlow       func(task *process.Task, flow *Flow) error
	DestroyFlowAction func(task *process.Task, action *FlowAction) error

	AllocDM   func(ctx *Ucontext, attr *DMAllocAttr, attrs Attrs) (*DM, error)
	DeallocDM func(dm *DM, attrs Attrs) error

	CreateCounters  func(c *Counters, attrs Attrs) error
	DestroyCounters func(task *process.Task, c *Counters) error
	ReadCounters    func(c *Counters, attr *CountersReadAttr, attrs Attrs) error
}

// Has says whether the driver has the operation.
func (ops *DeviceOps) Has(op spec.Op) bool { return hasOp[op](ops) }

// hasOp tests the field of each operation that a definition can depend on.
var hasOp = [spec.NumOps]func(*DeviceOps) bool{
	spec.OpAllocMW:            func(o *DeviceOps) bool { return o.AllocMW != nil },
	spec.OpAllocPD:            func(o *DeviceOps) bool { return o.AllocPD != nil },
	spec.OpAllocUcontext:      func(o *DeviceOps) bool { return o.AllocUcontext != nil },
	spec.OpAllocXRCD:          func(o *DeviceOps) bool { return o.AllocXRCD != nil },
	spec.OpAttachMcast:        func(o *DeviceOps) bool { return o.AttachMcast != nil },
	spec.OpCreateCQ:           func(o *DeviceOps) bool { return o.CreateCQ != nil },
	spec.OpCreateFlow:         func(o *DeviceOps) bool { return o.CreateFlow != nil },
	spec.OpCreateQP:           func(o *DeviceOps) bool { return o.CreateQP != nil },
	spec.OpCreateRWQIndTable:  func(o *DeviceOps) bool { return o.CreateRWQIndTable != nil },
	spec.OpCreateSRQ:          func(o *DeviceOps) bool { return o.CreateSRQ != nil },
	spec.OpCreateUserAH:       func(o *DeviceOps) bool { return o.CreateUserAH != nil },
	spec.OpCreateWQ:           func(o *DeviceOps) bool { return o.CreateWQ != nil },
	spec.OpDeallocDM:          func(o *DeviceOps) bool { return o.DeallocDM != nil },
	spec.OpDeallocMW:          func(o *DeviceOps) bool { return o.DeallocMW != nil },
	spec.OpDeallocPD:          func(o *DeviceOps) bool { return o.DeallocPD != nil },
	spec.OpDeallocUcontext:    func(o *DeviceOps) bool { return o.DeallocUcontext != nil },
	spec.OpDeallocXRCD:        func(o *DeviceOps) bool { return o.DeallocXRCD != nil },
	spec.OpDeregMR:            func(o *DeviceOps) bool { return o.DeregMR != nil },
	spec.OpDestroyAH:          func(o *DeviceOps) bool { return o.DestroyAH != nil },
	spec.OpDestroyCounters:    func(o *DeviceOps) bool { return o.DestroyCounters != nil },
	spec.OpDestroyCQ:          func(o *DeviceOps) bool { return o.DestroyCQ != nil },
	spec.OpDestroyFlow:        func(o *DeviceOps) bool { return o.DestroyFlow != nil },
	spec.OpDestroyFlowAction:  func(o *DeviceOps) bool { return o.DestroyFlowAction != nil },
	spec.OpDestroyQP:          func(o *DeviceOps) bool { return o.DestroyQP != nil },
	spec.OpDestroyRWQIndTable: func(o *DeviceOps) bool { return o.DestroyRWQIndTable != nil },
	spec.OpDestroySRQ:         func(o *DeviceOps) bool { return o.DestroySRQ != nil },
	spec.OpDestroyWQ:          func(o *DeviceOps) bool { return o.DestroyWQ != nil },
	spec.OpDetachMcast:        func(o *DeviceOps) bool { return o.DetachMcast != nil },
	spec.OpModifyCQ:           func(o *DeviceOps) bool { return o.ModifyCQ != nil },
	spec.OpModifyQP:           func(o *DeviceOps) bool { return o.ModifyQP != nil },
	spec.OpModifySRQ:          func(o *DeviceOps) bool { return o.ModifySRQ != nil },
	spec.OpModifyWQ:           func(o *DeviceOps) bool { return o.ModifyWQ != nil },
	spec.OpPollCQ:             func(o *DeviceOps) bool { return o.PollCQ != nil },
	spec.OpPostRecv:           func(o *DeviceOps) bool { return o.PostRecv != nil },
	spec.OpPostSend:           func(o *DeviceOps) bool { return o.PostSend != nil },
	spec.OpPostSRQRecv:        func(o *DeviceOps) bool { return o.PostSRQRecv != nil },
	spec.OpQueryDevice:        func(o *DeviceOps) bool { return o.QueryDevice != nil },
	spec.OpQueryPort:          func(o *DeviceOps) bool { return o.QueryPort != nil },
	spec.OpQueryQP:            func(o *DeviceOps) bool { return o.QueryQP != nil },
	spec.OpQuerySRQ:           func(o *DeviceOps) bool { return o.QuerySRQ != nil },
	spec.OpRegUserMR:          func(o *DeviceOps) bool { return o.RegUserMR != nil },
	spec.OpReqNotifyCQ:        func(o *DeviceOps) bool { return o.ReqNotifyCQ != nil },
	spec.OpReregUserMR:        func(o *DeviceOps) bool { return o.ReregUserMR != nil },
	spec.OpResizeCQ:           func(o *DeviceOps) bool { return o.ResizeCQ != nil },
}
