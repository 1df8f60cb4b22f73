package strace

import (
	"encoding/hex"
	"net"
	"net/netip"
	"strconv"
	"strings"

	"uverbsim/report/decode"
)

// How much is shown without Options.Verbose.
const (
	mostBytes   = 32
	mostItems   = 8
	mostMembers = 20 // a struct with more shows those that are not zero
)

// value writes a value as text.
func (p *printer) value(v *decode.Value) { writers[v.Kind](p, v) }

// writers write a value by its kind.
var writers [decode.Choice + 1]func(p *printer, v *decode.Value)

func init() {
	writers = [...]func(p *printer, v *decode.Value){
		decode.Number: func(p *printer, v *decode.Value) { p.decimal(v.Num) },
		decode.Signed: func(p *printer, v *decode.Value) { p.b = strconv.AppendInt(p.b, int64(v.Num), 10) },
		decode.Hex:    func(p *printer, v *decode.Value) { p.hex(v.Num) },
		decode.Name:   func(p *printer, v *decode.Value) { p.name(v) },
		decode.Flags:  (*printer).flags,
		decode.Text:   func(p *printer, v *decode.Value) { p.quoted(v.Text) },
		decode.IP:     func(p *printer, v *decode.Value) { p.text(address(v.Bytes)) },
		decode.MAC:    func(p *printer, v *decode.Value) { p.text(net.HardwareAddr(v.Bytes).String()) },
		decode.Bytes:  func(p *printer, v *decode.Value) { p.bytes(v.Bytes) },
		decode.Struct: (*printer).members,
		decode.Array:  (*printer).items,
		decode.Choice: (*printer).choice,
	}
}

// name writes an enumerator; if it has no name, as strace does, but for 0.
func (p *printer) name(v *decode.Value) {
	if v.Text != "" {
		p.text(v.Text)
		return
	}
	p.hex(v.Num)
	if v.Num != 0 {
		p.text(" /* ??? */")
	}
}

func (p *printer) flags(v *decode.Value) {
	p.text(strings.Join(v.Names, "|"))
	if len(v.Names) > 0 && v.Rest != 0 {
		p.text("|")
	}
	if len(v.Names) == 0 || v.Rest != 0 {
		p.hex(v.Rest)
	}
}

func address(b []byte) string {
	a, _ := netip.AddrFromSlice(b)
	return a.String()
}

// bytes writes bytes that have no structure, with their number.
func (p *printer) bytes(b []byte) {
	p.format("<%d bytes", len(b))
	switch {
	case len(b) == 0:
	case allZero(b):
		p.text(": zero")
	case len(b) > mostBytes && !p.opts.Verbose:
		p.text(": " + hex.EncodeToString(b[:mostBytes]) + "...")
	default:
		p.text(": " + hex.EncodeToString(b))
	}
	p.text(">")
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (p *printer) members(v *decode.Value) {
	p.text("{")
	n, left := 0, false
	for i := range v.Fields {
		f := &v.Fields[i]
		if p.leaves(f, len(v.Fields)) {
			left = left || !reserved(f.Name)
			continue
		}
		p.list(n)
		n++
		p.text(f.Name + "=")
		p.value(&f.Value)
	}
	if left {
		p.list(n)
		n++
		p.text("...")
	}
	p.rest(v, n)
	p.text("}")
}

// leaves says whether a member of a struct with that many is left out.
func (p *printer) leaves(f *decode.Field, of int) bool {
	return !p.opts.Verbose && isZero(&f.Value) && (reserved(f.Name) || of > mostMembers)
}

func reserved(name string) bool {
	return strings.HasPrefix(name, "reserved") || strings.HasPrefix(name, "rsvd")
}

// rest writes what there is besides the members of a struct, or the items of an
// array.
func (p *printer) rest(v *decode.Value, n int) {
	if v.Missing > 0 {
		p.list(n)
		p.format("/* %d bytes short */", v.Missing)
		n++
	}
	if v.Zeros > 0 {
		p.list(n)
		p.format("/* and %d bytes of zeros */", v.Zeros)
		n++
	}
	if len(v.Tail) > 0 {
		p.list(n)
		p.text("/* and */ ")
		p.bytes(v.Tail)
	}
}

func isZero(v *decode.Value) bool {
	switch v.Kind {
	case decode.Text:
		return v.Text == ""
	case decode.IP, decode.MAC, decode.Bytes:
		return allZero(v.Bytes)
	case decode.Struct:
		for i := range v.Fields {
			if !isZero(&v.Fields[i].Value) {
				return false
			}
		}
		return v.Missing == 0 && len(v.Tail) == 0
	case decode.Array, decode.Choice:
		for i := range v.Items {
			if !isZero(&v.Items[i]) {
				return false
			}
		}
	}
	return v.Num == 0
}

func (p *printer) items(v *decode.Value) {
	p.text("[")
	show := v.Items
	if len(show) > mostItems && !p.opts.Verbose {
		show = show[:mostItems]
	}
	for i := range show {
		p.list(i)
		p.value(&show[i])
	}
	if n := len(v.Items) - len(show) + v.More; n > 0 {
		p.format(", ... /* %d more */", n)
	}
	p.rest(v, len(v.Items))
	p.text("]")
}

func (p *printer) choice(v *decode.Value) {
	p.name(v)
	for i := range v.Items {
		p.text(" ")
		p.value(&v.Items[i])
	}
}
