package spec

// Write is one command of the write() interface (DECLARE_UVERBS_WRITE and
// DECLARE_UVERBS_WRITE_EX, include/rdma/uverbs_ioctl.h), without its handler.
type Write struct {
	Object  uint16
	Command uint8
	Name    string // the UAPI's enumerator: "IB_USER_VERBS_CMD_CREATE_CQ"
	Ex      bool   // an extended command (struct ib_uverbs_ex_cmd_hdr)

	// In bytes, without the command's header: what the command declares as the
	// least that a request and a response hold. uapi_create_write makes these
	// the least of commands that are not extended, and forgets them of those
	// that are.
	ReqSize, RespSize uint8

	// ReqType and RespType are the C types of the core's parts, which an
	// array may follow: "struct ib_uverbs_create_cq". RespType is "" without a
	// response.
	ReqType, RespType string

	HasUdata bool // what follows the core's part is the driver's
	HasResp  bool // the request begins with the address of the response

	// Needs: without all of these operations in the device the command is
	// absent (UAPI_DEF_METHOD_NEEDS_FN).
	Needs []Op
}
