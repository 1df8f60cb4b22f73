package hw

import (
	"encoding/binary"
	"slices"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// contextKind is a kind of objects of which the device keeps a context: where
// its commands have it, which objects it names, and what of it can be modified.
type contextKind struct {
	kind    kind
	in, out ifc.Field // the context, in the command that makes one and in the answer to a query
	wq      wqLayout  // of those that have a work queue
	hasList bool      // it has a list that reaches to the end of the command

	// read checks a context that is to become one's own and finds what it names.
	read func(d *Device, o *context, c *command) *refusal

	// What follows is for the kinds that can be modified.
	from    ifc.Field // the context that the command gives
	mask    ifc.Field // which of its parts count
	parts   []part
	state   ifc.Field // of the context; of no width where the kind has no states
	current ifc.Field // in the command: the state before
	steps   map[uint64][]uint64
	changed func(d *Device, o *context, uid uint16) *refusal // nil: nothing more to check
	entered func(d *Device, o *context)                      // nil: nothing to do once it is modified
}

// part is a bit of a mask and the fields of a context that it selects.
type part struct {
	bit    uint64
	fields []ifc.Field
}

// context is an object of such a kind.
type context struct {
	of        *contextKind
	n         uint32
	bytes     []byte // of the context, as it is now
	workQueue        // of those that have one
	refs      []ref  // what it names
	taken     uint16 // of the queue: how many entries or blocks of it are done
	queued    bool   // it is on the list of send queues with something to do
	pieces    uint32 // of the work request that is being cut into frames: how many are sent
}

func (o *context) get(f ifc.Field) uint64 { return f.Get(o.bytes) }

// bytesOf returns the context in a command.
func (k *contextKind) bytesOf(f ifc.Field, p []byte) []byte {
	if k.hasList {
		return p[f.Byte():]
	}
	return f.Bytes(p)
}

// createContext is the command that makes an object of a kind.
func createContext(k *contextKind) handler {
	return func(d *Device, c *command) *refusal {
		o := k.newContext(c)
		r := k.read(d, o, c)
		if r != nil {
			return r
		}
		return d.addContext(o, c)
	}
}

// createUnchecked is the same for a device that takes what it is given. An object
// that would be refused needs no other.
func createUnchecked(k *contextKind) handler {
	return func(d *Device, c *command) *refusal {
		o := k.newContext(c)
		if k.read(d, o, c) != nil || d.check(o.refs, c.uid) != nil {
			o.refs, o.workQueue = nil, workQueue{}
		}
		return d.addContext(o, c)
	}
}

func (k *contextKind) newContext(c *command) *context {
	return &context{of: k, bytes: append([]byte(nil), k.bytesOf(k.in, c.in)...)}
}

func (d *Device) addContext(o *context, c *command) (r *refusal) {
	if o.n, r = d.addWith(o.of.kind, c.uid, o, o.refs); r == nil {
		putNumber(c.out, o.n)
	}
	return r
}

// context finds the object of a kind that stands at byte 8 of a command.
func (c *command) context(d *Device, k *contextKind, a access) *context {
	o, _ := lookup[*context](d, c, k.kind, 8, a)
	return o
}

func destroyContext(k *contextKind) handler {
	return func(d *Device, c *command) *refusal {
		o := c.context(d, k, toChange)
		if o == nil {
			return noSuchObject
		}
		return d.removeWith(k.kind, o.n, o.refs)
	}
}

func queryContext(k *contextKind) handler {
	return func(d *Device, c *command) *refusal {
		o := c.context(d, k, toRead)
		if o == nil {
			return noSuchObject
		}
		ctx := k.bytesOf(k.out, c.out)
		copy(ctx, o.bytes)
		k.wq.taken.Set(ctx, uint64(o.taken))
		return nil
	}
}

// modifyContext is the command that changes the parts of an object's context
// that it selects, and its state. Bits of the mask without a meaning are refused.
func modifyContext(k *contextKind) handler {
	return func(d *Device, c *command) *refusal {
		o := c.context(d, k, toChange)
		if o == nil {
			return noSuchObject
		}
		from, selected := k.bytesOf(k.from, c.in), k.mask.Get(c.in)
		after := *o
		after.bytes = append([]byte(nil), o.bytes...)
		for _, p := range k.parts {
			if selected&p.bit == 0 {
				continue
			}
			selected &^= p.bit
			for _, f := range p.fields {
				after.bytes = copyField(f, after.bytes, from)
			}
		}
		if selected != 0 {
			return badModifyMask
		}
		if k.state.Width != 0 {
			then := k.state.Get(from)
			if k.current.Get(c.in) != o.get(k.state) {
				return notInState
			}
			if !slices.Contains(k.steps[o.get(k.state)], then) {
				return badStep
			}
			k.state.Set(after.bytes, then)
		}
		if k.changed != nil {
			if r := k.changed(d, &after, c.uid); r != nil {
				return r
			}
		}
		d.hold(after.refs)
		d.drop(o.refs)
		*o = after
		if k.entered != nil {
			k.entered(d, o)
		}
		return nil
	}
}

// copyField copies a field of one context to another. A list replaces the whole
// rest of it.
func copyField(f ifc.Field, to, from []byte) []byte {
	switch {
	case f.Count == 0:
		return append(to[:f.Byte()], f.Bytes(from)...)
	case f.Count == 1 && f.Width <= 64:
		f.Set(to, f.Get(from))
	default:
		copy(f.Bytes(to), f.Bytes(from))
	}
	return to
}

// partOf is the part of a context that a bit of a mask selects.
func partOf(mask, bit, layout string, fields ...string) part {
	m, f := ifc.Must(mask), ifc.Must(mask).Field(bit)
	p := part{bit: 1 << (m.Bits - 1 - f.Off)}
	for _, name := range fields {
		p.fields = append(p.fields, ifc.Must(layout).Field(name))
	}
	return p
}

// number24 is an element of a list of numbers of 24 bits, 4 bytes each.
func number24(list []byte, i int) uint32 { return binary.BigEndian.Uint32(list[4*i:]) & bits24 }
