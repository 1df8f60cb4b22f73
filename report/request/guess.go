package request

import (
	"encoding/binary"

	"uverbsim/spec"
)

// Guess says by which system call bytes that nobody has said it of reach the
// kernel, Unknown if either could be meant. count is how long a write() would be.
func Guess(b []byte, count int) Kind {
	i, w := ioctlFits(b), writeFits(b, count)
	switch {
	case i > w:
		return Ioctl
	case w > i:
		return Write
	}
	return Unknown
}

// How well bytes fit.
const (
	no = iota
	perhaps
	well
	exactly
)

// ioctlFits says how well bytes are a struct ib_uverbs_ioctl_hdr with attributes.
func ioctlFits(b []byte) int {
	if len(b) < 8 {
		return no
	}
	le := binary.LittleEndian
	length, object, method, attrs := le.Uint16(b), le.Uint16(b[2:]), le.Uint16(b[4:]), int(le.Uint16(b[6:]))
	fits := int(length) == spec.IoctlHdrSize+attrs*spec.IoctlAttrSize
	switch {
	case fits && attrs > 0 && len(b) == int(length):
		return exactly
	case fits:
		return well
	case object&^spec.NSFlag <= spec.ObjKeyNumDriver+spec.ObjKeyNumCore && method&^spec.NSFlag <= spec.MethodKeyNumCore &&
		attrs <= spec.BkeyLen:
		return perhaps
	}
	return no
}

// The units of the lengths in struct ib_uverbs_cmd_hdr and struct
// ib_uverbs_ex_cmd_hdr, in bytes.
const (
	cmdWord   = 4
	exCmdWord = 8
)

// writeFits says how well bytes are a struct ib_uverbs_cmd_hdr with what
// follows it.
func writeFits(b []byte, count int) int {
	if len(b) < spec.CmdHdrSize {
		return no
	}
	le := binary.LittleEndian
	word, in := le.Uint32(b), int(le.Uint16(b[4:]))
	ex := word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0
	if word&^(0xff|spec.IB_USER_VERBS_CMD_FLAG_EXTENDED) != 0 || spec.WriteName(uint8(word), ex) == "" {
		return no
	}
	switch {
	case ex && len(b) < spec.CmdHdrSize+spec.ExCmdHdrSize:
		return perhaps
	case ex && spec.CmdHdrSize+spec.ExCmdHdrSize+(in+int(le.Uint16(b[16:])))*exCmdWord == count:
		return exactly
	case !ex && in*cmdWord == count:
		return exactly
	}
	return perhaps
}
