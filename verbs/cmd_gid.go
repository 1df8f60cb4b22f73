package verbs

import (
	"errors"
	"syscall"

	"uverbsim/spec"
)

// QueryGIDEntry asks for an entry of a port's table of GIDs, which the ioctl
// alone can tell. An empty entry's error is ENODATA. It models
// _ibv_query_gid_ex in libibverbs/cmd_device.c, without its way by sysfs.
//
// Errors: those of the kernel.
func (c *Context) QueryGIDEntry(port uint32, index uint32) (*spec.GIDEntry, error) {
	f := c.Frame()
	defer f.Leave()
	entry := new(spec.GIDEntry)
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_GID_ENTRY, 4, nil)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_QUERY_GID_ENTRY_PORT, uint64(port))
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, uint64(index))
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, entry)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return nil, err
	}
	return entry, nil
}

// QueryGID returns a GID of a port's table; an empty entry is all zeros. It
// models ibv_query_gid in libibverbs/verbs.c.
//
// Errors: those of the kernel, but for ENODATA.
func (c *Context) QueryGID(port uint32, index uint32) (gid [16]byte, err error) {
	entry, err := c.QueryGIDEntry(port, index)
	if errors.Is(err, syscall.ENODATA) {
		return gid, nil
	}
	if err != nil {
		return gid, err
	}
	copy(gid[:], spec.Bytes(&entry.GID))
	return gid, nil
}

// QueryGIDTable asks for all entries of all ports that are not empty, up to
// limit of them. It models _ibv_query_gid_table in libibverbs/cmd_device.c.
//
// Errors: those of the kernel, which refuses a limit that is too low.
func (c *Context) QueryGIDTable(limit int) ([]spec.GIDEntry, error) {
	f := c.Frame()
	defer f.Leave()
	buf := make([]byte, limit*spec.GIDEntrySize)
	var n uint64
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_QUERY_GID_TABLE, 4, nil)
	cmd.FillAttrConstIn(spec.UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, spec.GIDEntrySize)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_QUERY_GID_TABLE_FLAGS, 0)
	cmd.FillAttrOut(spec.UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, buf)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &n)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return nil, err
	}
	entries := make([]spec.GIDEntry, min(n, uint64(limit)))
	for i := range entries {
		copy(spec.Bytes(&entries[i]), buf[i*spec.GIDEntrySize:])
	}
	return entries, nil
}
