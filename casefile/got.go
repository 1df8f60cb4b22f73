package casefile

import (
	"strconv"
	"strings"
)

// Got is what the kernel answered to a step. Members that the step does not
// have are nil or empty.
type Got struct {
	Ret     Num
	Errno   *string // its name, empty for none; the answer of Bufs alone has no errno
	Attrs   []GotAttr
	Bufs    map[string]string // hex text, or Unmapped
	Revents *Num
	Hex     *string
	Text    *string
	WC      []WC
	Par     [][]Got // of Par: the answers of each thread
}

// Any in the place of a number, a text or a buffer's bytes stands for whatever
// is there. AnyByte in hex text stands for one byte.
const (
	Any     = "*"
	AnyByte = "**"
)

// Unmapped is the contents of a buffer that the case has unmapped.
const Unmapped = "unmapped"

// Num is a number of an answer: decimal, without needless zeros, or Any, or
// one of the words below.
type Num string

// What a background step answers at first. Its real answer is the Join's.
const (
	Done    Num = "done"
	Blocked Num = "blocked" // not finished after 300 ms
)

// Int returns the Num of a signed number.
func Int(n int64) Num { return Num(strconv.FormatInt(n, 10)) }

// Uint returns the Num of an unsigned number.
func Uint(n uint64) Num { return Num(strconv.FormatUint(n, 10)) }

func (n *Num) code(it item, words ...Num) {
	if !it.c.reading {
		if isDecimal(string(*n)) {
			it.c.out = append(it.c.out, *n...)
			return
		}
		it.c.out = appendQuoted(it.c.out, string(*n))
		return
	}
	if it.n.kind == textNode {
		for _, w := range append(words, Any) {
			if it.n.text == string(w) {
				*n = w
				return
			}
		}
		it.fail("%q is neither a number nor %q", shorten(it.n.text), Any)
		return
	}
	if strings.HasPrefix(it.n.text, "-") {
		var v int64
		integer(it, &v)
		*n = Int(v)
		return
	}
	var v uint64
	integer(it, &v)
	*n = Uint(v)
}

func isDecimal(s string) bool {
	digits := strings.TrimPrefix(s, "-")
	return digits != "" && strings.Trim(digits, "0123456789") == ""
}

func numItem(it item, n *Num) { n.code(it) }

func (o *object) num(key string, p *Num, n need, words ...Num) {
	if it, ok := o.member(key, n, *p != ""); ok {
		p.code(it, words...)
	}
}

// GotAttr is an attribute as it stands in user memory after an ioctl.
type GotAttr struct {
	Flags Num
	Data  string // 0x and hex digits, or Any
}

// WC is a completion that RxePoll took out: struct ib_uverbs_wc
// (include/uapi/rdma/ib_user_verbs.h).
type WC struct {
	WrID, Status, Opcode, VendorErr, ByteLen, Ex, WCFlags Num
}

// fields are the names of a completion's numbers, in the order of the format.
func (w *WC) fields() []wcField {
	return []wcField{
		{"wr_id", &w.WrID}, {"status", &w.Status}, {"opcode", &w.Opcode}, {"vendor_err", &w.VendorErr},
		{"byte_len", &w.ByteLen}, {"ex", &w.Ex}, {"wc_flags", &w.WCFlags},
	}
}

type wcField struct {
	key string
	n   *Num
}

func (g *Got) members(o *object) {
	o.num("ret", &g.Ret, must, Done, Blocked)
	optional(o, "errno", &g.Errno, errnoItem)
	listMember(o, "attrs", &g.Attrs, may, func(it item, a *GotAttr) {
		it.object("an answered attribute", func(o *object) {
			o.num("flags", &a.Flags, must)
			if it, ok := o.member("data", must, true); ok {
				dataItem(it, &a.Data)
			}
		})
	})
	dictMember(o, "bufs", &g.Bufs, func(it item, name string, s *string) {
		it.useBuf(name, 0, 0)
		bytesItem(it, s)
	})
	optional(o, "revents", &g.Revents, numItem)
	optional(o, "hex", &g.Hex, bytesItem)
	optional(o, "text", &g.Text, item.text)
	listMember(o, "wc", &g.WC, may, func(it item, w *WC) {
		it.object("a completion", func(o *object) {
			for _, f := range w.fields() {
				o.num(f.key, f.n, must)
			}
		})
	})
	listMember(o, "par", &g.Par, may, func(it item, l *[]Got) {
		list(it, l, func(it item, g *Got) { it.object("an answer", g.members) })
	})
}

// errnoItem is the name of an errno: E and more, SIGBUS, BLOCKED, or a number
// where there is no name.
func errnoItem(it item, p *string) {
	it.text(p)
	if !it.c.reading || *p == Any {
		return
	}
	for i := range len(*p) {
		if c := (*p)[i]; !(c >= 'A' && c <= 'Z' || c >= '0' && c <= '9') {
			it.fail("%q is no errno's name", shorten(*p))
			return
		}
	}
}

func dataItem(it item, p *string) {
	it.text(p)
	digits, ok := strings.CutPrefix(*p, "0x")
	if _, err := strconv.ParseUint(digits, 16, 64); it.c.reading && *p != Any && (!ok || err != nil) {
		it.fail("%q is not 0x and hex digits of a 64-bit number", shorten(*p))
	}
}

// bytesItem is hex text in which some bytes may be AnyByte.
func bytesItem(it item, p *string) {
	it.text(p)
	if !it.c.reading || *p == Any || *p == Unmapped {
		return
	}
	if len(*p)%2 != 0 {
		it.fail("hex text of %d digits", len(*p))
		return
	}
	for i := 0; i < len(*p); i += 2 {
		if b := (*p)[i : i+2]; b != AnyByte && !(isHexDigit(b[0]) && isHexDigit(b[1])) {
			it.fail("%q at %d of the hex text is no byte", strings.ToValidUTF8(b, "?"), i)
			return
		}
	}
}

func isHexDigit(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f'
}
