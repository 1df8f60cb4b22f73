package casefile

import (
	"fmt"
	"strconv"
	"strings"
)

// Kind says what a Value is.
type Kind uint8

// The kinds of values. The JSON form stands behind each.
const (
	Absent  Kind = iota // the member is not there; it counts as 0
	Number              // N: a number or "0x..." text
	Ptr                 // {"ptr":Name,"off":Off}: the address of a buffer
	Bad                 // {"bad":Name}: an address that cannot be used
	Handle              // {"handle":Name}: a handle or descriptor saved earlier
	Plus                // {"plus":[A,B]}: a sum
	Content             // {"buf":Name,"off":Off,"size":Size}: the number that stands in a buffer
	Mapped              // {"map":Name,"off":Off}: an address in a mapping of the device
)

// Form is how a Number is written.
type Form uint8

// The forms of numbers.
const (
	Decimal  Form = iota
	Negative      // N is the two's complement
	Hex
)

// The addresses that {"bad":...} stands for; "null" is 0.
const (
	BadUnmapped uint64 = 0x5ead00000000     // nothing is mapped there
	BadKernel   uint64 = 0xffff800000000000 // above the user's half
)

// Value is a 64-bit number as a case gives it. Only the fields that its Kind
// names are set.
type Value struct {
	Kind Kind
	N    uint64
	Form Form
	Name string
	Off  int64
	Size int // 4 or 8
	Sum  *[2]Value
}

// NumberOf returns the Value of a plain number.
func NumberOf(n uint64) Value { return Value{Kind: Number, N: n} }

// PtrTo returns the Value of the address off bytes into a buffer.
func PtrTo(buf string, off int64) Value { return Value{Kind: Ptr, Name: buf, Off: off} }

// HandleOf returns the Value of a saved handle or descriptor.
func HandleOf(sym string) Value { return Value{Kind: Handle, Name: sym} }

func (v *Value) code(it item) {
	if it.c.reading {
		v.read(it)
		return
	}
	switch v.Kind {
	case Number:
		switch v.Form {
		case Negative:
			it.c.out = strconv.AppendInt(it.c.out, int64(v.N), 10)
		case Hex:
			it.c.out = fmt.Appendf(it.c.out, `"0x%x"`, v.N)
		default:
			it.c.out = strconv.AppendUint(it.c.out, v.N, 10)
		}
	case Ptr, Bad, Handle, Plus, Content, Mapped:
		it.object("a value", v.members)
	default:
		it.fail("a value of kind %d cannot be written", v.Kind)
	}
}

func (v *Value) read(it item) {
	switch it.n.kind {
	case numberNode:
		v.Kind = Number
		if strings.HasPrefix(it.n.text, "-") {
			var n int64
			integer(it, &n)
			v.N = uint64(n)
			if n < 0 {
				v.Form = Negative
			}
			return
		}
		integer(it, &v.N)
	case textNode:
		digits, ok := strings.CutPrefix(it.n.text, "0x")
		n, err := strconv.ParseUint(digits, 16, 64)
		if !ok || err != nil {
			it.fail("%q is not 0x and hex digits of a 64-bit number", shorten(it.n.text))
			return
		}
		v.Kind, v.N, v.Form = Number, n, Hex
	case objectNode:
		it.object("a value", v.members)
	default:
		it.fail("%s where a number, \"0x...\" text or an object is wanted", nodeNames[it.n.kind])
	}
}

// valueKeys are the members that tell what kind of value an object is.
var valueKeys = [...]string{Ptr: "ptr", Bad: "bad", Handle: "handle", Plus: "plus", Content: "buf", Mapped: "map"}

func (v *Value) members(o *object) {
	if o.c.reading {
		for k, key := range valueKeys {
			if key != "" && o.has(key) {
				v.Kind = Kind(k)
			}
		}
		if v.Kind == Absent {
			o.fail("a value is one of ptr, bad, handle, plus, buf, map")
			return
		}
	}
	key := valueKeys[v.Kind]
	switch v.Kind {
	case Ptr:
		o.text(key, &v.Name, must)
		integerMember(o, "off", &v.Off, may)
		o.useBuf(v.Name, 0, 0)
	case Bad:
		o.text(key, &v.Name, must, "unmapped", "null", "kernel")
	case Handle:
		o.uses(handles, key, &v.Name, must)
	case Plus:
		if o.c.reading {
			v.Sum = new([2]Value)
		}
		if v.Sum == nil {
			o.fail("a sum without its parts cannot be written")
			return
		}
		if it, ok := o.member(key, must, true); ok {
			tuple(it, v.Sum[:], func(it item, v *Value) { v.code(it) })
		}
	case Content:
		o.text(key, &v.Name, must)
		integerMember(o, "off", &v.Off, may)
		numberSize(o, &v.Size)
		o.useBuf(v.Name, int(v.Off), v.Size)
	case Mapped:
		o.uses(mappings, key, &v.Name, must)
		integerMember(o, "off", &v.Off, may)
	}
}

// numberSize is the size of a number in memory.
func numberSize(o *object, p *int) {
	integerMember(o, "size", p, must)
	if o.c.reading && *p != 4 && *p != 8 {
		o.fail("size %d: a number in memory has 4 or 8 bytes", *p)
	}
}

func (o *object) value(key string, p *Value, n need) {
	if it, ok := o.member(key, n, p.Kind != Absent); ok {
		p.code(it)
	}
}

// Env is what a player knows while it plays a case.
type Env interface {
	// BufAddr is the address of a buffer.
	BufAddr(name string) (addr uint64, ok bool)
	// BufNumber is the little-endian number of 4 or 8 bytes in a buffer now.
	BufNumber(name string, off, size int) (n uint64, ok bool)
	// Symbol is a saved handle or descriptor.
	Symbol(name string) (n uint64, isFD, ok bool)
	// MapAddr is the address of a mapping of the device.
	MapAddr(name string) (addr uint64, ok bool)
}

// Resolved is a Value as a number.
type Resolved struct {
	N      uint64
	Varies bool     // it differs from run to run, so that "*" is reported for it
	Bufs   []string // the buffers whose addresses it contains
}

// Resolve works the value out. It fails when env does not know a name.
func (v *Value) Resolve(env Env) (Resolved, error) {
	switch v.Kind {
	case Absent:
		return Resolved{}, nil
	case Number:
		return Resolved{N: v.N}, nil
	case Ptr:
		a, ok := env.BufAddr(v.Name)
		if !ok {
			return Resolved{}, fmt.Errorf("no buffer %q", v.Name)
		}
		return Resolved{a + uint64(v.Off), true, []string{v.Name}}, nil
	case Bad:
		switch v.Name {
		case "null":
			return Resolved{}, nil
		case "unmapped":
			return Resolved{N: BadUnmapped, Varies: true}, nil
		case "kernel":
			return Resolved{N: BadKernel, Varies: true}, nil
		}
		return Resolved{}, fmt.Errorf("no bad address %q", v.Name)
	case Handle:
		n, isFD, ok := env.Symbol(v.Name)
		if !ok {
			return Resolved{}, fmt.Errorf("no handle %q", v.Name)
		}
		return Resolved{N: n, Varies: isFD}, nil
	case Plus:
		a, err := v.Sum[0].Resolve(env)
		if err != nil {
			return Resolved{}, err
		}
		b, err := v.Sum[1].Resolve(env)
		if err != nil {
			return Resolved{}, err
		}
		return Resolved{a.N + b.N, a.Varies || b.Varies, append(a.Bufs, b.Bufs...)}, nil
	case Content:
		n, ok := env.BufNumber(v.Name, int(v.Off), v.Size)
		if !ok {
			return Resolved{}, fmt.Errorf("no %d bytes at %d of buffer %q", v.Size, v.Off, v.Name)
		}
		return Resolved{N: n, Varies: true}, nil
	case Mapped:
		a, ok := env.MapAddr(v.Name)
		if !ok {
			return Resolved{}, fmt.Errorf("no mapping %q", v.Name)
		}
		return Resolved{N: a + uint64(v.Off), Varies: true}, nil
	}
	return Resolved{}, fmt.Errorf("no kind of value %d", v.Kind)
}
