package decode

import (
	"reflect"
	"strings"

	"uverbsim/spec"
)

// StructOf reads a C struct. The bytes may be fewer than the struct has, so that
// members are missing, or more. A struct that is not known is Bytes.
func StructOf(ctype string, b []byte) Value {
	s := spec.NewStruct(ctype)
	if s == nil {
		return Value{Kind: Bytes, Bytes: b}
	}
	v, n := structOf(ctype, reflect.TypeOf(s).Elem(), b)
	rest := b[n:]
	if f := behind[ctype]; f != nil && len(rest) > 0 {
		var more []Field
		more, rest = f(&v, rest)
		v.Fields = append(v.Fields, more...)
	}
	v.tail(rest)
	return v
}

// tail notes what follows the known part of a buffer.
func (v *Value) tail(rest []byte) {
	if zero(rest) {
		v.Zeros = len(rest)
		return
	}
	v.Tail = rest
}

// structOf reads the struct's members and returns how many bytes they are.
func structOf(ctype string, typ reflect.Type, b []byte) (v Value, n int) {
	v = Value{Kind: Struct, Type: ctype}
	names := spec.Members(ctype)
	for i := range typ.NumField() {
		f := typ.Field(i)
		if f.Name == "_" {
			continue
		}
		from, to := int(f.Offset), int(f.Offset+f.Type.Size())
		if to > len(b) {
			if from < len(b) {
				v.Fields = append(v.Fields, Field{Name: names[0], Value: partly(f.Type, b[from:]), At: from, Size: len(b) - from})
			}
			break
		}
		v.Fields = append(v.Fields, Field{Name: names[0], Value: member(ctype, names[0], f.Type, b[from:to]), At: from, Size: to - from})
		names = names[1:]
	}
	size := int(typ.Size())
	v.Missing = max(0, size-len(b))
	return v, min(size, len(b))
}

// partly reads a member that is not there in full. What is missing, the struct
// says that it is in.
func partly(typ reflect.Type, b []byte) Value {
	inner := spec.StructName(typ)
	if inner == "" {
		return Value{Kind: Bytes, Bytes: b}
	}
	v, _ := structOf(inner, typ, b)
	v.Missing = 0
	return v
}

// member reads one member of a struct.
func member(ctype, name string, typ reflect.Type, b []byte) Value {
	if inner := spec.StructName(typ); inner != "" {
		v, _ := structOf(inner, typ, b)
		return v
	}
	if f := members[strings.TrimPrefix(ctype, "struct ")+"."+name]; f != nil {
		return f(b)
	}
	if f := members[name]; f != nil {
		return f(b)
	}
	if typ.Kind() != reflect.Array {
		return plain(name)(b)
	}
	if typ.Elem().Size() == 1 {
		return Value{Kind: Bytes, Bytes: b}
	}
	return array(typ.Len(), b, func(b []byte) Value { return member("", name, typ.Elem(), b) })
}

// array reads n items of the same size, which fill b.
func array(n int, b []byte, f form) Value {
	v := Value{Kind: Array}
	if n == 0 {
		return v
	}
	size := len(b) / n
	for i := range min(n, maxItems) {
		v.Items = append(v.Items, f(b[i*size:(i+1)*size]))
	}
	v.More = n - len(v.Items)
	return v
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// integers has the sizes of the C integers that attributes' types name.
var integers = map[string]int{"u8": 1, "u16": 2, "u32": 4, "u64": 8}

// Of reads a value of a C type: "u32", "struct ib_uverbs_qp_cap", "u64[]", or
// "" if it is not known. name is what it is called, by which a number's form is
// chosen.
func Of(ctype, name string, b []byte) Value {
	if item, ok := strings.CutSuffix(ctype, "[]"); ok {
		return items(item, name, b)
	}
	if strings.HasPrefix(ctype, "struct ") {
		return StructOf(ctype, b)
	}
	if size := integers[ctype]; size > 0 && isInteger(len(b)) {
		return plain(name)(b)
	}
	return Value{Kind: Bytes, Bytes: b}
}

// items reads as many items as there are bytes for.
func items(ctype, name string, b []byte) Value {
	size := integers[ctype]
	if s := spec.NewStruct(ctype); s != nil {
		size = int(reflect.TypeOf(s).Elem().Size())
	}
	if size == 0 {
		return Value{Kind: Bytes, Bytes: b}
	}
	n := len(b) / size
	v := array(n, b[:n*size], func(b []byte) Value { return Of(ctype, name, b) })
	v.tail(b[n*size:])
	return v
}

func isInteger(n int) bool { return n == 1 || n == 2 || n == 4 || n == 8 }
