package methods

import (
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The structs of drivers/infiniband/core/uverbs.h that are an object's own,
// without their uobject: the Ext of such objects. Those of a CQ and of event
// files are in package kernel.

// uqp is a struct ib_uqp_object.
type uqp struct {
	kernel.UEvent
	mcastLock trace.Mutex
	mcastList []mcastEntry // in the order of their attaching
	uxrcd     *uxrcd       // of an XRC target QP
}

// Groups returns how many multicast groups the QP is noted to be in. No call may be
// under way.
func (u *uqp) Groups() int { return len(u.mcastList) }

// XRCDExt returns the Ext of the XRC domain that the QP was made through, nil if it
// was made through none.
func (u *uqp) XRCDExt() any { return u.uxrcd.ext() }

// mcastEntry is a struct ib_uverbs_mcast_entry: a multicast group that a QP is
// attached to.
type mcastEntry struct {
	gid [16]byte
	lid uint16
}

// usrq is a struct ib_usrq_object.
type usrq struct {
	kernel.UEvent
	uxrcd *uxrcd // of an XRC SRQ
}

// XRCDExt returns the Ext of the XRC domain that the SRQ was made through, nil if it
// was made through none.
func (u *usrq) XRCDExt() any { return u.uxrcd.ext() }

// uwq is a struct ib_uwq_object.
type uwq struct{ kernel.UEvent }

// uxrcd is a struct ib_uxrcd_object.
type uxrcd struct {
	refcnt atomic.Int32 // QPs and SRQs made through this handle of the domain
}

// Made returns how many QPs and SRQs there are that were made through this handle, as it
// counts them.
func (u *uxrcd) Made() int32 { return u.refcnt.Load() }

// ext is the domain as the Ext of its object.
func (u *uxrcd) ext() any {
	if u == nil {
		return nil
	}
	return u
}

// Reset makes it as new.
func (u *uqp) Reset() { *u = uqp{mcastLock: trace.Mutex{Name: "mcast_lock"}} }

// Reset makes it as new.
func (u *usrq) Reset() { *u = usrq{} }

// Reset makes it as new.
func (u *uwq) Reset() { *u = uwq{} }

// Reset makes it as new.
func (u *uxrcd) Reset() { u.refcnt.Store(0) }

func newUQP() any { return &uqp{mcastLock: trace.Mutex{Name: "mcast_lock"}} }

// qpEventHandler queues an async event of a QP; the driver calls it. A shared
// XRC target QP is no user's. It models ib_uverbs_qp_event_handler in
// drivers/infiniband/core/uverbs_main.c.
func qpEventHandler(t *trace.Task, e *core.Event) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_qp_event_handler").Leave()
	o := e.QP.Object
	if o == nil {
		return
	}
	o.Ext.(*uqp).Handle(t, o, e)
}

// srqEventHandler queues an async event of an SRQ; the driver calls it. It
// models ib_uverbs_srq_event_handler in drivers/infiniband/core/uverbs_main.c.
func srqEventHandler(t *trace.Task, e *core.Event) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_srq_event_handler").Leave()
	o := e.SRQ.Object
	o.Ext.(*usrq).Handle(t, o, e)
}

// wqEventHandler queues an async event of a work queue; the driver calls it.
// It models ib_uverbs_wq_event_handler in drivers/infiniband/core/uverbs_main.c.
func wqEventHandler(t *trace.Task, e *core.Event) {
	defer t.Enter(trace.Uverbs, "ib_uverbs_wq_event_handler").Leave()
	o := e.WQ.Object
	o.Ext.(*uwq).Handle(t, o, e)
}

// putEventFile gives back what Bundle.AsyncEvent gave, after a creation that
// failed.
func putEventFile(t *trace.Task, u *kernel.UEvent) {
	if a := u.EventFile(t); a != nil {
		a.Object.Put(t)
	}
}

// attrHW returns the hardware object that a handle attribute names. It models
// uverbs_attr_get_obj in include/rdma/uverbs_ioctl.h.
//
// Errors: attr/absent.
func attrHW[T any](b *kernel.Bundle, id uint16) (T, error) {
	o, err := b.Object(id)
	if err != nil {
		var none T
		return none, err
	}
	return o.HW.(T), nil
}

// mustHW is attrHW of a mandatory attribute.
func mustHW[T any](b *kernel.Bundle, id uint16) T {
	hw, err := attrHW[T](b, id)
	if err != nil {
		panic("methods: a mandatory attribute is absent")
	}
	return hw
}

// mustObject returns the object of a mandatory handle attribute.
func mustObject(b *kernel.Bundle, id uint16) *uobject.Object {
	o, err := b.Object(id)
	if err != nil {
		panic("methods: a mandatory attribute is absent")
	}
	return o
}

// isCopyErr says whether an output failed for another reason than that the
// user did not ask for it. It models IS_UVERBS_COPY_ERR in
// include/rdma/uverbs_ioctl.h.
func isCopyErr(err error) bool { return err != nil && err != rule.AttrAbsent }
