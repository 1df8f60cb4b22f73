package verbs

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"

	"uverbsim/spec"
)

// CompChannel is a completion channel: struct ibv_comp_channel. Events about
// the queues that were created with it are read from its descriptor.
type CompChannel struct {
	Context *Context
	FD      int
	refcnt  atomic.Int32 // queues that use it
}

// ErrChannelBusy is the error of the destruction of a channel that a queue
// still uses. Its errno is EBUSY.
var ErrChannelBusy = fmt.Errorf("verbs: a completion queue still uses the channel: %w", syscall.EBUSY)

// errNoEvent is the error of a read from a channel that brought no event.
var errNoEvent = errors.New("verbs: no event came from the completion channel")

// CreateCompChannel models ibv_create_comp_channel in libibverbs/verbs.c.
//
// Errors: those of the kernel.
func (c *Context) CreateCompChannel() (*CompChannel, error) {
	var req spec.CreateCompChannel
	var resp spec.CreateCompChannelResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := c.executeCmdWrite(w, UHW{}); err != nil {
		return nil, err
	}
	return &CompChannel{Context: c, FD: int(resp.FD)}, nil
}

// Destroy closes the channel. It models ibv_destroy_comp_channel in
// libibverbs/verbs.c.
//
// Errors: ErrChannelBusy.
func (ch *CompChannel) Destroy() error {
	if ch.refcnt.Load() != 0 {
		return ErrChannelBusy
	}
	ch.Context.closeFD(ch.FD)
	return nil
}

// GetCQEvent waits for the next event of the channel and returns the queue that
// it is about. Each event is to be acknowledged before the queue can be
// destroyed. It models ibv_get_cq_event in libibverbs/verbs.c.
//
// Errors: those of read.
func (ch *CompChannel) GetCQEvent() (*CQ, error) {
	var ev spec.CompEventDesc
	whole, err := read(ch.Context, ch.FD, &ev)
	if err != nil {
		return nil, err
	}
	cq, ok := ch.Context.element(ev.CQHandle).(*CQ)
	if !whole || !ok {
		return nil, errNoEvent
	}
	if cq.Event != nil {
		cq.Event()
	}
	return cq, nil
}
