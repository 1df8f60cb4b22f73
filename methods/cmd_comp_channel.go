package methods

import (
	"uverbsim/kernel"
	"uverbsim/spec"
)

// uverbsCreateCompChannel makes a completion channel, the write() command of
// UVERBS_OBJECT_COMP_CHANNEL. It models ib_uverbs_create_comp_channel in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsCreateCompChannel(b *kernel.Bundle) error {
	var cmd spec.CreateCompChannel
	if err := request(b, &cmd); err != nil {
		return err
	}
	o, _, err := uobjAlloc(b, spec.UVERBS_OBJECT_COMP_CHANNEL)
	if err != nil {
		return err
	}
	o.Ext.(*kernel.CompletionEventFile).Init(b.Trace(), o)
	uobjFinalizeUobjCreate(o, b)
	resp := spec.CreateCompChannelResp{FD: uint32(o.ID())}
	return response(b, &resp)
}
