package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// A work request that changes a key (MLX5_OPCODE_UMR) has a control segment, 48
// bytes of what shall change, a context with the new values, and then entries of
// the key's list, or a data segment that says where those are.
const (
	umrKey     = 12 // of the control segment: the key, of which the low 8 bits do not count
	umrFlags   = 16
	umrOctos   = 20 // entries, in octowords
	umrOffset  = 22 // where they go: the low 16 bits; without umrHasOffset octowords of a BSF
	umrMask    = 24 // which fields of the context change
	umrOffHigh = 32 // bits 47:16 of the offset
	umrContext = 64
	umrList    = umrContext + mkcSize
)

// The flags (MLX5_UMR_* in include/linux/mlx5/device.h; the check of the queue
// pair only libmlx5 has).
const (
	umrCheckQPN     = 1 << 3 // fail if the key is bound to another queue pair
	umrHasOffset    = 1 << 4
	umrCheckNotFree = 1 << 5 // fail if the key is not free
	umrCheckFree    = 2 << 5 // fail if it is
	umrInline       = 1 << 7
	umrKnownFlags   = umrCheckQPN | umrHasOffset | umrCheckNotFree | umrCheckFree | umrInline
)

// The bits of the mask that are looked at apart from the fields that they select
// (MLX5_MKEY_MASK_* in include/linux/mlx5/device.h).
const (
	maskPageSize     = 1 << 1
	maskPD           = 1 << 7
	maskBSF          = 1 << 12
	maskQPN          = 1 << 14
	maskAtomic       = 1 << 21
	maskRelaxedWrite = 1 << 25
	maskPageSize5    = 1 << 42
	maskRelaxedRead  = 1 << 47
)

// umrFields has the fields that each bit of the mask selects.
var umrFields = []struct {
	bit    uint64
	fields []ifc.Field
}{
	{1 << 0, []ifc.Field{mkc.length, mkc.length64}},
	{maskPageSize, []ifc.Field{lowBits(mkc.logPageSize, 5)}},
	{1 << 6, []ifc.Field{mkc.start}},
	{maskPD, []ifc.Field{mkc.pd}},
	{1 << 8, []ifc.Field{mkc.enRInval}},
	{1 << 9, []ifc.Field{mkc.sigErr}},
	{maskBSF, []ifc.Field{mkc.bsfEn}},
	{1 << 13, []ifc.Field{mkc.tag}},
	{maskQPN, []ifc.Field{mkc.qpn}},
	{1 << 17, []ifc.Field{mkc.lr}},
	{1 << 18, []ifc.Field{mkc.lw}},
	{1 << 19, []ifc.Field{mkc.rr}},
	{1 << 20, []ifc.Field{mkc.rw}},
	{maskAtomic, []ifc.Field{mkc.a}},
	{1 << 23, []ifc.Field{mkc.smallFence}},
	{maskRelaxedWrite, []ifc.Field{mkc.relaxedWrite}},
	{1 << 29, []ifc.Field{mkc.free}},
	{maskPageSize5, []ifc.Field{highBit(mkc.logPageSize)}},
	{maskRelaxedRead, []ifc.Field{mkc.relaxedRead}},
}

// lowBits and highBit are parts of a field.
func lowBits(f ifc.Field, n uint32) ifc.Field {
	f.Off += f.Width - n
	f.Width = n
	return f
}

func highBit(f ifc.Field) ifc.Field {
	f.Width = 1
	return f
}

// umrKnownMask has the bits of umrFields.
var umrKnownMask = func() (mask uint64) {
	for _, f := range umrFields {
		mask |= f.bit
	}
	return mask
}()

// Capabilities that say which bits of the mask the device refuses, or takes.
var umrGates = []struct {
	bit  uint64
	cap  ifc.Field
	want uint64
}{
	{maskPageSize | maskPageSize5, ifc.Must("cmd_hca_cap").Field("umr_modify_entity_size_disabled"), 0},
	{maskAtomic, ifc.Must("cmd_hca_cap").Field("umr_modify_atomic_disabled"), 0},
	{maskRelaxedWrite, ifc.Must("cmd_hca_cap").Field("relaxed_ordering_write_umr"), 1},
	{maskRelaxedRead, ifc.Must("cmd_hca_cap").Field("relaxed_ordering_read_umr"), 1},
}

// umr carries out a work request that changes a key; w is all of it, from its
// control segment on. The key must have been made for that. A queue pair of the
// driver changes any key; another's only keys of its domain that stand for other
// keys, since it could give itself any memory by a page list. Nothing
// changes if it fails, unless the memory that has the entries becomes
// unreachable half-way, which leaves the key free.
func (d *Device) umr(w []byte, who user) keyError {
	if len(w) < umrList {
		return keyRequest
	}
	be := binary.BigEndian
	m := d.mkeyAt(be.Uint32(w[umrKey:]) >> 8)
	if m == nil {
		return keyNone
	}
	flags, mask, ctx := w[umrFlags], be.Uint64(w[umrMask:]), w[umrContext:umrList]
	if flags&^umrKnownFlags != 0 || mask&^umrKnownMask != 0 {
		return keyRequest
	}
	if e := m.changeable(who, flags); e != keyOK {
		return e
	}
	if e := d.umrFieldsAllowed(who, mask, ctx); e != keyOK {
		return e
	}
	n, at := uint64(be.Uint16(w[umrOctos:])), uint64(0)
	if flags&umrHasOffset != 0 {
		at = uint64(be.Uint32(w[umrOffHigh:]))<<16 | uint64(be.Uint16(w[umrOffset:]))
	} else if be.Uint16(w[umrOffset:]) != 0 {
		return keyRequest
	}
	if n > 0 {
		if e := d.umrEntries(m, w[umrList:], flags, who, at, n); e != keyOK {
			return e
		}
	}
	m.change(d, mask, ctx)
	return keyOK
}

// changeable says whether who may change the key, and whether it is as the flags
// want it to be.
func (m *mkey) changeable(who user, flags byte) keyError {
	elsewhere := m.qpn != anyQPN && m.qpn != who.qpn
	switch {
	case m.dead != keyOK:
		return m.dead
	case mkc.umrEn.Get(m.ctx[:]) == 0:
		return keyRights
	case !who.privileged && m.pd != who.pd:
		return keyPD
	case !who.privileged && m.mode != modeKLM && m.mode != modeKSM:
		return keyRights
	case !who.privileged && !m.free && elsewhere, flags&umrCheckQPN != 0 && elsewhere:
		return keyQPN
	}
	switch flags & (umrCheckNotFree | umrCheckFree) {
	case umrCheckNotFree:
		if !m.free {
			return keyNotFree
		}
	case umrCheckFree:
		if m.free {
			return keyFree
		}
	case umrCheckNotFree | umrCheckFree:
		return keyRequest
	}
	return keyOK
}

// umrFieldsAllowed says whether the device can, and who may, change the fields of
// the mask to what stands in ctx.
func (d *Device) umrFieldsAllowed(who user, mask uint64, ctx []byte) keyError {
	for _, g := range umrGates {
		if mask&g.bit != 0 && d.cap(g.cap) != g.want {
			return keyRights
		}
	}
	if mask&maskBSF != 0 && mkc.bsfEn.Get(ctx) != 0 {
		return keyRights // there are no signatures here
	}
	if mask&maskPD != 0 {
		pd := uint32(mkc.pd.Get(ctx))
		if _, ok := d.objects[kindPD].live[pd]; !ok || !who.privileged && pd != who.pd {
			return keyPD
		}
	}
	if qpn := uint32(mkc.qpn.Get(ctx)); mask&maskQPN != 0 && !who.privileged && qpn != anyQPN && qpn != who.qpn {
		return keyQPN
	}
	return keyOK
}

// umrUnit is what the device writes lists in, in octowords: the room of one is
// rounded up to that (MLX5_UMR_FLEX_ALIGNMENT in include/linux/mlx5/device.h).
const umrUnit = 4

// umrChunk is how much of a list the device reads at a time.
const umrChunk = 4096

// umrEntries writes n octowords of entries into the key's list from an octoword
// on: those that stand in tail, or that the data segment there leads to.
func (d *Device) umrEntries(m *mkey, tail []byte, flags byte, who user, at, n uint64) keyError {
	if m.mode != modeMTT && m.mode != modeKLM && m.mode != modeKSM {
		return keyRequest
	}
	if room := (m.room + umrUnit - 1) &^ (umrUnit - 1); at > room || n > room-at {
		return keyBounds
	}
	if flags&umrInline != 0 {
		if n*octo > uint64(len(tail)) {
			return keyRequest
		}
		m.putList(at, tail[:n*octo])
		return keyOK
	}
	if len(tail) < octo {
		return keyRequest
	}
	be := binary.BigEndian
	from := be.Uint64(tail[8:])
	if uint64(be.Uint32(tail)) < n*octo {
		return keyRequest
	}
	list, e := d.reach(be.Uint32(tail[4:]), who, localRead, from, n*octo)
	if e != keyOK {
		return e
	}
	for done := uint64(0); done < n*octo; done += umrChunk {
		b := d.chunk[:min(umrChunk, n*octo-done)]
		if e := d.readKey(list, from+done, b); e != keyOK {
			mkc.free.Set(m.ctx[:], 1)
			m.load()
			return e
		}
		m.putList(at+done/octo, b)
	}
	return keyOK
}

// change takes the fields of the mask over from ctx.
func (m *mkey) change(d *Device, mask uint64, ctx []byte) {
	for _, f := range umrFields {
		if mask&f.bit == 0 {
			continue
		}
		for _, field := range f.fields {
			field.Set(m.ctx[:], field.Get(ctx))
		}
	}
	m.load()
	if mask&maskPD == 0 {
		return
	}
	d.drop(m.refs)
	for i := range m.refs {
		if m.refs[i].k == kindPD {
			m.refs[i].n = m.pd
		}
	}
	d.hold(m.refs)
}
