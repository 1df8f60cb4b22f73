package mlx5

import (
	"slices"
	"sync"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// devxEventKey is what a subscription is for: an event type, with the kind of the
// object in the upper half, and the object's number; or an event of the device.
type devxEventKey struct {
	level1     uint32
	affiliated bool
	objID      uint32
}

// devxEventTable is a struct mlx5_devx_event_table: who wants which event.
type devxEventTable struct {
	mu trace.Mutex // event_xa_lock

	// list protects the two levels of the kernel's table against events that
	// come meanwhile, which RCU does there.
	list  sync.Mutex
	byKey map[devxEventKey][]*devxSubscription
}

func (e *devxEventTable) init() {
	e.mu.Name = "event_xa_lock"
	e.byKey = map[devxEventKey][]*devxSubscription{}
}

// devxSubscription is a struct devx_event_subscription: one event that goes to
// one descriptor. The kernel's can also signal an eventfd, of which there are
// none here.
type devxSubscription struct {
	file    *devxEventFile
	obj     *devxObj // nil for an event of the device
	key     devxEventKey
	cookie  uint64
	queued  bool // in file.pending; under its lock
	cleaned bool // is_cleaned
}

// failEntry asks whether an entry of the table shall fail that a subscription needs
// and that is not there. It models subscribe_event_xa_alloc in
// drivers/infiniband/hw/mlx5/devx.c, whose allocations are its only errors.
func (e *devxEventTable) failEntry(t *trace.Task, key devxEventKey, isLevel2 bool) bool {
	e.list.Lock()
	_, there := e.byKey[key]
	e.list.Unlock()
	return !there && (t.Fail(trace.Alloc, "devx_event") || isLevel2 && t.Fail(trace.Alloc, "devx_obj_event"))
}

// add puts a subscription where events find it.
func (e *devxEventTable) add(s *devxSubscription) {
	e.list.Lock()
	defer e.list.Unlock()
	e.byKey[s.key] = append(e.byKey[s.key], s)
}

// cleanup takes a subscription out again. It models devx_cleanup_subscription in
// drivers/infiniband/hw/mlx5/devx.c. The caller holds the table's lock.
func (e *devxEventTable) cleanup(s *devxSubscription) {
	if s.cleaned {
		return
	}
	s.cleaned = true
	e.list.Lock()
	defer e.list.Unlock()
	is := func(other *devxSubscription) bool { return other == s }
	if left := slices.DeleteFunc(e.byKey[s.key], is); len(left) > 0 {
		e.byKey[s.key] = left
	} else {
		delete(e.byKey, s.key)
	}
	if s.obj != nil {
		s.obj.subs = slices.DeleteFunc(slices.Clone(s.obj.subs), is)
	}
}

// dispatch hands an event to those who want it. It models dispatch_event_fd in
// drivers/infiniband/hw/mlx5/devx.c.
func (e *devxEventTable) dispatch(t *trace.Task, key devxEventKey, eqe []byte) {
	defer t.EnterInlined(moduleIB, "dispatch_event_fd").Leave()
	e.list.Lock()
	defer e.list.Unlock()
	for _, s := range e.byKey[key] {
		s.deliver(t, eqe)
	}
}

// legacyObjEvents are the events of objects that every device has
// (is_legacy_obj_event_num in drivers/infiniband/hw/mlx5/devx.c), legacyEvent
// that of the device itself (is_legacy_unaffiliated_event_num).
const (
	legacyObjEvents = 1<<eventPathMig | 1<<eventCommEst | 1<<eventSQDrained | 1<<eventSRQLastWQE | 1<<eventSRQRQLimit |
		1<<ifc.MLX5_EVENT_TYPE_CQ_ERROR | 1<<eventWQCatasError | 1<<eventPathMigFailed | 1<<eventWQInvalReq |
		1<<eventWQAccessError | 1<<eventSRQCatasError | 1<<eventDCTDrained | 1<<ifc.MLX5_EVENT_TYPE_COMP |
		1<<eventDCTKeyViol | 1<<eventXRQError
	legacyEvent = eventPortChange
)

func isLegacyObjEvent(n uint16) bool { return n < 64 && legacyObjEvents>>n&1 != 0 }

// maxSuppEventNum is MAX_SUPP_EVENT_NUM.
const maxSuppEventNum = 255

// inEventMask looks a type up in a mask of the capabilities, which begins at that
// byte.
func (d *Device) inEventMask(mask int, n uint16) bool {
	return be.Uint64(d.caps[ifc.MLX5_CAP_DEV_EVENT][mask+int(n)/64*8:])>>(n%64)&1 != 0
}

// isValidEvent says whether users may subscribe to an event of an object, or of
// the device. It models is_valid_events and is_valid_events_legacy in
// drivers/infiniband/hw/mlx5/devx.c for one of the events.
func (d *Device) isValidEvent(n uint16, ofObject bool) bool {
	switch {
	case !d.caps.has(capEventCap) && ofObject:
		return isLegacyObjEvent(n)
	case !d.caps.has(capEventCap):
		return n == legacyEvent
	case n > maxSuppEventNum:
		return false
	case ofObject:
		return n == ifc.MLX5_EVENT_TYPE_COMP || d.inEventMask(userAffiliated, n)
	}
	return d.inEventMask(userUnaffiliated, n)
}

// isUnaffiliated models is_unaffiliated_event in
// drivers/infiniband/hw/mlx5/devx.c.
func (d *Device) isUnaffiliated(typ uint8) bool {
	if !d.caps.has(capEventCap) {
		return typ == legacyEvent
	}
	return d.inEventMask(userUnaffiliated, uint16(typ))
}

// Kinds of objects as events of old have them (enum MLX5_EVENT_QUEUE_TYPE_* in
// include/linux/mlx5/device.h).
const (
	eventQueueTypeQP  = 0
	eventQueueTypeRQ  = 1
	eventQueueTypeSQ  = 2
	eventQueueTypeDCT = 6
)

// legacyObjTypes models get_legacy_obj_type in drivers/infiniband/hw/mlx5/devx.c.
var legacyObjTypes = map[uint16]uint16{
	ifc.MLX5_CMD_OP_CREATE_RQ:  eventQueueTypeRQ,
	ifc.MLX5_CMD_OP_CREATE_RMP: eventQueueTypeRQ,
	ifc.MLX5_CMD_OP_CREATE_QP:  eventQueueTypeQP,
	ifc.MLX5_CMD_OP_CREATE_SQ:  eventQueueTypeSQ,
	ifc.MLX5_CMD_OP_CREATE_DCT: eventQueueTypeDCT,
}

// objTypes are the kinds of objects as other events have them, by the command
// that makes one (enum MLX5_OBJ_TYPE_* in include/linux/mlx5/mlx5_ifc.h).
var objTypes = map[uint16]uint16{
	ifc.MLX5_CMD_OP_CREATE_QP:          0xff02,
	ifc.MLX5_CMD_OP_CREATE_PSV:         0xff03,
	ifc.MLX5_CMD_OP_CREATE_RMP:         0xff04,
	ifc.MLX5_CMD_OP_CREATE_XRC_SRQ:     0xff05,
	ifc.MLX5_CMD_OP_CREATE_RQ:          0xff06,
	ifc.MLX5_CMD_OP_CREATE_SQ:          0xff07,
	ifc.MLX5_CMD_OP_CREATE_TIR:         0xff08,
	ifc.MLX5_CMD_OP_CREATE_TIS:         0xff09,
	ifc.MLX5_CMD_OP_CREATE_DCT:         0xff0a,
	ifc.MLX5_CMD_OP_CREATE_XRQ:         0xff0b,
	ifc.MLX5_CMD_OP_CREATE_RQT:         0xff0e,
	ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER: 0xff0f,
	ifc.MLX5_CMD_OP_CREATE_CQ:          0xff10,
}

// eventObjType returns what an event of that type calls the object's kind. It
// models get_dec_obj_type in drivers/infiniband/hw/mlx5/devx.c.
func (o *devxObj) eventObjType(n uint16) uint16 {
	created := uint16(o.objID >> 32)
	switch {
	case isLegacyObjEvent(n):
		return legacyObjTypes[created]
	case created == ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT:
		return uint16(o.objID >> 48)
	}
	return objTypes[created]
}

// maxNumEvents is MAX_NUM_EVENTS.
const maxNumEvents = 16

// devxSubscribeEvent is the handler of MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT: it
// sends events of an object, or of the device, to a descriptor. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/subscribe-…, eventfd/…, attr/….
func devxSubscribeEvent(b *kernel.Bundle) error {
	c := toUcontext(b.Ucontext())
	if c.devxUID == 0 {
		return rule.MLX5DevxSubscribeNoUID
	}
	key := devxEventKey{}
	var obj *devxObj
	if o, err := b.Object(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE); err == nil {
		obj = o.HW.(*devxObj)
		key.affiliated, key.objID = true, uint32(obj.objID)
	}
	fd, err := b.Object(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE)
	if err != nil {
		return err
	}
	redirect := b.IsValid(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM)
	var cookie uint64
	if b.IsValid(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE) {
		if redirect {
			return rule.MLX5DevxSubscribeCookie
		}
		if cookie, err = b.Uint64(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE); err != nil {
			return err
		}
	}
	events, err := c.dev.eventList(b, obj != nil)
	if err != nil {
		return err
	}

	t := b.Trace()
	table := &c.dev.devxEvents
	table.mu.Lock(t)
	defer table.mu.Unlock(t)
	subs := make([]*devxSubscription, len(events))
	for i, n := range events {
		key.level1 = uint32(n)
		if obj != nil {
			key.level1 |= uint32(obj.eventObjType(n)) << 16
		}
		if table.failEntry(t, key, obj != nil) || t.Fail(trace.Alloc, "devx_event_subscription") {
			return rule.MLX5DevxSubscribeNoMemory
		}
		if redirect {
			return eventfdFget(b)
		}
		subs[i] = &devxSubscription{file: fd.Ext.(*devxEventFile), obj: obj, key: key, cookie: cookie}
	}
	for _, s := range subs {
		fd.Get(t)
		s.file.subs = append(s.file.subs, s)
		if obj != nil {
			obj.subs = append(obj.subs, s)
		}
		table.add(s)
	}
	return nil
}

// eventList reads the types of events that a call lists.
//
// Errors: mlx5-devx/subscribe-count, mlx5-devx/subscribe-type, attr/….
func (d *Device) eventList(b *kernel.Bundle, ofObject bool) ([]uint16, error) {
	const attr, size = spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 2
	n, err := b.ArraySize(attr, size)
	if err != nil {
		return nil, err
	}
	if n > maxNumEvents {
		return nil, rule.MLX5DevxSubscribeCount
	}
	data, err := b.Bytes(attr)
	if err != nil {
		return nil, err
	}
	events := make([]uint16, n)
	for i := range events {
		events[i] = le.Uint16(data[size*i:])
		if !d.isValidEvent(events[i], ofObject) {
			return nil, rule.MLX5DevxSubscribeType
		}
	}
	return events, nil
}

// eventfdFget refuses the descriptor that events shall signal: no open file is
// an eventfd here. It models eventfd_ctx_fdget in fs/eventfd.c.
//
// Errors: eventfd/bad, eventfd/foreign, attr/….
func eventfdFget(b *kernel.Bundle) error {
	fd, err := b.Uint32(spec.MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM)
	if err != nil {
		return err
	}
	f := b.Task().Fget(int(int32(fd)))
	if f == nil {
		return rule.EventfdBad
	}
	f.Put(b.Task())
	return rule.EventfdForeign
}

// devxEventNotifier hands an asynchronous event to its subscribers. It models
// devx_event_notifier in drivers/infiniband/hw/mlx5/devx.c.
func (d *Device) devxEventNotifier(t *trace.Task, eqe *hw.EQE, entry []byte) {
	if d.whitelistUID == 0 {
		return
	}
	defer t.Enter(moduleIB, "devx_event_notifier").Leave()
	if d.isUnaffiliated(eqe.Type) {
		d.devxEvents.dispatch(t, devxEventKey{level1: uint32(eqe.Type)}, entry)
		return
	}
	objType, id := eventObject(eqe)
	d.devxEvents.dispatch(t, devxEventKey{level1: uint32(eqe.Type) | uint32(objType)<<16, affiliated: true, objID: id}, entry)
}

// eventObject returns which object an event is about. It models
// get_event_obj_type and devx_get_obj_id_from_event in
// drivers/infiniband/hw/mlx5/devx.c.
func eventObject(eqe *hw.EQE) (objType uint16, id uint32) {
	number := func(at int) uint32 { return be.Uint32(eqe.Data[at:]) & 0xffffff }
	switch eqe.Type {
	case eventWQCatasError, eventWQAccessError, eventWQInvalReq, eventSRQLastWQE, eventPathMig, eventPathMigFailed,
		eventCommEst, eventSQDrained, eventSRQRQLimit, eventSRQCatasError:
		return uint16(eqe.Data[20]), number(24) // struct mlx5_eqe_qp_srq
	case ifc.MLX5_EVENT_TYPE_CQ_ERROR:
		return 0, number(0) // struct mlx5_eqe_cq_err
	case eventXRQError:
		return 0, number(20) // struct mlx5_eqe_xrq_err
	case eventDCTDrained, eventDCTKeyViol:
		return eventQueueTypeDCT, number(24) // struct mlx5_eqe_dct
	}
	return be.Uint16(eqe.Data[2:]), be.Uint32(eqe.Data[4:]) // struct affiliated_event_header
}

// devxEventFDAlloc is the handler of MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC. It
// models UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: flags/…, attr/….
func devxEventFDAlloc(b *kernel.Bundle) error {
	o, err := b.Object(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE)
	if err != nil {
		return err
	}
	flags, err := b.Flags32(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS,
		spec.MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA)
	if err != nil {
		return err
	}
	f := o.Ext.(*devxEventFile)
	f.lock.Name = "devx_async_event_file.lock"
	f.dev = toUcontext(b.Ucontext()).dev
	f.omitData = flags&spec.MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA != 0
	return nil
}
