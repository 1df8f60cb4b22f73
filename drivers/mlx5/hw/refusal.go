package hw

// refusal is one reason why a command ends with a status other than 0. A
// handler returns nil when it did what was asked.
type refusal struct {
	status   Status
	syndrome uint32
	why      string
}

// refusals has every refusal by its syndrome.
var refusals = map[uint32]*refusal{}

func refuse(code uint16, s Status, why string) *refusal {
	r := &refusal{s, 0xcafe0000 | uint32(code), why}
	if refusals[r.syndrome] != nil {
		panic("hw: two refusals have one syndrome: " + why)
	}
	refusals[r.syndrome] = r
	return r
}

// The refusals. The codes of the first four are those of the recorded device;
// the others are this device's own.
var (
	badOpcode     = refuse(0x0002, MLX5_CMD_STAT_BAD_OP_ERR, "the opcode names no command of this device")
	badCapType    = refuse(0x0100, MLX5_CMD_STAT_BAD_PARAM_ERR, "the device has no capability page of this type")
	badSetCapType = refuse(0x0109, MLX5_CMD_STAT_BAD_PARAM_ERR, "there is no capability page of this type to set")
	badPagesMode  = refuse(0x0108, MLX5_CMD_STAT_BAD_PARAM_ERR, "pages are refused, given or taken back: operation modifier 0, 1 or 2")

	injected      = refuse(0x1001, MLX5_CMD_STAT_INT_ERR, "a test made the command fail")
	shortInput    = refuse(0x1002, MLX5_CMD_STAT_BAD_INP_LEN_ERR, "the input is shorter than opcode, uid and operation modifier")
	notEnabled    = refuse(0x1003, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, "the function has not been enabled by ENABLE_HCA")
	notInit       = refuse(0x1004, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, "the function has not been initialized by INIT_HCA")
	alreadyInit   = refuse(0x1005, MLX5_CMD_STAT_BAD_SYS_STATE_ERR, "the function has been initialized and not torn down since")
	noSuchUID     = refuse(0x1006, MLX5_CMD_STAT_BAD_RES_ERR, "no user context has this uid")
	noSuchObject  = refuse(0x1007, MLX5_CMD_STAT_BAD_RES_ERR, "no object of this kind and number is visible to this uid")
	limitReached  = refuse(0x1008, MLX5_CMD_STAT_LIM_ERR, "as many objects of this kind exist as the device has room for")
	badISSI       = refuse(0x1009, MLX5_CMD_STAT_BAD_PARAM_ERR, "the interface step sequence id is not among the supported ones")
	shortPageList = refuse(0x100a, MLX5_CMD_STAT_BAD_PARAM_ERR, "the input has fewer page addresses than it says")
	uctxBusy      = refuse(0x100b, MLX5_CMD_STAT_RES_BUSY, "objects of this uid still exist")
	badUctxCap    = refuse(0x100c, MLX5_CMD_STAT_BAD_PARAM_ERR, "the user context asks for a capability that uctx_cap does not have")
	badEQSize     = refuse(0x100d, MLX5_CMD_STAT_BAD_PARAM_ERR, "log_eq_size is larger than log_max_eq_sz")
	shortEQPages  = refuse(0x100e, MLX5_CMD_STAT_BAD_PARAM_ERR, "the page addresses do not cover the event queue")
	eqBusy        = refuse(0x100f, MLX5_CMD_STAT_RES_BUSY, "completion queues still report to this event queue")
	badCQSize     = refuse(0x1010, MLX5_CMD_STAT_BAD_PARAM_ERR, "log_cq_size is larger than log_max_cq_sz")
	badCQEStride  = refuse(0x1011, MLX5_CMD_STAT_BAD_PARAM_ERR, "cqe_sz is none of 0 (64 bytes), 1 (128) and 2 (128 padded)")
	noSuchEQ      = refuse(0x1012, MLX5_CMD_STAT_BAD_RES_ERR, "c_eqn names no event queue that this uid may use")
	badCQMode     = refuse(0x1013, MLX5_CMD_STAT_BAD_PARAM_ERR, "MODIFY_CQ modifies or resizes: operation modifier 0 or 1")
	badCQFields   = refuse(0x1014, MLX5_CMD_STAT_BAD_PARAM_ERR, "the field select of MODIFY_CQ has bits that mean nothing")
	cqInError     = refuse(0x1015, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "the completion queue is in error")
	cqFull        = refuse(0x1016, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "the completion queue has no room for the entry that announces the resize")
	cqesLeft      = refuse(0x1017, MLX5_CMD_STAT_BAD_SIZE_OUTS_CQES_ERR, "more entries are outstanding than the new size holds")
	noSuchPD      = refuse(0x101a, MLX5_CMD_STAT_BAD_RES_ERR, "no protection domain of this number is visible to this uid")
	noSuchCQ      = refuse(0x101b, MLX5_CMD_STAT_BAD_RES_ERR, "the context names no completion queue that this uid may use")
	noSuchSRQ     = refuse(0x101c, MLX5_CMD_STAT_BAD_RES_ERR, "the context names no shared receive queue")
	shortQPPages  = refuse(0x101d, MLX5_CMD_STAT_BAD_PARAM_ERR, "the page addresses do not cover the queues")
	badQPState    = refuse(0x101e, MLX5_CMD_STAT_BAD_QP_STATE_ERR, "the queue pair is in a state that this command does not lead out of")
	badQPOptional = refuse(0x101f, MLX5_CMD_STAT_BAD_PARAM_ERR, "opt_param_mask selects what this transition does not change")
	badQPMTU      = refuse(0x1020, MLX5_CMD_STAT_BAD_PARAM_ERR, "the path's MTU is none of 256 (1) to 4096 bytes (5)")
	noCQAccess    = refuse(0x1018, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "the completion queue's memory cannot be reached")

	badMKeyMode   = refuse(0x1030, MLX5_CMD_STAT_BAD_PARAM_ERR, "the access mode of the memory key is none of PA, MTT, KLM, KSM, SW ICM and MEMIC")
	shortMKeyList = refuse(0x1031, MLX5_CMD_STAT_BAD_PARAM_ERR, "the input has less of the memory key's list than translations_octword_actual_size says")
	longMKeyList  = refuse(0x1032, MLX5_CMD_STAT_BAD_PARAM_ERR, "the memory key's list is longer than translations_octword_size")
	bigMKeyList   = refuse(0x1033, MLX5_CMD_STAT_LIM_ERR, "translations_octword_size is larger than log_max_klm_list_size allows a user")
	foreignMemory = refuse(0x1034, MLX5_CMD_STAT_BAD_PARAM_ERR, "a user's memory key stands for neither other keys nor the memory of a UMEM")
	noSuchUMEM    = refuse(0x1035, MLX5_CMD_STAT_BAD_RES_ERR, "no UMEM of this number is this uid's")
	badUMEMPage   = refuse(0x1036, MLX5_CMD_STAT_BAD_PARAM_ERR, "pages of log_page_size do not fit into the UMEM at this offset")
	shortUMEM     = refuse(0x1037, MLX5_CMD_STAT_BAD_PARAM_ERR, "the input has fewer page addresses than num_of_mtt says")
	badMemicRange = refuse(0x1039, MLX5_CMD_STAT_BAD_PARAM_ERR, "no memory is asked for, or not in the part of the address range that has any")
	noMemic       = refuse(0x103a, MLX5_CMD_STAT_NO_RES_ERR, "the range has no free memory of this size and alignment")
	noSuchMemic   = refuse(0x103b, MLX5_CMD_STAT_BAD_RES_ERR, "no memory of this place and size has been given out")
	badMemicOp    = refuse(0x103c, MLX5_CMD_STAT_BAD_PARAM_ERR, "the operation on device memory is not among memic_operations, or is neither made nor given back")

	noCapability   = refuse(0x1125, MLX5_CMD_STAT_BAD_OP_ERR, "the device lacks the capability that the command is for")
	objectBusy     = refuse(0x1100, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "other objects still need the object")
	notInState     = refuse(0x1101, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "the object is not in the state that the command says")
	badStep        = refuse(0x1102, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "the object's states do not follow each other so")
	badModifyMask  = refuse(0x1103, MLX5_CMD_STAT_BAD_PARAM_ERR, "the bit mask selects what cannot be modified")
	noSuchXRCD     = refuse(0x1107, MLX5_CMD_STAT_BAD_RES_ERR, "xrcd names no XRC domain that this uid may use")
	noSuchTD       = refuse(0x1108, MLX5_CMD_STAT_BAD_RES_ERR, "transport_domain names no transport domain that this uid may use")
	noSuchQP       = refuse(0x1109, MLX5_CMD_STAT_BAD_RES_ERR, "qpn names no queue pair that is this uid's")
	noSuchRQ       = refuse(0x110a, MLX5_CMD_STAT_BAD_RES_ERR, "the number names no receive queue that this uid may use")
	noSuchTIS      = refuse(0x110b, MLX5_CMD_STAT_BAD_RES_ERR, "the number names no transport interface send that this uid may use")
	noSuchRQT      = refuse(0x110c, MLX5_CMD_STAT_BAD_RES_ERR, "indirect_table names no receive queue table that this uid may use")
	noSuchQCounter = refuse(0x110e, MLX5_CMD_STAT_BAD_RES_ERR, "counter_set_id names no set of counters that this uid may see")
	badWQSize      = refuse(0x110f, MLX5_CMD_STAT_BAD_PARAM_ERR, "the work queue is larger than the device allows")
	badWQStride    = refuse(0x1110, MLX5_CMD_STAT_BAD_PARAM_ERR, "the work queue's entries are shorter than one data segment")
	badWQType      = refuse(0x1111, MLX5_CMD_STAT_BAD_PARAM_ERR, "wq_type is striding, which the device does not have")
	shortWQPages   = refuse(0x1112, MLX5_CMD_STAT_BAD_PARAM_ERR, "the page addresses do not cover the work queue")
	badSRQState    = refuse(0x1114, MLX5_CMD_STAT_BAD_PARAM_ERR, "a shared receive queue has no such state, or not when it is made")
	badArmMode     = refuse(0x1115, MLX5_CMD_STAT_BAD_PARAM_ERR, "the operation modifier names no kind of queue that has a limit")
	badLWM         = refuse(0x1116, MLX5_CMD_STAT_BAD_PARAM_ERR, "the limit is larger than the queue")
	badQueueState  = refuse(0x1117, MLX5_CMD_STAT_BAD_PARAM_ERR, "a new queue is in the reset state")
	badTISList     = refuse(0x1118, MLX5_CMD_STAT_BAD_PARAM_ERR, "a send queue sends by one transport interface at most")
	badRQMemory    = refuse(0x1119, MLX5_CMD_STAT_BAD_PARAM_ERR, "mem_rq_type is neither 0 (entries of its own) nor 1 (those of a receive memory pool)")
	badTIRType     = refuse(0x111a, MLX5_CMD_STAT_BAD_PARAM_ERR, "disp_type is neither 0 (a receive queue) nor 1 (a table of them)")
	badRQTSize     = refuse(0x111b, MLX5_CMD_STAT_BAD_PARAM_ERR, "the table is larger than the device allows, than it was made for, or than its list")
	badRQTType     = refuse(0x111c, MLX5_CMD_STAT_BAD_PARAM_ERR, "list_q_type is not 0: the table can only have receive queues")
	notDrained     = refuse(0x111d, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "the dynamically connected target has not been drained")
	badObjectType  = refuse(0x111e, MLX5_CMD_STAT_BAD_PARAM_ERR, "general_obj_types does not have this type of object")
	badObjectRange = refuse(0x111f, MLX5_CMD_STAT_BAD_PARAM_ERR, "general objects are made one at a time")
	badGIDIndex    = refuse(0x1120, MLX5_CMD_STAT_IX_ERR, "the index is beyond roce_address_table_size")
	badROCEVersion = refuse(0x1121, MLX5_CMD_STAT_BAD_PARAM_ERR, "roce_version is not among the device's")
	tooManyGroups  = refuse(0x1122, MLX5_CMD_STAT_LIM_ERR, "as many multicast groups exist as log_max_mcg allows")
	groupFull      = refuse(0x1123, MLX5_CMD_STAT_LIM_ERR, "as many queue pairs are in the group as max_qp_mcg allows")
	notAttached    = refuse(0x1124, MLX5_CMD_STAT_BAD_PARAM_ERR, "the queue pair is not in this group")

	badTableSize  = refuse(0x1130, MLX5_CMD_STAT_BAD_PARAM_ERR, "the flow table is larger than log_max_ft_size allows")
	badTableType  = refuse(0x1131, MLX5_CMD_STAT_BAD_PARAM_ERR, "the flow table is of another type")
	badGroupRange = refuse(0x1132, MLX5_CMD_STAT_BAD_PARAM_ERR, "the flow group's indices are not inside of the table's")
	groupsOverlap = refuse(0x1133, MLX5_CMD_STAT_BAD_PARAM_ERR, "another flow group of the table has some of these indices")
	badRuleMode   = refuse(0x1134, MLX5_CMD_STAT_BAD_PARAM_ERR, "a rule is made or modified: operation modifier 0 or 1")
	ruleExists    = refuse(0x1135, MLX5_CMD_STAT_BAD_PARAM_ERR, "there is a rule at this index already")
	noSuchGroup   = refuse(0x1136, MLX5_CMD_STAT_BAD_RES_ERR, "group_id names no group of this flow table")
	badRuleIndex  = refuse(0x1137, MLX5_CMD_STAT_BAD_PARAM_ERR, "the rule's index is not one of its group's")
	badRuleAction = refuse(0x1138, MLX5_CMD_STAT_BAD_PARAM_ERR, "rules allow, drop, forward and count; this device does nothing else with frames")
	badRuleDest   = refuse(0x1139, MLX5_CMD_STAT_BAD_PARAM_ERR, "rules forward to flow tables and to transport interfaces")
	shortRule     = refuse(0x113a, MLX5_CMD_STAT_BAD_PARAM_ERR, "the input has fewer destinations and counters than it says")
	noSuchTable   = refuse(0x113b, MLX5_CMD_STAT_BAD_RES_ERR, "a destination names no flow table that this uid may use")
	noSuchTIR     = refuse(0x113c, MLX5_CMD_STAT_BAD_RES_ERR, "a destination names no transport interface receive that this uid may use")
	noSuchCounter = refuse(0x113d, MLX5_CMD_STAT_BAD_RES_ERR, "the list names no flow counter that this uid may use")
)

// SyndromeText says in one sentence why a command with this syndrome was
// refused, "" for a syndrome that this device does not give.
func SyndromeText(syndrome uint32) string {
	if r := refusals[syndrome]; r != nil {
		return r.why
	}
	return ""
}
