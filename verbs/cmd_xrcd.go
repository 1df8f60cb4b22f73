package verbs

import "uverbsim/spec"

// XRCD is a domain of extended reliable connections: struct ibv_xrcd with struct
// verbs_xrcd.
type XRCD struct {
	Context *Context
	Handle  uint32
}

// OpenXRCD opens the domain that goes with the file of a descriptor, or one
// without a file if fd is -1; oflags are O_CREAT and O_EXCL. It models
// ibv_cmd_open_xrcd in libibverbs/cmd.c.
//
// Errors: those of the kernel.
func (c *Context) OpenXRCD(fd, oflags int) (*XRCD, error) {
	req := spec.OpenXRCD{FD: uint32(int32(fd)), Oflags: uint32(oflags)}
	var resp spec.OpenXRCDResp
	w := writeCmd{spec.IB_USER_VERBS_CMD_OPEN_XRCD, spec.Bytes(&req), &req.Response, spec.Bytes(&resp)}
	if err := c.executeCmdWrite(w, UHW{}); err != nil {
		return nil, err
	}
	return &XRCD{Context: c, Handle: resp.XRCDHandle}, nil
}

// Close models ibv_cmd_close_xrcd in libibverbs/cmd_xrcd.c.
//
// Errors: those of the kernel.
func (x *XRCD) Close() error {
	req := spec.CloseXRCD{XRCDHandle: x.Handle}
	return x.Context.destroy(OpCloseXRCD, spec.UVERBS_OBJECT_XRCD, spec.UVERBS_METHOD_XRCD_DESTROY,
		spec.UVERBS_ATTR_DESTROY_XRCD_HANDLE, x.Handle,
		writeCmd{command: spec.IB_USER_VERBS_CMD_CLOSE_XRCD, core: spec.Bytes(&req)})
}
