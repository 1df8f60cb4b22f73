package dissect

import (
	"encoding/binary"
	"fmt"

	"uverbsim/interpose/watch"
	"uverbsim/report/decode"
	"uverbsim/report/request"
	"uverbsim/rule"
	"uverbsim/spec"
)

// The units of the lengths in struct ib_uverbs_cmd_hdr and struct
// ib_uverbs_ex_cmd_hdr, in bytes.
const (
	cmdWord   = 4
	exCmdWord = 8
)

// write takes a command of write() to pieces.
func (d *Dump) write(r *request.Request) {
	b := r.Bytes
	count := len(b)
	if r.Count >= 0 {
		count = r.Count
	}
	d.Len = count
	if count < len(b) {
		b = b[:count]
		d.Shown = count
	}
	h := Part{Title: "struct ib_uverbs_cmd_hdr", Fields: make([]Field, 0, 8)}
	if count < spec.CmdHdrSize {
		d.flaw(rule.WriteTooShort, "%s", bytesOf(count))
	}
	if len(b) < spec.CmdHdrSize {
		h.field(b, 0, len(b), "command", decode.Hex)
		d.Parts = append(d.Parts, h)
		d.flaw(nil, "the dump ends within the header, of which it has %d of %d bytes", len(b), spec.CmdHdrSize)
		return
	}
	word := binary.LittleEndian.Uint32(b)
	ex := word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0
	name := decode.Command(word)
	d.Method = name.Text
	command := h.field(b, 0, 4, "command", decode.Hex)
	command.Says = name.Text
	in := h.field(b, 4, 2, "in_words", decode.Number)
	out := h.field(b, 6, 2, "out_words", decode.Number)
	w := d.find(command, word, ex)
	unit := cmdWord
	if ex {
		unit = exCmdWord
	}
	in.Says, out.Says = fmt.Sprintf("%d bytes", unit*int(in.Value.Num)), fmt.Sprintf("%d bytes", unit*int(out.Value.Num))
	if ex {
		d.exHeader(&h, b, count, in, out)
	} else {
		d.words(in, out, count, w)
	}
	d.Parts = append(d.Parts, h)
	if len(b) < count {
		d.flaw(nil, "the dump ends before the request does: it has %d of %d bytes%s", len(b), count, allOf(r))
	}
	d.parts(b, count-len(b), ex, w)
}

// allOf says how a call that strace cut can be shown whole.
func allOf(r *request.Request) string {
	if r.Count < 0 {
		return ""
	}
	return fmt.Sprintf(", strace -s %d shows all of them", r.Count)
}

// commandFlags says whether a command word has no bits but those that it may have.
func commandFlags(f *Field, word uint64) bool {
	rest := word &^ (0xff | spec.IB_USER_VERBS_CMD_FLAG_EXTENDED)
	if rest != 0 {
		f.flaw(rule.WriteCommandFlags, "%#x", rest)
	}
	return rest == 0
}

// find finds the command.
func (d *Dump) find(f *Field, word uint32, ex bool) *spec.Write {
	if !commandFlags(f, uint64(word)) {
		return nil
	}
	w := spec.FindWrite(d.defs, uint8(word), ex)
	if w == nil {
		f.flaw(nil, "Linux %s has no such command: EOPNOTSUPP, or EINVAL", d.Device.Kernel.Name)
		return nil
	}
	d.Object = d.objectName(w.Object)
	return w
}

// words checks the lengths of a command that is not extended: verify_hdr.
func (d *Dump) words(in, out *Field, count int, w *spec.Write) {
	if int(in.Value.Num)*cmdWord != count {
		in.flaw(rule.WriteWords, "%s are written", bytesOf(count))
	}
	if w == nil {
		return
	}
	// Old libraries write 16 bytes of DESTROY_CQ's 24.
	if least := int(w.ReqSize) + spec.CmdHdrSize; count < least && !(w.Command == spec.IB_USER_VERBS_CMD_DESTROY_CQ && count == 16) {
		in.flaw(rule.WriteRequestShort, "8 + %d of %s is %d", w.ReqSize, w.ReqType, least)
	}
	if int(out.Value.Num)*cmdWord < int(w.RespSize) {
		out.flaw(rule.WriteResponseShort, "%s has %d", w.RespType, w.RespSize)
	}
}

// exHeader reads the second header of an extended command and checks the
// lengths: verify_hdr. How long the core's part is, the handlers check.
func (d *Dump) exHeader(h *Part, b []byte, count int, in, out *Field) {
	if count < spec.CmdHdrSize+spec.ExCmdHdrSize {
		d.flaw(rule.WriteExTooShort, "%s", bytesOf(count))
	}
	h.Title += ", struct ib_uverbs_ex_cmd_hdr"
	response := h.field(b, 8, 8, "response", decode.Hex)
	driverIn := h.field(b, 16, 2, "provider_in_words", decode.Number)
	driverOut := h.field(b, 18, 2, "provider_out_words", decode.Number)
	reserved := h.field(b, 20, 4, "cmd_hdr_reserved", decode.Hex)
	if !reserved.whole() {
		return
	}
	driverIn.Says = fmt.Sprintf("%d bytes", exCmdWord*driverIn.Value.Num)
	driverOut.Says = fmt.Sprintf("%d bytes", exCmdWord*driverOut.Value.Num)
	room := (out.Value.Num + driverOut.Value.Num) * exCmdWord
	body := count - spec.CmdHdrSize - spec.ExCmdHdrSize
	if words := in.Value.Num + driverIn.Value.Num; int(words)*exCmdWord != body {
		in.flaw(rule.WriteExWords, "8 * (%d + %d) is %d, and %d bytes are written behind the headers",
			in.Value.Num, driverIn.Value.Num, words*exCmdWord, body)
	}
	if reserved.Value.Num != 0 {
		reserved.flaw(rule.WriteExReserved, "")
	}
	switch {
	case response.Value.Num == 0 && room != 0:
		response.flaw(rule.WriteExNoResponse, "%d bytes", room)
	case response.Value.Num != 0 && room == 0:
		out.flaw(rule.WriteExNoOutWords, "")
	case response.Value.Num != 0:
		d.response(response, room)
	}
}

// response says where the answer goes.
func (d *Dump) response(f *Field, room uint64) {
	f.Says = fmt.Sprintf("where %d bytes of answer go", room)
	if f.Value.Num >= lowest && f.Value.Num < userEnd {
		d.Memory = append(d.Memory, fmt.Sprintf("%d bytes at %#x, for the answer, are writable", room, f.Value.Num))
	}
}

// parts takes what follows the header to pieces; so many bytes more are not shown.
func (d *Dump) parts(b []byte, unseen int, ex bool, w *spec.Write) {
	c := &watch.Call{Name: "write", Driver: d.Device.Driver, Data: &watch.Data{Bytes: b}, Err: rule.WriteWords}
	names := decode.WriteCall(c)
	if !names.Readable {
		return
	}
	for _, part := range []struct {
		what string
		v    *decode.Value
		at   int
	}{{"the core's part", names.Request, names.RequestAt}, {"the driver's part", names.UdataIn, names.UdataAt}} {
		if part.v == nil {
			continue
		}
		p := Part{Title: part.what}
		if part.v.Kind == decode.Struct {
			p.Title += ": " + part.v.Type
		}
		p.data(part.v, b, part.at, unseen)
		d.Parts = append(d.Parts, p)
	}
	d.named(names.Request)
	if w == nil || ex || !w.HasResp || names.Request == nil || names.Request.Kind != decode.Struct {
		return
	}
	parts := d.Parts[1:]
	for i := range parts[0].Fields {
		if f := &parts[0].Fields[i]; f.Name == "response" && len(f.Bytes) == 8 {
			d.response(f, cmdWord*uint64(binary.LittleEndian.Uint16(b[6:])))
		}
	}
}
