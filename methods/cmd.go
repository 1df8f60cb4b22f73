package methods

import (
	"uverbsim/kernel"
	"uverbsim/spec"
)

// write and writeEx name a write() command and an extended one.
func write(command uint8) kernel.WriteID   { return kernel.WriteID{Command: command} }
func writeEx(command uint8) kernel.WriteID { return kernel.WriteID{Command: command, Ex: true} }

// writes returns the handlers of the write() commands: those of
// uverbs_def_write_intf in drivers/infiniband/core/uverbs_cmd.c.
func writes() map[kernel.WriteID]kernel.Handler {
	return map[kernel.WriteID]kernel.Handler{
		write(spec.IB_USER_VERBS_CMD_CREATE_AH):  uverbsCreateAH,
		write(spec.IB_USER_VERBS_CMD_DESTROY_AH): uverbsDestroyAH,

		write(spec.IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL): uverbsCreateCompChannel,

		write(spec.IB_USER_VERBS_CMD_CREATE_CQ):      uverbsCreateCQ,
		write(spec.IB_USER_VERBS_CMD_DESTROY_CQ):     uverbsDestroyCQ,
		write(spec.IB_USER_VERBS_CMD_POLL_CQ):        uverbsPollCQ,
		write(spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ):  uverbsReqNotifyCQ,
		write(spec.IB_USER_VERBS_CMD_RESIZE_CQ):      uverbsResizeCQ,
		writeEx(spec.IB_USER_VERBS_EX_CMD_CREATE_CQ): uverbsExCreateCQ,
		writeEx(spec.IB_USER_VERBS_EX_CMD_MODIFY_CQ): uverbsExModifyCQ,

		write(spec.IB_USER_VERBS_CMD_GET_CONTEXT):       uverbsGetContext,
		write(spec.IB_USER_VERBS_CMD_QUERY_DEVICE):      uverbsQueryDevice,
		write(spec.IB_USER_VERBS_CMD_QUERY_PORT):        uverbsQueryPort,
		writeEx(spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE): uverbsExQueryDevice,

		writeEx(spec.IB_USER_VERBS_EX_CMD_CREATE_FLOW):  uverbsExCreateFlow,
		writeEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_FLOW): uverbsExDestroyFlow,

		write(spec.IB_USER_VERBS_CMD_DEREG_MR): uverbsDeregMR,
		write(spec.IB_USER_VERBS_CMD_REG_MR):   uverbsRegMR,
		write(spec.IB_USER_VERBS_CMD_REREG_MR): uverbsReregMR,

		write(spec.IB_USER_VERBS_CMD_ALLOC_MW):   uverbsAllocMW,
		write(spec.IB_USER_VERBS_CMD_DEALLOC_MW): uverbsDeallocMW,

		write(spec.IB_USER_VERBS_CMD_ALLOC_PD):   uverbsAllocPD,
		write(spec.IB_USER_VERBS_CMD_DEALLOC_PD): uverbsDeallocPD,

		write(spec.IB_USER_VERBS_CMD_ATTACH_MCAST):   uverbsAttachMcast,
		write(spec.IB_USER_VERBS_CMD_CREATE_QP):      uverbsCreateQP,
		write(spec.IB_USER_VERBS_CMD_DESTROY_QP):     uverbsDestroyQP,
		write(spec.IB_USER_VERBS_CMD_DETACH_MCAST):   uverbsDetachMcast,
		write(spec.IB_USER_VERBS_CMD_MODIFY_QP):      uverbsModifyQP,
		write(spec.IB_USER_VERBS_CMD_POST_RECV):      uverbsPostRecv,
		write(spec.IB_USER_VERBS_CMD_POST_SEND):      uverbsPostSend,
		write(spec.IB_USER_VERBS_CMD_QUERY_QP):       uverbsQueryQP,
		writeEx(spec.IB_USER_VERBS_EX_CMD_CREATE_QP): uverbsExCreateQP,
		writeEx(spec.IB_USER_VERBS_EX_CMD_MODIFY_QP): uverbsExModifyQP,

		writeEx(spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL):  uverbsExCreateRWQIndTable,
		writeEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL): uverbsExDestroyRWQIndTable,

		writeEx(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ):  uverbsExCreateWQ,
		writeEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ): uverbsExDestroyWQ,
		writeEx(spec.IB_USER_VERBS_EX_CMD_MODIFY_WQ):  uverbsExModifyWQ,

		write(spec.IB_USER_VERBS_CMD_CREATE_SRQ):    uverbsCreateSRQ,
		write(spec.IB_USER_VERBS_CMD_CREATE_XSRQ):   uverbsCreateXSRQ,
		write(spec.IB_USER_VERBS_CMD_DESTROY_SRQ):   uverbsDestroySRQ,
		write(spec.IB_USER_VERBS_CMD_MODIFY_SRQ):    uverbsModifySRQ,
		write(spec.IB_USER_VERBS_CMD_POST_SRQ_RECV): uverbsPostSRQRecv,
		write(spec.IB_USER_VERBS_CMD_QUERY_SRQ):     uverbsQuerySRQ,

		write(spec.IB_USER_VERBS_CMD_CLOSE_XRCD): uverbsCloseXRCD,
		write(spec.IB_USER_VERBS_CMD_OPEN_QP):    uverbsOpenQP,
		write(spec.IB_USER_VERBS_CMD_OPEN_XRCD):  uverbsOpenXRCD,
	}
}
