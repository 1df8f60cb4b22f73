package verbs

import (
	"errors"
	"syscall"

	"uverbsim/spec"
)

// CmdGetContext makes the context of the open file, which everything else
// needs. It models ibv_cmd_get_context in libibverbs/cmd_device.c.
//
// Errors: those of the kernel, and ErrNoFallback.
func (c *Context) CmdGetContext(uhw UHW) error {
	f := c.Frame()
	defer f.Leave()
	link := f.compat(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT,
		cmdHdrSize+spec.GetContextSize, spec.GetContextRespSize, uhw)
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT, 2, link)
	var vectors uint32
	var support uint64
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS, &vectors)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT, &support)
	how, err := c.ExecuteIoctlFallback(OpFreeContext, cmd)
	switch how {
	case Success:
		c.NumCompVectors, c.CoreSupport = vectors, support
		return nil
	case TryWrite:
		var req spec.GetContext
		var resp spec.GetContextResp
		w := writeCmd{spec.IB_USER_VERBS_CMD_GET_CONTEXT, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
		if err := c.executeLegacy(f, w, link); err != nil {
			return err
		}
		c.AsyncFD, c.NumCompVectors = int(resp.AsyncFD), resp.NumCompVectors
		return nil
	}
	return err
}

// cmdAllocAsyncFD models ibv_cmd_alloc_async_fd in libibverbs/cmd_device.c.
func (c *Context) cmdAllocAsyncFD() error {
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_ASYNC_EVENT, spec.UVERBS_METHOD_ASYNC_EVENT_ALLOC, 1, nil)
	handle := cmd.FillAttrOutFD(spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return err
	}
	c.AsyncFD = ReadAttrFD(spec.UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, handle)
	return nil
}

// QueryPort asks for the state of a port, counted from 1. It models
// ibv_cmd_query_port in libibverbs/cmd_device.c.
//
// Errors: those of the kernel.
func (c *Context) QueryPort(port uint8) (*spec.QueryPortRespEx, error) {
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_PORT, 2, nil)
	resp := new(spec.QueryPortRespEx)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_QUERY_PORT_PORT_NUM, uint64(port))
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_QUERY_PORT_RESP, resp)
	how, err := c.ExecuteIoctlFallback(OpQueryPort, cmd)
	if how == TryWrite {
		req := spec.QueryPort{PortNum: port}
		w := writeCmd{spec.IB_USER_VERBS_CMD_QUERY_PORT, spec.Bytes(&req), &req.Response, spec.Bytes(&resp.LegacyResp)}
		err = c.executeLegacy(f, w, nil)
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// QueryDevice asks for what the device can do; uhw is what its driver adds. Of
// the answer, ResponseLength bytes are valid. It models
// ibv_cmd_query_device_any in libibverbs/cmd_device.c.
//
// Errors: those of the kernel.
func (c *Context) QueryDevice(uhw UHW) (*spec.ExQueryDeviceResp, error) {
	resp := new(spec.ExQueryDeviceResp)
	var ex spec.ExQueryDevice
	command := uint32(spec.IB_USER_VERBS_CMD_FLAG_EXTENDED | spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE)
	err := c.executeCmdWrite(writeCmd{command, spec.Bytes(&ex), nil, spec.Bytes(resp)}, uhw)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		var req spec.QueryDevice
		w := writeCmd{spec.IB_USER_VERBS_CMD_QUERY_DEVICE, spec.Bytes(&req), &req.Response, spec.Bytes(&resp.Base)}
		err = c.executeCmdWrite(w, UHW{})
		resp.ResponseLength = spec.QueryDeviceRespSize
	}
	if err != nil {
		return nil, err
	}
	return resp, nil
}
