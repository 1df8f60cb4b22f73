package casefile

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
)

// Case is one line of a case file.
type Case struct {
	Name   string // area/slug
	Why    string // the rule that it shows
	Driver string // rxe, mlx5 or stub
	Kernel string // whose answers these are; empty before the case is recorded
	Device *Device
	Repeat int // play the whole case so many times; 0 is once
	Bufs   map[string]*Buf
	Steps  []Step

	Line int // where it was read; it is not written
}

// Version is the "v" of every case.
const Version = 1

// DriverID returns the enum rdma_driver_id (include/uapi/rdma/ib_user_ioctl_verbs.h)
// that an ioctl header of a case for that driver has by default, and whether
// cases may name the driver.
func DriverID(driver string) (id uint32, ok bool) {
	switch driver {
	case "mlx5", "stub":
		return 1, true
	case "rxe":
		return 14, true
	}
	return 0, false
}

func (c *Case) members(o *object) {
	v := Version
	integerMember(o, "v", &v, must)
	if v != Version {
		o.fail("version %d: only version %d is known", v, Version)
		return
	}
	o.text("name", &c.Name, must)
	if c.Name == "" {
		o.fail("a case needs a name")
	}
	o.text("why", &c.Why, may)
	o.text("driver", &c.Driver, must, "rxe", "mlx5", "stub")
	o.text("kernel", &c.Kernel, may)
	optional(o, "device", &c.Device, func(it item, d *Device) { it.object("a device", d.members) })
	lengthMember(o, "repeat", &c.Repeat, may)
	c.bufs(o)
	listMember(o, "steps", &c.Steps, must, func(it item, s *Step) { s.code(it, topLevel) })
}

func (c *Case) bufs(o *object) {
	if o.has("bufs") {
		for _, k := range o.n.find("bufs").kids { // each may hold the address of any other
			o.c.scope.bufs[k.key] = maxBuf
		}
	}
	dictMember(o, "bufs", &c.Bufs, func(it item, name string, b **Buf) {
		if it.c.reading {
			*b = new(Buf)
		}
		if *b == nil {
			it.fail("buffer %q is nil and cannot be written", name)
			return
		}
		if name == "" {
			it.fail("a buffer needs a name")
		}
		it.object("a buffer", (*b).members)
		if it.c.reading {
			it.c.scope.bufs[name] = (*b).Len
		}
	})
}

// Device is what a case asks of its device.
type Device struct {
	Has   []string          // stub: members of struct ib_device_ops, or mask<N>, beyond the default ones
	Lacks []string          // stub: default ones that it shall not have
	Caps  map[string]uint64 // mlx5: fields of struct mlx5_ifc_cmd_hca_cap_bits

	// Profile is the adapter that Caps are of, by its name here; mlx5, and empty for
	// that of the recordings.
	Profile string
}

func (d *Device) members(o *object) {
	listMember(o, "has", &d.Has, may, item.text)
	listMember(o, "lacks", &d.Lacks, may, item.text)
	o.text("profile", &d.Profile, may)
	dictMember(o, "caps", &d.Caps, func(it item, _ string, n *uint64) { integer(it, n) })
}

// Buf is user memory that is there before the first step. It lies in a mapping
// of its own, with an unmapped page before and after it, and begins at an
// address divisible by 8 unless Edge says otherwise.
type Buf struct {
	Data  []byte // the contents; when nil, Len bytes of Fill
	Fill  byte
	Len   int    // always set
	Prot  string // of the whole mapping: rw (also when empty), r or none
	Edge  bool   // it ends where its mapping ends
	Reloc []Reloc
}

// maxBuf is the largest buffer that a case may ask for.
const maxBuf = 1 << 30

func (b *Buf) members(o *object) {
	if o.c.reading {
		b.read(o)
	} else {
		b.write(o)
	}
	o.text("prot", &b.Prot, may, "rw", "r", "none")
	o.boolean("edge", &b.Edge)
	listMember(o, "reloc", &b.Reloc, may, func(it item, r *Reloc) {
		it.object("a relocation", func(o *object) {
			r.members(o, b.Len)
			if o.c.reading && r.Size != 8 {
				o.fail("size %d: a relocation in a buffer has 8 bytes", r.Size)
			}
		})
	})
}

func (b *Buf) read(o *object) {
	forms := 0
	for _, key := range []string{"hex", "zero", "fill"} {
		if o.has(key) {
			forms++
		}
	}
	if forms != 1 {
		o.fail("a buffer has one of hex, zero and fill, this one has %d of them", forms)
		return
	}
	if o.has("hex") {
		o.hex("hex", &b.Data, must)
		b.Len = len(b.Data)
		return
	}
	if o.has("zero") {
		lengthMember(o, "zero", &b.Len, must)
	} else {
		var fill []byte
		o.hex("fill", &fill, must)
		if len(fill) == 1 {
			b.Fill = fill[0]
		} else {
			o.fail("fill is one byte")
		}
		lengthMember(o, "len", &b.Len, must)
	}
	if b.Len > maxBuf {
		o.fail("a buffer of %d bytes: the largest has %d", b.Len, maxBuf)
	}
}

func (b *Buf) write(o *object) {
	switch {
	case b.Data != nil:
		o.hex("hex", &b.Data, must)
	case b.Fill == 0:
		lengthMember(o, "zero", &b.Len, must)
	default:
		fill := []byte{b.Fill}
		o.hex("fill", &fill, must)
		lengthMember(o, "len", &b.Len, must)
	}
}

// Bytes returns the contents before relocation, in memory of the caller's own.
func (b *Buf) Bytes() []byte {
	if b.Data != nil {
		return slices.Clone(b.Data)
	}
	out := make([]byte, b.Len)
	if b.Fill != 0 {
		for i := range out {
			out[i] = b.Fill
		}
	}
	return out
}

// Reloc puts a value into bytes that a case gives, at At, little-endian, in
// Size bytes.
type Reloc struct {
	At    int
	Size  int
	Value Value
}

func (r *Reloc) members(o *object, room int) {
	lengthMember(o, "at", &r.At, must)
	numberSize(o, &r.Size)
	if o.c.reading && (r.Size > room || r.At > room-r.Size) {
		o.fail("%d bytes at %d do not lie in the %d bytes there are", r.Size, r.At, room)
	}
	o.value("value", &r.Value, must)
}

// put writes the number where the relocation says.
func (r *Reloc) put(b []byte, n uint64) {
	if r.Size == 4 {
		binary.LittleEndian.PutUint32(b[r.At:], uint32(n))
		return
	}
	binary.LittleEndian.PutUint64(b[r.At:], n)
}

// Range is a part of a buffer.
type Range struct {
	Off, Len int
}

// MaskHex returns bytes as hex text, with "**" for those in the ranges. Parts
// of a range beyond the end count for nothing.
func MaskHex(b []byte, ranges []Range) string {
	h := []byte(hex.EncodeToString(b))
	for _, r := range ranges {
		for i := max(r.Off, 0); i < r.Off+r.Len && i < len(b); i++ {
			h[2*i], h[2*i+1] = '*', '*'
		}
	}
	return string(h)
}
