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
	noCQAccess    = refuse(0x1018, MLX5_CMD_STAT_BAD_RES_STATE_ERR, "the completion queue's memory cannot be reached")
)

// SyndromeText says in one sentence why a command with this syndrome was
// refused, "" for a syndrome that this device does not give.
func SyndromeText(syndrome uint32) string {
	if r := refusals[syndrome]; r != nil {
		return r.why
	}
	return ""
}
