package funcgraph

import (
	"strconv"

	"uverbsim/spec"
	"uverbsim/trace"
)

// Lines makes the lines of JSON that events are, one object a line with one
// member, "event", which is a Record. The zero value is ready.
type Lines struct {
	t      *trace.Task
	begun  bool
	begins [trace.Warn + 1]string // of the lines of t
	names  Texts
	specs  map[*spec.Attr][]byte
}

// Append appends the line of an event of t, which may be nil.
func (l *Lines) Append(b []byte, t *trace.Task, e *trace.Event) []byte {
	if !l.begun || l.t != t {
		l.turn(t)
	}
	b = append(b, l.begins[e.Kind]...)
	b = append(b, l.names.Get(e.Name, e.Module, nameForm)...)
	if e.Inlined {
		b = append(b, `,"inlined":true`...)
	}
	if len(forms[e.Kind].numbers) == 0 {
		return append(b, "}}\n"...)
	}
	b = append(b, `,"numbers":{`...)
	b = AppendNumbers(b, e)
	if e.Kind == trace.Attr {
		if a, ok := e.Spec.(*spec.Attr); ok {
			b = append(b, '}')
			b = append(b, l.spec(a, e)...)
			return append(b, "}}\n"...)
		}
	}
	return append(b, "}}}\n"...)
}

// nameForm makes the members that names are.
func nameForm(name, module string) []byte {
	b := []byte{}
	if name != "" {
		b = append(AppendText(append(b, `,"name":"`...), name), '"')
	}
	if module != "" {
		b = append(AppendText(append(b, `,"module":"`...), module), '"')
	}
	return b
}

// turn makes the beginnings of a task's lines.
func (l *Lines) turn(t *trace.Task) {
	begin := `{"event":{`
	if t != nil && t.ID != 0 {
		begin += `"task":` + strconv.Itoa(t.ID) + ","
	}
	for k := range l.begins {
		l.begins[k] = begin + `"kind":"` + forms[k].kind + `"`
	}
	l.t, l.begun = t, true
}

// spec returns the member of an attribute's spec, made once for each.
func (l *Lines) spec(a *spec.Attr, e *trace.Event) []byte {
	b := l.specs[a]
	if b == nil {
		if l.specs == nil {
			l.specs = map[*spec.Attr][]byte{}
		}
		b = append([]byte(`,"spec":`), MarshalSpec(e)...)
		l.specs[a] = b
	}
	return b
}
