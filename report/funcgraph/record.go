package funcgraph

import (
	"encoding/json"

	"uverbsim/spec"
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
	Spec    *AttrSpec         `json:"spec,omitempty"`
}

// AttrSpec is what a method says of an attribute, as far as the parser asks.
type AttrSpec struct {
	Type         string `json:"type"`
	CType        string `json:"c_type,omitempty"`
	Min          uint16 `json:"min,omitempty"` // in bytes; of an IDRS_ARRAY in handles
	Max          uint16 `json:"max,omitempty"`
	Object       string `json:"object,omitempty"`
	Access       string `json:"access,omitempty"`
	Mandatory    bool   `json:"mandatory,omitempty"`
	ZeroTrailing bool   `json:"zero_trailing,omitempty"`
	AllocAndCopy bool   `json:"alloc_and_copy,omitempty"`
}

func newAttrSpec(a *spec.Attr) *AttrSpec {
	s := &AttrSpec{Type: a.Type.String(), CType: a.CType, Min: a.MinLen, Max: a.Len,
		Mandatory: a.Mandatory, ZeroTrailing: a.ZeroTrailing, AllocAndCopy: a.AllocAndCopy}
	switch a.Type {
	case spec.TypeIDRsArray:
		s.Min, s.Max = a.MinItems, a.MaxItems
		fallthrough
	case spec.TypeIDR, spec.TypeFD:
		s.Object, s.Access = spec.ObjectName(a.Object), a.Access.String()
	}
	return s
}

// NewRecord returns the record of an event of t, which may be nil.
func NewRecord(t *trace.Task, e *trace.Event) Record {
	r := Record{Kind: forms[e.Kind].kind, Name: e.Name, Module: e.Module, Inlined: e.Inlined}
	if t != nil {
		r.Task = t.ID
	}
	for _, n := range forms[e.Kind].numbers {
		if r.Numbers == nil {
			r.Numbers = map[string]string{}
		}
		r.Numbers[n.name] = string(n.append(nil, e))
	}
	if a, ok := e.Spec.(*spec.Attr); ok && e.Kind == trace.Attr {
		r.Spec = newAttrSpec(a)
	}
	return r
}

// MarshalSpec returns the AttrSpec of an event as JSON, nil where it has none.
func MarshalSpec(e *trace.Event) []byte {
	a, ok := e.Spec.(*spec.Attr)
	if !ok {
		return nil
	}
	b, err := json.Marshal(newAttrSpec(a))
	if err != nil {
		return nil // text, numbers and booleans have no error
	}
	return b
}
