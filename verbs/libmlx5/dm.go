package libmlx5

import (
	"fmt"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// Errors of device memory that the library finds itself. Their errno is EINVAL,
// and that of ErrDMRange EFAULT.
var (
	ErrDMLength = fmt.Errorf("libmlx5: the device has not so much memory: %w", syscall.EINVAL)
	ErrDMAlign  = fmt.Errorf("libmlx5: device memory is copied in words of 4 bytes: %w", syscall.EINVAL)
	ErrDMAccess = fmt.Errorf("libmlx5: device memory has no such access: %w", syscall.EINVAL)
	ErrDMRange  = fmt.Errorf("libmlx5: a copy over the end of the device memory: %w", syscall.EFAULT)
)

// dmAllowedAccess is MLX5_DM_ALLOWED_ACCESS of providers/mlx5/verbs.c.
const dmAllowedAccess = verbs.IBV_ACCESS_LOCAL_WRITE | verbs.IBV_ACCESS_REMOTE_WRITE | verbs.IBV_ACCESS_REMOTE_READ |
	verbs.IBV_ACCESS_REMOTE_ATOMIC | verbs.IBV_ACCESS_ZERO_BASED | verbs.IBV_ACCESS_OPTIONAL_RANGE

// DM is memory of the device: struct mlx5_dm.
type DM struct {
	*verbs.DM

	ctx   *Context
	mmap  copyuser.Addr // where its pages are mapped
	start copyuser.Addr // where it begins in them
}

// AllocDM allocates memory of the device and maps it. It models
// mlx5dv_alloc_dm and alloc_dm_memic in providers/mlx5/verbs.c.
//
// Errors: ErrDMLength, those of the kernel and of mmap.
func (c *Context) AllocDM(attr *verbs.DMAttr) (*DM, error) {
	if c.Device == nil || attr.Length > c.Device.MaxDMSize {
		return nil, ErrDMLength
	}
	f := c.Frame()
	defer f.Leave()
	var offset uint64
	var page uint16
	cmd := f.CommandBuffer(spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_ALLOC, 3, nil)
	verbs.AttrOptional(cmd.FillAttrConstIn(spec.MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, spec.MLX5_IB_UAPI_DM_TYPE_MEMIC))
	verbs.FillAttrOutPtr(cmd, spec.MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset)
	verbs.FillAttrOutPtr(cmd, spec.MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &page)
	core, err := c.CmdAllocDM(f, attr, cmd)
	if err != nil {
		return nil, err
	}
	dm := &DM{DM: core, ctx: c}
	if dm.mmap, err = dm.mapPages(page); err != nil {
		// The memory ends with the context if it cannot be given back now.
		_ = core.CmdFreeDM()
		return nil, err
	}
	dm.start = dm.mmap + copyuser.Addr(offset&(pageSize-1))
	return dm, nil
}

// mapPages models dm_mmap in providers/mlx5/verbs.c: the page's number has its
// upper byte above the command.
func (dm *DM) mapPages(page uint16) (copyuser.Addr, error) {
	index := uint64(page)
	off := spec.MLX5_IB_MMAP_DEVICE_MEM<<mmapCmdShift | index&0xff | index>>8<<16
	return dm.ctx.sys.Mmap(dm.ctx.CmdFD, align(dm.Length, pageSize), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED, off*pageSize)
}

// Free models mlx5_free_dm in providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (dm *DM) Free() error {
	if err := dm.CmdFreeDM(); err != nil {
		return err
	}
	_ = dm.ctx.sys.Munmap(dm.mmap, align(dm.Length, pageSize)) // a program can have unmapped it itself
	return nil
}

// RegDMMR registers a part of the memory, access being IBV_ACCESS_*. It models
// mlx5_reg_dm_mr in providers/mlx5/verbs.c.
//
// Errors: ErrDMAccess, verbs.ErrDMZeroBased, and those of the kernel.
func (pd *PD) RegDMMR(dm *DM, offset, length uint64, access uint32) (*verbs.MR, error) {
	if access&^dmAllowedAccess != 0 {
		return nil, ErrDMAccess
	}
	mr, err := pd.CmdRegDMMR(dm.DM, offset, length, access)
	if err != nil {
		return nil, err
	}
	mr.Access = access
	return mr, nil
}

// MemcpyTo copies from the program's memory to the device's, MemcpyFrom the
// other way, both in words of 4 bytes. They model mlx5_access_dm in
// providers/mlx5/verbs.c.
//
// Errors: ErrDMRange, ErrDMAlign, and faults of the program's memory.
func (dm *DM) MemcpyTo(offset uint64, from copyuser.Addr, length uint64) error {
	if err := dm.check(offset, length); err != nil {
		return err
	}
	return dm.copyWords(dm.start+copyuser.Addr(offset), from, length)
}

// MemcpyFrom is described with MemcpyTo.
func (dm *DM) MemcpyFrom(to copyuser.Addr, offset, length uint64) error {
	if err := dm.check(offset, length); err != nil {
		return err
	}
	return dm.copyWords(to, dm.start+copyuser.Addr(offset), length)
}

func (dm *DM) check(offset, length uint64) error {
	switch {
	case offset+length > dm.Length:
		return ErrDMRange
	case offset%4 != 0 || length%4 != 0:
		return ErrDMAlign
	}
	return nil
}

func (dm *DM) copyWords(to, from copyuser.Addr, length uint64) error {
	word := make([]byte, 4)
	for i := copyuser.Addr(0); i < copyuser.Addr(length); i += 4 {
		if err := verbs.Load(dm.ctx.sys, from+i, word); err != nil {
			return err
		}
		if err := verbs.Store(dm.ctx.sys, to+i, word); err != nil {
			return err
		}
	}
	return nil
}
