package watch

import (
	"encoding/binary"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// Data is the buffer of a read or a write. A write on a device file is a
// command, whose answer lies elsewhere.
type Data struct {
	// Bytes is what a write handed in, before the call, or what a read has
	// got, after it: as far as it could be read, and no more than MaxBytes.
	Bytes []byte

	// Response is where the answer of a command lies, 0 if it has none, and
	// Room how long it may be, with the driver's part. Out has these bytes after
	// the call.
	Response copyuser.Addr
	Room     int
	Out      []byte

	finished bool
}

// The units of the lengths in struct ib_uverbs_cmd_hdr and ib_uverbs_ex_cmd_hdr,
// in bytes.
const (
	cmdWord   = 4
	exCmdWord = 8
)

func takeData(c *Call) *Data {
	d := new(Data)
	if c.Name != "write" {
		return d
	}
	d.Bytes = read(c.Mem, copyuser.Addr(c.Addr), int(min(c.Length, MaxBytes)))
	d.findResponse(c.Driver)
	return d
}

// findResponse reads from the command's header where its answer goes.
func (d *Data) findResponse(driver uint32) {
	b := d.Bytes
	if len(b) < spec.CmdHdrSize {
		return
	}
	command, words := binary.LittleEndian.Uint32(b), int(binary.LittleEndian.Uint16(b[6:]))
	if command&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0 {
		if len(b) < spec.CmdHdrSize+spec.ExCmdHdrSize {
			return
		}
		ex := b[spec.CmdHdrSize:]
		d.Response = copyuser.Addr(binary.LittleEndian.Uint64(ex))
		d.Room = (words + int(binary.LittleEndian.Uint16(ex[10:]))) * exCmdWord
		return
	}
	w := spec.FindWrite(of(driver).defs, uint8(command), false)
	if w == nil || !w.HasResp || len(b) < spec.CmdHdrSize+8 {
		return
	}
	d.Response = copyuser.Addr(binary.LittleEndian.Uint64(b[spec.CmdHdrSize:]))
	d.Room = words * cmdWord
}

func (d *Data) finish(c *Call) {
	d.finished = true
	if c.Name == "read" {
		if c.Err == nil && c.Ret > 0 {
			d.Bytes = read(c.Mem, copyuser.Addr(c.Addr), int(min(uint64(c.Ret), c.Length, MaxBytes)))
		}
		return
	}
	if d.Response != 0 {
		d.Out = read(c.Mem, d.Response, min(d.Room, MaxBytes))
	}
}
