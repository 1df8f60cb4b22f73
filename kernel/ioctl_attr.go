package kernel

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/radixtree"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// userAttr is a struct ib_uverbs_attr as two words, which stay in registers.
type userAttr struct{ word, data uint64 }

func (u userAttr) id() uint16       { return uint16(u.word) }
func (u userAttr) len() uint16      { return uint16(u.word >> 16) }
func (u userAttr) flags() uint16    { return uint16(u.word >> 32) }
func (u userAttr) attrData() uint16 { return uint16(u.word >> 48) }

// elemID and enumReserved are the two bytes of attr_data in an ENUM_IN.
func (u userAttr) elemID() uint8       { return uint8(u.word >> 48) }
func (u userAttr) enumReserved() uint8 { return uint8(u.word >> 56) }

// setAttr processes the user's attribute i. Its spec is one index into the
// method's own node of the tree, or a whole lookup away where that does not
// reach, as in uapi_get_attr_for_method. It models uverbs_set_attr.
//
// Errors: attr/unknown-mandatory, attr/duplicate, and those of processAttr.
func (b *Bundle) setAttr(i int) error {
	p := b.priv
	u := p.uattr(i)
	attrKey := spec.KeyAttr(u.id())
	elm := p.chunk.At(attrKey)
	if elm == nil {
		elm = b.file.Device.API.radix.Lookup(p.methodKey | attrKey)
	}
	if elm == nil {
		if u.flags()&spec.UVERBS_ATTR_F_MANDATORY != 0 {
			return rule.AttrUnknownMandatory
		}
		return nil
	}
	bkey := spec.BkeyAttr(attrKey)
	if b.present>>bkey&1 != 0 {
		return rule.AttrDuplicate
	}
	if err := b.processAttr(elm.Attr, u, i, bkey); err != nil {
		return err
	}
	b.present |= 1 << bkey
	return nil
}

// setPlain is setAttr for what most attributes are: a pointer that comes once, has
// a length within its bounds, and is left for the handler to follow. It says
// whether it was one; what is not, or is wrong, is setAttr's to deal with.
func (b *Bundle) setPlain(chunk radixtree.Chunk[Elm], u userAttr, i int) bool {
	attrKey := spec.KeyAttr(u.id())
	elm := chunk.At(attrKey)
	bkey := spec.BkeyAttr(attrKey)
	if elm == nil || bkey >= spec.BkeyLen || u.attrData() != 0 {
		return false
	}
	s, n := elm.Attr, u.len()
	pointer := s.Type == spec.TypePtrIn || s.Type == spec.TypePtrOut
	if !pointer || s.AllocAndCopy || n < s.MinLen || n > s.Len || b.present>>bkey&1 != 0 {
		return false
	}
	e := &b.attrs[bkey]
	e.data, e.len, e.index = u.data, n, uint16(i)
	b.present |= 1 << bkey
	return true
}

// tracedSetAttr is setAttr that reports the attribute, its place in the tree
// and the functions that deal with it.
func (b *Bundle) tracedSetAttr(t *trace.Task, i int) error {
	defer t.EnterInlined(trace.Uverbs, "uverbs_set_attr").Leave()
	u := b.priv.uattr(i)
	attrKey := spec.KeyAttr(u.id())
	elm := b.file.Device.API.radix.Lookup(b.priv.methodKey | attrKey)
	if elm == nil { // an empty slot of the method's leaf: the kernel looks from the root, too
		b.file.Device.API.traceWalk(t, "attribute", b.priv.methodKey|attrKey)
		t.NoteAttr("unknown", nil, uint64(u.id()), uint64(u.len()), uint64(i))
		return b.setAttr(i)
	}
	t.Note(trace.Node, "attribute", uint64(b.priv.methodKey|attrKey), 0, uint64(attrKey))
	t.NoteAttr(elm.Attr.Name, elm.Attr, uint64(u.id()), uint64(u.len()), uint64(i))
	if b.present>>spec.BkeyAttr(attrKey)&1 == 0 {
		defer t.EnterInlined(trace.Uverbs, "uverbs_process_attr").Leave()
	}
	return b.setAttr(i)
}

// processAttr checks the user's attribute against its spec and fetches what is
// not left for the handler to fetch. It models uverbs_process_attr.
//
// Errors: attr/…, array/…, and those of the object's lookup or creation.
func (b *Bundle) processAttr(s *spec.Attr, u userAttr, i int, bkey uint32) error {
	e := &b.attrs[bkey]
	switch s.Type {
	case spec.TypePtrIn, spec.TypePtrOut:
		return b.processPtr(e, s, s, u, i)
	case spec.TypeEnumIn:
		member, err := enumMember(s, u)
		if err != nil {
			return err
		}
		e.enum = u.elemID()
		return b.processPtr(e, s, member, u, i)
	case spec.TypeIDR, spec.TypeFD:
		e.spec = s
		return b.processObject(e, u, i, bkey)
	case spec.TypeRawFD:
		if u.attrData() != 0 || u.len() != 0 || int64(u.data) < math.MinInt32 || int64(u.data) > math.MaxInt32 {
			return rule.AttrRawFD
		}
		e.data = u.data
		return nil
	case spec.TypeIDRsArray:
		e.spec = s
		return b.processIDRsArray(e, u, bkey)
	}
	return rule.AttrType
}

// enumMember returns the spec that an ENUM_IN selects.
func enumMember(s *spec.Attr, u userAttr) (*spec.Attr, error) {
	if int(u.elemID()) >= len(s.Enum) {
		return nil, rule.AttrEnumRange
	}
	if u.enumReserved() != 0 {
		return nil, rule.AttrEnumReserved
	}
	member := &s.Enum[u.elemID()]
	if member.Type != spec.TypePtrIn {
		return nil, rule.AttrEnumType
	}
	return member, nil
}

// processPtr checks a pointer's length against val, which is the attribute's own
// spec s or that of the selected enum member.
func (b *Bundle) processPtr(e *attr, s, val *spec.Attr, u userAttr, i int) error {
	n := u.len()
	if n > val.Len && val.ZeroTrailing && s.Type != spec.TypePtrOut && !b.isCleared(u, val.Len) {
		return rule.AttrTrailingNonzero
	}
	if n < val.MinLen {
		return rule.AttrTooShort
	}
	if n > val.Len && !val.ZeroTrailing {
		return rule.AttrTooLong
	}
	if u.attrData() != 0 && s.Type != spec.TypeEnumIn {
		return rule.AttrReserved
	}
	e.data, e.len, e.index = u.data, n, uint16(i)
	if val.AllocAndCopy && !e.isInline() {
		return b.copyIn(e)
	}
	return nil
}

// copyIn copies a pointer's data for a handler that wants it whole.
func (b *Bundle) copyIn(e *attr) error {
	copied, err := b.Alloc(int(e.len))
	if err != nil {
		return err
	}
	if !copyuser.CopyFromUser(b.Trace(), b.task.Mem, copied, copyuser.Addr(e.data)) {
		return rule.AttrDataFault
	}
	e.copied = copied
	return nil
}

// isCleared says whether the user's data is zero from len on; what cannot be
// read is not. It models uverbs_is_attr_cleared.
func (b *Bundle) isCleared(u userAttr, len uint16) bool {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_is_attr_cleared").Leave()
	if u.len() > 8 {
		from := copyuser.Addr(u.data) + copyuser.Addr(len)
		cleared, ok := copyuser.IsBufferCleared(b.Trace(), b.task.Mem, from, uint64(u.len()-len))
		return cleared && ok
	}
	tail := u.data >> (8 * len)
	return tail&(math.MaxUint64>>(64-8*(u.len()-len))) == 0
}

// processObject looks up or begins the object that the attribute names. The id
// of a new one is written back at once, whatever becomes of the call.
func (b *Bundle) processObject(e *attr, u userAttr, i int, bkey uint32) error {
	if u.attrData() != 0 {
		return rule.AttrObjectReserved
	}
	if u.len() != 0 {
		return rule.AttrObjectLen
	}
	var err error
	if e.object, err = uobject.FromFile(e.spec.Object, e.spec.Access, int64(u.data), b); err != nil {
		return err
	}
	b.priv.uobjFinalize |= 1 << bkey
	if e.spec.Access != spec.AccessNew {
		return nil
	}
	to := b.priv.userAttrAt(uint16(i)) + spec.IoctlAttrDataOffset
	if !copyuser.PutUser64(b.Trace(), b.task.Mem, to, uint64(e.object.ID())) {
		return rule.AttrIDFault
	}
	return nil
}

// processIDRsArray looks up each handle of an array. It models
// uverbs_process_idrs_array.
//
// Errors: array/reserved, array/size, array/count, array/fault.
func (b *Bundle) processIDRsArray(e *attr, u userAttr, bkey uint32) error {
	defer b.Trace().EnterInlined(trace.Uverbs, "uverbs_process_idrs_array").Leave()
	if u.attrData() != 0 {
		return rule.ArrayReserved
	}
	if u.len()%4 != 0 {
		return rule.ArraySize
	}
	n := int(u.len() / 4)
	if n < int(e.spec.MinItems) || n > int(e.spec.MaxItems) {
		return rule.ArrayCount
	}
	ids, err := b.Alloc(8 * n) // as large as the kernel's array of pointers
	if err != nil {
		return err
	}
	if u.len() > 8 {
		if !copyuser.CopyFromUser(b.Trace(), b.task.Mem, ids[:u.len()], copyuser.Addr(u.data)) {
			return rule.ArrayFault
		}
	} else {
		binary.LittleEndian.PutUint64(b.word[:], u.data)
		copy(ids[:u.len()], b.word[:])
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
