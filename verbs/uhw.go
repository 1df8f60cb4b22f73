package verbs

import (
	"uverbsim/copyuser"
	"uverbsim/spec"
)

// UHW are the driver's parts of a command, in both directions; either may be
// nil. Out is filled in when the command was executed, and left as it is where
// the kernel writes nothing.
type UHW struct {
	In, Out []byte
}

// compat returns a command buffer with the driver's parts of a command that has
// a write() form: DECLARE_CMD_BUFFER_COMPAT of libibverbs/cmd_write.h. coreReq
// and coreResp are the lengths of what a write() command has in front of them.
func (f *Frame) compat(object, method uint16, coreReq, coreResp int, uhw UHW) *CommandBuffer {
	cmd := f.CommandBuffer(object, method, 2, nil)
	req, resp := f.alloc(coreReq+len(uhw.In)), f.alloc(coreResp+len(uhw.Out))
	f.store(req+copyuser.Addr(coreReq), uhw.In)
	f.store(resp+copyuser.Addr(coreResp), uhw.Out)
	cmd.writeSetUHW(req, coreReq, coreReq+len(uhw.In), resp, coreResp, coreResp+len(uhw.Out))
	if uhw.Out != nil {
		cmd.outs = append(cmd.outs, output{resp + copyuser.Addr(coreResp), uhw.Out})
	}
	return cmd
}

// writeSetUHW models _write_set_uhw in libibverbs/cmd_ioctl.c.
func (cmd *CommandBuffer) writeSetUHW(req copyuser.Addr, coreReq, reqSize int, resp copyuser.Addr, coreResp, respSize int) {
	if coreReq < reqSize {
		cmd.uhwIn = len(cmd.attrs)
		cmd.fillAttrInUHW(spec.UVERBS_ATTR_UHW_IN, req+copyuser.Addr(coreReq), reqSize-coreReq)
		cmd.uhwInHeadroomDwords = checkDivide(coreReq, 4)
	}
	if coreResp < respSize {
		cmd.uhwOut = len(cmd.attrs)
		cmd.fillAttrOutAt(spec.UVERBS_ATTR_UHW_OUT, resp+copyuser.Addr(coreResp), respSize-coreResp)
		cmd.uhwOutHeadroomDwords = checkDivide(coreResp, 4)
	}
}

// The lengths of the headers of a plain and of an extended write() command.
const (
	cmdHdrSize = spec.CmdHdrSize
	exHdrSize  = spec.CmdHdrSize + spec.ExCmdHdrSize
)

// isExtended says whether a command is an extended one.
func isExtended(command uint32) bool { return command&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0 }

// hdrSize is the length of a command's header.
func hdrSize(command uint32) int {
	if isExtended(command) {
		return exHdrSize
	}
	return cmdHdrSize
}

// isLegacy says whether write() can do without the attribute or has it too.
func (cmd *CommandBuffer) isLegacy(i int) bool {
	a := &cmd.attrs[i]
	return a.AttrID == spec.UVERBS_ATTR_UHW_IN || a.AttrID == spec.UVERBS_ATTR_UHW_OUT ||
		a.Flags&spec.UVERBS_ATTR_F_MANDATORY == 0
}

// writeBufs are the request and the response of a write() command in memory:
// where they begin, how long the core's part is with the request's header, and
// how long all is.
type writeBufs struct {
	link               *CommandBuffer // has the driver's parts; may be nil
	req                copyuser.Addr
	coreReq, reqSize   int
	resp               copyuser.Addr
	coreResp, respSize int
}

// legacyBufs models DECLARE_LEGACY_UHW_BUFS of libibverbs/cmd_write.h and, for
// an extended command, DECLARE_LEGACY_UHW_BUFS_EX: the request and the response
// lie directly in front of the driver's parts that link has, or by themselves.
// hdr is the length of the command's header.
func (f *Frame) legacyBufs(link *CommandBuffer, hdr, coreReq, coreResp int) *writeBufs {
	w := &writeBufs{link: link, coreReq: hdr + coreReq, coreResp: coreResp}
	w.req, w.reqSize = f.writeGet(link, link.uhwIn, link.uhwInHeadroomDwords, w.coreReq)
	w.resp, w.respSize = f.writeGet(link, link.uhwOut, link.uhwOutHeadroomDwords, w.coreResp)
	return w
}

// ownBufs are those of a command that is never an ioctl of its own.
func (f *Frame) ownBufs(hdr, coreReq, coreResp int, uhw UHW) *writeBufs {
	link := f.compat(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, hdr+coreReq, coreResp, uhw)
	return f.legacyBufs(link, hdr, coreReq, coreResp)
}

// writeGet models _write_get_req and _write_get_resp in
// libibverbs/cmd_fallback.c.
func (f *Frame) writeGet(link *CommandBuffer, uhw, headroomDwords, core int) (at copyuser.Addr, all int) {
	if uhw == uhwNoIndex {
		return f.alloc(core), core
	}
	if headroomDwords*4 < core {
		panic("verbs: a write() command has no room in front of its driver's part")
	}
	a := &link.attrs[uhw]
	return copyuser.Addr(a.Data) - copyuser.Addr(core), core + int(a.Len)
}

// checkDivide models __check_divide of libibverbs/cmd_ioctl.h: lengths count
// in words.
func checkDivide(n, word int) int {
	if n%word != 0 {
		panic("verbs: a length is not a multiple of its word")
	}
	return n / word
}
