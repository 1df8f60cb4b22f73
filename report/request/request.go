package request

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is by which system call a request reaches the kernel.
type Kind uint8

// The kinds.
const (
	Unknown Kind = iota
	Ioctl        // struct ib_uverbs_ioctl_hdr and its attributes, by RDMA_VERBS_IOCTL
	Write        // struct ib_uverbs_cmd_hdr and what follows, by write()
)

// String returns "ioctl", "write" or "?".
func (k Kind) String() string { return [...]string{"?", "ioctl", "write"}[k] }

// Range is memory that the text shows.
type Range struct {
	Addr  uint64
	Bytes []byte
}

// end is the address behind the range.
func (r *Range) end() uint64 { return r.Addr + uint64(len(r.Bytes)) }

// Request is what a text says of a request.
type Request struct {
	Kind Kind // what a line of strace says; Unknown without one

	// Bytes are the request's, as far as they are shown, from the address At on.
	Bytes []byte
	At    uint64
	// Addressed: At and the addresses of Memory are the program's. Otherwise
	// At is 0 or the offset that the text begins with.
	Addressed bool
	// Memory is all that is shown, the request too, in the order of addresses.
	// Ranges neither overlap nor touch.
	Memory []Range

	// Count is how many bytes a write() was to write, -1 if that is not said.
	Count int
	// Returned is what a line of strace says that the call returned: 0 or more,
	// or the name of an errno, "" if nothing.
	Returned string
}

// MaxBytes is how many bytes a text may show.
const MaxBytes = 1 << 20

// firstAddress is where the memory of programs begins at the earliest; what is
// below it is an offset. Most systems have 65536 as vm.mmap_min_addr, but may
// have a page.
const firstAddress = 4096

// Error is a text that cannot be read.
type Error struct {
	Line, Column int // from 1; Column is 0 if the whole line is meant, Line 0 if the whole text is
	Reason       string
}

func (e *Error) Error() string {
	switch {
	case e.Line == 0:
		return e.Reason
	case e.Column == 0:
		return fmt.Sprintf("line %d: %s", e.Line, e.Reason)
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Reason)
}

func failed(line, column int, format string, a ...any) error {
	return &Error{line, column, fmt.Sprintf(format, a...)}
}

// Parse reads a text in ASCII or UTF-8. One with NUL bytes is no text but the
// request itself. The error is an *Error.
func Parse(text string) (*Request, error) {
	switch {
	case isUTF16(text):
		return nil, failed(0, 0, "the text is in UTF-16: convert it to UTF-8")
	case strings.Contains(text, "\x00"):
		return raw([]byte(text))
	}
	var p parser
	n := 0
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		p.n = n
		if err := p.line(strings.TrimRight(line, "\r\n")); err != nil {
			return nil, err
		}
	}
	return p.finish()
}

// isUTF16 says whether a text is hexadecimal digits, and what is between them, in
// UTF-16, behind the mark of it.
func isUTF16(text string) bool {
	s, little := strings.CutPrefix(text, "\xff\xfe")
	if !little {
		var big bool
		if s, big = strings.CutPrefix(text, "\xfe\xff"); !big {
			return false
		}
	}
	zero := 0
	if little {
		zero = 1
	}
	for i := range len(s) {
		if (s[i] == 0) != (i%2 == zero) {
			return false
		}
	}
	return len(s) > 0
}

// raw is a request of which there is nothing but its bytes.
func raw(b []byte) (*Request, error) {
	if len(b) > MaxBytes {
		return nil, failed(0, 0, "more than %d bytes", MaxBytes)
	}
	return &Request{Bytes: b, Memory: []Range{{0, b}}, Count: -1}, nil
}

// AddMemory adds memory that a request points to, or more of the request itself.
// It is refused where other memory with other bytes is known.
func (r *Request) AddMemory(at uint64, b []byte) error {
	if len(b) == 0 {
		return nil
	}
	if at+uint64(len(b)) < at {
		return failed(0, 0, "%d bytes at %#x reach beyond the last address", len(b), at)
	}
	m, err := join(append(slices.Clone(r.Memory), Range{at, b}))
	if err != nil {
		return err
	}
	r.Memory = m
	r.Bytes = r.from(r.At)
	return nil
}

// from is the memory that is known from an address on, nil if none is.
func (r *Request) from(at uint64) []byte {
	for i := range r.Memory {
		if m := &r.Memory[i]; m.Addr <= at && at < m.end() {
			return m.Bytes[at-m.Addr:]
		}
	}
	return nil
}

// join sorts ranges and joins those that touch or overlap; an overlap has to
// agree.
func join(ranges []Range) ([]Range, error) {
	slices.SortStableFunc(ranges, func(a, b Range) int {
		switch {
		case a.Addr < b.Addr:
			return -1
		case a.Addr > b.Addr:
			return 1
		}
		return 0
	})
	var out []Range
	for _, r := range ranges {
		if len(r.Bytes) == 0 {
			continue
		}
		last := len(out) - 1
		if last < 0 || r.Addr > out[last].end() {
			out = append(out, Range{r.Addr, slices.Clone(r.Bytes)})
			continue
		}
		have := &out[last]
		both := min(have.end(), r.end()) - r.Addr
		from := r.Addr - have.Addr
		for i := range both {
			if have.Bytes[from+i] != r.Bytes[i] {
				return nil, failed(0, 0, "the byte at %#x is shown twice, as %02x and as %02x", r.Addr+i, have.Bytes[from+i], r.Bytes[i])
			}
		}
		have.Bytes = append(have.Bytes, r.Bytes[both:]...)
	}
	return out, nil
}

// Hexdump writes the memory as hexdump -C does, the range with the request
// first. Parse reads it.
func (r *Request) Hexdump() string {
	var b strings.Builder
	for pass := range 2 {
		for _, m := range r.Memory {
			has := m.Addr <= r.At && r.At < m.end()
			if has == (pass == 0) {
				m.hexdump(&b)
			}
		}
	}
	return b.String()
}

func (r *Range) hexdump(b *strings.Builder) {
	const width = 16
	for at := 0; at < len(r.Bytes); at += width {
		fmt.Fprintf(b, "%08x ", r.Addr+uint64(at))
		line := r.Bytes[at:min(at+width, len(r.Bytes))]
		for i := range width {
			if i%8 == 0 {
				b.WriteByte(' ')
			}
			if i < len(line) {
				fmt.Fprintf(b, "%02x ", line[i])
			} else {
				b.WriteString("   ")
			}
		}
		b.WriteString(" |")
		for _, c := range line {
			if c < ' ' || c > '~' {
				c = '.'
			}
			b.WriteByte(c)
		}
		b.WriteString("|\n")
	}
}
