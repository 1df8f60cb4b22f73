package explain

import (
	"encoding/hex"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"uverbsim/report/decode"
)

// number is a number in decimal, or if that can hardly be read, in hexadecimal.
func number(name string, n uint64) Value {
	if n >= 1<<40 {
		return hexNumber(name, n)
	}
	return Value{Name: name, Value: strconv.FormatUint(n, 10), n: n, known: true}
}

func hexNumber(name string, n uint64) Value {
	return Value{Name: name, Value: "0x" + strconv.FormatUint(n, 16), n: n, known: true}
}

func text(name, format string, args ...any) Value {
	return Value{Name: name, Value: fmt.Sprintf(format, args...)}
}

// mostBytes is how many bytes of data are shown.
const mostBytes = 16

// plain writes a value in one line.
func plain(v *decode.Value) string {
	switch v.Kind {
	case decode.Number:
		return strconv.FormatUint(v.Num, 10)
	case decode.Signed:
		return strconv.FormatInt(int64(v.Num), 10)
	case decode.Hex:
		return "0x" + strconv.FormatUint(v.Num, 16)
	case decode.Name:
		if v.Text == "" && v.Num != 0 {
			return strconv.FormatUint(v.Num, 10) + " (no enumerator)"
		} else if v.Text == "" {
			return "0"
		}
		return v.Text
	case decode.Flags:
		list := append([]string(nil), v.Names...)
		if v.Rest != 0 || len(list) == 0 {
			list = append(list, "0x"+strconv.FormatUint(v.Rest, 16))
		}
		return strings.Join(list, "|")
	case decode.Text:
		return strconv.Quote(v.Text)
	case decode.IP:
		if a, ok := netip.AddrFromSlice(v.Bytes); ok {
			return a.Unmap().String()
		}
	case decode.MAC:
		return net.HardwareAddr(v.Bytes).String()
	case decode.Struct:
		return v.Type
	case decode.Array:
		var items []string
		for i := range v.Items {
			if i == mostBytes {
				items = append(items, "...")
				break
			}
			items = append(items, plain(&v.Items[i]))
		}
		return "[" + strings.Join(items, ", ") + "]"
	case decode.Choice:
		s := v.Text
		if s == "" {
			s = "element " + strconv.FormatUint(v.Num, 10)
		}
		if len(v.Items) > 0 {
			s += ": " + plain(&v.Items[0])
		}
		return s
	}
	if len(v.Bytes) == 0 {
		return "no bytes"
	}
	b, more := v.Bytes, ""
	if len(b) > mostBytes {
		b, more = b[:mostBytes], "..."
	}
	return hex.EncodeToString(b) + more
}

// member writes the Go name of a field as conditions have it.
func member(name string) string {
	var b strings.Builder
	r := []rune(name)
	for i, c := range r {
		if unicode.IsUpper(c) {
			if i > 0 && r[i-1] != '_' && (!unicode.IsUpper(r[i-1]) || i+1 < len(r) && unicode.IsLower(r[i+1])) {
				b.WriteByte('_')
			}
			c = unicode.ToLower(c)
		}
		b.WriteRune(c)
	}
	return b.String()
}

// kernelMember puts the underscores into the names of limits that member leaves out.
func kernelMember(s string) string { return limitNames.ReplaceAllString(s, "max_${1}_$2") }

var limitNames = regexp.MustCompile(`\bmax_(srq|qp)(wr|sge)\b`)
