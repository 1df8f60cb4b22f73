package funcgraph

import (
	"fmt"

	"uverbsim/trace"
)

// Record is an event as JSON has it. Numbers are text, as a reader of JSON may not
// keep 64 bits; addresses, keys and what the firmware says are in hexadecimal.
type Record struct {
	Task    int               `json:"task,omitempty"`
	Kind    string            `json:"kind"`
	Name    string            `json:"name,omitempty"`
	Module  string            `json:"module,omitempty"`
	Inlined bool              `json:"inlined,omitempty"`
	Numbers map[string]string `json:"numbers,omitempty"`
}

// recordNames has the name of each kind of event and of its numbers, "" for one
// that says nothing.
var recordNames = map[trace.Kind][4]string{
	trace.Enter:    {"enter"},
	trace.Leave:    {"leave"},
	trace.CopyIn:   {"copy_in", "address", "bytes", "copied"},
	trace.CopyOut:  {"copy_out", "address", "bytes", "copied"},
	trace.Clear:    {"clear", "address", "bytes", "cleared"},
	trace.Node:     {"node", "key", "shift", "slot"},
	trace.Attr:     {"attr", "attr_id", "len", "index"},
	trace.Lock:     {"lock"},
	trace.Unlock:   {"unlock"},
	trace.Ref:      {"ref", "id", "change"},
	trace.Usecnt:   {"usecnt", "id", "value"},
	trace.Handle:   {"handle", "number", "taken"},
	trace.Firmware: {"firmware", "opcode", "status", "syndrome"},
	trace.DMA:      {"dma", "address", "bytes"},
	trace.Refuse:   {"refuse", "errno"},
	trace.Warn:     {"warn"},
}

// NewRecord returns the record of an event of t, which may be nil.
func NewRecord(t *trace.Task, e *trace.Event) Record {
	names := recordNames[e.Kind]
	r := Record{Kind: names[0], Name: e.Name, Module: e.Module, Inlined: e.Inlined}
	if t != nil {
		r.Task = t.ID
	}
	for i, v := range [3]uint64{e.A, e.B, e.C} {
		name := names[1+i]
		if name == "" {
			continue
		}
		if r.Numbers == nil {
			r.Numbers = map[string]string{}
		}
		r.Numbers[name] = numberText(name, v)
	}
	return r
}

// numberText writes a number as suits what it is.
func numberText(name string, v uint64) string {
	switch name {
	case "address", "key", "attr_id", "opcode", "syndrome":
		return fmt.Sprintf("%#x", v)
	case "change", "value":
		return fmt.Sprint(int64(v))
	}
	return fmt.Sprint(v)
}
