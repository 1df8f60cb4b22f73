package verbs

import (
	"errors"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// errShortWrite is the error of a write() that took less than the command. The
// kernel never does that.
var errShortWrite = errors.New("verbs: the kernel took only a part of a write() command")

// writeCmd is a write() command as the library's functions give it.
type writeCmd struct {
	command  uint32
	core     []byte  // the core's request
	response *uint64 // its member that gets the response's address, nil if it has none
	resp     []byte  // where the core's response goes
}

// executeCmdWrite runs a command that has only a write() form, plain or
// extended: execute_cmd_write and execute_cmd_write_ex of
// libibverbs/cmd_write.h.
//
// Errors: those of the system call and of the frame's memory.
func (c *Context) executeCmdWrite(w writeCmd, uhw UHW) error {
	f := c.Frame()
	defer f.Leave()
	return c.executeWriteBufs(f, &w, f.ownBufs(hdrSize(w.command), len(w.core), len(w.resp), uhw))
}

// executeLegacy runs the write() form of a command whose ioctl the kernel does
// not have, with the driver's parts of link.
//
// Errors: those of the system call and of the frame's memory.
func (c *Context) executeLegacy(f *Frame, w writeCmd, link *CommandBuffer) error {
	if link == nil {
		link = f.compat(0, 0, 0, 0, UHW{})
	}
	return c.executeWriteBufs(f, &w, f.legacyBufs(link, hdrSize(w.command), len(w.core), len(w.resp)))
}

// executeWriteBufs models execute_write_bufs and execute_write_bufs_ex of
// libibverbs/cmd_write.h.
func (c *Context) executeWriteBufs(f *Frame, w *writeCmd, b *writeBufs) error {
	if w.response != nil {
		*w.response = uint64(b.resp)
	}
	f.store(b.req+copyuser.Addr(hdrSize(w.command)), w.core)
	f.store(b.resp, w.resp)
	if f.err != nil {
		return f.err
	}
	err := c.write(f, w.command, b)
	f.load(b.resp, w.resp)
	b.link.loadOutputs()
	if err == nil {
		err = f.err
	}
	return err
}

// write models _execute_cmd_write and _execute_cmd_write_ex in
// libibverbs/cmd_fallback.c: where the kernel takes write() commands by ioctl,
// they go that way.
func (c *Context) write(f *Frame, command uint32, b *writeBufs) error {
	if c.useIoctlWrite {
		return c.ioctlWrite(f, command, b)
	}
	if isExtended(command) {
		f.putExHdr(command, b)
	} else {
		hdr := spec.CmdHdr{Command: command,
			InWords: uint16(checkDivide(b.reqSize, 4)), OutWords: uint16(checkDivide(b.respSize, 4))}
		f.store(b.req, spec.Bytes(&hdr))
	}
	n, err := c.sys.Write(c.CmdFD, b.req, uint64(b.reqSize))
	if err == nil && n != int64(b.reqSize) {
		err = errShortWrite
	}
	return err
}

// putExHdr puts the header of an extended command in front of it. Kernels that
// know write() only leave parts of the response as they are, so it is cleared.
func (f *Frame) putExHdr(command uint32, b *writeBufs) {
	hdr := spec.CmdHdr{Command: command,
		InWords: uint16(checkDivide(b.coreReq-exHdrSize, 8)), OutWords: uint16(checkDivide(b.coreResp, 8))}
	ex := spec.ExCmdHdr{Response: uint64(b.resp),
		ProviderInWords: uint16(checkDivide(b.reqSize-b.coreReq, 8)), ProviderOutWords: uint16(checkDivide(b.respSize-b.coreResp, 8))}
	f.store(b.req, spec.Bytes(&hdr))
	f.store(b.req+cmdHdrSize, spec.Bytes(&ex))
	f.store(b.resp, make([]byte, b.respSize))
}

// ioctlWrite models ioctl_write in libibverbs/cmd_fallback.c: the command goes
// as the method INVOKE_WRITE of the device.
func (c *Context) ioctlWrite(f *Frame, command uint32, b *writeBufs) error {
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, 5, nil)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_WRITE_CMD, uint64(command))
	hdr := hdrSize(command)
	if n := b.coreReq - hdr; n > 0 {
		cmd.fillAttrInAt(spec.UVERBS_ATTR_CORE_IN, b.req+copyuser.Addr(hdr), n)
	}
	if b.coreResp > 0 {
		cmd.fillAttrOutAt(spec.UVERBS_ATTR_CORE_OUT, b.resp, b.coreResp)
	}
	if n := b.reqSize - b.coreReq; n > 0 {
		cmd.fillAttrInAt(spec.UVERBS_ATTR_UHW_IN, b.req+copyuser.Addr(b.coreReq), n)
	}
	if n := b.respSize - b.coreResp; n > 0 {
		cmd.fillAttrOutAt(spec.UVERBS_ATTR_UHW_OUT, b.resp+copyuser.Addr(b.coreResp), n)
	}
	return c.ExecuteIoctl(cmd)
}
