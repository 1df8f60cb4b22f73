package decode

import "uverbsim/spec"

// Kind says what a Value is and which of its fields bear meaning.
type Kind uint8

// The kinds.
const (
	Number Kind = iota // Num, to be read as a decimal
	Signed             // Num, as a signed number
	Hex                // Num: an address, a key, bits without names
	Name               // Num has the name Text, which is "" if it is not known
	Flags              // Num has the bits of Names, and Rest besides
	Text               // Text
	IP                 // Bytes: 4 or 16, an IP address or a GID, which is one
	MAC                // Bytes: 6, as a hardware address
	Bytes              // Bytes
	Struct             // Fields, of the C type Type
	Array              // Items
	Choice             // Text is what was chosen (Num its number), Items what comes with it
)

// Value is one value of a call's argument.
type Value struct {
	Kind   Kind
	Num    uint64
	Rest   uint64 // Flags: the bits that have no name
	Text   string
	Type   string // Struct: "struct ib_uverbs_qp_cap"
	Names  []string
	Bytes  []byte
	Fields []Field
	Items  []Value

	// Missing is how many bytes are not there: behind the end of memory, of
	// what the caller said that the buffer holds, or of what was kept.
	Missing int
	// Zeros is how many bytes follow that are all zero; Tail is what follows
	// otherwise and has no structure.
	Zeros int
	Tail  []byte
	// More is how many items an Array has that are left out.
	More int
}

// Field is a member of a struct.
type Field struct {
	Name  string
	Value Value
	// At is where the member of a C struct lies in it, and Size how many bytes
	// it has there; both are 0 for what follows a struct.
	At, Size int
}

// Field returns the member of that name of a Struct, nil if it has none.
func (v *Value) Field(name string) *Value {
	for i := range v.Fields {
		if v.Fields[i].Name == name {
			return &v.Fields[i].Value
		}
	}
	return nil
}

// maxItems is how many items of an array are decoded.
const maxItems = 1024

func number(kind Kind, n uint64) Value { return Value{Kind: kind, Num: n} }

// named is a number with the name that names gives it.
func named(n uint64, name string) Value { return Value{Kind: Name, Num: n, Text: name} }

// enumerator is a value of an enum.
func enumerator(names []spec.Enumerator, n uint64) Value {
	for _, e := range names {
		if e.Value == n {
			return named(n, e.Name)
		}
	}
	return named(n, "")
}

// bits is a set of flags. Enumerators of several bits, and second names of a
// bit, are left out.
func bits(names []spec.Enumerator, n uint64) Value {
	v := Value{Kind: Flags, Num: n, Rest: n}
	for _, e := range names {
		if e.Value&(e.Value-1) == 0 && v.Rest&e.Value != 0 {
			v.Names = append(v.Names, e.Name)
			v.Rest &^= e.Value
		}
	}
	return v
}

// little is the little-endian number of up to 8 bytes.
func little(b []byte) (n uint64) {
	for i := len(b) - 1; i >= 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n
}
