package request

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"uverbsim/spec"
)

// call is what a line of strace says.
type call struct {
	line     int
	kind     Kind
	bytes    []byte // as its string has them, nil without one
	arg      uint64 // the address of the request, 0 if it is not said
	count    int    // what a write() was to write, -1 if it is not said
	returned string
}

var (
	systemCall = regexp.MustCompile(`^(?:\[pid +\d+\] |\d+ +)?(?:[\d:.]+ +)?(?:\(\+[^)]*\) *)?([a-z_][a-z0-9_]*)\(`)
	ioctlBegin = regexp.MustCompile(`(?:^|[^a-z0-9_])(ioctl|write)\((?:0x)?(\d+)(<[^"]*?>)?, `)
	marker     = regexp.MustCompile(`^(?:\[pid +\d+\] |\d+ +)?(?:[\d:.]+ +)?(?:\+\+\+|---) `)
	dumpBegin  = regexp.MustCompile(`^\s*(?:0x)?[0-9a-fA-F]{5,16}(?: <[^>]*>)?:?\s+(?:0x)?[0-9a-fA-F]{2,}\s|\|`)
	isVerbs    = regexp.MustCompile(`^(?:RDMA_VERBS_IOCTL|0x[cC]0181[bB]01(?: /\* [\w |]+ \*/)?|_IOC\((?:_IOC_READ\|_IOC_WRITE|_IOC_WRITE\|_IOC_READ), 0x1b, (?:0x)?0*1, 0x18\)|_IOWR\(0x1b, (?:0x)?0*1, [^)]*\)), `)
	returns    = regexp.MustCompile(`\)\s*= (?:(-?\d+)(?: (E[A-Z0-9]+))?)`)
	pointer    = regexp.MustCompile(`^0x([0-9a-fA-F]{1,16})`)
	writeCount = regexp.MustCompile(`^(?:\.\.\.)?, (?:(0x[0-9a-fA-F]+)|(\d+))\)`)
)

// strace reads a line of strace; false if it is none. Lines of other calls are
// passed over.
func (p *parser) strace(s string) (bool, error) {
	m := ioctlBegin.FindStringSubmatchIndex(s)
	if m != nil && dumpBegin.MatchString(s[:m[2]]) {
		return false, nil // the bytes of a dump may spell anything
	}
	if m == nil {
		if systemCall.MatchString(s) || marker.MatchString(s) {
			p.skip("line %d is not an ioctl or a write", p.n)
			return true, nil
		}
		return false, nil
	}
	c := &call{line: p.n, count: -1}
	if r := returns.FindStringSubmatch(s[m[1]:]); r != nil {
		c.returned = r[1] + r[2]
		if r[2] != "" {
			c.returned = r[2]
		}
	}
	if s[m[2]:m[3]] == "ioctl" {
		return p.ioctl(c, s, m[1])
	}
	path := ""
	if m[6] >= 0 {
		path = s[m[6]:m[7]]
	}
	return p.write(c, s, m[1], path)
}

// skip notes why there may be no request.
func (p *parser) skip(format string, a ...any) {
	if p.skipped == "" {
		p.skipped = fmt.Sprintf(format, a...)
	}
}

// ioctl reads the arguments behind the descriptor, from column at on.
func (p *parser) ioctl(c *call, s string, at int) (bool, error) {
	verbs := isVerbs.FindString(s[at:])
	if verbs == "" {
		command, _, _ := strings.Cut(s[at:], ",")
		p.skip("line %d: the ioctl %s is not RDMA_VERBS_IOCTL, %#x", p.n, show(command), uint32(spec.RDMA_VERBS_IOCTL))
		return true, nil
	}
	at += len(verbs)
	c.kind = Ioctl
	switch {
	case strings.HasPrefix(s[at:], `"`):
		b, _, err := p.text(s, at)
		if err != nil {
			return true, err
		}
		c.bytes = b
		if cut, ok := bytes.CutSuffix(b, []byte("...")); ok && len(b) < spec.IoctlHdrSize { // as some paste it
			c.bytes = cut
		}
	case pointer.MatchString(s[at:]):
		c.arg, _ = strconv.ParseUint(pointer.FindStringSubmatch(s[at:])[1], 16, 64)
	case strings.HasPrefix(s[at:], "NULL"):
		return true, failed(p.n, at+1, "the request lies at NULL: the answer is EFAULT")
	default:
		return true, failed(p.n, at+1, "neither an address nor a string: what uverbsim run --strace prints is decoded already")
	}
	return true, p.found(c)
}

// write reads the arguments behind the descriptor, which leads to path if that
// is known.
func (p *parser) write(c *call, s string, at int, path string) (bool, error) {
	c.kind = Write
	switch {
	case strings.HasPrefix(s[at:], `"`):
		b, n, err := p.text(s, at)
		if err != nil {
			return true, err
		}
		c.bytes, at = b, at+n
	case pointer.MatchString(s[at:]):
		m := pointer.FindStringSubmatch(s[at:])
		c.arg, _ = strconv.ParseUint(m[1], 16, 64)
		at += len(m[0])
	default:
		return true, failed(p.n, at+1, "neither an address nor a string: what uverbsim run --strace prints is decoded already")
	}
	if m := writeCount.FindStringSubmatch(s[at:]); m != nil {
		n, err := strconv.ParseUint(m[1]+m[2], 0, 31)
		if err != nil {
			return true, failed(p.n, 0, "a write of %s bytes", m[1]+m[2])
		}
		c.count = int(n)
	} else if strings.HasPrefix(s[at:], "...") {
		return true, failed(p.n, at+1, "bytes are left out, and how many is not said")
	}
	if path == "" && c.bytes != nil && len(c.bytes) < min(c.count, spec.CmdHdrSize) {
		p.skip("line %d: strace shows %d of the %d bytes of this write, and the header alone has %d: strace -s %d shows all of them",
			p.n, len(c.bytes), c.count, spec.CmdHdrSize, c.count)
		return true, nil
	}
	if path == "" && c.bytes != nil && writeFits(c.bytes, max(c.count, len(c.bytes))) == no ||
		path != "" && !strings.Contains(path, "uverbs") {
		p.skip("line %d: this is not a write to a uverbs device", p.n)
		return true, nil
	}
	return true, p.found(c)
}

// found keeps the one call that the request is of.
func (p *parser) found(c *call) error {
	if c.arg > 0 && c.arg < firstAddress {
		return failed(p.n, 0, "the request lies at %#x, where no program has memory: the answer is EFAULT", c.arg)
	}
	if p.call != nil {
		return failed(p.n, 0, "a second request, after that of line %d: decode takes one", p.call.line)
	}
	p.call = c
	return nil
}

// letters are the escapes of one letter in C.
var letters = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'v': '\v', 'f': '\f', 'a': 7, 'b': 8, 'e': 27, '\\': '\\', '"': '"', '\'': '\''}

// text reads a string as C, strace and Python write them, and returns how long it
// is with its quotes, which are of the kind that the first one has.
func (p *parser) text(s string, at int) (b []byte, n int, err error) {
	b = []byte{}
	for i := at + 1; i < len(s); i++ {
		switch {
		case s[i] == s[at]:
			return b, i + 1 - at, nil
		case s[i] != '\\':
			b = append(b, s[i])
			continue
		case i+1 == len(s):
			return nil, 0, failed(p.n, at+1, "the string has no end")
		}
		i++
		switch {
		case s[i] == 'x':
			if i+2 >= len(s) || !onlyDigits.MatchString(s[i+1:i+3]) {
				return nil, 0, failed(p.n, i, "\\x without two digits")
			}
			b = append(b, decodeHex(s[i+1:i+3])...)
			i += 2
		case s[i] >= '0' && s[i] <= '7':
			v, digits := 0, 0
			for ; digits < 3 && i+digits < len(s) && s[i+digits] >= '0' && s[i+digits] <= '7'; digits++ {
				v = v*8 + int(s[i+digits]-'0')
			}
			if v > 255 {
				return nil, 0, failed(p.n, i, "\\%o is more than a byte", v)
			}
			b = append(b, byte(v))
			i += digits - 1
		default:
			c, ok := letters[s[i]]
			if !ok {
				return nil, 0, failed(p.n, i, "\\%c is no escape of C", s[i])
			}
			b = append(b, c)
		}
	}
	return nil, 0, failed(p.n, at+1, "the string has no end")
}
