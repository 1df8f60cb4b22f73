package strace

import (
	"fmt"
	"strconv"
)

// printer gathers the text of one line.
type printer struct {
	opts *Options
	b    []byte
}

func (p *printer) text(s string)                  { p.b = append(p.b, s...) }
func (p *printer) format(format string, a ...any) { p.b = fmt.Appendf(p.b, format, a...) }
func (p *printer) decimal(n uint64)               { p.b = strconv.AppendUint(p.b, n, 10) }
func (p *printer) quoted(s string)                { p.b = strconv.AppendQuote(p.b, s) }

// hex writes an address or bits; 0 is plain.
func (p *printer) hex(n uint64) {
	if n != 0 {
		p.text("0x")
	}
	p.b = strconv.AppendUint(p.b, n, 16)
}

// list writes the separator before all items but the first.
func (p *printer) list(i int) {
	if i > 0 {
		p.text(", ")
	}
}
