package casefile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// codec is one passage over a case, reading or writing. What the members of
// each object are is described once, by its members method, and serves both
// ways; reading also keeps account of the names that the case makes and uses.
type codec struct {
	reading bool
	out     []byte // what was written
	err     error  // the first thing that was wrong
	scope   scope
}

// item is one JSON value: the one that is read, or the place where one is to
// be written.
type item struct {
	c *codec
	n *node
}

// fail records what is wrong with the item, unless something was before.
func (it item) fail(format string, args ...any) {
	if it.c.err == nil {
		it.c.err = errors.New(prefix(it.n) + fmt.Sprintf(format, args...))
	}
}

// is says whether the item that is read is of that kind.
func (it item) is(k nodeKind) bool {
	if it.n.kind != k {
		it.fail("%s where %s is wanted", nodeNames[it.n.kind], nodeNames[k])
		return false
	}
	return true
}

func (it item) text(p *string) {
	switch {
	case !it.c.reading:
		it.c.out = appendQuoted(it.c.out, *p)
	case it.is(textNode):
		*p = it.n.text
	}
}

func (it item) boolean(p *bool) {
	switch {
	case !it.c.reading:
		it.c.out = strconv.AppendBool(it.c.out, *p)
	case it.is(boolNode):
		*p = it.n.text == "true"
	}
}

// hex is bytes as hex text. No bytes are nil.
func (it item) hex(p *[]byte) {
	if !it.c.reading {
		it.c.out = append(it.c.out, '"')
		it.c.out = hex.AppendEncode(it.c.out, *p)
		it.c.out = append(it.c.out, '"')
		return
	}
	if !it.is(textNode) {
		return
	}
	b, err := hex.DecodeString(it.n.text)
	if err != nil {
		it.fail("%q is not hex text", shorten(it.n.text))
	}
	if len(b) == 0 {
		b = nil
	}
	*p = b
}

// shorten cuts long text for a message.
func shorten(s string) string {
	if len(s) > 40 {
		return strings.ToValidUTF8(s[:40], "") + "…"
	}
	return s
}

// number is every width of number that the format has.
type number interface {
	~int | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// integer is a whole number that fits into T.
func integer[T number](it item, p *T) {
	if !it.c.reading {
		it.c.out = fmt.Append(it.c.out, *p)
		return
	}
	if !it.is(numberNode) {
		return
	}
	if strings.ContainsAny(it.n.text, ".eE") {
		it.fail("%s is not a whole number", shorten(it.n.text))
		return
	}
	var v T
	var ok bool
	if strings.HasPrefix(it.n.text, "-") {
		n, err := strconv.ParseInt(it.n.text, 10, 64)
		v = T(n)
		ok = err == nil && int64(v) == n && v <= 0
	} else {
		n, err := strconv.ParseUint(it.n.text, 10, 64)
		v = T(n)
		ok = err == nil && uint64(v) == n && v >= 0
	}
	if !ok {
		it.fail("%s does not fit: the field is %s", shorten(it.n.text), widthName(v))
		return
	}
	*p = v
}

func widthName(v any) string {
	switch v.(type) {
	case uint8:
		return "8 bits wide"
	case uint16:
		return "16 bits wide"
	case uint32:
		return "32 bits wide"
	case uint64:
		return "64 bits wide"
	}
	return "a signed number of 64 bits"
}

// list is a JSON list; f reads or writes one element. An empty list is nil.
func list[T any](it item, p *[]T, f func(item, *T)) {
	if it.c.reading {
		if it.is(listNode) && len(it.n.kids) > 0 {
			*p = make([]T, len(it.n.kids))
			for i, k := range it.n.kids {
				f(item{it.c, k}, &(*p)[i])
			}
		}
		return
	}
	it.c.out = append(it.c.out, '[')
	for i := range *p {
		if i > 0 {
			it.c.out = append(it.c.out, ',')
		}
		f(it, &(*p)[i])
	}
	it.c.out = append(it.c.out, ']')
}

// tuple is a list of exactly as many elements as p has.
func tuple[T any](it item, p []T, f func(item, *T)) {
	l := p
	list(it, &l, f)
	if it.c.reading {
		if len(it.n.kids) != len(p) {
			it.fail("a list of %d where %d are wanted", len(it.n.kids), len(p))
		}
		copy(p, l)
	}
}

// dict is a JSON object whose members the case names itself; f reads or writes
// the value of one. They are written in the order of their names. No members
// are a nil map.
func dict[T any](it item, p *map[string]T, f func(item, string, *T)) {
	if it.c.reading {
		if it.is(objectNode) && len(it.n.kids) > 0 {
			*p = make(map[string]T, len(it.n.kids))
			for _, k := range it.n.kids {
				var v T
				f(item{it.c, k}, k.key, &v)
				(*p)[k.key] = v
			}
		}
		return
	}
	it.c.out = append(it.c.out, '{')
	for i, key := range slices.Sorted(maps.Keys(*p)) {
		if i > 0 {
			it.c.out = append(it.c.out, ',')
		}
		it.c.out = appendQuoted(it.c.out, key)
		it.c.out = append(it.c.out, ':')
		v := (*p)[key]
		f(it, key, &v)
	}
	it.c.out = append(it.c.out, '}')
}

// object is a JSON object with members of the format.
type object struct {
	item
	what  string // for messages: whose members they are
	begun bool   // writing: a member was written
}

// object reads or writes an object whose members f goes through. A member that
// f does not ask for is an error. what says in messages whose members they are.
func (it item) object(what string, f func(*object)) {
	o := object{item: it, what: what}
	if it.c.reading {
		if !it.is(objectNode) {
			return
		}
		f(&o)
		for _, k := range it.n.kids {
			if !k.used {
				it.fail("%s has no member %q", o.what, k.key)
			}
		}
		return
	}
	it.c.out = append(it.c.out, '{')
	f(&o)
	it.c.out = append(it.c.out, '}')
}

// need says whether a member must be there.
type need bool

const (
	must need = true
	may  need = false
)

// member returns a member to be read, or the place to write it to, and whether
// there is one. When writing, one that must be there is always written, another
// one when present.
func (o *object) member(key string, n need, present bool) (item, bool) {
	if o.c.reading {
		k := o.n.find(key)
		if k == nil {
			if n == must {
				o.fail("%s needs a member %q", o.what, key)
			}
			return item{}, false
		}
		k.used = true
		return item{o.c, k}, true
	}
	if n == may && !present {
		return item{}, false
	}
	if o.begun {
		o.c.out = append(o.c.out, ',')
	}
	o.begun = true
	o.c.out = appendQuoted(o.c.out, key)
	o.c.out = append(o.c.out, ':')
	return item{o.c, nil}, true
}

// has says whether the object that is read has the member.
func (o *object) has(key string) bool { return o.c.reading && o.n.find(key) != nil }

// text is a text member; with words it must be one of those.
func (o *object) text(key string, p *string, n need, words ...string) {
	it, ok := o.member(key, n, *p != "")
	if !ok {
		return
	}
	it.text(p)
	if o.c.reading && len(words) > 0 && !slices.Contains(words, *p) {
		it.fail("%q is none of %s", shorten(*p), strings.Join(words, ", "))
	}
}

func (o *object) boolean(key string, p *bool) {
	if it, ok := o.member(key, may, *p); ok {
		it.boolean(p)
	}
}

func (o *object) hex(key string, p *[]byte, n need) {
	if it, ok := o.member(key, n, len(*p) > 0); ok {
		it.hex(p)
	}
}

// integerMember is a number; one that may be left out is then 0.
func integerMember[T number](o *object, key string, p *T, n need) {
	if it, ok := o.member(key, n, *p != 0); ok {
		integer(it, p)
	}
}

// lengthMember is a number that counts something and is not negative.
func lengthMember(o *object, key string, p *int, n need) {
	if it, ok := o.member(key, n, *p != 0); ok {
		length(it, p)
	}
}

func length(it item, p *int) {
	integer(it, p)
	if it.c.reading && *p < 0 {
		it.fail("%d is negative", *p)
	}
}

// optional is a member that is nil when it is left out.
func optional[T any](o *object, key string, p **T, f func(item, *T)) {
	it, ok := o.member(key, may, *p != nil)
	if !ok {
		return
	}
	if o.c.reading {
		*p = new(T)
	}
	f(it, *p)
}

func listMember[T any](o *object, key string, p *[]T, n need, f func(item, *T)) {
	if it, ok := o.member(key, n, len(*p) > 0); ok {
		list(it, p, f)
	}
}

func dictMember[T any](o *object, key string, p *map[string]T, f func(item, string, *T)) {
	if it, ok := o.member(key, may, len(*p) > 0); ok {
		dict(it, p, f)
	}
}
