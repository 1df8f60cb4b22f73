package mlx5

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// capability is one field of a capability page.
type capability struct {
	page  ifc.CapType
	field ifc.Field
}

func capOf(page ifc.CapType, name string) capability {
	return capability{page, ifc.Must(ifc.CapLayouts[page]).Field(name)}
}

func gen(name string) capability    { return capOf(ifc.MLX5_CAP_GENERAL, name) }
func eth(name string) capability    { return capOf(ifc.MLX5_CAP_ETHERNET_OFFLOADS, name) }
func atomics(n string) capability   { return capOf(ifc.MLX5_CAP_ATOMIC, n) }
func roce(name string) capability   { return capOf(ifc.MLX5_CAP_ROCE, name) }
func flow(name string) capability   { return capOf(ifc.MLX5_CAP_FLOW_TABLE, name) }
func qos(name string) capability    { return capOf(ifc.MLX5_CAP_QOS, name) }
func devMem(name string) capability { return capOf(ifc.MLX5_CAP_DEV_MEM, name) }
func vdpa(name string) capability   { return capOf(ifc.MLX5_CAP_VDPA_EMULATION, name) }

// caps are the capability pages that the driver has asked for, by their type; a
// page that it has not stays all zero (struct mlx5_core_dev's caps).
type caps [ifc.MLX5_CAP_GENERAL_2 + 1][]byte

// get models MLX5_CAP_GEN and its siblings in include/linux/mlx5/device.h.
func (c *caps) get(f capability) uint64 { return f.field.Get(c[f.page]) }

// has says that a capability is not 0.
func (c *caps) has(f capability) bool { return c.get(f) != 0 }

// pow2 is 1 shifted by a capability that holds a logarithm.
func (c *caps) pow2(f capability) uint32 { return 1 << c.get(f) }

// Bits of general_obj_types (MLX5_GENERAL_OBJ_TYPES_CAP_* in
// include/linux/mlx5/mlx5_ifc.h).
const (
	objTypesSWICM      = 1 << 8
	objTypesVirtioNetQ = 1 << 13
)

var (
	capHCACap2          = gen("hca_cap_2")
	capEthNetOffloads   = gen("eth_net_offloads")
	capPG               = gen("pg")
	capAtomic           = gen("atomic")
	capROCE             = gen("roce")
	capNICFlowTable     = gen("nic_flow_table")
	capQoS              = gen("qos")
	capDeviceMemory     = gen("device_memory")
	capEventCap         = gen("event_cap")
	capGeneralObjTypes  = gen("general_obj_types")
	capUAR4K            = gen("uar_4k")
	capDCT              = gen("dct")
	capLogMaxUctx       = gen("log_max_uctx")
	capUctxCap          = gen("uctx_cap")
	capPortType         = gen("port_type")
	capNumPorts         = gen("num_ports")
	capLogMaxTD         = gen("log_max_transport_domain")
	capXRC              = gen("xrc")
	capIMAICL           = gen("imaicl")
	capBF               = gen("bf")
	capLogMaxSQ         = gen("log_max_sq")
	capDumpFillMkey     = gen("dump_fill_mkey")
	capNullMkey         = gen("null_mkey")
	capTerminateMkey    = gen("terminate_scatter_list_mkey")
	capCQEVersion       = gen("cqe_version")
	capLogMaxQP         = gen("log_max_qp")
	capLogBFRegSize     = gen("log_bf_reg_size")
	capMaxWQESzSQ       = gen("max_wqe_sz_sq")
	capMaxWQESzRQ       = gen("max_wqe_sz_rq")
	capLogMaxQPSz       = gen("log_max_qp_sz")
	capLogMaxSRQSz      = gen("log_max_srq_sz")
	capNumUARsPerPage   = gen("num_of_uars_per_page")
	capECESupport       = gen("ece_support")
	capSQTSFormat       = gen("sq_ts_format")
	capRQTSFormat       = gen("rq_ts_format")
	capQPTSFormat       = roce("qp_ts_format")
	capDrainSigerr      = gen("drain_sigerr")
	capDeviceFrequency  = gen("device_frequency_khz")
	capWQEInlineMode    = eth("wqe_inline_mode")
	capLogMaxCQSz       = gen("log_max_cq_sz")
	capCQECompression   = gen("cqe_compression")
	capCQEComp128       = gen("cqe_compression_128")
	capCQE128Always     = gen("cqe_128_always")
	capMiniCQEStride    = gen("mini_cqe_resp_stride_index")
	capCQResize         = gen("cq_resize")
	capCQModeration     = gen("cq_moderation")
	capUMREntityFixed   = gen("umr_modify_entity_size_disabled")
	capRelaxedWrite     = gen("relaxed_ordering_write")
	capRelaxedRead      = gen("relaxed_ordering_read")
	capRelaxedReadPCI   = gen("relaxed_ordering_read_pci_enabled")
	capSharedFT         = gen("shared_object_to_user_object_allowed")
	capAtomicHostEndian = atomics("supported_atomic_req_8B_endianness_mode_1")
	capMemic            = devMem("memic")
	capROCEAddressTable = roce("roce_address_table_size")
)

// queryHCACaps asks for the capability pages that the device says it has. It
// models mlx5_query_hca_caps in drivers/net/ethernet/mellanox/mlx5/core/fw.c.
// Pages whose capabilities the RDMA driver does not look at are left out.
func (d *Device) queryHCACaps(t *trace.Task) error {
	defer t.Enter(moduleCore, "mlx5_query_hca_caps").Leave()
	for typ, layout := range ifc.CapLayouts {
		d.caps[typ] = make([]byte, ifc.Must(layout).Size())
	}
	if err := d.getCaps(t, ifc.MLX5_CAP_GENERAL); err != nil {
		return err
	}
	if err := d.setHCACap(t); err != nil {
		return err
	}
	for _, p := range []struct {
		page ifc.CapType
		has  bool
	}{
		{ifc.MLX5_CAP_GENERAL_2, d.caps.has(capHCACap2)},
		{ifc.MLX5_CAP_ETHERNET_OFFLOADS, d.caps.has(capEthNetOffloads)},
		{ifc.MLX5_CAP_ODP, d.caps.has(capPG)},
		{ifc.MLX5_CAP_ATOMIC, d.caps.has(capAtomic)},
		{ifc.MLX5_CAP_ROCE, d.caps.has(capROCE)},
		{ifc.MLX5_CAP_FLOW_TABLE, d.caps.has(capNICFlowTable)},
		{ifc.MLX5_CAP_QOS, d.caps.has(capQoS)},
		{ifc.MLX5_CAP_DEV_MEM, d.caps.has(capDeviceMemory)},
		{ifc.MLX5_CAP_DEV_EVENT, d.caps.has(capEventCap)},
		{ifc.MLX5_CAP_VDPA_EMULATION, d.caps.get(capGeneralObjTypes)&objTypesVirtioNetQ != 0},
	} {
		if !p.has {
			continue
		}
		if err := d.getCaps(t, p.page); err != nil {
			return err
		}
	}
	return nil
}

// setHCACapAtomic is MLX5_SET_HCA_CAP_OP_MOD_ATOMIC.
const setHCACapAtomic = uint16(ifc.MLX5_CAP_ATOMIC) << 1

// setHCACap makes the device take the operands of atomic operations in the
// host's order, where it can. It models handle_hca_cap_atomic of set_hca_cap in
// drivers/net/ethernet/mellanox/mlx5/core/main.c; what the kernel sets of other
// pages changes nothing that users see. The kernel does it before INIT_HCA.
func (d *Device) setHCACap(t *trace.Task) error {
	defer t.Enter(moduleCore, "set_hca_cap").Leave()
	if !d.caps.has(capAtomic) {
		return nil
	}
	if err := d.getCaps(t, ifc.MLX5_CAP_ATOMIC); err != nil {
		return err
	}
	if !d.caps.has(capAtomicHostEndian) {
		return nil
	}
	in := hw.Input(ifc.MLX5_CMD_OP_SET_HCA_CAP, 0, setHCACapAtomic, 0)
	capAtomicEndianness.field.Set(in[capPageStart:], 1)
	return d.exec(t, in, make([]byte, minCommand))
}

// getCaps models mlx5_core_get_caps_mode in
// drivers/net/ethernet/mellanox/mlx5/core/main.c for the current capabilities.
func (d *Device) getCaps(t *trace.Task, typ ifc.CapType) error {
	defer t.Enter(moduleCore, "mlx5_core_get_caps_mode").Leave()
	in := hw.Input(ifc.MLX5_CMD_OP_QUERY_HCA_CAP, 0, uint16(typ)<<1|ifc.HCA_CAP_OPMOD_GET_CUR, 0)
	out := make([]byte, capPageStart+maxCapPage)
	if err := d.exec(t, in, out); err != nil {
		return err
	}
	copy(d.caps[typ], out[capPageStart:])
	return nil
}

// Where a capability page begins in an answer, and how long it is at most.
const (
	capPageStart = 16
	maxCapPage   = 4096
)

// specialMkeys are memory keys with a meaning of their own (struct
// mlx5_special_mkeys).
type specialMkeys struct {
	dumpFill, null, terminateScatterList uint32
}

// terminateScatterListLKey is MLX5_TERMINATE_SCATTER_LIST_LKEY.
const terminateScatterListLKey = 0x100

var specialMkeyFields = struct{ dumpFill, null, terminate ifc.Field }{
	ifc.Must("query_special_contexts_out").Field("dump_fill_mkey"),
	ifc.Must("query_special_contexts_out").Field("null_mkey"),
	ifc.Must("query_special_contexts_out").Field("terminate_scatter_list_mkey"),
}

// querySpecialMkeys models mlx5r_cmd_query_special_mkeys in
// drivers/infiniband/hw/mlx5/cmd.c.
func (d *Device) querySpecialMkeys(t *trace.Task) error {
	defer t.Enter(moduleIB, "mlx5r_cmd_query_special_mkeys").Leave()
	d.mkeys.terminateScatterList = terminateScatterListLKey
	wanted := []struct {
		has   bool
		field ifc.Field
		to    *uint32
	}{
		{d.caps.has(capDumpFillMkey), specialMkeyFields.dumpFill, &d.mkeys.dumpFill},
		{d.caps.has(capNullMkey), specialMkeyFields.null, &d.mkeys.null},
		{d.caps.has(capTerminateMkey), specialMkeyFields.terminate, &d.mkeys.terminateScatterList},
	}
	if !wanted[0].has && !wanted[1].has && !wanted[2].has {
		return nil
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS, 0, 0)
	defer d.giveBack(m)
	if err := d.exec(t, m.in, m.out); err != nil {
		return err
	}
	for _, w := range wanted {
		if w.has {
			*w.to = uint32(w.field.Get(m.out))
		}
	}
	return nil
}

// be reads and writes what lies in memory in the device's byte order, le what
// lies there in the host's.
var (
	be = binary.BigEndian
	le = binary.LittleEndian
)
