package libmlx5

import (
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// uar is a page of the device's registers that the kernel gave to the program:
// struct mlx5_bf, as far as it is about a page that was allocated dynamically.
type uar struct {
	handle uint32
	pageID uint32 // its number on the device
	length uint32
	reg    copyuser.Addr // where it is mapped
}

// setSingletonNCUAR models mlx5_set_singleton_nc_uar in
// providers/mlx5/verbs.c: the page that completion queues are armed through.
// Where the kernel has static registers only, or no page is left, there is
// none.
func (c *Context) setSingletonNCUAR() {
	if c.Resp.TotBfregs == 0 {
		c.ncUAR, _ = c.allocDynUAR(spec.MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC)
	}
}

// allocDynUAR models mlx5_alloc_dyn_uar in providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (c *Context) allocDynUAR(typ uint64) (*uar, error) {
	f := c.Frame()
	defer f.Leave()
	u := new(uar)
	var offset uint64
	cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_ALLOC, 5, nil)
	handle := cmd.FillAttrOutObj(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE)
	cmd.FillAttrConstIn(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE, typ)
	verbs.FillAttrOutPtr(cmd, spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset)
	verbs.FillAttrOutPtr(cmd, spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &u.length)
	verbs.FillAttrOutPtr(cmd, spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &u.pageID)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return nil, err
	}
	u.handle = verbs.ReadAttrObj(spec.MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, handle)
	reg, err := c.sys.Mmap(c.CmdFD, uint64(u.length), syscall.PROT_WRITE, syscall.MAP_SHARED, offset)
	if err != nil {
		c.freeUAR(u)
		return nil, err
	}
	u.reg = reg
	return u, nil
}

// freeUAR models mlx5_free_uar in providers/mlx5/verbs.c. Closing the file would
// end what is left, so failures do not matter.
func (c *Context) freeUAR(u *uar) {
	if u.reg != 0 {
		_ = c.sys.Munmap(u.reg, uint64(u.length))
	}
	f := c.Frame()
	defer f.Leave()
	cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_UAR, spec.MLX5_IB_METHOD_UAR_OBJ_DESTROY, 1, nil)
	cmd.FillAttrInObj(spec.MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE, u.handle)
	_ = c.ExecuteIoctl(cmd)
}
