package verbs

import (
	"errors"

	"uverbsim/spec"
)

// AsyncEvent is an asynchronous event: struct ibv_async_event. Of CQ, QP and
// SRQ, the one that the event is about is set, by its type; PortNum is the port
// of the others, and 0 if they have none.
type AsyncEvent struct {
	Type    EventType
	CQ      *CQ
	QP      *QP
	SRQ     *SRQ
	PortNum uint32
}

// errNoAsyncEvent is the error of a read that brought no event, or one about an
// object that the context does not have.
var errNoAsyncEvent = errors.New("verbs: no asynchronous event came from the device")

// GetAsyncEvent waits for the next asynchronous event of the context. Each
// event is to be acknowledged, or its object cannot be destroyed. It models
// ibv_get_async_event in libibverbs/device.c.
//
// Errors: those of read.
func (c *Context) GetAsyncEvent() (*AsyncEvent, error) {
	var desc spec.AsyncEventDesc
	whole, err := read(c, c.AsyncFD, &desc)
	if err != nil {
		return nil, err
	}
	if !whole {
		return nil, errNoAsyncEvent
	}
	ev := &AsyncEvent{Type: EventType(desc.EventType)}
	known := true
	switch ev.Type {
	case IBV_EVENT_CQ_ERR:
		ev.CQ, known = c.element(desc.Element).(*CQ)
	case IBV_EVENT_QP_FATAL, IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_ACCESS_ERR, IBV_EVENT_COMM_EST,
		IBV_EVENT_SQ_DRAINED, IBV_EVENT_PATH_MIG, IBV_EVENT_PATH_MIG_ERR, IBV_EVENT_QP_LAST_WQE_REACHED:
		ev.QP, known = c.element(desc.Element).(*QP)
	case IBV_EVENT_SRQ_ERR, IBV_EVENT_SRQ_LIMIT_REACHED:
		ev.SRQ, known = c.element(desc.Element).(*SRQ)
	default:
		ev.PortNum = uint32(desc.Element)
	}
	if !known {
		return nil, errNoAsyncEvent
	}
	return ev, nil
}

// Ack says that the program is done with the event. It models
// ibv_ack_async_event in libibverbs/device.c.
func (ev *AsyncEvent) Ack() {
	switch {
	case ev.CQ != nil:
		ev.CQ.asyncEvents.add(1)
	case ev.QP != nil:
		ev.QP.events.add(1)
	case ev.SRQ != nil:
		ev.SRQ.events.add(1)
	}
}
