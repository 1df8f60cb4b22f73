package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// regUserMRDmabuf registers memory that another driver exports. It models
// mlx5_ib_reg_user_mr_dmabuf and reg_user_mr_dmabuf in
// drivers/infiniband/hw/mlx5/mr.c. No adapter here has a second function to reach
// such memory by.
//
// Errors: flags/…, mlx5-dmabuf/…, dmabuf/…, mlx5-odp/unsupported,
// mlx5-odp/key-no-memory, mlx5-mr/…, mlx5-umr/…, mlx5-qp/table-no-memory,
// mlx5-srq/no-memory, mlx5-eq/no-memory, mlx5-cmd/….
func (d *Device) regUserMRDmabuf(p *core.PD, offset, length, iova uint64, fd int, access uint32, attrs core.Attrs) (*core.MR, error) {
	task := attrs.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_reg_user_mr_dmabuf").Leave()
	flags, err := attrs.Flags32(spec.MLX5_IB_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, spec.MLX5_IB_UAPI_REG_DMABUF_ACCESS_DATA_DIRECT)
	switch {
	case err != nil:
		return nil, err
	case !d.umrCanLoadPas(length):
		return nil, rule.MLX5DmabufLength
	case flags != 0 && (iova%copyuser.PageSize != 0 || access&core.AccessOnDemand != 0):
		return nil, rule.MLX5DmabufDirectIOVA
	case flags != 0:
		return nil, rule.MLX5DmabufDirect
	}
	if err := d.umrResourceInit(t); err != nil {
		return nil, err
	}
	u, err := core.GetUmemDmabuf(task, d.IB, d.Bus, offset, length, fd, access, d.dmabufInvalidate)
	if err != nil {
		return nil, err
	}
	r, err := d.allocCacheableMR(t, p, length, iova, access, copyuser.PageSize)
	if err != nil {
		u.Release(t)
		return nil, err
	}
	r.dmabuf, u.Private = u, r
	if err := d.initDmabufMR(t, r); err != nil {
		d.deregRegion(t, r) // the first error counts
		return nil, err
	}
	return &r.ib, nil
}

// initDmabufMR is mlx5_ib_init_dmabuf_mr in drivers/infiniband/hw/mlx5/odp.c, and
// what comes before it.
func (d *Device) initDmabufMR(t *trace.Task, r *mr) (err error) {
	if err := d.odpCreateEQ(t); err != nil {
		return err
	}
	if r.odpKey, err = d.odpKeys.store(t, odpKey{key: r.key, mr: r}); err != nil {
		return err
	}
	_, err = d.pagefaultDmabufMR(t, r, r.ib.Length, nil, pfEnable)
	return err
}

// pagefaultDmabufMR maps the memory for the adapter. It models pagefault_dmabuf_mr
// in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: mlx5-dmabuf/page-size, mlx5-umr/….
func (d *Device) pagefaultDmabufMR(t *trace.Task, r *mr, n uint64, mapped *uint32, flags int) (int, error) {
	defer t.Enter(moduleIB, "pagefault_dmabuf_mr").Leave()
	u := r.dmabuf
	u.Lock(t)
	defer u.Unlock(t)
	r.umem = umem{Umem: &u.Umem, dma: u.MapPages(t)}
	if r.umem.findBestPgsz(copyuser.PageSize, r.ib.IOVA) == 0 {
		u.UnmapPages(t)
		return 0, rule.MLX5DmabufPageSize
	}
	update := 0
	if flags&pfEnable != 0 {
		update = updXLTEnable
	}
	if err := d.umrUpdateMRPas(t, r, update); err != nil {
		return 0, err
	}
	if mapped != nil {
		*mapped += uint32(n)
	}
	return u.NumPages(), nil
}

// dmabufInvalidate takes the memory away from the adapter: its exporter moves it.
// It models mlx5_ib_dmabuf_invalidate_cb in drivers/infiniband/hw/mlx5/mr.c.
func (d *Device) dmabufInvalidate(t *trace.Task, u *core.UmemDmabuf) {
	defer t.Enter(moduleIB, "mlx5_ib_dmabuf_invalidate_cb").Leave()
	r, _ := u.Private.(*mr)
	if !u.IsMapped() || r == nil {
		return
	}
	d.umrUpdateMRPas(t, r, updXLTZap) // as the kernel does
	u.UnmapPages(t)
}
