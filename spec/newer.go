package spec

// NewerName returns the name that a kernel newer than 6.12 gives to an id
// which 6.12 does not have, "" if none is known: of an object, of a method, or
// of an attribute. method and attr are -1 where none is meant. It serves to
// tell a user what the program asked for that this kernel refuses.
func NewerName(object, method, attr int) string { return newerNames[nameKey{object, method, attr}] }

// Where newer kernels went on from the ends of the enums of
// include/uapi/rdma/ib_user_ioctl_cmds.h.
var newerNames = map[nameKey]string{
	{17, none, none}: "UVERBS_OBJECT_DMAH",
	{18, none, none}: "UVERBS_OBJECT_DMABUF",
	{19, none, none}: "UVERBS_OBJECT_COMP_CNTR",

	{UVERBS_OBJECT_DEVICE, 7, none}: "UVERBS_METHOD_QUERY_PORT_SPEED",
	{UVERBS_OBJECT_DEVICE, 8, none}: "UVERBS_METHOD_QUERY_COMP_CNTR_CAPS",
	{UVERBS_OBJECT_QP, 2, none}:     "UVERBS_METHOD_QP_ATTACH_COMP_CNTR",
	{UVERBS_OBJECT_MR, 5, none}:     "UVERBS_METHOD_REG_MR",

	{UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT, 2}: "UVERBS_ATTR_GET_CONTEXT_FD_ARR",

	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 8}:  "UVERBS_ATTR_CREATE_CQ_BUFFER_VA",
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 9}:  "UVERBS_ATTR_CREATE_CQ_BUFFER_LENGTH",
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 10}: "UVERBS_ATTR_CREATE_CQ_BUFFER_FD",
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 11}: "UVERBS_ATTR_CREATE_CQ_BUFFER_OFFSET",
	{UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE, 12}: "UVERBS_ATTR_CREATE_CQ_BUF_UMEM",

	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 15}: "UVERBS_ATTR_CREATE_QP_BUF_UMEM",
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 16}: "UVERBS_ATTR_CREATE_QP_RQ_BUF_UMEM",
	{UVERBS_OBJECT_QP, UVERBS_METHOD_QP_CREATE, 17}: "UVERBS_ATTR_CREATE_QP_SQ_BUF_UMEM",
}
