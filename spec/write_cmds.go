package spec

// writeIntf declares the write() commands as the list uverbs_def_write_intf of
// drivers/infiniband/core/uverbs_cmd.c does, object by object.
var writeIntf = []Definition{
	Writes(UVERBS_OBJECT_AH, []Write{
		WriteCmd(IB_USER_VERBS_CMD_CREATE_AH, WriteUdataIO[CreateAH, CreateAHResp]()),
		WriteCmd(IB_USER_VERBS_CMD_DESTROY_AH, WriteI[DestroyAH]()),
	}, OpCreateUserAH, OpDestroyAH),
	Writes(UVERBS_OBJECT_COMP_CHANNEL, []Write{
		WriteCmd(IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL, WriteIO[CreateCompChannel, CreateCompChannelResp]()),
	}),
	Writes(UVERBS_OBJECT_CQ, []Write{
		WriteCmd(IB_USER_VERBS_CMD_CREATE_CQ, WriteUdataIO[CreateCQ, CreateCQResp](), OpCreateCQ),
		WriteCmd(IB_USER_VERBS_CMD_DESTROY_CQ, WriteIO[DestroyCQ, DestroyCQResp](), OpDestroyCQ),
		WriteCmd(IB_USER_VERBS_CMD_POLL_CQ, WriteIO[PollCQ, PollCQResp](), OpPollCQ),
		WriteCmd(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ, WriteI[ReqNotifyCQ](), OpReqNotifyCQ),
		WriteCmd(IB_USER_VERBS_CMD_RESIZE_CQ, WriteUdataIO[ResizeCQ, ResizeCQResp](), OpResizeCQ),
		WriteExCmd(IB_USER_VERBS_EX_CMD_CREATE_CQ, WriteIOEx[ExCreateCQ, ExCreateCQResp]("Reserved", "ResponseLength"), OpCreateCQ),
		WriteExCmd(IB_USER_VERBS_EX_CMD_MODIFY_CQ, WriteI[ExModifyCQ](), OpModifyCQ),
	}),
	Writes(UVERBS_OBJECT_DEVICE, []Write{
		WriteCmd(IB_USER_VERBS_CMD_GET_CONTEXT, WriteUdataIO[GetContext, GetContextResp]()),
		WriteCmd(IB_USER_VERBS_CMD_QUERY_DEVICE, WriteIO[QueryDevice, QueryDeviceResp]()),
		WriteCmd(IB_USER_VERBS_CMD_QUERY_PORT, WriteIO[QueryPort, QueryPortResp](), OpQueryPort),
		WriteExCmd(IB_USER_VERBS_EX_CMD_QUERY_DEVICE, WriteIOEx[ExQueryDevice, ExQueryDeviceResp]("Reserved", "ResponseLength"), OpQueryDevice),
	}, OpAllocUcontext, OpDeallocUcontext),
	Writes(UVERBS_OBJECT_FLOW, []Write{
		WriteExCmd(IB_USER_VERBS_EX_CMD_CREATE_FLOW, WriteIOEx[CreateFlow, CreateFlowResp]("FlowAttr", "FlowHandle"), OpCreateFlow),
		WriteExCmd(IB_USER_VERBS_EX_CMD_DESTROY_FLOW, WriteI[DestroyFlow](), OpDestroyFlow),
	}),
	Writes(UVERBS_OBJECT_MR, []Write{
		WriteCmd(IB_USER_VERBS_CMD_DEREG_MR, WriteI[DeregMR](), OpDeregMR),
		WriteCmd(IB_USER_VERBS_CMD_REG_MR, WriteUdataIO[RegMR, RegMRResp](), OpRegUserMR),
		WriteCmd(IB_USER_VERBS_CMD_REREG_MR, WriteUdataIO[ReregMR, ReregMRResp](), OpReregUserMR),
	}),
	Writes(UVERBS_OBJECT_MW, []Write{
		WriteCmd(IB_USER_VERBS_CMD_ALLOC_MW, WriteUdataIO[AllocMW, AllocMWResp](), OpAllocMW),
		WriteCmd(IB_USER_VERBS_CMD_DEALLOC_MW, WriteI[DeallocMW](), OpDeallocMW),
	}),
	Writes(UVERBS_OBJECT_PD, []Write{
		WriteCmd(IB_USER_VERBS_CMD_ALLOC_PD, WriteUdataIO[AllocPD, AllocPDResp](), OpAllocPD),
		WriteCmd(IB_USER_VERBS_CMD_DEALLOC_PD, WriteI[DeallocPD](), OpDeallocPD),
	}),
	Writes(UVERBS_OBJECT_QP, []Write{
		WriteCmd(IB_USER_VERBS_CMD_ATTACH_MCAST, WriteI[AttachMcast](), OpAttachMcast, OpDetachMcast),
		WriteCmd(IB_USER_VERBS_CMD_CREATE_QP, WriteUdataIO[CreateQP, CreateQPResp](), OpCreateQP),
		WriteCmd(IB_USER_VERBS_CMD_DESTROY_QP, WriteIO[DestroyQP, DestroyQPResp](), OpDestroyQP),
		WriteCmd(IB_USER_VERBS_CMD_DETACH_MCAST, WriteI[DetachMcast](), OpDetachMcast),
		WriteCmd(IB_USER_VERBS_CMD_MODIFY_QP, WriteI[ModifyQP](), OpModifyQP),
		WriteCmd(IB_USER_VERBS_CMD_POST_RECV, WriteIO[PostRecv, PostRecvResp](), OpPostRecv),
		WriteCmd(IB_USER_VERBS_CMD_POST_SEND, WriteIO[PostSend, PostSendResp](), OpPostSend),
		WriteCmd(IB_USER_VERBS_CMD_QUERY_QP, WriteIO[QueryQP, QueryQPResp](), OpQueryQP),
		WriteExCmd(IB_USER_VERBS_EX_CMD_CREATE_QP, WriteIOEx[ExCreateQP, ExCreateQPResp]("CompMask", "ResponseLength"), OpCreateQP),
		WriteExCmd(IB_USER_VERBS_EX_CMD_MODIFY_QP, WriteIOEx[ExModifyQP, ExModifyQPResp]("Base", "ResponseLength"), OpModifyQP),
	}),
	Writes(UVERBS_OBJECT_RWQ_IND_TBL, []Write{
		WriteExCmd(IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, WriteIOEx[ExCreateRWQIndTable, ExCreateRWQIndTableResp]("LogIndTblSize", "IndTblNum"), OpCreateRWQIndTable),
		WriteExCmd(IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, WriteI[ExDestroyRWQIndTable](), OpDestroyRWQIndTable),
	}),
	Writes(UVERBS_OBJECT_WQ, []Write{
		WriteExCmd(IB_USER_VERBS_EX_CMD_CREATE_WQ, WriteIOEx[ExCreateWQ, ExCreateWQResp]("MaxSGE", "WQN"), OpCreateWQ),
		WriteExCmd(IB_USER_VERBS_EX_CMD_DESTROY_WQ, WriteIOEx[ExDestroyWQ, ExDestroyWQResp]("WQHandle", "Reserved"), OpDestroyWQ),
		WriteExCmd(IB_USER_VERBS_EX_CMD_MODIFY_WQ, WriteIEx[ExModifyWQ]("CurrWQState"), OpModifyWQ),
	}),
	Writes(UVERBS_OBJECT_SRQ, []Write{
		WriteCmd(IB_USER_VERBS_CMD_CREATE_SRQ, WriteUdataIO[CreateSRQ, CreateSRQResp](), OpCreateSRQ),
		WriteCmd(IB_USER_VERBS_CMD_CREATE_XSRQ, WriteUdataIO[CreateXSRQ, CreateSRQResp](), OpCreateSRQ),
		WriteCmd(IB_USER_VERBS_CMD_DESTROY_SRQ, WriteIO[DestroySRQ, DestroySRQResp](), OpDestroySRQ),
		WriteCmd(IB_USER_VERBS_CMD_MODIFY_SRQ, WriteUdataI[ModifySRQ](), OpModifySRQ),
		WriteCmd(IB_USER_VERBS_CMD_POST_SRQ_RECV, WriteIO[PostSRQRecv, PostSRQRecvResp](), OpPostSRQRecv),
		WriteCmd(IB_USER_VERBS_CMD_QUERY_SRQ, WriteIO[QuerySRQ, QuerySRQResp](), OpQuerySRQ),
	}),
	Writes(UVERBS_OBJECT_XRCD, []Write{
		WriteCmd(IB_USER_VERBS_CMD_CLOSE_XRCD, WriteI[CloseXRCD]()),
		WriteCmd(IB_USER_VERBS_CMD_OPEN_QP, WriteUdataIO[OpenQP, CreateQPResp]()),
		WriteCmd(IB_USER_VERBS_CMD_OPEN_XRCD, WriteUdataIO[OpenXRCD, OpenXRCDResp]()),
	}, OpAllocXRCD, OpDeallocXRCD),
}
