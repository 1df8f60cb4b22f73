package request

import (
	"encoding/hex"
	"regexp"
	"strings"
)

// parser gathers what lines say.
type parser struct {
	n    int // the line
	rows []row
	size int // bytes in rows
	call *call

	skipped string // why a line that is no request was passed over, of the first such
	brace   brace
}

// brace says where in a C array the text is.
type brace uint8

const (
	outside brace = iota
	inside
	behind
)

// line reads one line.
func (p *parser) line(s string) error {
	s, command := withoutPrompt(s)
	if command {
		p.skip("line %d is a command behind a prompt, and nothing that it printed follows", p.n)
		return nil
	}
	trimmed := strings.TrimSpace(s)
	switch {
	case trimmed == "", trimmed[0] == '#', strings.HasPrefix(trimmed, "//"):
		return nil
	case trimmed == "*":
		if len(p.rows) == 0 {
			return failed(p.n, 0, "* before any bytes")
		}
		return p.add(row{line: p.n, repeat: true})
	case trimmed[0] == '{' && strings.Contains(trimmed, `"`):
		return failed(p.n, 0, "this is JSON: a case is for uverbsim explain, and what uverbsim run --strace prints is decoded already")
	}
	if done, err := p.python(s); done || err != nil {
		return err
	}
	if done, err := p.strace(s); done || err != nil {
		return err
	}
	s, _, _ = strings.Cut(s, "//") // a comment, or bytes that stand as text behind others
	if done, err := p.dump(s); done || err != nil {
		return err
	}
	return p.plain(s)
}

// plainSeparators stand between the digits of a line without an address.
const plainSeparators = " \t,;{}[]()'\"|"

// plainLine says whether a line has nothing but digits.
func plainLine(s string) bool {
	for _, t := range strings.Fields(s) {
		if _, _, ok := cut(strings.Trim(t, ",")); !ok {
			return false
		}
	}
	return strings.TrimSpace(s) != ""
}

// declaration is what stands around the digits of an array in C.
var declaration = regexp.MustCompile(`^[\w\s*\[\]]*=\s*$`)

// plain reads a line of digits without an address.
func (p *parser) plain(s string) error {
	from := 0
	if i := strings.IndexByte(s, '{'); i >= 0 && p.brace == outside && declaration.MatchString(s[:i]) {
		p.brace, from = inside, i+1
	}
	r := row{line: p.n, words: never}
	for i := from; i < len(s); {
		if strings.IndexByte(plainSeparators, s[i]) >= 0 {
			if s[i] == '}' && p.brace == inside {
				p.brace = behind
			}
			i++
			continue
		}
		if p.brace == behind {
			break
		}
		end := strings.IndexAny(s[i:], plainSeparators)
		if end < 0 {
			end = len(s) - i
		}
		if err := p.token(&r, s[i:i+end], i+1); err != nil {
			return err
		}
		i += end
	}
	if len(r.groups) == 0 {
		return nil
	}
	return p.add(r)
}

// token takes the digits of a token.
func (p *parser) token(r *row, token string, column int) error {
	if strings.HasPrefix(token, `\x`) {
		return p.escapes(r, token, column)
	}
	digits, prefixed, ok := cut(strings.TrimRight(token, "uUlL"))
	if !ok || !prefixed && len(digits) < len(token) {
		return failed(p.n, column, "%s is neither hexadecimal digits nor a line of hexdump, xxd, od, gdb or strace", show(token))
	}
	if prefixed && len(digits) == 1 {
		digits = "0" + digits
	}
	if len(digits)%2 != 0 {
		return failed(p.n, column, "%s has an odd number of digits: a byte has two", show(token))
	}
	if prefixed && (len(digits) == 4 || len(digits) == 8 || len(digits) == 16) {
		digits = reversed(digits)
	}
	r.groups = append(r.groups, digits)
	return nil
}

// reversed turns the digits of a word into those of its bytes in memory.
func reversed(digits string) string {
	var b strings.Builder
	for i := len(digits); i > 0; i -= 2 {
		b.WriteString(digits[i-2 : i])
	}
	return b.String()
}

// escapes takes bytes that are written as \x28\x00.
func (p *parser) escapes(r *row, token string, column int) error {
	for i := 0; i < len(token); i += 4 {
		if i+4 > len(token) || token[i] != '\\' || token[i+1] != 'x' || !onlyDigits.MatchString(token[i+2:i+4]) {
			return failed(p.n, column+i, "%s is not \\x and two digits", show(token[i:]))
		}
		r.groups = append(r.groups, token[i+2:i+4])
	}
	return nil
}

// finish puts together what the lines have said.
func (p *parser) finish() (*Request, error) {
	q := &Request{Count: -1}
	if p.call != nil {
		q.Kind, q.Returned, q.Count = p.call.kind, p.call.returned, p.call.count
	}
	if len(p.rows) == 0 {
		return p.fromCall(q)
	}
	memory, err := p.memory()
	if err != nil {
		return nil, err
	}
	if len(memory) == 0 {
		return nil, failed(p.rows[0].line, 0, "no bytes")
	}
	first := &memory[0]
	if p.call != nil && p.call.bytes != nil && first.Addr >= firstAddress {
		memory = append([]Range{{0, p.call.bytes}}, memory...) // these are not the request's
		first = &memory[0]
	}
	q.At, q.Addressed = first.Addr, first.Addr >= firstAddress
	if p.call != nil && p.call.arg != 0 {
		if err := p.move(q, memory); err != nil {
			return nil, err
		}
	}
	if q.Memory, err = join(memory); err != nil {
		return nil, err
	}
	q.Bytes = q.from(q.At)
	for i := range q.Memory {
		m := &q.Memory[i]
		if holds := m.Addr <= q.At && q.At < m.end(); !holds && !q.Addressed && m.Addr < firstAddress {
			return nil, failed(0, 0, "the dump lacks the bytes between %#x and %#x", min(q.At, m.Addr), max(q.At, m.Addr))
		}
	}
	return q, nil
}

// memory is what the rows show: with groups that may be words or bytes, in the
// reading in which the request looks like one.
func (p *parser) memory() ([]Range, error) {
	plain, err := ranges(p.rows, false)
	if err != nil {
		return nil, err
	}
	for i := range p.rows {
		if p.rows[i].words != unsure || len(plain) == 0 || Guess(plain[0].Bytes, len(plain[0].Bytes)) != Unknown {
			continue
		}
		words, err := ranges(p.rows, true)
		if err == nil && len(words) > 0 && Guess(words[0].Bytes, len(words[0].Bytes)) != Unknown {
			return words, nil
		}
		break
	}
	return plain, nil
}

// move finds the request at the address that a line of strace says; a dump of
// offsets is one from there on.
func (p *parser) move(q *Request, memory []Range) error {
	for i := range memory {
		if m := &memory[i]; m.Addr <= p.call.arg && p.call.arg < m.end() {
			q.At, q.Addressed = p.call.arg, true
			return nil
		}
	}
	if q.Addressed {
		return failed(p.call.line, 0, "the request lies at %#x, which no line shows", p.call.arg)
	}
	if p.call.arg+uint64(len(memory[0].Bytes)) < p.call.arg {
		return failed(p.call.line, 0, "a request at %#x would reach beyond the last address", p.call.arg)
	}
	memory[0].Addr, q.At, q.Addressed = p.call.arg, p.call.arg, true
	return nil
}

// fromCall is a request of which there is nothing but a line of strace.
func (p *parser) fromCall(q *Request) (*Request, error) {
	switch {
	case p.call == nil && p.skipped != "":
		return nil, failed(0, 0, "%s", p.skipped)
	case p.call == nil:
		return nil, failed(0, 0, "no bytes")
	case p.call.bytes == nil:
		return nil, failed(p.call.line, 0, "this shows where the request lies, %#x, but not its bytes: "+
			"add a dump of them, as gdb's x/40xb %#x prints it, or have the program run by uverbsim run --strace", p.call.arg, p.call.arg)
	case len(p.call.bytes) == 0:
		return nil, failed(p.call.line, 0, "no bytes")
	}
	q.Bytes = p.call.bytes
	q.Memory = []Range{{0, q.Bytes}}
	return q, nil
}

// decodeHex is the bytes of an even number of digits.
func decodeHex(digits string) []byte {
	b, _ := hex.DecodeString(digits)
	return b
}
