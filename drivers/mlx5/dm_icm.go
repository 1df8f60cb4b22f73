package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// icmTable is a struct mlx5_dm of mlx5_core: which blocks of the device's memory
// for steering are given out, by the type of the memory. A type that the device
// has not is nil.
type icmTable struct {
	lock   trace.Mutex
	blocks [spec.MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM + 1]areas
}

// icmArea says where memory of a type is and how much, as a power of two.
type icmArea struct{ start, logSize capability }

var icmAreas = map[uint64]icmArea{
	spec.MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM: {
		devMem("steering_sw_icm_start_address"), devMem("log_steering_sw_icm_size")},
	spec.MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM: {
		devMem("header_modify_sw_icm_start_address"), devMem("log_header_modify_sw_icm_size")},
	spec.MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM: {
		devMem("header_modify_pattern_sw_icm_start_address"), devMem("log_header_modify_pattern_sw_icm_size")},
	spec.MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM: {
		devMem("indirect_encap_sw_icm_start_address"), devMem("log_indirect_encap_sw_icm_size")},
}

var (
	capICMGranularity = devMem("log_sw_icm_alloc_granularity")
	capRXSWOwner      = flow("flow_table_properties_nic_receive.sw_owner")
	capTXSWOwner      = flow("flow_table_properties_nic_transmit.sw_owner")
	capRXSWOwnerV2    = flow("flow_table_properties_nic_receive.sw_owner_v2")
	capTXSWOwnerV2    = flow("flow_table_properties_nic_transmit.sw_owner_v2")
)

// initICM models mlx5_dm_create in
// drivers/net/ethernet/mellanox/mlx5/core/lib/dm.c.
func (d *Device) initICM() {
	if d.caps.get(capGeneralObjTypes)&objTypesSWICM == 0 {
		return
	}
	for typ, a := range icmAreas {
		has := d.caps.has(a.start)
		switch typ {
		case spec.MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM:
			has = d.caps.has(a.logSize)
		case spec.MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM:
			has = has && d.caps.has(capRXSWOwnerV2) && d.caps.has(capTXSWOwnerV2)
		}
		if has {
			d.icm.blocks[typ] = newAreas(uint64(1) << d.caps.get(a.logSize) >> d.caps.get(capICMGranularity))
		}
	}
}

// allocSWICM allocates memory for steering by software. It models
// handle_alloc_dm_sw_icm in drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: mlx5-dm/…, mlx5-cmd/…, attr/….
func (c *ucontext) allocSWICM(b *kernel.Bundle, attr *core.DMAllocAttr, typ uint64) (*core.DM, error) {
	t, d := b.Trace(), c.dev
	defer t.EnterInlined(moduleIB, "handle_alloc_dm_sw_icm").Leave()
	if !capNetRawIO(b.Task()) {
		return nil, rule.MLX5DMPrivilege
	}
	if typ == spec.MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM {
		if !d.caps.has(capRXSWOwnerV2) || !d.caps.has(capTXSWOwnerV2) {
			return nil, rule.MLX5DMNoPatterns
		}
	} else if !d.caps.has(capRXSWOwner) && !d.caps.has(capTXSWOwner) && !d.caps.has(capRXSWOwnerV2) &&
		!d.caps.has(capTXSWOwnerV2) {
		return nil, rule.MLX5DMNoSWOwner
	}
	if t.Fail(trace.Alloc, "mlx5_ib_dm_icm") {
		return nil, rule.MLX5DMICMNoMemory
	}
	m := &dm{dev: d, typ: typ, size: roundUpBlocks(attr.Length, uint64(d.caps.pow2(capICMGranularity)))}
	m.ib.Driver = m
	if err := d.swICMAlloc(t, m, attr.Alignment, c.devxUID); err != nil {
		return nil, err
	}
	if err := b.CopyToUint64(spec.MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, m.addr); err != nil {
		d.swICMDealloc(t, m, c.devxUID)
		return nil, err
	}
	return &m.ib, nil
}

// Of CREATE_GENERAL_OBJECT for memory: how much, as a power of two, and where.
var (
	swICMLogSize = num(16+11, 1)
	swICMStart   = num(16+16, 8)
)

// objTypeSWICM is MLX5_OBJ_TYPE_SW_ICM, createSWICMSize the length of struct
// create_sw_icm_in.
const (
	objTypeSWICM    = 8
	createSWICMSize = 80
)

// swICMAlloc models mlx5_dm_sw_icm_alloc in
// drivers/net/ethernet/mellanox/mlx5/core/lib/dm.c.
//
// Errors: mlx5-dm/icm-…, mlx5-cmd/….
func (d *Device) swICMAlloc(t *trace.Task, m *dm, logAlignment uint32, uid uint16) error {
	defer t.Enter(moduleCore, "mlx5_dm_sw_icm_alloc").Leave()
	if d.caps.get(capGeneralObjTypes)&objTypesSWICM == 0 {
		return rule.MLX5DMICMNone
	}
	if m.size == 0 {
		return rule.MLX5DMICMLength
	}
	blocks, logBlock := &d.icm.blocks[m.typ], d.caps.get(capICMGranularity)
	if blocks.used == nil {
		return rule.MLX5DMICMNone
	}
	align := uint64(1) << ((max(uint64(logAlignment), logBlock) - logBlock) & 63) // as the processor shifts
	n := m.size >> logBlock
	d.icm.lock.Lock(t)
	at, ok := blocks.take(0, n, align)
	d.icm.lock.Unlock(t)
	if !ok {
		return rule.MLX5DMICMFull
	}
	m.addr = d.caps.get(icmAreas[m.typ].start) + at<<logBlock
	box := d.mailbox(ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT, uid, createSWICMSize-minCommand)
	defer d.giveBack(box)
	be.PutUint16(box.in[6:], objTypeSWICM)
	swICMLogSize.Set(box.in, log2(m.size))
	swICMStart.Set(box.in, m.addr)
	if err := d.exec(t, box.in, box.out); err != nil {
		d.icm.lock.Lock(t)
		blocks.giveBack(at, n)
		d.icm.lock.Unlock(t)
		return err
	}
	m.objID = be.Uint32(box.out[8:])
	return nil
}

// swICMDealloc models mlx5_dm_sw_icm_dealloc in
// drivers/net/ethernet/mellanox/mlx5/core/lib/dm.c. What the device does not take
// back stays given out.
func (d *Device) swICMDealloc(t *trace.Task, m *dm, uid uint16) {
	defer t.Enter(moduleCore, "mlx5_dm_sw_icm_dealloc").Leave()
	box := d.mailbox(ifc.MLX5_CMD_OP_DESTROY_GENERAL_OBJECT, uid, 0)
	defer d.giveBack(box)
	be.PutUint16(box.in[6:], objTypeSWICM)
	box.setNumber(m.objID)
	if d.exec(t, box.in, box.out) != nil {
		return
	}
	logBlock := d.caps.get(capICMGranularity)
	first := (m.addr - d.caps.get(icmAreas[m.typ].start)) >> logBlock
	d.icm.lock.Lock(t)
	d.icm.blocks[m.typ].giveBack(first, m.size>>logBlock)
	d.icm.lock.Unlock(t)
}
