package core

import (
	"uverbsim/trace"
	"uverbsim/uobject"
)

// SRQ is a struct ib_srq, a shared receive queue.
type SRQ struct {
	Device *Device
	PD     *PD
	Object *uobject.Object
	Type   uint8 // enum ib_srq_type
	CQ     *CQ   // of an XRC or tag matching SRQ
	XRCD   *XRCD
	SRQNum uint32 // of an XRC SRQ
	Usecnt Usecnt
	Driver any

	EventHandler func(t *trace.Task, e *Event)
}

// SRQAttr is a struct ib_srq_attr.
type SRQAttr struct {
	MaxWR, MaxSGE, Limit uint32
}

// SRQInitAttr is a struct ib_srq_init_attr.
type SRQInitAttr struct {
	Attr       SRQAttr
	Type       uint8
	CQ         *CQ
	XRCD       *XRCD
	MaxNumTags uint32

	EventHandler func(t *trace.Task, e *Event)
}
