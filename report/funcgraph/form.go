package funcgraph

import (
	"strconv"
	"unicode/utf8"

	"uverbsim/trace"
)

// form is how JSON has a kind of event: its name, and its numbers in the order
// of their names.
type form struct {
	kind    string
	numbers []number
}

// number is one of the three numbers of an event.
type number struct {
	name   string
	which  uint8 // 0 is A, 1 B, 2 C
	format format
	before string // what stands between the number before it and its digits
}

type format uint8

const (
	decimal format = iota
	hexadecimal
	signed
)

var forms = [trace.Warn + 1]form{
	trace.Enter:    newForm("enter"),
	trace.Leave:    newForm("leave"),
	trace.CopyIn:   newForm("copy_in", number{"address", 0, hexadecimal, ""}, number{"bytes", 1, decimal, ""}, number{"copied", 2, decimal, ""}),
	trace.CopyOut:  newForm("copy_out", number{"address", 0, hexadecimal, ""}, number{"bytes", 1, decimal, ""}, number{"copied", 2, decimal, ""}),
	trace.Clear:    newForm("clear", number{"address", 0, hexadecimal, ""}, number{"bytes", 1, decimal, ""}, number{"cleared", 2, decimal, ""}),
	trace.Node:     newForm("node", number{"key", 0, hexadecimal, ""}, number{"shift", 1, decimal, ""}, number{"slot", 2, decimal, ""}),
	trace.Attr:     newForm("attr", number{"attr_id", 0, hexadecimal, ""}, number{"index", 2, decimal, ""}, number{"len", 1, decimal, ""}),
	trace.Lock:     newForm("lock"),
	trace.Unlock:   newForm("unlock"),
	trace.Ref:      newForm("ref", number{"change", 1, signed, ""}, number{"id", 0, decimal, ""}),
	trace.Usecnt:   newForm("usecnt", number{"id", 0, decimal, ""}, number{"value", 1, signed, ""}),
	trace.Handle:   newForm("handle", number{"number", 0, decimal, ""}, number{"taken", 1, decimal, ""}),
	trace.Firmware: newForm("firmware", number{"opcode", 0, hexadecimal, ""}, number{"status", 1, decimal, ""}, number{"syndrome", 2, hexadecimal, ""}),
	trace.DMA:      newForm("dma", number{"address", 0, hexadecimal, ""}, number{"bytes", 1, decimal, ""}, number{"write", 2, decimal, ""}),
	trace.Refuse:   newForm("refuse", number{"errno", 0, decimal, ""}),
	trace.Warn:     newForm("warn"),
}

func newForm(kind string, numbers ...number) form {
	for i := range numbers {
		n := &numbers[i]
		n.before = `"` + n.name + `":"`
		if i > 0 {
			n.before = `",` + n.before
		}
		if n.format == hexadecimal {
			n.before += "0x"
		}
	}
	return form{kind, numbers}
}

// KindName is the name of a kind of event.
func KindName(k trace.Kind) string { return forms[k].kind }

func (n *number) of(e *trace.Event) uint64 {
	switch n.which {
	case 0:
		return e.A
	case 1:
		return e.B
	}
	return e.C
}

// append appends the number as text.
func (n *number) append(b []byte, e *trace.Event) []byte {
	if n.format == hexadecimal {
		b = append(b, "0x"...)
	}
	return n.digits(b, e)
}

func (n *number) digits(b []byte, e *trace.Event) []byte {
	v := n.of(e)
	switch n.format {
	case hexadecimal:
		return AppendHex(b, v)
	case signed:
		return strconv.AppendInt(b, int64(v), 10)
	}
	return appendDecimal(b, v)
}

// AppendNumbers appends the members of an object that has the event's numbers:
// `"address":"0x1000","bytes":"24"`.
func AppendNumbers(b []byte, e *trace.Event) []byte {
	numbers := forms[e.Kind].numbers
	for i := range numbers {
		b = append(b, numbers[i].before...)
		b = numbers[i].digits(b, e)
	}
	if len(numbers) > 0 {
		b = append(b, '"')
	}
	return b
}

// AppendText appends text as it stands between the quotes of JSON.
func AppendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return appendEscaped(b, s)
		}
	}
	return append(b, s...)
}

func appendEscaped(b []byte, s string) []byte {
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			const digits = "0123456789abcdef"
			b = append(b, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}
