package ifc

import (
	"fmt"
	"strings"
)

// Field is a named range of bits of a layout.
type Field struct {
	Name  string
	Off   uint32 // first bit, counted from the start of the layout
	Width uint32 // bits; of one element where Count is not 1
	Count uint32 // elements; 0 is a list that reaches to the end of the command
	Of    string // the layout of what lies here, "" for a plain number
}

// Get models MLX5_GET: the number that the field has in b, where b begins at
// the layout's first byte. The field is at most 64 bits wide and lies in b.
func (f Field) Get(b []byte) uint64 {
	var v uint64
	for bit, end := f.Off, f.Off+f.Width; bit < end; {
		n := min(8-bit%8, end-bit)
		part := uint64(b[bit/8]) >> (8 - bit%8 - n) & (1<<n - 1)
		v = v<<n | part
		bit += n
	}
	return v
}

// Set models MLX5_SET: it writes v into the field and leaves the bits around it
// alone. Bits of v beyond the field's width are dropped.
func (f Field) Set(b []byte, v uint64) {
	left := f.Width
	for bit, end := f.Off, f.Off+f.Width; bit < end; {
		n := min(8-bit%8, end-bit)
		left -= n
		shift := 8 - bit%8 - n
		mask := byte(1<<n-1) << shift
		b[bit/8] = b[bit/8]&^mask | byte(v>>left)<<shift&mask
		bit += n
	}
}

// Elem returns the i-th element of an array field as a field of its own.
func (f Field) Elem(i int) Field {
	f.Off += uint32(i) * f.Width
	f.Count = 1
	return f
}

// Byte returns where the field begins, in bytes. It models MLX5_BYTE_OFF.
func (f Field) Byte() int { return int(f.Off / 8) }

// Bytes returns the part of b that the field covers; a list without an end
// covers the rest. It models MLX5_ADDR_OF.
func (f Field) Bytes(b []byte) []byte {
	if f.Count == 0 {
		return b[f.Byte():]
	}
	return b[f.Byte() : f.Byte()+int(f.Width*f.Count/8)]
}

// Layout is one struct mlx5_ifc_*_bits.
type Layout struct {
	Name   string
	Bits   uint32
	Fields []Field
}

// Size returns the layout's length in bytes. It models MLX5_ST_SZ_BYTES.
func (l *Layout) Size() int { return int(l.Bits / 8) }

// Lookup finds a field by its name; "a.b" is field b of the layout that lies at
// field a.
func (l *Layout) Lookup(path string) (Field, bool) {
	head, rest, nested := strings.Cut(path, ".")
	for _, f := range l.Fields {
		if f.Name != head {
			continue
		}
		if !nested {
			return f, true
		}
		in := Find(f.Of)
		if in == nil {
			return Field{}, false
		}
		g, ok := in.Lookup(rest)
		g.Off += f.Off
		return g, ok
	}
	return Field{}, false
}

// Field is Lookup for names that the program itself has; it panics where there
// is none.
func (l *Layout) Field(path string) Field {
	f, ok := l.Lookup(path)
	if !ok {
		panic(fmt.Sprintf("ifc: %s has no field %s", l.Name, path))
	}
	return f
}

// Find returns the layout with that name, without mlx5_ifc_ and _bits, or nil.
func Find(name string) *Layout { return layouts[name] }

// Must is Find for names that the program itself has; it panics where there is
// none.
func Must(name string) *Layout {
	l := Find(name)
	if l == nil {
		panic("ifc: no layout " + name)
	}
	return l
}

// Command is what the header says of one firmware command.
type Command struct {
	Opcode  uint16
	Name    string // as in MLX5_CMD_OP_<Name>
	In, Out uint16 // bytes of the fixed part of input and output; 0 where the header has no structure
}

// FindCommand returns the command with that opcode.
func FindCommand(opcode uint16) (Command, bool) {
	lo, hi := 0, len(commands)
	for lo < hi {
		mid := (lo + hi) / 2
		if commands[mid].Opcode < opcode {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(commands) && commands[lo].Opcode == opcode {
		return commands[lo], true
	}
	return Command{}, false
}
