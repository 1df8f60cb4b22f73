package request

import (
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// row is a line of a dump.
type row struct {
	line   int
	offset string   // digits, "" without one
	colon  bool     // a colon follows it
	base   int      // of the offset; 0 if that is not known
	groups []string // digits, in pairs
	words  tri      // the groups are little-endian words
	repeat bool     // as the row before, up to the offset of the next
}

// tri is yes, no, or not known.
type tri uint8

const (
	unsure tri = iota
	yes
	never
)

// What stands before the bytes of a line: an address with a colon; anything may
// stand before that in the kernel's log.
var (
	addressed = regexp.MustCompile(`^(.*?)(0[xX])?([0-9a-fA-F]{4,16})(?:\s+<[^>]*>)?:(?:[ \t]+|$)`)
	logTime   = regexp.MustCompile(`^(?:<\d+>)?\[ *\d+\.\d+\] ?`)
	straceBar = regexp.MustCompile(`^ *\| ([0-9a-fA-F]{5,}) `)
)

// dump reads a line that begins with an address or an offset; false if it does
// not look like one.
func (p *parser) dump(line string) (bool, error) {
	rest, prefix, words := line, 0, unsure
	r := row{line: p.n}
	if m := straceBar.FindStringSubmatchIndex(line); m != nil {
		r.offset, r.base, prefix = line[m[2]:m[3]], 16, m[1]
		rest = strings.TrimSuffix(strings.TrimRight(line[prefix:], " "), "|")
		return true, p.bytes(r, rest, prefix, middleGap)
	}
	if m := logTime.FindString(line); m != "" {
		rest, prefix, words = line[len(m):], len(m), yes
	}
	if m := addressed.FindStringSubmatchIndex(rest[:min(len(rest), longestAddress)]); m != nil && (prefix > 0 || blankOrLabel(rest[:m[3]])) {
		r.offset, r.colon, r.base, r.words = rest[m[6]:m[7]], true, 16, words
		return true, p.bytes(r, rest[m[1]:], prefix+m[1], 0)
	}
	if first, others, at := p.offsetFirst(rest); first != "" {
		r.offset, r.words = first, yes
		if len(first) != 7 {
			r.base = 16
		}
		return true, p.bytes(r, others, prefix+at, middleGap)
	}
	if prefix > 0 && plainLine(rest) {
		r.words = words
		return true, p.bytes(r, rest, prefix, 0)
	}
	return false, nil
}

// longestAddress is how far into a line an address may reach.
const longestAddress = 256

// blankOrLabel says whether a line may have that before its address: nothing,
// or a label, which ends with a blank or a colon.
func blankOrLabel(s string) bool {
	t := strings.TrimSpace(s)
	if strings.ContainsAny(s, `"(=|>`) { // as behind the bytes, where they stand as text
		return false
	}
	return s != t || t == "" || strings.HasSuffix(t, ":")
}

var onlyDigits = regexp.MustCompile(`^[0-9a-fA-F]+$`)

// cut takes 0x from digits; false if what is left is no digits.
func cut(token string) (digits string, prefixed, ok bool) {
	if len(token) > 2 && token[0] == '0' && token[1]|0x20 == 'x' {
		token, prefixed = token[2:], true
	}
	return token, prefixed, onlyDigits.MatchString(token)
}

// offsetFirst takes the offset from a line without a colon: its first digits
// are as many as no byte or word has, or as those behind it do not have.
func (p *parser) offsetFirst(s string) (offset, rest string, at int) {
	trimmed := strings.TrimLeft(s, " \t")
	at = len(s) - len(trimmed)
	first, rest, _ := strings.Cut(trimmed, " ")
	if len(first) < 5 || len(first) > 16 || !onlyDigits.MatchString(first) {
		return "", "", 0
	}
	at += len(first) + 1
	if cut := strings.IndexAny(rest, "|>"); cut >= 0 {
		rest = rest[:cut]
	}
	groups := strings.Fields(rest)
	if len(groups) == 0 { // the line that says how long it all was
		if last := p.lastOffset(); last != nil && !last.colon {
			return first, "", at
		}
		return "", "", 0
	}
	if size := len(groups[0]); size == len(first) || size%2 != 0 && size != 6 || !isOffset(len(first), size, strings.HasPrefix(rest, " ")) {
		return "", "", 0
	}
	return first, rest, at
}

// isOffset says whether digits that many begin a line whose groups have that
// many: as od and hexdump print offsets, or any in front of single bytes and two
// blanks.
func isOffset(digits, group int, two bool) bool {
	return digits%2 != 0 || digits == 6 || digits == 8 || digits == 12 || two && group == 2
}

// lastOffset is the row before this line, or before the * before it, if it has
// an offset.
func (p *parser) lastOffset() *row {
	for i := len(p.rows) - 1; i >= 0; i-- {
		if r := &p.rows[i]; !r.repeat {
			if r.offset == "" {
				return nil
			}
			return r
		}
	}
	return nil
}

// middleGap: there are two blanks in the middle of a line.
const middleGap = 8

// bytes takes the groups of a row, up to two blanks, behind which the bytes
// stand as text. column is where s begins in the line.
func (p *parser) bytes(r row, s string, column, gap int) error {
	for i := 0; i < len(s); {
		blanks := len(s[i:]) - len(strings.TrimLeft(s[i:], " \t"))
		rest := s[i+blanks:]
		if rest == "" {
			break
		}
		wide := blanks >= 2 && !strings.Contains(s[i:i+blanks], "\t") && len(r.groups) > 0
		end := strings.IndexAny(rest, " \t")
		if end < 0 {
			end = len(rest)
		}
		token := rest[:end]
		if wide && !(blanks == 2 && gap == len(r.groups) && len(token) == 2 && onlyDigits.MatchString(token)) ||
			rest[0] == '|' || rest[0] == '>' {
			break
		}
		digits, prefixed, ok := cut(token)
		at := column + i + blanks + 1
		switch {
		case !ok:
			return failed(p.n, at, "%s is not a byte in hexadecimal", show(token))
		case len(digits) == 6 && !prefixed && r.base == 0:
			return failed(p.n, at, "6 digits: words in octal cannot be read, use od -tx1")
		case len(digits)%2 != 0:
			return failed(p.n, at, "%s has an odd number of digits: a byte has two", show(token))
		case len(digits) > 16 && prefixed:
			return failed(p.n, at, "%s has %d digits: the largest word has 16", show(token), len(digits))
		case prefixed:
			r.words = yes
		}
		r.groups = append(r.groups, digits)
		i += blanks + end
	}
	if len(r.groups) > 0 && len(r.groups[0]) == 2 {
		r.words = never
	}
	return p.add(r)
}

// add keeps a row.
func (p *parser) add(r row) error {
	for _, g := range r.groups {
		p.size += len(g) / 2
	}
	if p.size > MaxBytes {
		return failed(p.n, 0, "more than %d bytes", MaxBytes)
	}
	p.rows = append(p.rows, r)
	return nil
}

// show is a token, not too long.
func show(s string) string {
	const most = 24
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strconv.QuoteToASCII(s)
}

// decode is the bytes of a row; with words they are little-endian.
func (r *row) decode(words bool) []byte {
	var out []byte
	for _, g := range r.groups {
		b, _ := hex.DecodeString(g)
		if words {
			slices.Reverse(b)
		}
		out = append(out, b...)
	}
	return out
}

// isWords says how the row's groups are read; ambiguous is what holds where
// both can be.
func (r *row) isWords(ambiguous bool) bool {
	if r.words == unsure {
		return ambiguous
	}
	return r.words == yes
}

// ranges puts rows together. Rows without an offset follow one another.
func ranges(rows []row, ambiguous bool) ([]Range, error) {
	base := offsetBase(rows, ambiguous)
	var out []Range
	var before []byte // of the row before
	for i := range rows {
		r := &rows[i]
		if r.repeat {
			continue
		}
		b := r.decode(r.isWords(ambiguous))
		if r.offset == "" {
			switch {
			case len(out) == 0:
				out = append(out, Range{})
			case i > 0 && (rows[i-1].offset != "" || rows[i-1].repeat):
				return nil, failed(r.line, 0, "bytes without an address behind lines that have one")
			}
			last := &out[len(out)-1]
			last.Bytes, before = append(last.Bytes, b...), b
			continue
		}
		at, err := r.address(base)
		if err != nil {
			return nil, err
		}
		if at+uint64(len(b)) < at {
			return nil, failed(r.line, 0, "bytes beyond the last address")
		}
		if i > 0 && rows[i-1].repeat {
			if err := fill(out, before, at, r.line); err != nil {
				return nil, err
			}
		}
		before = b
		if last := len(out) - 1; last >= 0 && out[last].end() == at {
			out[last].Bytes = append(out[last].Bytes, b...)
		} else if len(b) > 0 {
			out = append(out, Range{at, b})
		}
	}
	if n := len(rows); n > 0 && rows[n-1].repeat {
		return nil, failed(rows[n-1].line, 0, "no line behind this one says how often the bytes are repeated")
	}
	return out, nil
}

// fill repeats the row before up to an address.
func fill(out []Range, before []byte, to uint64, line int) error {
	last := &out[len(out)-1]
	if to < last.end() || to-last.Addr > MaxBytes || len(before) == 0 || (to-last.end())%uint64(len(before)) != 0 {
		return failed(line, 0, "the address does not fit behind the line with *")
	}
	for last.end() < to {
		last.Bytes = append(last.Bytes, before...)
	}
	return nil
}

func (r *row) address(base int) (uint64, error) {
	if r.base != 0 {
		base = r.base
	}
	n, err := strconv.ParseUint(r.offset, base, 64)
	if err != nil {
		return 0, failed(r.line, 0, "%s is no offset to the base %d, as those of the other lines are", show(r.offset), base)
	}
	return n, nil
}

// offsetBase finds out in which base offsets are that programs print in several:
// that in which most lines begin where the line before ends.
func offsetBase(rows []row, ambiguous bool) int {
	best, most := 16, -1
	for _, base := range []int{16, 8, 10} {
		n, end, known := 0, uint64(0), false
		for i := range rows {
			r := &rows[i]
			if r.repeat || r.base != 0 {
				known = false
				continue
			}
			at, err := r.address(base)
			if err != nil {
				n = -1
				break
			}
			if known && at == end {
				n++
			}
			end, known = at+uint64(len(r.decode(r.isWords(ambiguous)))), true
		}
		if n > most {
			best, most = base, n
		}
	}
	return best
}
