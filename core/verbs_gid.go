package core

import (
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// GIDAttr is a struct ib_gid_attr: a valid entry of a port's GID table.
type GIDAttr struct {
	GID     [16]byte
	Index   uint32
	Port    uint32
	Type    uint32 // enum ib_gid_type: 0 IB, 1 RoCE v1, 2 RoCE v2
	Ifindex uint32 // of the network device, 0 if there is none
}

// QueryGIDTable returns the valid entries of all ports, in the order of port
// and index. It models rdma_query_gid_table in drivers/infiniband/core/cache.c.
//
// Errors: gid-table/too-small.
func QueryGIDTable(task *process.Task, dev *Device, max int) ([]GIDAttr, error) {
	defer task.Trace.Enter(trace.Core, "rdma_query_gid_table").Leave()
	if len(dev.GIDs) > max {
		return nil, rule.GIDTableTooSmall
	}
	return dev.GIDs, nil
}

// GetGIDAttr returns one entry of a port's GID table. It models
// rdma_get_gid_attr in drivers/infiniband/core/cache.c.
//
// Errors: port/invalid, gid/index, gid/empty.
func GetGIDAttr(task *process.Task, dev *Device, port uint32, index int32) (*GIDAttr, error) {
	defer task.Trace.Enter(trace.Core, "rdma_get_gid_attr").Leave()
	if !dev.IsPort(port) {
		return nil, rule.PortInvalid
	}
	if index < 0 || index >= dev.GIDTblLen {
		return nil, rule.GIDIndex
	}
	for i := range dev.GIDs {
		if g := &dev.GIDs[i]; g.Port == port && g.Index == uint32(index) {
			return g, nil
		}
	}
	return nil, rule.GIDEmpty
}
