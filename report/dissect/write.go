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
	name := decode.Command(word)
	d.Method = name.Text
	command := h.field(b, 0, 4, "command", decode.Hex)
	command.Says = name.Text
	in := h.field(b, 4, 2, "in_words", decode.Number)
	out := h.field(b, 6, 2, "out_words", decode.Number)
	c := d.find(command, word)
	if c.declared != nil {
		d.Object = d.objectName(c.declared.Object)
	}
	var ex exFields
	if c.meantExtended() {
		ex = exHeader(&h, b)
	}
	switch {
	case c.method == nil: // nothing else is looked at
	case c.method.IsEx:
		d.exWords(in, out, ex, count)
	default:
		d.words(in, out, count, &c)
	}
	d.Parts = append(d.Parts, h)
	if len(b) < count {
		d.flaw(nil, "the dump ends before the request does: it has %d of %d bytes%s", len(b), count, allOf(r))
	}
	d.parts(b, count-len(b), &c)
}

// allOf says how a call that strace cut can be shown whole.
func allOf(r *request.Request) string {
	if r.Count < 0 {
		return ""
	}
	return fmt.Sprintf(", strace -s %d shows all of them", r.Count)
}

// words checks the lengths of a command that is not extended, or of a hole:
// verify_hdr.
func (d *Dump) words(in, out *Field, count int, c *found) {
	in.Says, out.Says = bytesOf(cmdWord*int(in.Value.Num)), bytesOf(cmdWord*int(out.Value.Num))
	if int(in.Value.Num)*cmdWord != count {
		text := bytesOf(count) + " are written"
		if c.meantExtended() {
			text += "; a command that the device lacks is not an extended one"
		}
		in.flaw(rule.WriteWords, "%s", text)
	}
	w := c.declared
	if c.hole() || w == nil {
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

// exFields are those of a struct ib_uverbs_ex_cmd_hdr, nil as far as they are not
// shown.
type exFields struct{ response, in, out, reserved *Field }

// exHeader reads the second header of an extended command.
func exHeader(h *Part, b []byte) exFields {
	h.Title += ", struct ib_uverbs_ex_cmd_hdr"
	return exFields{
		response: h.field(b, 8, 8, "response", decode.Hex),
		in:       h.field(b, 16, 2, "provider_in_words", decode.Number),
		out:      h.field(b, 18, 2, "provider_out_words", decode.Number),
		reserved: h.field(b, 20, 4, "cmd_hdr_reserved", decode.Hex),
	}
}

// exWords checks the lengths of an extended command: verify_hdr. It may leave out
// as much of the core's part as it likes.
func (d *Dump) exWords(in, out *Field, ex exFields, count int) {
	in.Says, out.Says = bytesOf(exCmdWord*int(in.Value.Num)), bytesOf(exCmdWord*int(out.Value.Num))
	if count < spec.CmdHdrSize+spec.ExCmdHdrSize {
		d.flaw(rule.WriteExTooShort, "%s", bytesOf(count))
	}
	if !ex.reserved.whole() {
		return
	}
	ex.in.Says, ex.out.Says = bytesOf(exCmdWord*int(ex.in.Value.Num)), bytesOf(exCmdWord*int(ex.out.Value.Num))
	room := (out.Value.Num + ex.out.Value.Num) * exCmdWord
	body := count - spec.CmdHdrSize - spec.ExCmdHdrSize
	if words := in.Value.Num + ex.in.Value.Num; int(words)*exCmdWord != body {
		in.flaw(rule.WriteExWords, "8 * (%d + %d) is %d, and %d bytes are written behind the headers",
			in.Value.Num, ex.in.Value.Num, words*exCmdWord, body)
	}
	if ex.reserved.Value.Num != 0 {
		ex.reserved.flaw(rule.WriteExReserved, "")
	}
	switch {
	case ex.response.Value.Num == 0 && room != 0:
		ex.response.flaw(rule.WriteExNoResponse, "%d bytes", room)
	case ex.response.Value.Num != 0 && room == 0:
		out.flaw(rule.WriteExNoOutWords, "")
	case ex.response.Value.Num != 0:
		d.response(ex.response, room)
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
func (d *Dump) parts(b []byte, unseen int, c *found) {
	call := &watch.Call{Name: "write", Driver: d.Device.Driver, Data: &watch.Data{Bytes: b}, Err: rule.WriteWords}
	names := decode.WriteCall(call)
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
	if c.method == nil || !c.method.HasResp || names.Request == nil || names.Request.Kind != decode.Struct {
		return
	}
	parts := d.Parts[1:]
	for i := range parts[0].Fields {
		if f := &parts[0].Fields[i]; f.Name == "response" && len(f.Bytes) == 8 {
			d.response(f, cmdWord*uint64(binary.LittleEndian.Uint16(b[6:])))
		}
	}
}
