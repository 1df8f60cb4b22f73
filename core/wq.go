package core

import (
	"sync/atomic"

	"uverbsim/trace"
	"uverbsim/uobject"
)

// WQ is a struct ib_wq, a receive work queue.
type WQ struct {
	Device *Device
	PD     *PD
	CQ     *CQ
	Object *uobject.Object
	WQNum  uint32
	State  atomic.Uint32 // enum ib_wq_state; modifies at once hold no common lock
	Type   uint8         // enum ib_wq_type
	Usecnt Usecnt
	Driver any

	EventHandler func(t *trace.Task, e *Event)
}

// WQInitAttr is a struct ib_wq_init_attr.
type WQInitAttr struct {
	Type        uint8
	MaxWR       uint32
	MaxSGE      uint32
	CQ          *CQ // nil where the user named none; the kernel has an error pointer there
	CreateFlags uint32

	EventHandler func(t *trace.Task, e *Event)
}

// WQAttr is a struct ib_wq_attr.
type WQAttr struct {
	State, CurState  uint32
	Flags, FlagsMask uint32
}

// RWQIndTable is a struct ib_rwq_ind_table: the receive work queues that a
// hash of a packet chooses from.
type RWQIndTable struct {
	Device  *Device
	LogSize uint32
	Table   []*WQ
	TblNum  uint32
	Usecnt  Usecnt
	Driver  any
}

// RWQIndTableInitAttr is a struct ib_rwq_ind_table_init_attr.
type RWQIndTableInitAttr struct {
	LogSize uint32
	Table   []*WQ
}
