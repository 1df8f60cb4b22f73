package dissect

import (
	"math"

	"uverbsim/interpose/watch"
	"uverbsim/rule"
	"uverbsim/spec"
)

// check is an attribute whose fields are looked at as uverbs_process_attr,
// drivers/infiniband/core/uverbs_ioctl.c, does, as far as that needs nothing but
// what the dump shows.
type check struct {
	a                            *watch.Attr
	s                            *spec.Attr
	length, reserved, elem, data *Field
}

func (c check) run() {
	switch c.s.Type {
	case spec.TypePtrIn, spec.TypePtrOut:
		c.sizes(c.s)
		c.zeroReserved(rule.AttrReserved)
	case spec.TypeEnumIn:
		c.choice()
	case spec.TypeIDR, spec.TypeFD:
		c.zeroReserved(rule.AttrObjectReserved)
		if c.a.Len != 0 {
			c.length.flaw(rule.AttrObjectLen, "")
		}
	case spec.TypeRawFD:
		c.rawFD()
	case spec.TypeIDRsArray:
		c.array()
	}
}

func (c check) zeroReserved(r *rule.Rule) {
	if c.a.AttrData != 0 {
		c.reserved.flaw(r, "")
	}
}

// sizes checks a length against the spec of the attribute, or of what it chose.
func (c check) sizes(s *spec.Attr) {
	n := c.a.Len
	switch {
	case n < s.MinLen:
		c.length.flaw(rule.AttrTooShort, "%d is the least", s.MinLen)
	case n > s.Len && !s.ZeroTrailing:
		c.length.flaw(rule.AttrTooLong, "%d is the most", s.Len)
	case n > s.Len && c.s.Type != spec.TypePtrOut:
		c.tail(s)
	}
}

// tail checks that what is longer than the kernel knows it is zero there.
func (c check) tail(s *spec.Attr) {
	b := c.a.In
	if !c.a.Pointer {
		b = c.a.Inline()
	}
	for i := int(s.Len); i < len(b); i++ {
		if b[i] != 0 {
			c.data.flaw(rule.AttrTrailingNonzero, "the kernel knows %s, and byte %d is %#x", bytesOf(int(s.Len)), i, b[i])
			return
		}
	}
	if len(b) == int(c.a.Len) {
		c.length.flaw(nil, "the kernel knows %s; what is beyond is zero, as it has to be", bytesOf(int(s.Len)))
	}
}

func (c check) choice() {
	id := int(c.a.ElemID())
	if id >= len(c.s.Enum) {
		c.elem.flaw(rule.AttrEnumRange, "%d is the last", len(c.s.Enum)-1)
		return
	}
	if c.a.EnumReserved() != 0 {
		c.reserved.flaw(rule.AttrEnumReserved, "")
	}
	e := &c.s.Enum[id]
	if e.Type != spec.TypePtrIn {
		c.elem.flaw(rule.AttrEnumType, "")
		return
	}
	c.sizes(e)
}

func (c check) rawFD() {
	if c.a.AttrData != 0 {
		c.reserved.flaw(rule.AttrRawFD, "")
	}
	if c.a.Len != 0 {
		c.length.flaw(rule.AttrRawFD, "")
	}
	if fd := int64(c.a.Data); fd < math.MinInt32 || fd > math.MaxInt32 {
		c.data.flaw(rule.AttrRawFD, "")
	}
}

func (c check) array() {
	c.zeroReserved(rule.ArrayReserved)
	n := int(c.a.Len / 4)
	switch {
	case c.a.Len%4 != 0:
		c.length.flaw(rule.ArraySize, "")
	case n < int(c.s.MinItems) || n > int(c.s.MaxItems):
		c.length.flaw(rule.ArrayCount, "%d handles, of %d to %d", n, c.s.MinItems, c.s.MaxItems)
	}
}
