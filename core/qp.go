package core

import (
	"sync/atomic"

	"uverbsim/trace"
	"uverbsim/uobject"
)

// QP is a struct ib_qp, a queue pair.
type QP struct {
	Device         *Device
	PD             *PD
	SendCQ, RecvCQ *CQ
	SRQ            *SRQ
	XRCD           *XRCD
	RWQIndTable    *RWQIndTable
	Object         *uobject.Object
	QPNum          uint32
	Type           uint8         // enum ib_qp_type
	Port           atomic.Uint32 // 0 until a modify names one; modifies at once hold no common lock
	Usecnt         Usecnt
	Driver         any

	// RealQP is the QP that the driver knows: the QP itself, but for a handle
	// on a shared XRC target QP the one that is shared.
	RealQP *QP

	// EventHandler is called by the driver, in interrupt context.
	EventHandler func(t *trace.Task, e *Event)

	// Of a shared XRC target QP: the handles on it (open_list, newest first).
	openLock trace.Mutex
	open     []*QP
}

// QPCap is a struct ib_qp_cap. Inline data is in bytes.
type QPCap struct {
	MaxSendWR, MaxRecvWR   uint32
	MaxSendSGE, MaxRecvSGE uint32
	MaxInlineData          uint32
}

// QPInitAttr is a struct ib_qp_init_attr.
type QPInitAttr struct {
	SendCQ, RecvCQ *CQ
	SRQ            *SRQ
	XRCD           *XRCD
	Cap            QPCap
	SqSigType      uint8 // enum ib_sig_type
	Type           uint8 // enum ib_qp_type
	CreateFlags    uint32
	RWQIndTable    *RWQIndTable
	SourceQPN      uint32
	EventHandler   func(t *trace.Task, e *Event)
}

// QPAttr is a struct ib_qp_attr. PSNs and QP numbers have 24 bits.
type QPAttr struct {
	State, CurState             uint8 // enum ib_qp_state
	PathMTU                     uint8 // enum ib_mtu
	PathMigState                uint8 // enum ib_mig_state
	QKey                        uint32
	RqPSN, SqPSN, DestQPNum     uint32
	AccessFlags                 uint32
	Cap                         QPCap
	AH, AltAH                   AHAttr
	PkeyIndex, AltPkeyIndex     uint16
	EnSQDAsyncNotify            uint8
	SQDraining                  uint8
	MaxRdAtomic                 uint8
	MaxDestRdAtomic             uint8
	MinRNRTimer                 uint8
	PortNum                     uint32
	Timeout, RetryCnt, RNRRetry uint8
	AltPortNum                  uint32
	AltTimeout                  uint8
	RateLimit                   uint32
}

// AHAttr is a struct rdma_ah_attr: where packets go.
type AHAttr struct {
	DGID         [16]byte
	FlowLabel    uint32
	SGIDIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
	DLID         uint32
	SL           uint8
	SrcPathBits  uint8
	StaticRate   uint8
	IsGlobal     bool
	PortNum      uint32
	DMAC         [6]byte
}

// AH is a struct ib_ah, an address handle.
type AH struct {
	Device *Device
	PD     *PD
	Attr   AHAttr
	Driver any
}

// SendWR is a struct ib_send_wr with what its opcode adds.
type SendWR struct {
	WRID       uint64
	Opcode     uint32 // enum ib_wr_opcode
	SendFlags  uint32 // enum ib_send_flags
	ImmOrInv   [4]byte
	SGList     []SGE
	RemoteAddr uint64
	RKey       uint32
	CompareAdd uint64
	Swap       uint64
	AH         *AH
	RemoteQPN  uint32
	RemoteQKey uint32
}

// RecvWR is a struct ib_recv_wr.
type RecvWR struct {
	WRID   uint64
	SGList []SGE
}
