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
	ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT:  {initialized, queryNICVport},
	ifc.MLX5_CMD_OP_MODIFY_NIC_VPORT_CONTEXT: {initialized, modifyNICVport},

	ifc.MLX5_CMD_OP_CREATE_UCTX:  {initialized, createUCTX},
	ifc.MLX5_CMD_OP_DESTROY_UCTX: {initialized, destroyUCTX},

	ifc.MLX5_CMD_OP_ALLOC_UAR:   {initialized, allocUAR},
	ifc.MLX5_CMD_OP_DEALLOC_UAR: {initialized, destroy(kindUAR, 8)},

	ifc.MLX5_CMD_OP_CREATE_EQ:  {initialized, createEQ},
	ifc.MLX5_CMD_OP_DESTROY_EQ: {initialized, destroyEQ},
	ifc.MLX5_CMD_OP_QUERY_EQ:   {initialized, queryEQ},

	ifc.MLX5_CMD_OP_PAGE_FAULT_RESUME: {initialized, resumePageFault},

	ifc.MLX5_CMD_OP_CREATE_CQ:  {initialized, createCQ},
	ifc.MLX5_CMD_OP_DESTROY_CQ: {initialized, destroyCQ},
	ifc.MLX5_CMD_OP_QUERY_CQ:   {initialized, queryCQ},
	ifc.MLX5_CMD_OP_MODIFY_CQ:  {initialized, modifyCQ},

	ifc.MLX5_CMD_OP_CREATE_QP:    {initialized, createQP},
	ifc.MLX5_CMD_OP_DESTROY_QP:   {initialized, destroyQP},
	ifc.MLX5_CMD_OP_QUERY_QP:     {initialized, queryQP},
	ifc.MLX5_CMD_OP_RST2INIT_QP:  {initialized, stepQP},
	ifc.MLX5_CMD_OP_INIT2INIT_QP: {initialized, stepQP},
	ifc.MLX5_CMD_OP_INIT2RTR_QP:  {initialized, stepQP},
	ifc.MLX5_CMD_OP_RTR2RTS_QP:   {initialized, stepQP},
	ifc.MLX5_CMD_OP_RTS2RTS_QP:   {initialized, stepQP},
	ifc.MLX5_CMD_OP_SQERR2RTS_QP: {initialized, stepQP},
	ifc.MLX5_CMD_OP_SQD_RTS_QP:   {initialized, stepQP},
	opRTS2SQD:                    {initialized, drainSQ},
	ifc.MLX5_CMD_OP_2ERR_QP:      {initialized, moveQP(ifc.MLX5_QP_STATE_ERR)},
	ifc.MLX5_CMD_OP_2RST_QP:      {initialized, moveQP(ifc.MLX5_QP_STATE_RST)},

	ifc.MLX5_CMD_OP_CREATE_MKEY:  {initialized, createMKey},
	ifc.MLX5_CMD_OP_DESTROY_MKEY: {initialized, destroyMKey},
	ifc.MLX5_CMD_OP_QUERY_MKEY:   {initialized, queryMKey},

	ifc.MLX5_CMD_OP_ALLOC_MEMIC:   {initialized, allocMemic},
	ifc.MLX5_CMD_OP_DEALLOC_MEMIC: {initialized, deallocMemic},
	ifc.MLX5_CMD_OP_MODIFY_MEMIC:  {initialized, modifyMemic},

	ifc.MLX5_CMD_OP_ALLOC_PD:     {initialized, create(kindPD, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_PD:   {initialized, destroy(kindPD, 8)},
	ifc.MLX5_CMD_OP_CREATE_UMEM:  {initialized, createUMEM},
	ifc.MLX5_CMD_OP_DESTROY_UMEM: {initialized, destroy(kindUMEM, 8)},

	ifc.MLX5_CMD_OP_CREATE_SRQ:      {initialized, createSRQ(plainSRQ)},
	ifc.MLX5_CMD_OP_DESTROY_SRQ:     {initialized, destroySRQ(plainSRQ)},
	ifc.MLX5_CMD_OP_QUERY_SRQ:       {initialized, querySRQ(plainSRQ)},
	ifc.MLX5_CMD_OP_CREATE_XRC_SRQ:  {initialized, needing("xrc", createSRQ(xrcSRQ))},
	ifc.MLX5_CMD_OP_DESTROY_XRC_SRQ: {initialized, destroySRQ(xrcSRQ)},
	ifc.MLX5_CMD_OP_QUERY_XRC_SRQ:   {initialized, querySRQ(xrcSRQ)},
	ifc.MLX5_CMD_OP_ARM_XRC_SRQ:     {initialized, armXRCSRQ},
	ifc.MLX5_CMD_OP_CREATE_RMP:      {initialized, createSRQ(rmp)},
	ifc.MLX5_CMD_OP_DESTROY_RMP:     {initialized, destroySRQ(rmp)},
	ifc.MLX5_CMD_OP_QUERY_RMP:       {initialized, querySRQ(rmp)},
	ifc.MLX5_CMD_OP_MODIFY_RMP:      {initialized, modifyRMP},
	ifc.MLX5_CMD_OP_CREATE_XRQ:      {initialized, needing("tag_matching", createSRQ(xrq))},
	ifc.MLX5_CMD_OP_DESTROY_XRQ:     {initialized, destroySRQ(xrq)},
	ifc.MLX5_CMD_OP_QUERY_XRQ:       {initialized, querySRQ(xrq)},
	ifc.MLX5_CMD_OP_ARM_RQ:          {initialized, armRQ},

	ifc.MLX5_CMD_OP_CREATE_SQ:   {initialized, createContext(sqKind)},
	ifc.MLX5_CMD_OP_DESTROY_SQ:  {initialized, destroyContext(sqKind)},
	ifc.MLX5_CMD_OP_QUERY_SQ:    {initialized, queryContext(sqKind)},
	ifc.MLX5_CMD_OP_MODIFY_SQ:   {initialized, modifyContext(sqKind)},
	ifc.MLX5_CMD_OP_CREATE_RQ:   {initialized, createContext(rqKind)},
	ifc.MLX5_CMD_OP_DESTROY_RQ:  {initialized, destroyContext(rqKind)},
	ifc.MLX5_CMD_OP_QUERY_RQ:    {initialized, queryContext(rqKind)},
	ifc.MLX5_CMD_OP_MODIFY_RQ:   {initialized, modifyContext(rqKind)},
	ifc.MLX5_CMD_OP_CREATE_TIS:  {initialized, createContext(tisKind)},
	ifc.MLX5_CMD_OP_DESTROY_TIS: {initialized, destroyContext(tisKind)},
	ifc.MLX5_CMD_OP_QUERY_TIS:   {initialized, queryContext(tisKind)},
	ifc.MLX5_CMD_OP_MODIFY_TIS:  {initialized, modifyContext(tisKind)},
	ifc.MLX5_CMD_OP_CREATE_TIR:  {initialized, createContext(tirKind)},
	ifc.MLX5_CMD_OP_DESTROY_TIR: {initialized, destroyContext(tirKind)},
	ifc.MLX5_CMD_OP_QUERY_TIR:   {initialized, queryContext(tirKind)},
	ifc.MLX5_CMD_OP_MODIFY_TIR:  {initialized, modifyContext(tirKind)},
	ifc.MLX5_CMD_OP_CREATE_RQT:  {initialized, createContext(rqtKind)},
	ifc.MLX5_CMD_OP_DESTROY_RQT: {initialized, destroyContext(rqtKind)},
	ifc.MLX5_CMD_OP_QUERY_RQT:   {initialized, queryContext(rqtKind)},
	ifc.MLX5_CMD_OP_MODIFY_RQT:  {initialized, modifyContext(rqtKind)},

	ifc.MLX5_CMD_OP_CREATE_FLOW_TABLE:       {initialized, createFlowTable},
	ifc.MLX5_CMD_OP_DESTROY_FLOW_TABLE:      {initialized, destroyFlowTable},
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE:        {initialized, queryFlowTable},
	ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE:       {initialized, modifyFlowTable},
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ROOT:     {initialized, setFlowTableRoot},
	ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP:       {initialized, createFlowGroup},
	ifc.MLX5_CMD_OP_DESTROY_FLOW_GROUP:      {initialized, destroyFlowGroup},
	ifc.MLX5_CMD_OP_QUERY_FLOW_GROUP:        {initialized, queryFlowGroup},
	ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY:    {initialized, setFlowRule},
	ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY: {initialized, deleteFlowRule},
	ifc.MLX5_CMD_OP_QUERY_FLOW_TABLE_ENTRY:  {initialized, queryFlowRule},
	ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER:      {initialized, allocFlowCounter},
	ifc.MLX5_CMD_OP_DEALLOC_FLOW_COUNTER:    {initialized, deallocFlowCounter},
	ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER:      {initialized, queryFlowCounter},

	ifc.MLX5_CMD_OP_CREATE_DCT:  {initialized, needing("dct", createContext(dctKind))},
	ifc.MLX5_CMD_OP_DRAIN_DCT:   {initialized, drainDCT},
	ifc.MLX5_CMD_OP_DESTROY_DCT: {initialized, destroyDCT},
	ifc.MLX5_CMD_OP_QUERY_DCT:   {initialized, queryContext(dctKind)},

	ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT:  {initialized, createGeneralObject},
	ifc.MLX5_CMD_OP_DESTROY_GENERAL_OBJECT: {initialized, destroyGeneralObject},
	ifc.MLX5_CMD_OP_QUERY_GENERAL_OBJECT:   {initialized, queryGeneralObject},
	ifc.MLX5_CMD_OP_MODIFY_GENERAL_OBJECT:  {initialized, modifyGeneralObject},

	ifc.MLX5_CMD_OP_ALLOC_Q_COUNTER:     {initialized, allocQCounter},
	ifc.MLX5_CMD_OP_DEALLOC_Q_COUNTER:   {initialized, deallocQCounter},
	ifc.MLX5_CMD_OP_QUERY_Q_COUNTER:     {initialized, queryQCounter},
	ifc.MLX5_CMD_OP_QUERY_VPORT_COUNTER: {initialized, queryVportCounter},

	ifc.MLX5_CMD_OP_SET_ROCE_ADDRESS:   {initialized, needing("roce", setROCEAddress)},
	ifc.MLX5_CMD_OP_QUERY_ROCE_ADDRESS: {initialized, queryROCEAddress},
	ifc.MLX5_CMD_OP_ATTACH_TO_MCG:      {initialized, attachToMCG},
	ifc.MLX5_CMD_OP_DETACH_FROM_MCG:    {initialized, detachFromMCG},

	ifc.MLX5_CMD_OP_QUERY_VPORT_STATE:       {initialized, queryVportState},
	ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT: {initialized, queryHCAVport},
	ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_PKEY:    {initialized, queryHCAVportPkey},

	// Objects that are no more than a number here.
	ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN:          {initialized, create(kindTD, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN:        {initialized, destroy(kindTD, 8)},
	ifc.MLX5_CMD_OP_ALLOC_XRCD:                      {initialized, create(kindXRCD, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_XRCD:                    {initialized, destroy(kindXRCD, 8)},
	ifc.MLX5_CMD_OP_CREATE_SCHEDULING_ELEMENT:       {initialized, create(kindSchedElem, 16)},
	ifc.MLX5_CMD_OP_DESTROY_SCHEDULING_ELEMENT:      {initialized, destroy(kindSchedElem, 12)},
	ifc.MLX5_CMD_OP_ALLOC_PACKET_REFORMAT_CONTEXT:   {initialized, create(kindPacketReformat, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_PACKET_REFORMAT_CONTEXT: {initialized, destroy(kindPacketReformat, 8)},
	ifc.MLX5_CMD_OP_ALLOC_MODIFY_HEADER_CONTEXT:     {initialized, create(kindModifyHeader, 8)},
	ifc.MLX5_CMD_OP_DEALLOC_MODIFY_HEADER_CONTEXT:   {initialized, destroy(kindModifyHeader, 8)},
}

// acknowledged are the commands that the driver sends, or a user by DEVX, and whose
// answer is "done" and zeros: here they change nothing that anyone can see.
var acknowledged = []uint16{
	ifc.MLX5_CMD_OP_MAD_IFC,
	ifc.MLX5_CMD_OP_NOP,
	ifc.MLX5_CMD_OP_GET_DROPPED_PACKET_LOG,
	ifc.MLX5_CMD_OP_QUERY_ESW_VPORT_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_ESW_FUNCTIONS,
	ifc.MLX5_CMD_OP_QUERY_VNIC_ENV,
	ifc.MLX5_CMD_OP_QUERY_CONG_STATUS,
	ifc.MLX5_CMD_OP_QUERY_CONG_PARAMS,
	ifc.MLX5_CMD_OP_QUERY_CONG_STATISTICS,
	ifc.MLX5_CMD_OP_QUERY_LAG,
	ifc.MLX5_CMD_OP_SET_L2_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_DELETE_L2_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_QUERY_L2_TABLE_ENTRY,
	ifc.MLX5_CMD_OP_ADD_VXLAN_UDP_DPORT,
	ifc.MLX5_CMD_OP_DELETE_VXLAN_UDP_DPORT,
	ifc.MLX5_CMD_OP_QUERY_PACKET_REFORMAT_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_MODIFY_HEADER_CONTEXT,
	ifc.MLX5_CMD_OP_QUERY_SCHEDULING_ELEMENT,
	ifc.MLX5_CMD_OP_MODIFY_SCHEDULING_ELEMENT,
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
