package record

import (
	"encoding/binary"
	"reflect"
	"strings"

	"uverbsim/spec"
)

// method names what a call does: a method, or, with Object and Method those of
// UVERBS_METHOD_INVOKE_WRITE, a write() command by its command word.
type method struct {
	object, method uint16
	command        uint32
}

// command returns the method that is a write() command, extended returns that of
// an extended one.
func command(n uint32) method {
	return method{spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, n}
}

func extended(n uint32) method { return command(n | spec.IB_USER_VERBS_CMD_FLAG_EXTENDED) }

// input is what a call hands in, by attribute; a write() command has the
// attributes that it would have as an ioctl.
type input map[uint16][]byte

// number is the number of so many bytes in an attribute, 0 where it has none.
func (in input) number(attr uint16, f field) uint64 {
	b := in[attr]
	if f.at+f.n > len(b) {
		return 0
	}
	var full [8]byte
	copy(full[:], b[f.at:f.at+min(f.n, 8)])
	return binary.LittleEndian.Uint64(full[:])
}

// field is a member of a struct.
type field struct{ at, n int }

// of returns where a member of T lies; path names it and the members that it
// lies in.
func of[T any](path string) field {
	t := reflect.TypeFor[T]()
	var f field
	for name := range strings.SplitSeq(path, ".") {
		m, ok := t.FieldByName(name)
		if !ok {
			panic("record: no member " + path + " of " + t.String())
		}
		f.at, f.n, t = f.at+int(m.Offset), int(m.Type.Size()), m.Type
	}
	return f
}

// The whole of an attribute that is a number, and all of one from a place on.
var (
	u32 = field{0, 4}
	u64 = field{0, 8}
)

func from(at int) field { return field{at, 1 << 16} }
