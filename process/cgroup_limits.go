package process

import (
	"math"
	"slices"
	"strings"
)

// parseLimits models rdmacg_parse_limits in kernel/cgroup/rdma.c: the limits, and
// which of them the text names.
func parseLimits(text string) (max [rdmacgResourceMax]int, named [rdmacgResourceMax]bool, ok bool) {
	if text == "" {
		return max, named, true
	}
	for word := range strings.SplitSeq(text, " ") {
		r, n, ok := parseResource(word)
		if !ok {
			return max, named, false
		}
		max[r], named[r] = n, true
	}
	return max, named, true
}

// strip is what strim in lib/string_helpers.c leaves behind the device's name: the
// text ends at a zero byte and before the last space. Space (isspace in
// include/linux/ctype.h) is what Latin-1 has, with 0xa0.
func strip(text string) string {
	text, _, _ = strings.Cut(text, "\x00")
	for text != "" && strings.IndexByte(" \t\n\v\f\r\xa0", text[len(text)-1]) >= 0 {
		text = text[:len(text)-1]
	}
	return text
}

// parseResource models parse_resource in kernel/cgroup/rdma.c. Any beginning of
// "max", even an empty one, is no limit.
func parseResource(word string) (r, n int, ok bool) {
	name, value, ok := strings.Cut(word, "=")
	if !ok {
		return 0, 0, false
	}
	if r = slices.Index(rdmacgResourceNames[:], name); r < 0 {
		return 0, 0, false
	}
	if n, ok := matchInt(value); ok {
		return r, n, n >= 0
	}
	return r, noLimit, strings.HasPrefix("max", value)
}

// numberBufLen is NUMBER_BUF_LEN of lib/parser.c: a number and the zero byte behind it.
const numberBufLen = 24

// matchInt models match_int in lib/parser.c and simple_strtol in lib/vsprintf.c: the
// number that a text begins with, whatever follows it, in the base that it says
// itself. It wraps around at 64 bits, and a minus sign without a digit is 0. It is
// none where the text is too long or the number is no int.
func matchInt(text string) (n int, ok bool) {
	if len(text) >= numberBufLen {
		return 0, false
	}
	digits, negative := strings.CutPrefix(text, "-")
	v, any := parseInteger(digits)
	if negative {
		v, any = -v, true
	}
	return int(int64(v)), any && int64(v) >= math.MinInt32 && int64(v) <= math.MaxInt32
}

// parseInteger models _parse_integer_fixup_radix and _parse_integer in lib/kstrtox.c.
// It is false where there is no digit.
func parseInteger(text string) (v uint64, ok bool) {
	base := uint64(10)
	if strings.HasPrefix(text, "0") {
		base = 8
		if len(text) > 2 && text[1]|0x20 == 'x' && digitOf(text[2]) < 16 {
			base, text = 16, text[2:]
		}
	}
	for i := range len(text) {
		d := digitOf(text[i])
		if d >= base {
			break
		}
		v, ok = v*base+d, true
	}
	return v, ok
}

// digitOf is the value of a hexadecimal digit, and more than any for another byte.
func digitOf(c byte) uint64 {
	switch lower := c | 0x20; {
	case '0' <= c && c <= '9':
		return uint64(c - '0')
	case 'a' <= lower && lower <= 'f':
		return uint64(lower-'a') + 10
	}
	return math.MaxUint64
}
