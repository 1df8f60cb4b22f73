package mlx5

import (
	"sync/atomic"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Registers of a page of 4 KiB and of a context (include/linux/mlx5/device.h).
const (
	nonFPBfregsPerUAR = 2    // MLX5_NON_FP_BFREGS_PER_UAR
	maxBfregs         = 512  // MLX5_MAX_BFREGS
	maxDynBfregs      = 1024 // MLX5_MAX_DYN_BFREGS
	uarsInPage        = 1    // MLX5_UARS_IN_PAGE with pages of 4 KiB
)

// invalidUARIndex is MLX5_IB_INVALID_UAR_INDEX: a dynamic page that is not there.
const invalidUARIndex = 1 << 31

// bfregInfo is a struct mlx5_bfreg_info: the pages of registers that a context
// has from its beginning (static), and those that it may still allocate by
// mapping them (dynamic).
type bfregInfo struct {
	sysPages []atomic.Uint32 // numbers of UARs, static ones first
	ver      uint32          // of the request
	libUAR4K bool
	// libUARDyn: the context has no registers of its own, its user allocates
	// UAR objects.
	libUARDyn bool

	numStaticSysPages uint32
	totalNumBfregs    uint32
	numDynBfregs      uint32

	lock  trace.Mutex
	count []uint32 // by register; the first of each dynamic page says that it is allocated
}

// kernelBfreg is a struct mlx5_sq_bfreg: registers of the kernel's own, with the
// page that they are on.
type kernelBfreg struct {
	index uint32
	io    hw.IO
}

// allocKernelBfreg allocates a page for registers of the kernel. It models
// mlx5_alloc_bfreg in drivers/net/ethernet/mellanox/mlx5/core/uar.c. Two of a
// page's registers are of low latency and two are not; the first of the latter is
// mlx5_core's and the second mlx5_ib's, which here share one. So a page has no room
// for more when mlx5_ib asks for one of low latency, and there is a second page.
//
// Errors: mlx5-cmd/….
func (d *Device) allocKernelBfreg(t *trace.Task, b *kernelBfreg) (err error) {
	defer t.Enter(moduleCore, "mlx5_alloc_bfreg").Leave()
	if b.index, err = d.create(t, ifc.MLX5_CMD_OP_ALLOC_UAR, 0); err != nil {
		return err
	}
	b.io = d.HW.UARPage(b.index)
	return nil
}

// freeKernelBfreg models mlx5_free_bfreg in
// drivers/net/ethernet/mellanox/mlx5/core/uar.c.
func (d *Device) freeKernelBfreg(t *trace.Task, b *kernelBfreg) {
	defer t.Enter(moduleCore, "mlx5_free_bfreg").Leave()
	d.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_UAR, 0, b.index) // as the kernel does
}

// uarsPerSysPage models get_uars_per_sys_page in
// drivers/infiniband/hw/mlx5/mlx5_ib.h.
func (d *Device) uarsPerSysPage(libSupport bool) uint32 {
	if libSupport && d.caps.has(capUAR4K) {
		return uarsInPage
	}
	return 1
}

// calcTotalBfregs rounds the number of registers up to whole pages. It models
// calc_total_bfregs in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-ucontext/no-bfregs, mlx5-ucontext/many-bfregs,
// mlx5-ucontext/low-latency-rounded.
func (d *Device) calcTotalBfregs(t *trace.Task, b *bfregInfo, req *spec.Mlx5AllocUcontextReqV2) error {
	defer t.EnterInlined(moduleIB, "calc_total_bfregs").Leave()
	if req.TotalNumBfregs == 0 {
		return rule.MLX5UctxNoBfregs
	}
	if req.TotalNumBfregs > maxBfregs {
		return rule.MLX5UctxManyBfregs
	}
	perPage := d.uarsPerSysPage(b.libUAR4K) * nonFPBfregsPerUAR
	req.TotalNumBfregs = uint32(alignUp(uint64(req.TotalNumBfregs), uint64(perPage)))
	if req.NumLowLatencyBfregs > req.TotalNumBfregs-1 {
		return rule.MLX5UctxLowLatencyRounded
	}
	b.numStaticSysPages = req.TotalNumBfregs / perPage
	b.numDynBfregs = uint32(alignUp(maxDynBfregs, uint64(perPage)))
	b.totalNumBfregs = req.TotalNumBfregs + b.numDynBfregs
	b.count = make([]uint32, b.totalNumBfregs)
	b.sysPages = make([]atomic.Uint32, b.totalNumBfregs/perPage)
	return nil
}

// allocateUARs allocates the static pages. It models allocate_uars in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-cmd/….
func (c *ucontext) allocateUARs(t *trace.Task) error {
	defer t.EnterInlined(moduleIB, "allocate_uars").Leave()
	b := &c.bfregs
	for i := range b.sysPages {
		if uint32(i) >= b.numStaticSysPages {
			b.sysPages[i].Store(invalidUARIndex)
			continue
		}
		uar, err := c.dev.cmdUARAlloc(t, c.devxUID)
		if err != nil {
			for i--; i >= 0; i-- {
				c.dev.cmdUARDealloc(t, b.sysPages[i].Load(), c.devxUID) // as the kernel does
			}
			return err
		}
		b.sysPages[i].Store(uar)
	}
	return nil
}

// deallocateUARs gives all pages back. It models deallocate_uars in
// drivers/infiniband/hw/mlx5/main.c.
func (c *ucontext) deallocateUARs(t *trace.Task) {
	defer t.EnterInlined(moduleIB, "deallocate_uars").Leave()
	for i := range c.bfregs.sysPages {
		if n := c.bfregs.sysPages[i].Load(); n != invalidUARIndex {
			c.dev.cmdUARDealloc(t, n, c.devxUID) // as the kernel does
		}
	}
}

// bfregnToUARIndex returns the number of the page of registers that a register
// is on. A dynamic one is counted from the first dynamic page. It models
// bfregn_to_uar_index in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-bfreg/index.
func (c *ucontext) bfregnToUARIndex(t *trace.Task, bfregn uint32, dyn bool) (uint32, error) {
	defer t.Enter(moduleIB, "bfregn_to_uar_index").Leave()
	b := &c.bfregs
	if b.libUARDyn {
		return 0, rule.MLX5BfregIndex
	}
	perPage := c.dev.uarsPerSysPage(b.libUAR4K) * nonFPBfregsPerUAR
	page := bfregn / perPage
	if dyn {
		page += b.numStaticSysPages
		if page >= uint32(len(b.sysPages)) || bfregn > b.numDynBfregs || b.sysPages[page].Load() == invalidUARIndex {
			return 0, rule.MLX5BfregIndex
		}
	}
	return b.sysPages[page].Load() + bfregn%perPage/nonFPBfregsPerUAR, nil
}

// allocBfreg chooses a register for a queue pair: one with low latency that no
// other uses, or else the one of the rest that the fewest use, or else the first,
// which all may use. It models alloc_bfreg, alloc_high_class_bfreg and
// alloc_med_class_bfreg in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/no-register.
func (c *ucontext) allocBfreg(t *trace.Task) (uint32, error) {
	defer t.EnterInlined(moduleIB, "alloc_bfreg").Leave()
	b := &c.bfregs
	if b.libUARDyn {
		return 0, rule.MLX5QPNoRegister
	}
	b.lock.Lock(t)
	defer b.lock.Unlock(t)
	n := uint32(0)
	if b.ver >= 2 {
		all := b.numStaticSysPages * c.dev.uarsPerSysPage(b.libUAR4K) * nonFPBfregsPerUAR
		firstHigh := all - c.req.NumLowLatencyBfregs
		if firstHigh > 1 {
			n = 1
		}
		for i := uint32(2); i < firstHigh; i++ {
			if b.count[i] < b.count[n] {
				n = i
			}
		}
		for i := firstHigh; i < all; i++ {
			if b.count[i] == 0 {
				n = i
				break
			}
		}
	}
	b.count[n]++
	return n, nil
}

// freeBfreg lets go of a register. It models mlx5_ib_free_bfreg in
// drivers/infiniband/hw/mlx5/qp.c.
func (b *bfregInfo) freeBfreg(t *trace.Task, n uint32) {
	defer t.Enter(moduleIB, "mlx5_ib_free_bfreg").Leave()
	b.lock.Lock(t)
	b.count[n]--
	b.lock.Unlock(t)
}
