package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// handler carries out a command. It runs under the device's lock.
type handler func(d *Device, c *command) *refusal

// row says what the device does with an opcode: how far the function must have
// been brought up, and the handler. Names and lengths stand in package ifc.
type row struct {
	needs hcaState
	run   handler
}

// rows has the commands of this device.
var rows = map[uint16]row{
	ifc.MLX5_CMD_OP_ENABLE_HCA:         {off, enableHCA},
	ifc.MLX5_CMD_OP_DISABLE_HCA:        {off, disableHCA},
	ifc.MLX5_CMD_OP_QUERY_ISSI:         {enabled, queryISSI},
	ifc.MLX5_CMD_OP_SET_ISSI:           {enabled, setISSI},
	ifc.MLX5_CMD_OP_QUERY_PAGES:        {enabled, queryPages},
	ifc.MLX5_CMD_OP_MANAGE_PAGES:       {enabled, managePages},
	ifc.MLX5_CMD_OP_QUERY_HCA_CAP:      {enabled, queryHCACap},
	ifc.MLX5_CMD_OP_SET_HCA_CAP:        {enabled, setHCACap},
	ifc.MLX5_CMD_OP_INIT_HCA:           {enabled, initHCA},
	ifc.MLX5_CMD_OP_TEARDOWN_HCA:       {initialized, teardownHCA},
	ifc.MLX5_CMD_OP_SET_DRIVER_VERSION: {enabled, acknowledge},
	ifc.MLX5_CMD_OP_QUERY_ADAPTER:      {enabled, answer("query_adapter_out")},
	ifc.MLX5_CMD_OP_ACCESS_REG:         {enabled, accessReg},

	ifc.MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS:   {initialized, answer("query_special_contexts_out")},
	ifc.MLX5_CMD_OP_QUERY_VPORT_STATE:        {initialized, answer("query_vport_state_out")},
	ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT:  {initialized, queryNICVport},
	ifc.MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT: {initialized, modifyNICVport},

	ifc.MLX5_CMD_OP_CREATE_UCTX:  {initialized, createUCTX},
	ifc.MLX5_CMD_OP_DESTROY_UCTX: {initialized, destroyUCTX},

	ifc.MLX5_CMD_OP_ALLOC_UAR:   {initialized, allocUAR},
	ifc.MLX5_CMD_OP_DEALLOC_UAR: {initialized, destroy(kindUAR, 8)},

	ifc.MLX5_CMD_OP_CREATE_EQ:  {initialized, createEQ},
	ifc.MLX5_CMD_OP_DESTROY_EQ: {initialized, destroyEQ},
	ifc.MLX5_CMD_OP_QUERY_EQ:   {initialized, queryEQ},

	ifc.MLX5_CMD_OP_CREATE_CQ:  {initialized, createCQ},
	ifc.MLX5_CMD_OP_DESTROY_CQ: {initialized, destroyCQ},
	ifc.MLX5_CMD_OP_QUERY_CQ:   {initialized, queryCQ},
	ifc.MLX5_CMD_OP_MODIFY_CQ:  {initialized, modifyCQ},

	ifc.MLX5_CMD_OP_CREATE_MKEY:  {initialized, createMKey},
	ifc.MLX5_CMD_OP_DESTROY_MKEY: {initialized, destroy(kindMKey, 8)},
	ifc.MLX5_CMD_OP_QUERY_MKEY:   {initialized, queryMKey},

	ifc.MLX5_CMD_OP_ALLOC_MEMIC:  {initialized, allocMemic},
	ifc.MLX5_CMD_OP_MODIFY_MEMIC: {initialized, modifyMemic},

	// Objects that are no more than a number here.
	ifc.MLX5_CMD_OP_ALLOC_PD:                        {initialized, create(kindPD, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_PD:                      {initialized, destroy(kindPD, 8)},
	ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN:          {initialized, create(kindTD, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN:        {initialized, destroy(kindTD, 8)},
	ifc.MLX5_CMD_OP_ALLOC_XRCD:                      {initialized, create(kindXRCD, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_XRCD:                    {initialized, destroy(kindXRCD, 8)},
	ifc.MLX5_CMD_OP_ALLOC_Q_COUNTER:                 {initialized, create(kindQCounter, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_Q_COUNTER:               {initialized, destroy(kindQCounter, 8)},
	ifc.MLX5_CMD_OP_CREATE_QP:                       {initialized, create(kindQP, 8)},
	ifc.MLX5_CMD_OP_DESTROY_QP:                      {initialized, destroy(kindQP, 8)},
	ifc.MLX5_CMD_OP_CREATE_DCT:                      {initialized, create(kindDCT, 8)},
	ifc.MLX5_CMD_OP_DESTROY_DCT:                     {initialized, destroy(kindDCT, 8)},
	ifc.MLX5_CMD_OP_CREATE_SRQ:                      {initialized, create(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_DESTROY_SRQ:                     {initialized, destroy(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_CREATE_XRC_SRQ:                  {initialized, create(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_DESTROY_XRC_SRQ:                 {initialized, destroy(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_CREATE_XRQ:                      {initialized, create(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_DESTROY_XRQ:                     {initialized, destroy(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_CREATE_RMP:                      {initialized, create(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_DESTROY_RMP:                     {initialized, destroy(kindSRQ, 8)},
	ifc.MLX5_CMD_OP_CREATE_SQ:                       {initialized, create(kindSQ, 8)},
	ifc.MLX5_CMD_OP_DESTROY_SQ:                      {initialized, destroy(kindSQ, 8)},
	ifc.MLX5_CMD_OP_CREATE_RQ:                       {initialized, create(kindRQ, 8)},
	ifc.MLX5_CMD_OP_DESTROY_RQ:                      {initialized, destroy(kindRQ, 8)},
	ifc.MLX5_CMD_OP_CREATE_TIS:                      {initialized, create(kindTIS, 8)},
	ifc.MLX5_CMD_OP_DESTROY_TIS:                     {initialized, destroy(kindTIS, 8)},
	ifc.MLX5_CMD_OP_CREATE_TIR:                      {initialized, create(kindTIR, 8)},
	ifc.MLX5_CMD_OP_DESTROY_TIR:                     {initialized, destroy(kindTIR, 8)},
	ifc.MLX5_CMD_OP_CREATE_RQT:                      {initialized, create(kindRQT, 8)},
	ifc.MLX5_CMD_OP_DESTROY_RQT:                     {initialized, destroy(kindRQT, 8)},
	ifc.MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT:       {initialized, create(kindSchedElem, 16)},
	ifc.MLX5_CMD_OP_DESTROY_SCHEDULING_ELEMENT:      {initialized, destroy(kindSchedElem, 12)},
	ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE:               {initialized, create(kindFlowTable, 8)},
	ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE:              {initialized, destroy(kindFlowTable, 20)},
	ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP:               {initialized, create(kindFlowGroup, 8)},
	ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP:              {initialized, destroy(kindFlowGroup, 24)},
	ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER:              {initialized, create(kindFlowCounter, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER:            {initialized, destroy(kindFlowCounter, 8)},
	ifc.MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT:   {initialized, create(kindPacketReformat, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT: {initialized, destroy(kindPacketReformat, 8)},
	ifc.MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT:     {initialized, create(kindModifyHeader, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT:   {initialized, destroy(kindModifyHeader, 8)},
	ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT:           {initialized, create(kindGeneralObject, 8)},
	ifc.MLX5_CMD_OP_DESTROY_GENERAL_OBJECT:          {initialized, destroy(kindGeneralObject, 8)},
	ifc.MLX5_CMD_OP_CREATE_UMEM:                     {initialized, create(kindUMEM, 8)},
	ifc.MLX5_CMD_OP_DESTROY_UMEM:                    {initialized, destroy(kindUMEM, 8)},
}

// acknowledged are the commands of the recorded device that a user can send by
// DEVX, or the driver, and whose answer is "done" and zeros: they change nothing
// that anyone can see. Queue pairs and their like have no state here.
var acknowledged = []uint16{
	ifc.MLX5_CMD_OP_MAD_IFC,
	ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_PKEY,
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT,
	ifc.MLX5_CMD_OP_NOP,
	ifc.MLX5_CMD_OP_GET_DROPPED_PACKET_LOG,
	ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_ESW_VPORT_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_ESW_FUNCTIONS,
	ifc.MLX5_CMD_OP_QUERY_ROCE_ADDRESS,
	ifc.MLX5_CMD_OP_SET_ROCE_ADDRESS,
	ifc.MLX5_CMD_OP_QUERY_VNIC_ENV,
	ifc.MLX5_CMD_OP_QUERY_VPORT_COUNTER,
	ifc.MLX5_CMD_OP_QUERY_Q_COUNTER,
	ifc.MLX5_CMD_OP_QUERY_CONG_STATUS,
	ifc.MLX5_CMD_OP_QUERY_CONG_PARAMS,
	ifc.MLX5_CMD_OP_QUERY_CONG_STATISTICS,
	ifc.MLX5_CMD_OP_QUERY_LAG,
	ifc.MLX5_CMD_OP_SET_L2_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT,
	ifc.MLX5_CMD_OP_DELETE_VXLAN_UDP_DPORT,
	ifc.MLX5_CMD_OP_ATTACH_TO_MCG,
	ifc.MLX5_CMD_OP_DETACH_FROM_MCG,
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_QUERY_GENERAL_OBJECT,
	ifc.MLX5_CMD_OP_MODIFY_GENERAL_OBJECT,
	ifc.MLX5_CMD_OP_QUERY_TIS,
	ifc.MLX5_CMD_OP_MODIFY_TIS,
	ifc.MLX5_CMD_OP_QUERY_TIR,
	ifc.MLX5_CMD_OP_MODIFY_TIR,
	ifc.MLX5_CMD_OP_QUERY_RQT,
	ifc.MLX5_CMD_OP_MODIFY_RQT,
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE,
	ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE,
	ifc.MLX5_CMD_OP_QUERY_FLOW_GROUP,
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER,
	ifc.MLX5_CMD_OP_QUERY_PACKET_REFORMAT_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_MODIFY_HEADER_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_SCHEDULING_ELEMENT,
	ifc.MLX5_CMD_OP_MODIFY_SCHEDULING_ELEMENT,
	ifc.MLX5_CMD_OP_DEALLOC_MEMIC,
	ifc.MLX5_CMD_OP_RST2INIT_QP,
	ifc.MLX5_CMD_OP_INIT2RTR_QP,
	ifc.MLX5_CMD_OP_RTR2RTS_QP,
	ifc.MLX5_CMD_OP_RTS2RTS_QP,
	ifc.MLX5_CMD_OP_SQERR2RTS_QP,
	ifc.MLX5_CMD_OP_2ERR_QP,
	ifc.MLX5_CMD_OP_2RST_QP,
	ifc.MLX5_CMD_OP_SQD_RTS_QP,
	ifc.MLX5_CMD_OP_INIT2INIT_QP,
	ifc.MLX5_CMD_OP_QUERY_QP,
	ifc.MLX5_CMD_OP_DRAIN_DCT,
	ifc.MLX5_CMD_OP_QUERY_DCT,
	ifc.MLX5_CMD_OP_MODIFY_SQ,
	ifc.MLX5_CMD_OP_QUERY_SQ,
	ifc.MLX5_CMD_OP_MODIFY_RQ,
	ifc.MLX5_CMD_OP_QUERY_RQ,
	ifc.MLX5_CMD_OP_MODIFY_RMP,
	ifc.MLX5_CMD_OP_QUERY_RMP,
	ifc.MLX5_CMD_OP_ARM_RQ,
	ifc.MLX5_CMD_OP_QUERY_SRQ,
	ifc.MLX5_CMD_OP_QUERY_XRC_SRQ,
	ifc.MLX5_CMD_OP_ARM_XRC_SRQ,
	ifc.MLX5_CMD_OP_QUERY_XRQ,
	ifc.MLX5_CMD_OP_SET_PP_RATE_LIMIT,
	ifc.MLX5_CMD_OP_CREATE_PSV,
	ifc.MLX5_CMD_OP_DESTROY_PSV,
}

func init() {
	for _, op := range acknowledged {
		if _, ok := rows[op]; ok {
			panic("hw: an acknowledged command has a handler")
		}
		rows[op] = row{initialized, acknowledge}
	}
}

// acknowledge says that the command was done.
func acknowledge(*Device, *command) *refusal { return nil }

// answer is the command whose whole answer stands in the profile, under the
// name of its output.
func answer(layout string) handler {
	return func(d *Device, c *command) *refusal {
		copy(c.out, d.cfg.Profile.image(layout))
		return nil
	}
}
