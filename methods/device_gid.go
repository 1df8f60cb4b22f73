package methods

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// putGIDEntry writes g as a struct ib_uverbs_gid_entry.
func putGIDEntry(to []byte, g *core.GIDAttr) {
	copy(to, g.GID[:])
	binary.LittleEndian.PutUint32(to[16:], g.Index)
	binary.LittleEndian.PutUint32(to[20:], g.Port)
	binary.LittleEndian.PutUint32(to[24:], g.Type)
	binary.LittleEndian.PutUint32(to[28:], g.Ifindex)
}

// queryGIDTable lists the valid GIDs of all ports. The user says how long its
// entries are; a longer one is filled up with zeros, a shorter one cut. It is
// the handler of UVERBS_METHOD_QUERY_GID_TABLE.
//
// Errors: flags/…, const/range, query-gid-table/entry-size, attr/array-size,
// query-gid-table/empty, query-gid-table/entry-fault, gid-table/too-small,
// attr/output-fault, attr/flag-fault, bundle/no-memory, and those of Ucontext.
func queryGIDTable(b *kernel.Bundle) error {
	if _, err := b.Flags32(spec.UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0); err != nil {
		return err
	}
	entrySize, err := b.Const(spec.UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, math.MaxUint64)
	if err != nil {
		return err
	}
	if entrySize == 0 {
		return rule.QueryGIDTableEntrySize
	}
	size := int(min(entrySize, math.MaxInt))
	max, err := b.ArraySize(spec.UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, size)
	if err != nil {
		return err
	}
	if max == 0 {
		return rule.QueryGIDTableEmpty
	}
	ucontext, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	entries, err := b.Alloc(max * spec.GIDEntrySize)
	if err != nil {
		return err
	}
	gids, err := core.QueryGIDTable(b.Task(), ucontext.Device, max)
	if err != nil {
		return err
	}
	for i := range gids {
		putGIDEntry(entries[i*spec.GIDEntrySize:], &gids[i])
	}
	if err := copyGIDEntriesToUser(b, entries[:len(gids)*spec.GIDEntrySize], size); err != nil {
		return err
	}
	return b.CopyToUint64(spec.UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, uint64(len(gids)))
}

// copyGIDEntriesToUser writes the entries as long as the user has them. It
// models copy_gid_entries_to_user in
// drivers/infiniband/core/uverbs_std_types_device.c.
//
// Errors: query-gid-table/entry-fault, attr/output-fault, attr/flag-fault.
func copyGIDEntriesToUser(b *kernel.Bundle, entries []byte, userSize int) error {
	t := b.Trace()
	defer t.EnterInlined(trace.Uverbs, "copy_gid_entries_to_user").Leave()
	const id, size = spec.UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, spec.GIDEntrySize
	if userSize == size {
		return b.CopyTo(id, entries)
	}
	to, err := b.OutputAddr(id)
	if err != nil {
		return err
	}
	mem := b.Task().Mem
	for ; len(entries) > 0; entries = entries[size:] {
		if !copyuser.CopyToUser(t, mem, to, entries[:min(userSize, size)]) {
			return rule.QueryGIDTableEntryFault
		}
		if userSize > size && !copyuser.ClearUser(t, mem, to+size, uint64(userSize-size)) {
			return rule.QueryGIDTableEntryFault
		}
		to += copyuser.Addr(userSize)
	}
	return b.OutputWritten(id)
}

// queryGIDEntry tells one entry of a port's GID table. It is the handler of
// UVERBS_METHOD_QUERY_GID_ENTRY.
//
// Errors: flags/…, const/range, query-gid-entry/port, gid/index, gid/empty,
// attr/output-fault, attr/flag-fault, and those of Ucontext.
func queryGIDEntry(b *kernel.Bundle) error {
	if _, err := b.Flags32(spec.UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0); err != nil {
		return err
	}
	port, err := b.Const(spec.UVERBS_ATTR_QUERY_GID_ENTRY_PORT, math.MaxUint32)
	if err != nil {
		return err
	}
	index, err := b.Const(spec.UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, math.MaxUint32)
	if err != nil {
		return err
	}
	ucontext, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	dev := ucontext.Device
	if !dev.IsPort(uint32(port)) {
		return rule.QueryGIDEntryPort
	}
	gid, err := core.GetGIDAttr(b.Task(), dev, uint32(port), int32(index))
	if err != nil {
		return err
	}
	entry := b.Scratch(spec.GIDEntrySize)
	putGIDEntry(entry, gid)
	return b.CopyToStructOrZero(spec.UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry)
}
