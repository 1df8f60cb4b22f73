package dissect

import (
	"fmt"

	"uverbsim/report/decode"
	"uverbsim/report/request"
	"uverbsim/rule"
	"uverbsim/spec"
)

// Device says what the request is read for.
type Device struct {
	Name   string // of the driver, as the command line has it
	Driver uint32 // a RDMA_DRIVER_ constant
	Kernel *spec.Kernel
	// Others are the names of the other drivers that it might be for, if neither
	// the request nor anybody else says for which it is.
	Others []string
}

// Dump is a request in pieces.
type Dump struct {
	Call   request.Kind
	Device Device
	Object string // the UAPI's names, "" if they are not known
	Method string // of a method or a command

	Shown int // bytes of the request that the text shows
	Len   int // bytes that the request says that it has, 0 if that cannot be told

	Parts []Part
	// Unsent are the attributes that the method could have besides.
	Unsent []string
	// Flaws are of the request as a whole.
	Flaws []Flaw
	// Memory is what has to be assumed of memory that the text does not show.
	Memory []string
	// Objects are those that the request names.
	Objects []Object

	Answer *Answer // nil if nobody has played it
	// Then is the answer if these objects exist, nil if that is not known.
	Then *Answer

	defs []spec.Definition // of the device
}

// Part is a struct of the request: its header, an attribute, or what an
// attribute or a command consists of.
type Part struct {
	Title  string
	Takes  string // what an attribute takes
	Fields []Field
	Flaws  []Flaw
	// Behind is what the part points to.
	Behind []Part
	// Addr is where it lies, if it is not in the request itself.
	Addr uint64
}

// Field is some bytes with a meaning.
type Field struct {
	At    int // in the request; in what a part points to, in that
	Bytes []byte
	Name  string
	Value decode.Value
	Says  string // more about the value
	Flaws []Flaw
}

// Object is one that a request names.
type Object struct {
	Number uint64 // the handle, or the descriptor
	FD     bool
	Type   uint16 // UVERBS_OBJECT_PD; UVERBS_IDR_ANY_OBJECT if it is not known
	Where  string // the attribute or the member that names it
	Attr   int    // which attribute has it, -1 if none by itself
}

// Assumed says that the object does not exist.
func (o *Object) Assumed() string {
	what := "handle"
	if o.FD {
		what = "descriptor"
	}
	return fmt.Sprintf("there is no %s %d, which %s names: nothing was made on this machine", what, int64(o.Number), o.Where)
}

// Flaw is something that is wrong, or odd.
type Flaw struct {
	Rule *rule.Rule // what refuses it, nil if nothing does
	Text string     // what is odd about it, or the values that the rule is about
}

// Answer is what comes of the request.
type Answer struct {
	// Cannot says why the answer cannot be told; the other fields then mean
	// nothing.
	Cannot string

	Ret     string // "0", "-1"
	Errno   string // the name, "" if it succeeds
	Rule    *rule.Rule
	On      string   // what it was played on
	Matters []string // the assumptions that it hangs on
	// Seen is what a line of strace said that the call returned, "" if nothing:
	// a number, or the name of an errno.
	Seen string
}

// Agrees says whether the line of strace said the same.
func (a *Answer) Agrees() bool {
	if a.Errno != "" {
		return a.Seen == a.Errno
	}
	return a.Seen == a.Ret
}

// Of takes a request to pieces. It is placed (see request.Request.Placed), and
// its Kind is known.
func Of(r *request.Request, dev Device) *Dump {
	d := &Dump{Call: r.Kind, Device: dev, Shown: len(r.Bytes), defs: dev.Kernel.Definitions(dev.Driver)}
	if r.Kind == request.Ioctl {
		d.ioctl(r)
	} else {
		d.write(r)
	}
	return d
}

// flaw notes something odd about a field.
func (f *Field) flaw(r *rule.Rule, format string, a ...any) {
	f.Flaws = append(f.Flaws, Flaw{r, fmt.Sprintf(format, a...)})
}

// flaw notes something odd about a part.
func (p *Part) flaw(r *rule.Rule, format string, a ...any) {
	p.Flaws = append(p.Flaws, Flaw{r, fmt.Sprintf(format, a...)})
}

// flaw notes something odd about the request.
func (d *Dump) flaw(r *rule.Rule, format string, a ...any) {
	d.Flaws = append(d.Flaws, Flaw{r, fmt.Sprintf(format, a...)})
}

// field adds the bytes at an offset as far as they are shown, as a number; nil
// if none are.
func (p *Part) field(b []byte, at, size int, name string, k decode.Kind) *Field {
	if at >= len(b) {
		return nil
	}
	f := Field{At: at, Bytes: b[at:min(at+size, len(b))], Name: name}
	if len(f.Bytes) < size {
		f.Value = decode.Value{Kind: decode.Bytes, Bytes: f.Bytes}
		f.flaw(nil, "the dump ends within this field")
	} else {
		f.Value = decode.Value{Kind: k, Num: little(f.Bytes)}
	}
	p.Fields = append(p.Fields, f)
	return &p.Fields[len(p.Fields)-1]
}

// whole says whether a field is there with all its bytes.
func (f *Field) whole() bool { return f != nil && f.Value.Kind != decode.Bytes }

// little is the little-endian number of up to 8 bytes.
func little(b []byte) (n uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}

// members adds the members of a struct, those of structs in it by their path.
func (p *Part) members(v *decode.Value, b []byte, at int, path string) {
	for i := range v.Fields {
		f := &v.Fields[i]
		switch {
		case f.Value.Kind == decode.Struct && f.Size > 0:
			p.members(&f.Value, b, at+f.At, path+f.Name+".")
		case f.Size > 0:
			p.Fields = append(p.Fields, Field{At: at + f.At, Bytes: b[at+f.At : at+f.At+f.Size], Name: path + f.Name, Value: f.Value})
		default:
			p.Fields = append(p.Fields, Field{At: -1, Name: path + f.Name, Value: f.Value})
		}
	}
}

// data adds what a buffer holds, read as v. The buffer has so many bytes more,
// which the dump does not show.
func (p *Part) data(v *decode.Value, b []byte, at, unseen int) {
	if v.Kind != decode.Struct {
		p.Fields = append(p.Fields, Field{At: at, Bytes: b[at:], Name: "", Value: *v})
		return
	}
	p.members(v, b, at, "")
	switch {
	case v.Missing > unseen:
		p.flaw(nil, "%d bytes short of the %s", v.Missing-unseen, v.Type)
	case v.Zeros > 0:
		p.flaw(nil, "and %d bytes of zeros beyond the %s", v.Zeros, v.Type)
	case len(v.Tail) > 0:
		p.flaw(nil, "and %d bytes beyond the %s that are not all zero: %x", len(v.Tail), v.Type, v.Tail)
	}
}
