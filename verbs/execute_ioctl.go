package verbs

import (
	"fmt"
	"syscall"

	"uverbsim/spec"
)

// ErrBuffer is the error of a command that has an attribute longer than 65535
// bytes. Its errno is EINVAL.
var ErrBuffer = fmt.Errorf("verbs: an attribute is too long to be sent: %w", syscall.EINVAL)

// ExecuteIoctl sends a command buffer and its links to the kernel as one ioctl.
// The attributes of links have the kernel's answer only if it succeeded. It
// models execute_ioctl in libibverbs/cmd_ioctl.c.
//
// Errors: ErrBuffer, those of the ioctl, and those of the frame's memory.
func (c *Context) ExecuteIoctl(cmd *CommandBuffer) error {
	if cmd.bufferError {
		return ErrBuffer
	}
	all := cmd.prepareAttrs()
	cmd.hdr.NumAttrs = uint16(len(all))
	cmd.hdr.Length = uint16(spec.IoctlHdrSize + len(all)*spec.IoctlAttrSize)
	cmd.hdr.Reserved1, cmd.hdr.Reserved2 = 0, 0
	cmd.hdr.DriverID = c.driverID

	buf := spec.EncodeIoctl(&cmd.hdr, all)
	at := cmd.f.push(buf)
	if cmd.f.err != nil {
		return cmd.f.err
	}
	_, err := c.sys.Ioctl(c.CmdFD, spec.RDMA_VERBS_IOCTL, at)
	cmd.f.load(at, buf)
	decode(buf, all)
	cmd.loadOutputs()
	if err != nil {
		return err
	}
	cmd.finalizeAttrs(all)
	return cmd.f.err
}

// decode reads the attributes back.
func decode(buf []byte, attrs []spec.IoctlAttr) {
	for i := range attrs {
		attrs[i] = spec.DecodeIoctlAttr((*[spec.IoctlAttrSize]byte)(buf[spec.IoctlHdrSize+i*spec.IoctlAttrSize:]))
	}
}
