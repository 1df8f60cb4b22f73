package stub

import (
	"syscall"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// declared are the objects of mlx5's tables that the stub has, or adds to.
var declared = map[uint16]bool{
	spec.MLX5_IB_OBJECT_FLOW_MATCHER: true, spec.UVERBS_OBJECT_FLOW: true, spec.UVERBS_OBJECT_FLOW_ACTION: true,
	spec.MLX5_IB_OBJECT_DEVX: true, spec.MLX5_IB_OBJECT_DEVX_OBJ: true, spec.MLX5_IB_OBJECT_DEVX_UMEM: true,
	spec.MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD: true, spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD: true,
	spec.UVERBS_OBJECT_CQ: true,
}

// maxFlowActions is how many actions the stub takes in one CREATE_FLOW; mlx5
// takes fewer.
const maxFlowActions = 16

// tables are mlx5's tables as far as the stub has them.
func tables(uar bool) []spec.Definition {
	var defs []spec.Definition
	for _, def := range spec.MLX5() {
		o := &def.Object
		if !declared[o.ID] && !(uar && o.ID == spec.MLX5_IB_OBJECT_UAR) {
			continue
		}
		if m := o.Method(spec.MLX5_IB_METHOD_CREATE_FLOW); m != nil && o.ID == spec.UVERBS_OBJECT_FLOW {
			m.Attr(spec.MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS).MaxItems = maxFlowActions
		}
		if m := o.Method(spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC); m != nil && o.ID == spec.MLX5_IB_OBJECT_UAR {
			length := m.Attr(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH)
			length.Len, length.MinLen = 8, 8
		}
		defs = append(defs, def)
	}
	return defs
}

// definitions are the tables with the stub's functions.
func (d *Driver) definitions(uar bool) kernel.Definitions {
	defs := kernel.Definitions{
		Module: "uvstub",
		Spec:   tables(uar),
		Types: map[uint16]*uobject.TypeAttrs{
			spec.MLX5_IB_OBJECT_FLOW_MATCHER:        {Destroy: d.free("free_matcher")},
			spec.MLX5_IB_OBJECT_DEVX_OBJ:            {Destroy: d.free("free_devx_obj")},
			spec.MLX5_IB_OBJECT_DEVX_UMEM:           {Destroy: d.free("free_umem")},
			spec.MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD:   d.descriptor(),
			spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD: d.descriptor(),
		},
		Methods: map[kernel.MethodID]kernel.Handler{
			{Object: spec.MLX5_IB_OBJECT_FLOW_MATCHER, Method: spec.MLX5_IB_METHOD_FLOW_MATCHER_CREATE}: makes(spec.MLX5_IB_ATTR_FLOW_MATCHER_CREATE_HANDLE),

			{Object: spec.UVERBS_OBJECT_FLOW, Method: spec.MLX5_IB_METHOD_CREATE_FLOW}: reach,

			{Object: spec.UVERBS_OBJECT_FLOW_ACTION, Method: spec.MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER}:   makesAction(spec.MLX5_IB_ATTR_CREATE_MODIFY_HEADER_HANDLE),
			{Object: spec.UVERBS_OBJECT_FLOW_ACTION, Method: spec.MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT}: makesAction(spec.MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_HANDLE),

			{Object: spec.MLX5_IB_OBJECT_DEVX, Method: spec.MLX5_IB_METHOD_DEVX_OTHER}:           reach,
			{Object: spec.MLX5_IB_OBJECT_DEVX, Method: spec.MLX5_IB_METHOD_DEVX_QUERY_UAR}:       reach,
			{Object: spec.MLX5_IB_OBJECT_DEVX, Method: spec.MLX5_IB_METHOD_DEVX_QUERY_EQN}:       reach,
			{Object: spec.MLX5_IB_OBJECT_DEVX, Method: spec.MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT}: reach,

			{Object: spec.MLX5_IB_OBJECT_DEVX_OBJ, Method: spec.MLX5_IB_METHOD_DEVX_OBJ_CREATE}:      makes(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE),
			{Object: spec.MLX5_IB_OBJECT_DEVX_OBJ, Method: spec.MLX5_IB_METHOD_DEVX_OBJ_MODIFY}:      reach,
			{Object: spec.MLX5_IB_OBJECT_DEVX_OBJ, Method: spec.MLX5_IB_METHOD_DEVX_OBJ_QUERY}:       reach,
			{Object: spec.MLX5_IB_OBJECT_DEVX_OBJ, Method: spec.MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY}: reach,

			{Object: spec.MLX5_IB_OBJECT_DEVX_UMEM, Method: spec.MLX5_IB_METHOD_DEVX_UMEM_REG}: makes(spec.MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE),

			{Object: spec.MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, Method: spec.MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC}:     func(*kernel.Bundle) error { return nil },
			{Object: spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, Method: spec.MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC}: allocEventFD,
		},
	}
	if uar {
		defs.Types[spec.MLX5_IB_OBJECT_UAR] = &uobject.TypeAttrs{Destroy: d.freeUAR}
		defs.Methods[kernel.MethodID{Object: spec.MLX5_IB_OBJECT_UAR, Method: spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC}] = d.allocUAR
	}
	return defs
}

// reach is the handler of a method that has nothing to do.
func reach(*kernel.Bundle) error { return reached }

// empty is what stands behind an object without hardware.
type empty struct{}

// makes is the handler of a method that makes an empty object.
func makes(attr uint16) kernel.Handler {
	return func(b *kernel.Bundle) error {
		o, err := b.Object(attr)
		if err != nil {
			return err
		}
		o.HW = new(empty)
		b.FinalizeCreate(attr)
		return nil
	}
}

// makesAction is the handler of a method that makes a flow action of no type.
func makesAction(attr uint16) kernel.Handler {
	return func(b *kernel.Bundle) error {
		o, err := b.Object(attr)
		if err != nil {
			return err
		}
		o.HW = &core.FlowAction{Device: b.Ucontext().Device}
		return nil
	}
}

// free destroys an empty object, and notes why.
func (d *Driver) free(name string) func(*uobject.Object, uobject.RemoveReason, uobject.Attrs) error {
	return func(_ *uobject.Object, why uobject.RemoveReason, _ uobject.Attrs) error {
		d.trail.said(name)
		d.trail.said(why.String())
		return nil
	}
}

// descriptor is the type of a descriptor object that nothing can be read from.
func (d *Driver) descriptor() *uobject.TypeAttrs {
	return &uobject.TypeAttrs{
		DestroyFD: func(*uobject.Object, uobject.RemoveReason, uobject.Attrs) { d.trail.said("fd_gone") },
		FileOps:   &process.FileOps{Release: uobject.FDRelease},
		FDFlags:   syscall.O_RDONLY,
	}
}

// allocEventFD takes one flag.
func allocEventFD(b *kernel.Bundle) error {
	_, err := b.Flags32(spec.MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 1)
	return err
}
