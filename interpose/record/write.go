package record

import (
	"encoding/binary"

	"uverbsim/casefile"
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// write adds a write() command; response is what lay where its answer goes.
func (s *session) write(c *watch.Call, response []byte) {
	if c.Data == nil || !s.room() {
		return
	}
	p := s.party(c.PID)
	a := &casefile.Write{FD: s.device(p, c.File), Data: c.Data.Bytes}
	if a.Data == nil {
		a.Data = []byte{}
	}
	got := answer(c, false)
	step := s.addFor(p.proc, a, got)
	s.size += 2 * len(a.Data)
	if c.Length > uint64(len(a.Data)) {
		edge := len(a.Data)
		a.Data, a.ArgEdge = append(a.Data, make([]byte, min(c.Length, watch.MaxBytes)-uint64(edge))...), &edge
	}
	e := &exchange{s: s, p: p, c: c, step: len(s.c.Steps), in: input{}}
	core, driver := e.request(a.Data)
	if d := c.Data; d.Response != 0 && len(response) > 0 {
		e.blocks = []block{{attr: coreOut, at: uint64(d.Response), before: response, after: d.Out, edge: len(response) < min(d.Room, watch.MaxBytes)}}
		e.lay()
		a.Reloc = append(a.Reloc, casefile.Reloc{At: spec.CmdHdrSize, Size: 8, Value: casefile.PtrTo(e.bufs[0].name, 0)})
	}
	// Addresses and descriptors lie in the bytes themselves.
	bases := map[field]base{}
	for i := range pointers[e.method] {
		q := &pointers[e.method][i]
		at := core + q.field.at
		if q.attr == uhwIn {
			at = driver + q.field.at
		}
		if at+8 > len(a.Data) {
			continue
		}
		if v, ok := e.address(q, binary.LittleEndian.Uint64(a.Data[at:]), bases); ok {
			a.Reloc = append(a.Reloc, casefile.Reloc{At: at, Size: 8, Value: v})
		}
	}
	e.standIn(a.Data[core:])
	e.answer(step, got, &a.Save, &a.SaveFD)
}

// request finds what a write() command hands in, and says where the core's part
// and the driver's part of it begin.
func (e *exchange) request(b []byte) (core, driver int) {
	if len(b) < spec.CmdHdrSize {
		return len(b), len(b)
	}
	word := binary.LittleEndian.Uint32(b)
	e.method = command(word)
	ex := word&spec.IB_USER_VERBS_CMD_FLAG_EXTENDED != 0
	core, driver = spec.CmdHdrSize, len(b)
	if ex {
		core += spec.ExCmdHdrSize
		driver = core + int(binary.LittleEndian.Uint16(b[4:]))*8
	} else if w := spec.FindWrite(spec.Linux6_12.Definitions(e.c.Driver), uint8(word), false); w != nil {
		driver = core + int(w.ReqSize)
	}
	core, driver = min(core, len(b)), min(driver, len(b))
	e.in[coreIn], e.in[uhwIn] = b[core:driver], b[driver:]
	return core, driver
}
