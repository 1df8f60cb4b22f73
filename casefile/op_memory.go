package casefile

// The operations on mappings of the device and on the memory of buffers.

// Mmap maps a part of the device: mmap(2). The answer's ret is "*".
type Mmap struct {
	FD    string
	As    string // the mapping's name
	Off   Value
	Len   int
	Size  Value  // the length as a value, instead of Len
	Prot  string // some of the letters rwx, or none
	Flags string // shared (also when empty) or private
}

func (a *Mmap) members(o *object) {
	o.uses(descriptors, "fd", &a.FD, must)
	o.value("off", &a.Off, may)
	o.oneOf(must, "len", "size")
	o.value("size", &a.Size, may)
	lengthMember(o, "len", &a.Len, need(!o.c.reading && a.Size.Kind == Absent))
	o.wordOf("prot", &a.Prot, "rwx", must)
	o.text("flags", &a.Flags, may, "shared", "private")
	o.makes(mappings, "as", &a.As, must)
}

// area is a mapping or a buffer: what memory an operation works on.
func area(o *object, mapping, buf *string) {
	o.oneOf(must, "map", "buf")
	o.uses(mappings, "map", mapping, may)
	o.text("buf", buf, may)
	if o.has("buf") {
		o.useBuf(*buf, 0, 0)
	}
}

// Munmap takes a mapping or a buffer away: munmap(2). A buffer that is gone is
// reported as "unmapped".
type Munmap struct {
	Map string
	Buf string
	Len int // of a mapping only so much from its start; 0: all
}

func (a *Munmap) members(o *object) {
	area(o, &a.Map, &a.Buf)
	lengthMember(o, "len", &a.Len, may)
}

// Mprotect changes a protection: mprotect(2).
type Mprotect struct {
	Map  string
	Buf  string
	Prot string // of a mapping: some of the letters rwx, or none; of a buffer: rw, r or none
}

func (a *Mprotect) members(o *object) {
	area(o, &a.Map, &a.Buf)
	if a.Buf != "" {
		o.text("prot", &a.Prot, must, "rw", "r", "none")
		return
	}
	o.wordOf("prot", &a.Prot, "rwx", must)
}

// Remap gives a mapping another length, and another address if need be:
// mremap(2). The answer's ret is "*".
type Remap struct {
	Map string
	Len int
}

func (a *Remap) members(o *object) {
	o.uses(mappings, "map", &a.Map, must)
	lengthMember(o, "len", &a.Len, must)
}

// Peek loads bytes from a mapping one by one. The answer's ret is how many; a
// load that faults is ret -1 and errno SIGBUS.
type Peek struct {
	Map string
	Off Value
	Len int
}

func (a *Peek) members(o *object) {
	o.uses(mappings, "map", &a.Map, must)
	o.value("off", &a.Off, may)
	lengthMember(o, "len", &a.Len, must)
}

// Poke stores bytes to a mapping one by one, and is answered as Peek is.
type Poke struct {
	Map  string
	Off  Value
	Data []byte
}

func (a *Poke) members(o *object) {
	o.uses(mappings, "map", &a.Map, must)
	o.value("off", &a.Off, may)
	o.hex("hex", &a.Data, must)
}
