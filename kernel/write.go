package kernel

import (
	"encoding/binary"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// Sizes of struct ib_uverbs_cmd_hdr and struct ib_uverbs_ex_cmd_hdr, and the
// units of the lengths in them, in bytes.
const (
	cmdHdrSize   = 8
	exCmdHdrSize = 16
	cmdWord      = 4
	exCmdWord    = 8
)

// cmdHdr is a struct ib_uverbs_cmd_hdr with, for an extended command, its
// struct ib_uverbs_ex_cmd_hdr.
type cmdHdr struct {
	command  uint32
	inWords  uint64
	outWords uint64

	response         uint64
	providerInWords  uint64
	providerOutWords uint64
	reserved         uint32
}

func (h *cmdHdr) decode(b []byte) {
	h.command = binary.LittleEndian.Uint32(b)
	h.inWords = uint64(binary.LittleEndian.Uint16(b[4:]))
	h.outWords = uint64(binary.LittleEndian.Uint16(b[6:]))
}

func (h *cmdHdr) decodeEx(b []byte) {
	h.response = binary.LittleEndian.Uint64(b)
	h.providerInWords = uint64(binary.LittleEndian.Uint16(b[8:]))
	h.providerOutWords = uint64(binary.LittleEndian.Uint16(b[10:]))
	h.reserved = binary.LittleEndian.Uint32(b[12:])
}

// write is the write operation of the device node: one command. It models
// ib_uverbs_write.
//
// Errors: write/… and those of the command.
func write(task *process.Task, filp *process.File, buf copyuser.Addr, count uint64) (int64, error) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_write").Leave()
	if filp.Cred != task.Cred() {
		return 0, refuse(t, rule.WriteAccess)
	}
	f := filp.Private.(*File)
	b := f.getWriteBundle(task)
	defer f.putWriteBundle(b) // after a panic too, or each later command would make one
	if err := f.write(b, buf, count); err != nil {
		return 0, refuse(t, err)
	}
	return int64(count), nil
}

// write is ib_uverbs_write from the header on.
func (f *File) write(b *Bundle, buf copyuser.Addr, count uint64) error {
	t := b.Trace()
	if count < cmdHdrSize {
		return rule.WriteTooShort
	}
	var hdr cmdHdr
	raw := b.Scratch(cmdHdrSize + exCmdHdrSize)
	if !copyuser.CopyFromUser(t, b.task.Mem, raw[:cmdHdrSize], buf) {
		return rule.WriteHeaderFault
	}
	hdr.decode(raw)
	m, err := f.Device.API.Write(hdr.command)
	if err != nil {
		return err
	}
	buf += cmdHdrSize
	if m.IsEx {
		if count < cmdHdrSize+exCmdHdrSize {
			return rule.WriteExTooShort
		}
		if !copyuser.CopyFromUser(t, b.task.Mem, raw[cmdHdrSize:], buf) {
			return rule.WriteExHeaderFault
		}
		hdr.decodeEx(raw[cmdHdrSize:])
		buf += exCmdHdrSize
	}
	if err := hdr.verify(m, count); err != nil {
		return err
	}

	key := f.Device.srcu.ReadLock(b.task)
	defer f.Device.srcu.ReadUnlock(b.task, key)
	if m.IsEx {
		b.splitEx(&hdr, buf)
	} else if err := b.split(&hdr, m, buf); err != nil {
		return err
	}
	err = m.Run(b)
	if b.UObject != nil {
		uobject.Finalize(b.UObject, spec.AccessNew, true, err == nil, b)
	}
	return err
}

// verify checks the lengths in the headers against the write and the command.
// It models verify_hdr.
func (h *cmdHdr) verify(m *WriteMethod, count uint64) error {
	if m.IsEx {
		return h.verifyEx(m, count)
	}
	if h.inWords*cmdWord != count {
		return rule.WriteWords
	}
	if count < uint64(m.ReqSize)+cmdHdrSize {
		// rdma-core 18 and 19 write 16 bytes of DESTROY_CQ's 24, which works
		// with the rest read from behind.
		if h.command == spec.IB_USER_VERBS_CMD_DESTROY_CQ && count == 16 {
			h.inWords = 6
			return nil
		}
		return rule.WriteRequestShort
	}
	if h.outWords*cmdWord < uint64(m.RespSize) {
		return rule.WriteResponseShort
	}
	return nil
}

func (h *cmdHdr) verifyEx(m *WriteMethod, count uint64) error {
	switch {
	case (h.inWords+h.providerInWords)*exCmdWord != count-cmdHdrSize-exCmdHdrSize:
		return rule.WriteExWords
	case h.inWords*exCmdWord < uint64(m.ReqSize):
		return rule.WriteRequestShort
	case h.reserved != 0:
		return rule.WriteExReserved
	case h.response == 0 && h.outWords+h.providerOutWords != 0:
		return rule.WriteExNoResponse
	case h.response == 0:
		return nil
	case h.outWords+h.providerOutWords == 0:
		return rule.WriteExNoOutWords
	case h.outWords*exCmdWord < uint64(m.RespSize):
		return rule.WriteResponseShort
	case !copyuser.AccessOK(copyuser.Addr(h.response), (h.outWords+h.providerOutWords)*exCmdWord):
		return rule.WriteExResponseFault
	}
	return nil
}

// split divides a command's request and response, which follow one another,
// between core and driver. buf is where the request begins.
func (b *Bundle) split(h *cmdHdr, m *WriteMethod, buf copyuser.Addr) error {
	in, out := h.inWords*cmdWord-cmdHdrSize, h.outWords*cmdWord
	var driver core.Udata
	if m.HasUdata {
		driver.InLen = in - uint64(m.ReqSize)
		in = uint64(m.ReqSize)
		driver.In = orNull(buf+copyuser.Addr(in), driver.InLen)
	}
	var response uint64
	if m.HasResp {
		var ok bool
		if response, ok = copyuser.GetUser64(b.Trace(), b.task.Mem, buf); !ok {
			return rule.WriteResponseFault
		}
		if m.HasUdata {
			driver.OutLen = out - uint64(m.RespSize)
			out = uint64(m.RespSize)
			driver.Out = orNull(copyuser.Addr(response+out), driver.OutLen)
		}
	}
	b.setUdata(core.Udata{In: buf, InLen: in, Out: copyuser.Addr(response), OutLen: out}, driver)
	return nil
}

// splitEx does the same for an extended command, which says itself where the
// core's part ends.
func (b *Bundle) splitEx(h *cmdHdr, buf copyuser.Addr) {
	in, out := h.inWords*exCmdWord, h.outWords*exCmdWord
	b.setUdata(
		core.Udata{In: buf, InLen: in, Out: copyuser.Addr(h.response), OutLen: out},
		core.Udata{
			In: buf + copyuser.Addr(in), InLen: h.providerInWords * exCmdWord,
			Out: copyuser.Addr(h.response + out), OutLen: h.providerOutWords * exCmdWord,
		})
}

// setUdata sets both parts; where one is empty its address is NULL
// (ib_uverbs_init_udata_buf_or_null).
func (b *Bundle) setUdata(ucore, driver core.Udata) {
	for _, u := range []*core.Udata{&ucore, &driver} {
		u.In, u.Out = orNull(u.In, u.InLen), orNull(u.Out, u.OutLen)
		u.Attrs = b
	}
	b.UCore, b.DriverUdata = ucore, driver
}

func orNull(a copyuser.Addr, n uint64) copyuser.Addr {
	if n == 0 {
		return 0
	}
	return a
}
