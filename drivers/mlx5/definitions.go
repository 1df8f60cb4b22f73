package mlx5

import (
	"uverbsim/kernel"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// definitions returns what the driver adds to the device's API: the declarations
// of spec.MLX5 with the functions that belong to them. It models mlx5_ib_defs in
// drivers/infiniband/hw/mlx5/main.c.
func (d *Device) definitions() kernel.Definitions {
	defs := kernel.Definitions{
		Module:      moduleIB,
		Spec:        spec.MLX5(),
		Types:       map[uint16]*uobject.TypeAttrs{},
		Methods:     map[kernel.MethodID]kernel.Handler{},
		IsSupported: d.isSupported,
	}
	for _, t := range objectTypes {
		defs.Types[t.id] = t.attrs
	}
	for _, m := range methodHandlers {
		defs.Methods[kernel.MethodID{Object: m.object, Method: m.method}] = m.handler
	}
	return defs
}

// objectTypes says how the driver's own objects are made and destroyed.
var objectTypes = []struct {
	id    uint16
	attrs *uobject.TypeAttrs
}{
	{spec.MLX5_IB_OBJECT_UAR, &mmapObjType},
	{spec.MLX5_IB_OBJECT_VAR, &mmapObjType},
	{spec.MLX5_IB_OBJECT_PP, &ppObjType},
	{spec.MLX5_IB_OBJECT_FLOW_MATCHER, &flowMatcherType},
	{spec.MLX5_IB_OBJECT_STEERING_ANCHOR, &steeringAnchorType},
	{spec.MLX5_IB_OBJECT_DEVX_OBJ, &devxObjType},
	{spec.MLX5_IB_OBJECT_DEVX_UMEM, &devxUmemType},
	{spec.MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, &devxCmdType},
	{spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, &devxEventType},
}

// methodHandlers has the handlers of the driver's methods.
var methodHandlers = []struct {
	object, method uint16
	handler        kernel.Handler
}{
	{spec.UVERBS_OBJECT_DEVICE, spec.MLX5_IB_METHOD_QUERY_PORT, methodQueryPort},
	{spec.UVERBS_OBJECT_DEVICE, spec.MLX5_IB_METHOD_GET_DATA_DIRECT_SYSFS_PATH, methodDataDirectPath},
	{spec.UVERBS_OBJECT_PD, spec.MLX5_IB_METHOD_PD_QUERY, pdQuery},
	{spec.UVERBS_OBJECT_DM, spec.MLX5_IB_METHOD_DM_MAP_OP_ADDR, dmMapOpAddr},
	{spec.UVERBS_OBJECT_DM, spec.MLX5_IB_METHOD_DM_QUERY, dmQuery},
	{spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC, uarObjAlloc},
	{spec.MLX5_IB_OBJECT_VAR, spec.MLX5_IB_METHOD_VAR_OBJ_ALLOC, varObjAlloc},
	{spec.MLX5_IB_OBJECT_PP, spec.MLX5_IB_METHOD_PP_OBJ_ALLOC, ppObjAlloc},
	{spec.MLX5_IB_OBJECT_FLOW_MATCHER, spec.MLX5_IB_METHOD_FLOW_MATCHER_CREATE, flowMatcherCreate},
	{spec.MLX5_IB_OBJECT_STEERING_ANCHOR, spec.MLX5_IB_METHOD_STEERING_ANCHOR_CREATE, steeringAnchorCreate},
	{spec.UVERBS_OBJECT_FLOW, spec.MLX5_IB_METHOD_CREATE_FLOW, createRawFlow},
	{spec.UVERBS_OBJECT_FLOW_ACTION, spec.MLX5_IB_METHOD_FLOW_ACTION_CREATE_MODIFY_HEADER, createModifyHeader},
	{spec.UVERBS_OBJECT_FLOW_ACTION, spec.MLX5_IB_METHOD_FLOW_ACTION_CREATE_PACKET_REFORMAT, createPacketReformat},
	{spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_OTHER, devxOther},
	{spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_QUERY_UAR, devxQueryUAR},
	{spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_QUERY_EQN, devxQueryEQN},
	{spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, devxSubscribeEvent},
	{spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_CREATE, devxObjCreate},
	{spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_MODIFY, devxObjModify},
	{spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_QUERY, devxObjQuery},
	{spec.MLX5_IB_OBJECT_DEVX_OBJ, spec.MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY, devxAsyncQuery},
	{spec.MLX5_IB_OBJECT_DEVX_UMEM, spec.MLX5_IB_METHOD_DEVX_UMEM_REG, devxUmemReg},
	{spec.MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, spec.MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC, devxCmdFDAlloc},
	{spec.MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, spec.MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC, devxEventFDAlloc},
}

// isSupported answers the conditions of the declarations.
func (d *Device) isSupported(name string) bool {
	switch name {
	case "devx_is_supported":
		return d.devxIsSupported()
	case "var_is_supported":
		return d.varIsSupported()
	case "pp_is_supported":
		return d.ppIsSupported()
	case "mlx5_ib_shared_ft_allowed":
		return d.sharedFTAllowed()
	}
	panic("mlx5: no condition " + name)
}

// ppIsSupported models pp_is_supported in drivers/infiniband/hw/mlx5/qos.c.
func (d *Device) ppIsSupported() bool {
	return d.caps.has(capQoS) && d.caps.has(capPacketPacing) && d.caps.has(capPacketPacingUID)
}

// sharedFTAllowed models mlx5_ib_shared_ft_allowed in
// drivers/infiniband/hw/mlx5/fs.c.
func (d *Device) sharedFTAllowed() bool { return d.caps.has(capSharedFT) }
