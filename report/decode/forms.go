package decode

import (
	"strings"

	"uverbsim/spec"
)

// A form says what the bytes of a member or of an attribute are. They are as
// many as the type has.
type form func(b []byte) Value

func kind(k Kind) form { return func(b []byte) Value { return number(k, little(b)) } }

func raw(k Kind) form { return func(b []byte) Value { return Value{Kind: k, Bytes: b} } }

// big is a number in network order.
func big(k Kind) form {
	return func(b []byte) Value {
		var n uint64
		for _, c := range b {
			n = n<<8 | uint64(c)
		}
		return number(k, n)
	}
}

// signed is a number with a sign.
func signed(b []byte) Value {
	shift := 64 - 8*uint(len(b))
	return number(Signed, uint64(int64(little(b)<<shift)>>shift))
}

// text is a string that ends with a NUL byte.
func text(b []byte) Value {
	s, _, _ := strings.Cut(string(b), "\x00")
	return Value{Kind: Text, Text: s}
}

// enum is a value of an enum of the headers, flags are its bits.
func enum(ctype string) form {
	return func(b []byte) Value { return enumerator(spec.Enumerators("enum "+ctype), little(b)) }
}

func flags(ctype string) form {
	return func(b []byte) Value { return bits(spec.Enumerators("enum "+ctype), little(b)) }
}

// unnamed are the bits of an enum that has no name.
func unnamed(names ...spec.Enumerator) form {
	return func(b []byte) Value { return bits(names, little(b)) }
}

// hexNames has how the names of members and attributes end, in small letters,
// that are addresses, keys or sets of bits: a decimal says nothing of them.
var hexNames = []string{
	"addr", "_va", "vaddr", "iova", "response", "start", "user_handle", "key", "guid", "mask", "flags", "caps", "cap",
	"flags_ex", "offset", "dbr", "sva", "rva", "page_size_cap", "element", "bitmap", "options", "fw_ver", "qpts", "max_mr_size", "vendor_id",
}

// plain is the form of an integer of which only the name is known.
func plain(name string) form {
	name = strings.ToLower(name)
	for _, end := range hexNames {
		if strings.HasSuffix(name, end) {
			return kind(Hex)
		}
	}
	return kind(Number)
}
