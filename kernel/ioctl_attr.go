package kernel

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// lookupAttr finds the spec of an attribute of the running method: one index
// into the method's own node of the tree, or a whole lookup where that does
// not reach. It models uapi_get_attr_for_method.
func (b *Bundle) lookupAttr(attrKey uint32) *spec.Attr {
	p := b.priv
	elm := p.chunk.At(attrKey)
	if elm == nil {
		elm = b.file.Device.API.radix.Lookup(p.methodKey | attrKey)
	}
	if elm == nil {
		return nil
	}
	return elm.Attr
}

// setAttr processes the user's attribute i. It models uverbs_set_attr.
//
// Errors: attr/unknown-mandatory, attr/duplicate, and those of processAttr.
func (b *Bundle) setAttr(i int) error {
	t := b.Trace()
	defer t.EnterInlined(trace.Uverbs, "uverbs_set_attr").Leave()
	u := b.priv.uattr(i)
	attrKey := spec.KeyAttr(u.AttrID)
	s := b.lookupAttr(attrKey)
	if t != nil {
		b.traceAttr(t, s, &u, attrKey, i)
	}
	if s == nil {
		if u.Flags&spec.UVERBS_ATTR_F_MANDATORY != 0 {
			return rule.AttrUnknownMandatory
		}
		return nil
	}
	bkey := spec.BkeyAttr(attrKey)
	if b.present>>bkey&1 != 0 {
		return rule.AttrDuplicate
	}
	if err := b.processAttr(s, &u, i, bkey); err != nil {
		return err
	}
	b.present |= 1 << bkey
	return nil
}

// traceAttr reports the attribute and its place in the tree.
func (b *Bundle) traceAttr(t *trace.Task, s *spec.Attr, u *spec.IoctlAttr, attrKey uint32, i int) {
	name := "unknown"
	if s != nil {
		name = s.Name
		t.Note(trace.Node, "attribute", uint64(b.priv.methodKey|attrKey), 0, uint64(attrKey))
	}
	t.Note(trace.Attr, name, uint64(u.AttrID), uint64(u.Len), uint64(i))
}

// processAttr checks the user's attribute against its spec and fetches what is
// not left for the handler to fetch. It models uverbs_process_attr.
//
// Errors: attr/…, array/…, and those of the object's lookup or creation.
func (b *Bundle) processAttr(s *spec.Attr, u *spec.IoctlAttr, i int, bkey uint32) error {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_process_attr").Leave()
	e := &b.attrs[bkey]
	e.spec = s
	switch s.Type {
	case spec.TypeEnumIn:
		member, err := enumMember(s, u)
		if err != nil {
			return err
		}
		e.enum = u.ElemID()
		return b.processPtr(e, member, u, i)
	case spec.TypePtrIn, spec.TypePtrOut:
		return b.processPtr(e, s, u, i)
	case spec.TypeIDR, spec.TypeFD:
		return b.processObject(e, u, i, bkey)
	case spec.TypeRawFD:
		if u.AttrData != 0 || u.Len != 0 || u.DataS64() < math.MinInt32 || u.DataS64() > math.MaxInt32 {
			return rule.AttrRawFD
		}
		e.data = u.Data
		return nil
	case spec.TypeIDRsArray:
		return b.processIDRsArray(e, u, bkey)
	}
	return rule.AttrType
}

// enumMember returns the spec that an ENUM_IN selects.
func enumMember(s *spec.Attr, u *spec.IoctlAttr) (*spec.Attr, error) {
	if int(u.ElemID()) >= len(s.Enum) {
		return nil, rule.AttrEnumRange
	}
	if u.EnumReserved() != 0 {
		return nil, rule.AttrEnumReserved
	}
	member := &s.Enum[u.ElemID()]
	if member.Type != spec.TypePtrIn {
		return nil, rule.AttrEnumType
	}
	return member, nil
}

// processPtr checks a pointer's length against val, the attribute's own spec
// or that of the selected enum member.
func (b *Bundle) processPtr(e *attr, val *spec.Attr, u *spec.IoctlAttr, i int) error {
	if e.spec.Type != spec.TypePtrOut && u.Len > val.Len && val.ZeroTrailing && !b.isCleared(u, val.Len) {
		return rule.AttrTrailingNonzero
	}
	if u.Len < val.MinLen {
		return rule.AttrTooShort
	}
	if !val.ZeroTrailing && u.Len > val.Len {
		return rule.AttrTooLong
	}
	if e.spec.Type != spec.TypeEnumIn && u.AttrData != 0 {
		return rule.AttrReserved
	}
	e.index, e.len, e.data = uint16(i), u.Len, u.Data
	if !val.AllocAndCopy || e.isInline() {
		return nil
	}
	copied, err := b.Alloc(int(u.Len))
	if err != nil {
		return err
	}
	if !copyuser.CopyFromUser(b.Trace(), b.task.Mem, copied, copyuser.Addr(u.Data)) {
		return rule.AttrDataFault
	}
	e.copied = copied
	return nil
}

// isCleared says whether the user's data is zero from len on; what cannot be
// read is not. It models uverbs_is_attr_cleared.
func (b *Bundle) isCleared(u *spec.IoctlAttr, len uint16) bool {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_is_attr_cleared").Leave()
	if u.Len > 8 {
		from := copyuser.Addr(u.Data) + copyuser.Addr(len)
		cleared, ok := copyuser.IsBufferCleared(b.Trace(), b.task.Mem, from, uint64(u.Len-len))
		return cleared && ok
	}
	tail := u.Data >> (8 * len)
	return tail&(math.MaxUint64>>(64-8*(u.Len-len))) == 0
}

// processObject looks up or begins the object that the attribute names. The id
// of a new one is written back at once, whatever becomes of the call.
func (b *Bundle) processObject(e *attr, u *spec.IoctlAttr, i int, bkey uint32) error {
	if u.AttrData != 0 {
		return rule.AttrObjectReserved
	}
	if u.Len != 0 {
		return rule.AttrObjectLen
	}
	var err error
	if e.object, err = uobject.FromFile(e.spec.Object, e.spec.Access, u.DataS64(), b); err != nil {
		return err
	}
	b.priv.uobjFinalize |= 1 << bkey
	if e.spec.Access != spec.AccessNew {
		return nil
	}
	to := b.priv.userAttr(uint16(i)) + spec.IoctlAttrDataOffset
	if !copyuser.PutUser64(b.Trace(), b.task.Mem, to, uint64(e.object.ID())) {
		return rule.AttrIDFault
	}
	return nil
}

// processIDRsArray looks up each handle of an array. It models
// uverbs_process_idrs_array.
//
// Errors: array/reserved, array/size, array/count, array/fault.
func (b *Bundle) processIDRsArray(e *attr, u *spec.IoctlAttr, bkey uint32) error {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_process_idrs_array").Leave()
	if u.AttrData != 0 {
		return rule.ArrayReserved
	}
	if u.Len%4 != 0 {
		return rule.ArraySize
	}
	n := int(u.Len / 4)
	if n < int(e.spec.MinItems) || n > int(e.spec.MaxItems) {
		return rule.ArrayCount
	}
	ids, err := b.Alloc(8 * n) // as large as the kernel's array of pointers
	if err != nil {
		return err
	}
	if u.Len > 8 {
		if !copyuser.CopyFromUser(b.Trace(), b.task.Mem, ids[:u.Len], copyuser.Addr(u.Data)) {
			return rule.ArrayFault
		}
	} else {
		binary.LittleEndian.PutUint64(b.word[:], u.Data)
		copy(ids[:u.Len], b.word[:])
	}
	first := len(b.priv.objects)
	b.priv.specFinalize |= 1 << bkey
	for j := range n {
		id := int64(binary.LittleEndian.Uint32(ids[4*j:]))
		o, err := uobject.FromFile(e.spec.Object, e.spec.Access, id, b)
		if err != nil {
			e.objects = b.priv.objects[first:]
			return err
		}
		b.priv.objects = append(b.priv.objects, o)
	}
	e.objects = b.priv.objects[first:]
	return nil
}
