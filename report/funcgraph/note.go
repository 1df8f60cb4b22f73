package funcgraph

import (
	"fmt"
	"strconv"
	"strings"

	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// isLock has the kinds that Options.Locks adds.
var isLock = [trace.Warn + 1]bool{trace.Lock: true, trace.Unlock: true, trace.Ref: true, trace.Usecnt: true}

// note prints an event that is none of a function. What the device does to
// memory is printed where the others are: it does not take a task's turn.
func (p *Printer) note(t *trace.Task, e *trace.Event) {
	if e.Kind != trace.DMA || p.cur == nil {
		p.turn(t)
	}
	p.open()
	p.begin()
	b := append(p.buf, "/* "...)
	switch e.Kind {
	case trace.Attr:
		b = p.attr(b, e)
	case trace.Node:
		b = appendNode(b, e, p.keys.text(uint32(e.A)))
	default:
		b = appendNote(b, e)
	}
	p.buf = append(b, " */\n"...)
}

// AppendNote appends the text of an event that is none of a function.
func AppendNote(b []byte, e *trace.Event) []byte {
	if e.Kind == trace.Attr {
		b = appendAttr(b, e)
		if s := SpecText(e); s != "" {
			b = append(append(b, "; spec: "...), s...)
		}
		return b
	}
	return appendNote(b, e)
}

func appendNote(b []byte, e *trace.Event) []byte {
	switch e.Kind {
	case trace.CopyIn:
		return appendCopy(b, " bytes from the user at 0x", e)
	case trace.CopyOut:
		return appendCopy(b, " bytes to the user at 0x", e)
	case trace.Clear:
		return appendCopy(b, " bytes cleared for the user at 0x", e)
	case trace.Node:
		return appendNode(b, e, keyText(uint32(e.A)))
	case trace.Handle:
		b = append(b, e.Name...)
		b = append(b, ": number "...)
		b = appendDecimal(b, e.A)
		if e.B == 1 {
			return append(b, " taken"...)
		}
		return append(b, " free"...)
	case trace.Firmware:
		b = append(b, "firmware: "...)
		b = append(b, e.Name...)
		b = append(b, " (0x"...)
		b = AppendHex(b, e.A)
		b = append(b, "): status "...)
		b = appendDecimal(b, e.B)
		b = append(b, ", syndrome 0x"...)
		return AppendHex(b, e.C)
	case trace.DMA:
		b = append(b, "DMA: "...)
		b = append(b, e.Name...)
		b = append(b, ", "...)
		b = appendDecimal(b, e.B)
		if e.C == 1 {
			b = append(b, " bytes written at 0x"...)
		} else {
			b = append(b, " bytes read at 0x"...)
		}
		return AppendHex(b, e.A)
	case trace.Refuse:
		b = append(b, "refused: "...)
		b = append(b, e.Name...)
		if r := rule.Find(e.Name); r != nil {
			b = append(b, ", "...)
			b = append(b, rule.ErrnoName(r.Errno)...)
		}
		return b
	case trace.Warn:
		b = append(b, "WARN in "...)
		return append(b, e.Name...)
	case trace.Lock:
		b = append(b, "lock "...)
		return append(b, e.Name...)
	case trace.Unlock:
		b = append(b, "unlock "...)
		return append(b, e.Name...)
	case trace.Ref:
		b = append(b, e.Name...)
		b = append(b, ' ')
		b = appendDecimal(b, e.A)
		b = append(b, ": references "...)
		if int64(e.B) >= 0 {
			b = append(b, '+')
		}
		return strconv.AppendInt(b, int64(e.B), 10)
	case trace.Usecnt:
		b = append(b, e.Name...)
		if !strings.HasPrefix(e.Name, "ib_") {
			b = append(b, ' ')
			b = appendDecimal(b, e.A)
		}
		b = append(b, ": use count "...)
		return strconv.AppendInt(b, int64(e.B), 10)
	}
	return b
}

func appendCopy(b []byte, what string, e *trace.Event) []byte {
	b = appendDecimal(b, e.B)
	b = append(b, what...)
	b = AppendHex(b, e.A)
	if e.C != e.B {
		b = append(b, ": fault after "...)
		b = appendDecimal(b, e.C)
	}
	return b
}

// appendNode appends a node of the tree, given the text of its key.
func appendNode(b []byte, e *trace.Event, key []byte) []byte {
	b = append(b, "tree: "...)
	b = append(b, e.Name...)
	b = append(b, key...)
	b = append(b, ", shift "...)
	b = appendDecimal(b, e.B)
	b = append(b, ": slot "...)
	return appendDecimal(b, e.C)
}

// keyText is a key of the tree, as a number and by its parts.
func keyText(key uint32) []byte { return fmt.Appendf(nil, " key %#06x (%s)", key, spec.FormatKey(key)) }

// keyTexts keeps the texts of keys as Texts does those of names.
type keyTexts [256]struct {
	key  uint32
	text []byte
}

func (k *keyTexts) text(key uint32) []byte {
	p := &k[(key^key>>6)%uint32(len(k))]
	if p.text == nil || p.key != key {
		p.key, p.text = key, keyText(key)
	}
	return p.text
}

func appendAttr(b []byte, e *trace.Event) []byte {
	b = append(b, "attribute "...)
	b = appendDecimal(b, e.C)
	b = append(b, ": "...)
	b = append(b, e.Name...)
	b = append(b, ", id 0x"...)
	b = AppendHex(b, e.A)
	b = append(b, ", "...)
	b = appendDecimal(b, e.B)
	return append(b, " bytes"...)
}

// attr is AppendNote for an attribute, with the texts of specs kept.
func (p *Printer) attr(b []byte, e *trace.Event) []byte {
	b = appendAttr(b, e)
	a, ok := e.Spec.(*spec.Attr)
	if !ok {
		return b
	}
	text, ok := p.specs[a]
	if !ok {
		text = "; spec: " + SpecText(e)
		p.specs[a] = text
	}
	return append(b, text...)
}

// SpecText says in a few words what the method's spec of an attribute is, ""
// where it has none.
func SpecText(e *trace.Event) string {
	a, ok := e.Spec.(*spec.Attr)
	if !ok {
		return ""
	}
	nameless := *a
	nameless.Name = ""
	return nameless.String()
}
