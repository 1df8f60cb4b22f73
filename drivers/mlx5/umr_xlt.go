package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/trace"
)

// What an update of a key's list is about (MLX5_IB_UPD_XLT_* in
// drivers/infiniband/hw/mlx5/mlx5_ib.h).
const (
	updXLTZap      = 1 << 0
	updXLTEnable   = 1 << 1
	updXLTAddr     = 1 << 3
	updXLTPD       = 1 << 4
	updXLTAccess   = 1 << 5
	updXLTIndirect = 1 << 6
)

// What an entry of a list of pages says beside the address
// (drivers/infiniband/hw/mlx5/mlx5_ib.h).
const (
	mttPresent = mttRead | mttWrite // MLX5_IB_MTT_PRESENT

	mttSize = 8  // sizeof(struct mlx5_mtt)
	klmSize = 16 // sizeof(struct mlx5_klm)
)

// What a work request changes of a key (MLX5_MKEY_MASK_* in
// include/linux/mlx5/device.h).
const (
	mkeyMaskLen          = 1 << 0
	mkeyMaskPageSize     = 1 << 1
	mkeyMaskStartAddr    = 1 << 6
	mkeyMaskPD           = 1 << 7
	mkeyMaskKey          = 1 << 13
	mkeyMaskLR           = 1 << 17
	mkeyMaskLW           = 1 << 18
	mkeyMaskRR           = 1 << 19
	mkeyMaskRW           = 1 << 20
	mkeyMaskA            = 1 << 21
	mkeyMaskRelaxedWrite = 1 << 25
	mkeyMaskFree         = 1 << 29
	mkeyMaskRelaxedRead  = 1 << 47
)

// umrAccessMask models get_umr_update_access_mask in
// drivers/infiniband/hw/mlx5/umr.c.
func (d *Device) umrAccessMask() uint64 {
	mask := uint64(mkeyMaskLR | mkeyMaskLW | mkeyMaskRR | mkeyMaskRW)
	if d.caps.has(capAtomic) {
		mask |= mkeyMaskA
	}
	if d.caps.has(capUMRRelaxedW) {
		mask |= mkeyMaskRelaxedWrite
	}
	if d.caps.has(capUMRRelaxedR) {
		mask |= mkeyMaskRelaxedRead
	}
	return mask
}

// umrSetAccess models mlx5r_umr_set_access_flags in
// drivers/infiniband/hw/mlx5/umr.c.
func (d *Device) umrSetAccess(ctx []byte, access uint32) {
	relaxed := access&core.AccessRelaxedOrdering != 0
	mkc.a.Set(ctx, bit(access&core.AccessRemoteAtomic != 0))
	mkc.rw.Set(ctx, bit(access&core.AccessRemoteWrite != 0))
	mkc.rr.Set(ctx, bit(access&core.AccessRemoteRead != 0))
	mkc.lw.Set(ctx, bit(access&core.AccessLocalWrite != 0))
	mkc.lr.Set(ctx, 1)
	mkc.relaxedWrite.Set(ctx, bit(relaxed))
	mkc.relaxedRead.Set(ctx, bit(relaxed && d.caps.has(capRelaxedRead)))
}

// umrWQEOf begins a work request about a region's key. It models
// mlx5r_umr_set_update_xlt_ctrl_seg and mlx5r_umr_set_update_xlt_mkey_seg in
// drivers/infiniband/hw/mlx5/umr.c.
func (d *Device) umrWQEOf(r *mr, pageShift uint, flags int) *umrWQE {
	w := &umrWQE{flags: umrCheckFree}
	if flags&updXLTEnable != 0 {
		w.flags = umrCheckNotFree
	}
	ctx := w.ctx[:]
	d.umrSetAccess(ctx, r.accessFlags.Load())
	mkc.pd.Set(ctx, uint64(toPD(r.pd.Load()).pdn()))
	mkc.start.Set(ctx, r.ib.IOVA)
	mkc.length.Set(ctx, r.ib.Length)
	mkc.logPageSize.Set(ctx, uint64(pageShift))
	mkc.qpn.Set(ctx, mkcAnyQPN)
	mkc.key.Set(ctx, uint64(r.key&0xff))
	return w
}

// umrFinish says what beside the list the last work request of an update changes. It
// models mlx5r_umr_final_update_xlt in drivers/infiniband/hw/mlx5/umr.c.
func (d *Device) umrFinish(w *umrWQE, r *mr, flags int) {
	if flags&updXLTEnable != 0 {
		w.mask |= mkeyMaskKey | mkeyMaskFree
	}
	if flags&(updXLTEnable|updXLTPD|updXLTAccess) != 0 {
		w.mask |= d.umrAccessMask() | mkeyMaskPD
	}
	if flags&(updXLTEnable|updXLTAddr) != 0 {
		w.mask |= mkeyMaskLen | mkeyMaskPageSize | mkeyMaskStartAddr
		if r.ib.Length == 0 {
			mkc.length64.Set(w.ctx[:], 1)
		}
	}
}

// xlt is kernel memory that the adapter takes entries of a list from.
type xlt struct {
	pin *copyuser.Pin
	dma uint64
	n   int // bytes
}

// umrCreateXLT makes room for a number of entries of that size, or for as many as
// one work request takes. It models mlx5r_umr_create_xlt in
// drivers/infiniband/hw/mlx5/umr.c.
//
// Errors: mlx5-umr/no-memory.
func (d *Device) umrCreateXLT(t *trace.Task, entries uint64, size int) (*xlt, error) {
	defer t.EnterInlined(moduleIB, "mlx5r_umr_create_xlt").Leave()
	if t.Fail(trace.Alloc, "xlt") {
		return nil, rule.MLX5UMRNoMemory
	}
	x := &xlt{n: int(min(alignUp(entries*uint64(size), umrXLTAlignment), maxUMRChunk))}
	pages := make([]*copyuser.Page, alignUp(uint64(x.n), copyuser.PageSize)>>copyuser.PageShift)
	for i := range pages {
		pages[i] = copyuser.NewPage()
	}
	x.pin, x.dma = copyuser.NewPin(pages), d.Bus.Map(pages)
	return x, nil
}

func (d *Device) umrFreeXLT(x *xlt) { d.Bus.Unmap(x.dma, len(x.pin.Pages())) }

// umrSendXLT writes entries into a key's list from byte off on.
func (d *Device) umrSendXLT(t *trace.Task, x *xlt, r *mr, w *umrWQE, entries []byte, off uint64) error {
	x.pin.WriteAt(entries, 0) // it has room for as many
	w.list = umrList{x.dma, uint32(len(entries))}
	w.offset = off / umrOctoword
	w.flags |= umrTranslationOffset
	return d.umrPostSendWait(t, r.key, w)
}

// umrUpdateMRPas gives a key the pages of a region: those that are pinned, or those
// of a dma-buf, which updXLTZap takes away. It models _mlx5r_umr_update_mr_pas in
// drivers/infiniband/hw/mlx5/umr.c.
//
// Errors: mlx5-umr/….
func (d *Device) umrUpdateMRPas(t *trace.Task, r *mr, flags int) error {
	defer t.Enter(moduleIB, "mlx5r_umr_update_mr_pas").Leave()
	pageSize := uint64(1) << r.pageShift
	n := uint64(r.umem.numDMABlocks(r.ib.IOVA, pageSize))
	x, err := d.umrCreateXLT(t, n, mttSize)
	if err != nil {
		return err
	}
	defer d.umrFreeXLT(x)
	w := d.umrWQEOf(r, r.pageShift, flags)
	first, per := r.umem.dmaAddress()&^(pageSize-1), uint64(x.n/mttSize)
	for i := uint64(0); i < n; i += per {
		entries := make([]byte, alignUp(min(per, n-i)*mttSize, umrXLTAlignment))
		for j := uint64(0); j < min(per, n-i) && flags&updXLTZap == 0; j++ {
			be.PutUint64(entries[mttSize*j:], first+(i+j)*pageSize|mttPresent)
		}
		if i+per >= n {
			d.umrFinish(w, r, flags)
		}
		if err := d.umrSendXLT(t, x, r, w, entries, i*mttSize); err != nil {
			return err
		}
	}
	return nil
}

// umrUpdateXLT writes n entries of a list from entry i on, as the pages of a region
// that is paged on demand are now, or with updXLTZap without any. With
// updXLTIndirect they are pieces of other keys. It models mlx5r_umr_update_xlt in
// drivers/infiniband/hw/mlx5/umr.c.
//
// Errors: mlx5-umr/….
func (d *Device) umrUpdateXLT(t *trace.Task, r *mr, i, n uint64, pageShift uint, flags int) error {
	defer t.Enter(moduleIB, "mlx5r_umr_update_xlt").Leave()
	size, populate := uint64(mttSize), r.populateMTT
	if flags&updXLTIndirect != 0 {
		size, populate = klmSize, r.populateKLM
		if d.caps.has(capUMRNoIndirect) {
			return rule.MLX5UMRIndirect
		}
	}
	align := umrXLTAlignment / size
	n += i % align
	i -= i % align
	x, err := d.umrCreateXLT(t, n, int(size))
	if err != nil {
		return err
	}
	defer d.umrFreeXLT(x)
	n = alignUp(n, align)
	if flags&updXLTIndirect == 0 {
		n = min(n, uint64(r.odp.NumPages())-i)
	}
	w := d.umrWQEOf(r, pageShift, flags)
	for end := i + n; i < end; i += uint64(x.n) / size {
		n := min(end-i, uint64(x.n)/size)
		entries := make([]byte, alignUp(n*size, umrXLTAlignment))
		populate(entries, i, n, flags)
		if i+n == end {
			d.umrFinish(w, r, flags)
		}
		if err := d.umrSendXLT(t, x, r, w, entries, i*size); err != nil {
			return err
		}
	}
	return nil
}

// umrRevokeMR keeps the adapter from the memory of a region: its key is free
// afterwards. It models mlx5r_umr_revoke_mr in drivers/infiniband/hw/mlx5/umr.c.
//
// Errors: mlx5-umr/failed.
func (d *Device) umrRevokeMR(t *trace.Task, r *mr) error {
	defer t.Enter(moduleIB, "mlx5r_umr_revoke_mr").Leave()
	w := &umrWQE{flags: umrInline, mask: mkeyMaskPD | mkeyMaskFree}
	mkc.free.Set(w.ctx[:], 1)
	mkc.pd.Set(w.ctx[:], uint64(d.umrc.pdn))
	mkc.qpn.Set(w.ctx[:], mkcAnyQPN)
	mkc.key.Set(w.ctx[:], uint64(r.key&0xff))
	if err := d.umrPostSendWait(t, r.key, w); err != rule.MLX5UMRDevice {
		return err
	}
	return nil
}

// umrReregPDAccess changes the domain and the access rights of a region. It models
// mlx5r_umr_rereg_pd_access in drivers/infiniband/hw/mlx5/umr.c.
//
// Errors: mlx5-umr/….
func (d *Device) umrReregPDAccess(t *trace.Task, r *mr, p *core.PD, access uint32) error {
	defer t.Enter(moduleIB, "mlx5r_umr_rereg_pd_access").Leave()
	w := &umrWQE{flags: umrCheckFree | umrInline, mask: d.umrAccessMask() | mkeyMaskPD}
	d.umrSetAccess(w.ctx[:], access)
	mkc.pd.Set(w.ctx[:], uint64(toPD(p).pdn()))
	mkc.qpn.Set(w.ctx[:], mkcAnyQPN)
	mkc.key.Set(w.ctx[:], uint64(r.key&0xff))
	if err := d.umrPostSendWait(t, r.key, w); err != nil {
		return err
	}
	r.accessFlags.Store(access)
	return nil
}
