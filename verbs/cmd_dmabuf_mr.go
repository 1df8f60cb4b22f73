package verbs

import "uverbsim/spec"

// RegDmabufMR registers length bytes at an offset of the dma-buf that a descriptor
// stands for, access being IBV_ACCESS_*; iova is the address that the first of them
// is used by. It models ibv_cmd_reg_dmabuf_mr in libibverbs/cmd_mr.c.
//
// Errors: those of the kernel.
func (pd *PD) RegDmabufMR(offset, length, iova uint64, fd int, access uint32) (*MR, error) {
	c := pd.Context
	f := c.Frame()
	defer f.Leave()
	mr := &MR{Context: c, PD: pd, Length: length, Access: access}
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_REG_DMABUF_MR, 9, nil)
	handle := cmd.FillAttrOutObj(spec.UVERBS_ATTR_REG_DMABUF_MR_HANDLE)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, &mr.LKey)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, &mr.RKey)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, pd.Handle)
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_REG_DMABUF_MR_OFFSET, offset)
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_REG_DMABUF_MR_LENGTH, length)
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_REG_DMABUF_MR_IOVA, iova)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_REG_DMABUF_MR_FD, uint32(fd))
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, access)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return nil, err
	}
	mr.Handle = ReadAttrObj(spec.UVERBS_ATTR_REG_DMABUF_MR_HANDLE, handle)
	return mr, nil
}
