package methods

import (
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// objectDevice is UVERBS_OBJECT_DEVICE
// (drivers/infiniband/core/uverbs_std_types_device.c). It has no instances.
var objectDevice = object{
	id: spec.UVERBS_OBJECT_DEVICE,
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_GET_CONTEXT:     getContext,
		spec.UVERBS_METHOD_QUERY_CONTEXT:   queryContext,
		spec.UVERBS_METHOD_INVOKE_WRITE:    invokeWrite,
		spec.UVERBS_METHOD_INFO_HANDLES:    infoHandles,
		spec.UVERBS_METHOD_QUERY_PORT:      queryPort,
		spec.UVERBS_METHOD_QUERY_GID_TABLE: queryGIDTable,
		spec.UVERBS_METHOD_QUERY_GID_ENTRY: queryGIDEntry,
	},
}

// getContext gives the file its context. Its outputs are written first, and
// stay written when there is no context in the end. It is the handler of
// UVERBS_METHOD_GET_CONTEXT.
func getContext(b *kernel.Bundle) error {
	err := b.CopyToUint32(spec.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, b.File().Device.NumCompVectors)
	if isCopyErr(err) {
		return err
	}
	err = b.CopyToUint64(spec.UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, spec.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS)
	if isCopyErr(err) {
		return err
	}
	if err := allocUcontext(b); err != nil {
		return err
	}
	if err := initUcontext(b); err != nil {
		b.SetUcontext(nil)
		return err
	}
	return nil
}

// queryContext tells of a context that exists, as a process needs that was
// handed the descriptor. It is the handler of UVERBS_METHOD_QUERY_CONTEXT.
//
// Errors: query-context/unsupported, those of Ucontext and those of the driver.
func queryContext(b *kernel.Bundle) error {
	ucontext, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	if ucontext.Device.Ops.QueryUcontext == nil {
		return rule.QueryContextUnsupported
	}
	err = b.CopyToUint32(spec.UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS, b.File().Device.NumCompVectors)
	if isCopyErr(err) {
		return err
	}
	err = b.CopyToUint64(spec.UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT, spec.IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS)
	if isCopyErr(err) {
		return err
	}
	return ucontext.Device.Ops.QueryUcontext(ucontext, b)
}

// invokeWrite runs a write() command: the core's part of its request and
// response lie in attributes, the driver's in UHW. It is the handler of
// UVERBS_METHOD_INVOKE_WRITE.
//
// Errors: invoke-write/core-size, those of API.Write and those of the command.
func invokeWrite(b *kernel.Bundle) error {
	cmd, err := b.Const(spec.UVERBS_ATTR_WRITE_CMD, 1<<32-1)
	if err != nil {
		return err
	}
	m, err := b.File().Device.API.Write(uint32(cmd))
	if err != nil {
		return err
	}
	b.FillUdata(&b.UCore, spec.UVERBS_ATTR_CORE_IN, spec.UVERBS_ATTR_CORE_OUT)
	if b.UCore.InLen < uint64(m.ReqSize) || b.UCore.OutLen < uint64(m.RespSize) {
		return rule.InvokeWriteCoreSize
	}
	b.UObject = nil
	err = m.Run(b)
	if b.UObject != nil {
		uobject.Finalize(b.UObject, spec.AccessNew, true, err == nil, b)
	}
	return err
}
