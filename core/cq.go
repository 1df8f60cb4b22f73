package core

import (
	"sync/atomic"

	"uverbsim/trace"
	"uverbsim/uobject"
)

// CQ is a struct ib_cq, a completion queue.
type CQ struct {
	Device *Device
	Object *uobject.Object
	Usecnt Usecnt
	Driver any

	// CQE is how many entries it has, as the driver rounded them. Calls that give it
	// another size at once may hold no common lock.
	CQE atomic.Uint32

	// CompHandler and EventHandler are called by the driver, in interrupt
	// context: for a completion that was asked for, and for an error.
	CompHandler  func(t *trace.Task, cq *CQ)
	EventHandler func(t *trace.Task, e *Event)
	Context      any // cq_context: the channel's event queue, nil if none
}

// CQInitAttr is a struct ib_cq_init_attr.
type CQInitAttr struct {
	CQE        uint32 // entries wanted
	CompVector uint32
	Flags      uint32 // enum ib_uverbs_ex_create_cq_flags
}

// NotifyFlags is enum ib_cq_notify_flags.
type NotifyFlags uint8

// The completions that a notification can be asked for.
const (
	NotifySolicited NotifyFlags = 1 // IB_CQ_SOLICITED
	NotifyNextComp  NotifyFlags = 2 // IB_CQ_NEXT_COMP
)

// WC is a struct ib_wc, a completion as poll_cq returns it.
type WC struct {
	WRID      uint64
	Status    uint32
	Opcode    uint32
	VendorErr uint32
	ByteLen   uint32
	Imm       [4]byte // big-endian
	QPNum     uint32
	SrcQP     uint32
	WCFlags   uint32
	PkeyIndex uint16
	SLID      uint32
	SL        uint8
	DLIDBits  uint8
	PortNum   uint8
}
