package verbs

import (
	"uverbsim/copyuser"
	"uverbsim/spec"
)

// uhwNoIndex says that a command buffer has no such driver's part
// (_UHW_NO_INDEX).
const uhwNoIndex = 0xFF

// CommandBuffer is struct ibv_command_buffer of libibverbs/cmd_ioctl.h: a block
// of attributes for one ioctl. Blocks are linked. Each function on the way down
// to the system call brings its own, and the last one, which is executed, has
// room for the attributes of all.
//
// A pointer that a Fill function returns is to the attribute in its block. The
// kernel's answer is in it once the command was executed.
type CommandBuffer struct {
	f     *Frame
	next  *CommandBuffer
	hdr   spec.IoctlHdr
	attrs []spec.IoctlAttr // up to next_attr; its capacity ends at last_attr
	outs  []output

	// Where the driver's parts stand among the attributes, and how much room
	// lies in front of their data for what a write() command begins with.
	uhwIn, uhwOut                             int
	uhwInHeadroomDwords, uhwOutHeadroomDwords int

	bufferError       bool // a Fill function was given what cannot be sent
	fallbackRequireEx bool // see FallbackRequireEx
	fallbackIoctlOnly bool // see FallbackRequireIoctl
}

// output is a variable of the caller's that an attribute's data is copied to
// when the command was executed.
type output struct {
	at  copyuser.Addr
	dst []byte
}

// CommandBuffer returns a command buffer for a method with room for so many
// attributes and for those that link and its links have by now; link may be
// nil. It models DECLARE_COMMAND_BUFFER_LINK of libibverbs/cmd_ioctl.h.
func (f *Frame) CommandBuffer(object, method uint16, numAttrs int, link *CommandBuffer) *CommandBuffer {
	return &CommandBuffer{
		f: f, next: link,
		hdr:   spec.IoctlHdr{ObjectID: object, MethodID: method},
		attrs: make([]spec.IoctlAttr, 0, finalNumAttrs(numAttrs, link)),
		uhwIn: uhwNoIndex, uhwOut: uhwNoIndex,
	}
}

// finalNumAttrs models __ioctl_final_num_attrs in libibverbs/cmd_ioctl.c.
func finalNumAttrs(n int, link *CommandBuffer) int {
	for ; link != nil; link = link.next {
		n += len(link.attrs)
	}
	return n
}

// FallbackRequireEx says that the plain write() command cannot express this
// command, but the extended one can. It models fallback_require_ex of
// libibverbs/cmd_write.h.
func (cmd *CommandBuffer) FallbackRequireEx() { cmd.fallbackRequireEx = true }

// FallbackRequireIoctl says that no write() command can express this command.
// It models fallback_require_ioctl of libibverbs/cmd_write.h.
func (cmd *CommandBuffer) FallbackRequireIoctl() { cmd.fallbackIoctlOnly = true }

// prepareAttrs models prepare_attrs in libibverbs/cmd_ioctl.c: it puts the
// attributes of all links behind those of cmd, and returns them all.
func (cmd *CommandBuffer) prepareAttrs() []spec.IoctlAttr {
	all := cmd.attrs
	for link := cmd.next; link != nil; link = link.next {
		if link.hdr.ObjectID != cmd.hdr.ObjectID || link.hdr.MethodID != cmd.hdr.MethodID {
			panic("verbs: linked command buffers are for different methods")
		}
		if link.uhwIn != uhwNoIndex {
			if cmd.uhwIn != uhwNoIndex {
				panic("verbs: two command buffers have an UHW_IN")
			}
			cmd.uhwIn = link.uhwIn + len(all)
		}
		if len(all)+len(link.attrs) > cap(all) {
			panic("verbs: a command buffer grew after another was linked to it")
		}
		all = append(all, link.attrs...)
	}
	// Up to here the data of UHW_IN stays where a write() command would want
	// it, however short it is.
	if cmd.uhwIn != uhwNoIndex {
		uhw := &all[cmd.uhwIn]
		if uhw.AttrID != spec.UVERBS_ATTR_UHW_IN {
			panic("verbs: the attribute of the UHW index is no UHW_IN")
		}
		if uhw.Len <= inlineLen {
			uhw.Data = cmd.f.inlined(copyuser.Addr(uhw.Data), int(uhw.Len))
		}
	}
	return all
}

// finalizeAttrs models finalize_attrs in libibverbs/cmd_ioctl.c: what the
// kernel made of the attributes goes back to the blocks that they came from.
func (cmd *CommandBuffer) finalizeAttrs(all []spec.IoctlAttr) {
	rest := all[len(cmd.attrs):]
	for link := cmd.next; link != nil; link = link.next {
		rest = rest[copy(link.attrs, rest):]
	}
}

// loadOutputs copies the data of outputs to the callers' variables. In C they
// are the same memory, so this comes also after a failure.
func (cmd *CommandBuffer) loadOutputs() {
	for ; cmd != nil; cmd = cmd.next {
		for _, o := range cmd.outs {
			cmd.f.load(o.at, o.dst)
		}
	}
}
