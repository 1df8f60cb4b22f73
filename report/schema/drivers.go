package schema

import (
	"fmt"
	"slices"
	"strings"

	"uverbsim/spec"
)

// Driver is a driver whose devices can be described.
type Driver struct {
	Name string
	ID   uint32 // a RDMA_DRIVER_ constant

	lacks  []spec.Op                // operations that its device does not have
	lacked map[spec.Op]spec.Feature // those that it has only with a feature
	mask   uint64                   // write() commands beyond spec.DefaultUverbsCmdMask
}

// drivers are those that there are. What a device of theirs lacks is read from
// their struct ib_device_ops; an adapter of mlx5 is one with all capabilities.
// Core stands for a device that has every operation and adds nothing.
var drivers = []Driver{
	{Name: "core", mask: ^uint64(0)},
	{Name: "mlx5", ID: spec.RDMA_DRIVER_MLX5},
	{
		Name: "rxe", ID: spec.RDMA_DRIVER_RXE,
		lacks: []spec.Op{
			spec.OpAllocXRCD, spec.OpDeallocXRCD, spec.OpCreateFlow, spec.OpDestroyFlow, spec.OpDestroyFlowAction,
			spec.OpCreateWQ, spec.OpModifyWQ, spec.OpDestroyWQ, spec.OpCreateRWQIndTable, spec.OpDestroyRWQIndTable,
			spec.OpDeallocDM, spec.OpDestroyCounters, spec.OpModifyCQ,
		},
		lacked: map[spec.Op]spec.Feature{spec.OpReregUserMR: spec.RxeReregMR},
		mask:   1<<spec.IB_USER_VERBS_CMD_POST_SEND | 1<<spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
	},
	{
		Name: "efa", ID: spec.RDMA_DRIVER_EFA,
		lacks: []spec.Op{
			spec.OpAllocMW, spec.OpDeallocMW, spec.OpAllocXRCD, spec.OpDeallocXRCD, spec.OpAttachMcast, spec.OpDetachMcast,
			spec.OpCreateFlow, spec.OpDestroyFlow, spec.OpDestroyFlowAction, spec.OpCreateWQ, spec.OpModifyWQ, spec.OpDestroyWQ,
			spec.OpCreateRWQIndTable, spec.OpDestroyRWQIndTable, spec.OpDeallocDM, spec.OpDestroyCounters,
			spec.OpCreateSRQ, spec.OpModifySRQ, spec.OpQuerySRQ, spec.OpDestroySRQ, spec.OpPostSRQRecv,
			spec.OpPollCQ, spec.OpReqNotifyCQ, spec.OpModifyCQ, spec.OpResizeCQ, spec.OpPostSend, spec.OpPostRecv,
			spec.OpReregUserMR,
		},
	},
	{
		Name: "bnxt_re", ID: spec.RDMA_DRIVER_BNXT_RE,
		lacks: []spec.Op{
			spec.OpAllocMW, spec.OpDeallocMW, spec.OpAllocXRCD, spec.OpDeallocXRCD, spec.OpAttachMcast, spec.OpDetachMcast,
			spec.OpCreateFlow, spec.OpDestroyFlow, spec.OpDestroyFlowAction, spec.OpCreateWQ, spec.OpModifyWQ, spec.OpDestroyWQ,
			spec.OpCreateRWQIndTable, spec.OpDestroyRWQIndTable, spec.OpDeallocDM, spec.OpDestroyCounters,
			spec.OpModifyCQ, spec.OpReregUserMR,
		},
		lacked: map[spec.Op]spec.Feature{spec.OpResizeCQ: spec.BNXTObjects},
	},
}

// DriverNames are the names of the drivers, in one line.
func DriverNames() string {
	var names []string
	for _, d := range drivers {
		names = append(names, d.Name)
	}
	return strings.Join(names, ", ")
}

// Drivers returns all drivers.
func Drivers() []Driver { return slices.Clone(drivers) }

// DriverByName returns the driver of that name.
func DriverByName(name string) (Driver, error) {
	i := slices.IndexFunc(drivers, func(d Driver) bool { return d.Name == name })
	if i < 0 {
		return Driver{}, fmt.Errorf("driver %q: one of %s", name, DriverNames())
	}
	return drivers[i], nil
}

// has says whether a device of the driver has an operation.
func (d Driver) has(k *spec.Kernel, op spec.Op) bool {
	if f, ok := d.lacked[op]; ok && !k.Has(f) {
		return false
	}
	return !slices.Contains(d.lacks, op)
}

// definitions returns what the core declares, and what the driver adds, on a
// kernel.
func (d Driver) definitions(k *spec.Kernel) (core, own []spec.Definition) {
	all := spec.Linux6_12.Definitions(d.ID)
	n := len(spec.Core())
	return k.Declared(d.ID, all[:n]), k.Declared(d.ID, all[n:])
}
