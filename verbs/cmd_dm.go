package verbs

import (
	"fmt"
	"syscall"

	"uverbsim/spec"
)

// DM is memory of the device: struct ibv_dm with struct verbs_dm.
type DM struct {
	Context *Context
	Handle  uint32
	Length  uint64
}

// DMAttr says what memory of the device is wanted: struct ibv_alloc_dm_attr.
type DMAttr struct {
	Length      uint64
	LogAlignReq uint32 // its alignment, as a power of two
}

// CmdAllocDM allocates memory of the device. The driver's attributes are in
// link, which Frame.CommandBuffer has made for UVERBS_METHOD_DM_ALLOC; f is its
// frame. It models ibv_cmd_alloc_dm in libibverbs/cmd_dm.c.
//
// Errors: those of the kernel.
func (c *Context) CmdAllocDM(f *Frame, attr *DMAttr, link *CommandBuffer) (*DM, error) {
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_ALLOC, 3, link)
	handle := cmd.FillAttrOutObj(spec.UVERBS_ATTR_ALLOC_DM_HANDLE)
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_ALLOC_DM_LENGTH, attr.Length)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_ALLOC_DM_ALIGNMENT, attr.LogAlignReq)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return nil, err
	}
	return &DM{Context: c, Handle: ReadAttrObj(spec.UVERBS_ATTR_ALLOC_DM_HANDLE, handle), Length: attr.Length}, nil
}

// CmdFreeDM models ibv_cmd_free_dm in libibverbs/cmd_dm.c.
//
// Errors: those of the kernel.
func (dm *DM) CmdFreeDM() error {
	f := dm.Context.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_FREE, 1, nil)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_FREE_DM_HANDLE, dm.Handle)
	_, err := dm.Context.destroyErr(dm.Context.ExecuteIoctl(cmd))
	return err
}

// ErrDMZeroBased is the error of a region of device memory that is not to begin
// at 0. Its errno is EINVAL.
var ErrDMZeroBased = fmt.Errorf("verbs: a region of device memory is always IBV_ACCESS_ZERO_BASED: %w", syscall.EINVAL)

// CmdRegDMMR registers a part of the device's memory, access being
// IBV_ACCESS_*. It models ibv_cmd_reg_dm_mr in libibverbs/cmd_dm.c.
//
// Errors: ErrDMZeroBased, and those of the kernel.
func (pd *PD) CmdRegDMMR(dm *DM, offset, length uint64, access uint32) (*MR, error) {
	if access&IBV_ACCESS_ZERO_BASED == 0 {
		return nil, ErrDMZeroBased
	}
	c := pd.Context
	f := c.Frame()
	defer f.Leave()
	mr := &MR{Context: c, PD: pd, Length: length}
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_MR, spec.UVERBS_METHOD_DM_MR_REG, 8, nil)
	handle := cmd.FillAttrOutObj(spec.UVERBS_ATTR_REG_DM_MR_HANDLE)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_REG_DM_MR_RESP_LKEY, &mr.LKey)
	FillAttrOutPtr(cmd, spec.UVERBS_ATTR_REG_DM_MR_RESP_RKEY, &mr.RKey)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_REG_DM_MR_PD_HANDLE, pd.Handle)
	cmd.FillAttrInObj(spec.UVERBS_ATTR_REG_DM_MR_DM_HANDLE, dm.Handle)
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_REG_DM_MR_OFFSET, offset)
	cmd.FillAttrInUint64(spec.UVERBS_ATTR_REG_DM_MR_LENGTH, length)
	cmd.FillAttrInUint32(spec.UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, access)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return nil, err
	}
	mr.Handle = ReadAttrObj(spec.UVERBS_ATTR_REG_DM_MR_HANDLE, handle)
	return mr, nil
}
