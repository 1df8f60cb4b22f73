package spec

// efaObjects declares what the driver efa adds, in the order of
// drivers/infiniband/hw/efa/efa_verbs.c.
var efaObjects = []Object{
	{
		ID: UVERBS_OBJECT_MR,
		Methods: []Method{
			{ID: EFA_IB_METHOD_MR_QUERY, Attrs: Attrs(
				IDRAttr(EFA_IB_ATTR_QUERY_MR_HANDLE, UVERBS_OBJECT_MR, AccessRead, Mandatory),
				PtrOut(EFA_IB_ATTR_QUERY_MR_RESP_IC_ID_VALIDITY, U16, Mandatory),
				PtrOut(EFA_IB_ATTR_QUERY_MR_RESP_RECV_IC_ID, U16, Mandatory),
				PtrOut(EFA_IB_ATTR_QUERY_MR_RESP_RDMA_READ_IC_ID, U16, Mandatory),
				PtrOut(EFA_IB_ATTR_QUERY_MR_RESP_RDMA_RECV_IC_ID, U16, Mandatory))},
		},
	},
}
