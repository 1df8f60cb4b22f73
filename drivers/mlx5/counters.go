package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// mcounters is a struct mlx5_ib_mcounters: what a user's counters are to the device,
// and which of them stands where in the user's list.
type mcounters struct {
	dev      *Device
	mutex    trace.Mutex
	id       uint32 // of the device's counter, 0 for none
	list     []spec.Mlx5FlowCountersDesc
	maxIndex uint32 // cntrs_max_index
}

// toMcounters models to_mcounters.
func toMcounters(c *core.Counters) *mcounters { return c.Driver.(*mcounters) }

// createCounters has nothing to make: counters count nothing before a flow is
// bound to them. It models mlx5_ib_create_counters in
// drivers/infiniband/hw/mlx5/counters.c.
func (d *Device) createCounters(c *core.Counters, _ core.Attrs) error {
	m := &mcounters{dev: d}
	m.mutex.Name = "mcntrs_mutex"
	c.Driver = m
	return nil
}

// destroyCounters models mlx5_ib_destroy_counters in
// drivers/infiniband/hw/mlx5/counters.c.
func (d *Device) destroyCounters(task *process.Task, c *core.Counters) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_destroy_counters").Leave()
	m := toMcounters(c)
	clearDescription(t, c)
	if m.id != 0 {
		d.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER, 0, m.id) // as the kernel does
	}
	return nil
}

// numFlowCounters is how many counters a flow has: packets and bytes
// (FLOW_COUNTERS_NUM in drivers/infiniband/hw/mlx5/counters.c).
const numFlowCounters = 2

// readCounters adds up the counters by their places in the user's list. It models
// mlx5_ib_read_counters in drivers/infiniband/hw/mlx5/counters.c.
//
// Errors: mlx5-counters/read-size, mlx5-counters/read-no-memory, mlx5-cmd/….
func (d *Device) readCounters(c *core.Counters, attr *core.CountersReadAttr, attrs core.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mlx5_ib_read_counters").Leave()
	m := toMcounters(c)
	m.mutex.Lock(t)
	defer m.mutex.Unlock(t)
	if m.maxIndex > uint32(len(attr.Buf)) {
		return rule.MLX5CountersReadSize
	}
	if t.Fail(trace.Alloc, "mlx5_read_counters_attr") {
		return rule.MLX5CountersReadNoMemory
	}
	values, err := d.queryFlowCounter(t, m.id)
	if err != nil {
		return err
	}
	for _, desc := range m.list {
		if desc.Index < uint32(len(attr.Buf)) { // the largest index of 32 bits the kernel takes for none, and writes out of bounds
			attr.Buf[desc.Index] += values[desc.Description]
		}
	}
	return nil
}

// queryFlowCounter models mlx5_cmd_fc_query in
// drivers/net/ethernet/mellanox/mlx5/core/fs_cmd.c.
//
// Errors: mlx5-cmd/….
func (d *Device) queryFlowCounter(t *trace.Task, id uint32) (values [numFlowCounters]uint64, err error) {
	defer t.Enter(moduleCore, "mlx5_cmd_fc_query").Leave()
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER, 0, 0)
	defer d.giveBack(m)
	num(28, 4).Set(m.in, uint64(id))
	out := make([]byte, minCommand+8*numFlowCounters)
	if err := d.exec(t, m.in, out); err != nil {
		return values, err
	}
	for i := range values {
		values[i] = be.Uint64(out[minCommand+8*i:])
	}
	return values, nil
}

// maxCounters is MAX_COUNTERS_NUM of drivers/infiniband/hw/mlx5/counters.c.
const maxCounters = 0xffff / 8

// flowCountersSetData binds counters to a flow: the device's counter is made for the
// first one, and the user says once which of its values stands where. It models
// mlx5_ib_flow_counters_set_data in drivers/infiniband/hw/mlx5/counters.c.
//
// Errors: mlx5-counters/…, mlx5-cmd/….
func (d *Device) flowCountersSetData(udata *core.Udata, c *core.Counters, ucmd *createFlowCmd) (err error) {
	task := udata.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_flow_counters_set_data").Leave()
	m := toMcounters(c)
	var list []spec.Mlx5FlowCountersDesc
	given := ucmd != nil && ucmd.hasData
	if given {
		n := ucmd.data.Ncounters
		if n > maxCounters {
			return rule.MLX5CountersMany
		}
		if t.Fail(trace.Alloc, "mlx5_ib_flow_counters_desc") {
			return rule.MLX5CountersNoMemory
		}
		raw := make([]byte, 8*n)
		if !copyuser.CopyFromUser(t, task.Mem, raw, copyuser.Addr(ucmd.data.CountersData)) {
			return rule.MLX5CountersFault
		}
		list = make([]spec.Mlx5FlowCountersDesc, n)
		for i := range list {
			list[i].Description, list[i].Index = le.Uint32(raw[8*i:]), le.Uint32(raw[8*i+4:])
		}
	}
	if m.id == 0 {
		if m.id, err = d.create(t, ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, 0); err != nil {
			return err
		}
		defer func() {
			if err != nil {
				d.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER, 0, m.id) // as the kernel does
				m.id = 0
			}
		}()
	}
	switch {
	case given && m.maxIndex != 0:
		return rule.MLX5CountersBound
	case given:
		return m.setDescription(t, list)
	case m.maxIndex == 0:
		return rule.MLX5CountersUndescribed
	}
	return nil
}

// setDescription models counters_set_description in
// drivers/infiniband/hw/mlx5/counters.c.
//
// Errors: mlx5-counters/description.
func (m *mcounters) setDescription(t *trace.Task, list []spec.Mlx5FlowCountersDesc) error {
	most := uint32(0)
	for _, desc := range list {
		if desc.Description >= numFlowCounters {
			return rule.MLX5CountersDescription
		}
		if most <= desc.Index {
			most = desc.Index + 1
		}
	}
	m.mutex.Lock(t)
	m.list, m.maxIndex = list, most
	m.mutex.Unlock(t)
	return nil
}

// clearDescription forgets what stands where once the last flow goes; nil has
// nothing. It models mlx5_ib_counters_clear_description in
// drivers/infiniband/hw/mlx5/counters.c.
func clearDescription(t *trace.Task, c *core.Counters) {
	if c == nil || c.Usecnt.Load() != 1 {
		return
	}
	m := toMcounters(c)
	m.mutex.Lock(t)
	m.list, m.maxIndex = nil, 0
	m.mutex.Unlock(t)
}
