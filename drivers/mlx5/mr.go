package mlx5

import (
	"math"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// mr is a struct mlx5_ib_mr: a memory region with a key of the device.
type mr struct {
	ib        core.MR
	key       uint32 // number of the key, and 8 bits that the driver chose
	umem      umem   // none for device memory, and for memory that is paged on demand
	pageShift uint

	// A page fault may look while the region's user changes them.
	pd          atomic.Pointer[core.PD]
	accessFlags atomic.Uint32

	odp      *core.UmemODP // memory that is paged on demand
	dmabuf   *core.UmemDmabuf
	odpKey   *odpKey // what page faults find it by
	children implicitChildren
	nullKey  uint32 // stands in an implicit region where no child does
}

// toMR models to_mmr.
func toMR(m *core.MR) *mr { return m.Driver.(*mr) }

// How a memory key finds its memory (enum MLX5_MKC_ACCESS_MODE_* in
// include/linux/mlx5/mlx5_ifc.h).
const (
	mkcAccessModeMTT   = 1
	mkcAccessModeKLMs  = 2
	mkcAccessModeKSM   = 3
	mkcAccessModeSWICM = 4
	mkcAccessModeMemic = 5
)

var (
	mkcIn     = ifc.Must("create_mkey_in").Field("memory_key_mkey_entry")
	mkeyPas   = ifc.Must("create_mkey_in").Field("klm_pas_mtt").Byte()
	mkeyOctos = ifc.Must("create_mkey_in").Field("translations_octword_actual_size")
	mkeyPgAcc = ifc.Must("create_mkey_in").Field("pg_access")
	mkeyIndex = ifc.Must("create_mkey_out").Field("mkey_index")

	mkc = struct {
		free, umrEn, accessMode10, accessMode42, a, rw, rr, lw, lr, relaxedWrite, relaxedRead, qpn, key, pd, start, length,
		octos, logPageSize, enRInval, length64 ifc.Field
	}{
		free: mkcField("free"), umrEn: mkcField("umr_en"), enRInval: mkcField("en_rinval"),
		accessMode10: mkcField("access_mode_1_0"), accessMode42: mkcField("access_mode_4_2"),
		a: mkcField("a"), rw: mkcField("rw"), rr: mkcField("rr"), lw: mkcField("lw"), lr: mkcField("lr"),
		relaxedWrite: mkcField("relaxed_ordering_write"), relaxedRead: mkcField("relaxed_ordering_read"),
		qpn: mkcField("qpn"), key: mkcField("mkey_7_0"), pd: mkcField("pd"),
		start: mkcField("start_addr"), length: mkcField("len"),
		octos: mkcField("translations_octword_size"), logPageSize: mkcField("log_page_size"), length64: mkcField("length64"),
	}
)

func mkcField(name string) ifc.Field { return ifc.Must("mkc").Field(name) }

// mkcAnyQPN lets every queue pair use a key.
const mkcAnyQPN = 0xffffff

func bit(set bool) uint64 {
	if set {
		return 1
	}
	return 0
}

// setMkcAccess models set_mkc_access_pd_addr_fields in
// drivers/infiniband/hw/mlx5/mr.c.
func (d *Device) setMkcAccess(ctx []byte, access uint32, start uint64, pdn uint32) {
	mkc.a.Set(ctx, bit(access&core.AccessRemoteAtomic != 0))
	mkc.rw.Set(ctx, bit(access&core.AccessRemoteWrite != 0))
	mkc.rr.Set(ctx, bit(access&core.AccessRemoteRead != 0))
	mkc.lw.Set(ctx, bit(access&core.AccessLocalWrite != 0))
	mkc.lr.Set(ctx, 1)
	if access&core.AccessRelaxedOrdering != 0 {
		mkc.relaxedWrite.Set(ctx, bit(d.caps.has(capRelaxedWrite)))
		mkc.relaxedRead.Set(ctx, bit(d.caps.has(capRelaxedRead) || d.caps.has(capRelaxedReadPCI)))
	}
	mkc.pd.Set(ctx, uint64(pdn))
	mkc.qpn.Set(ctx, mkcAnyQPN)
	mkc.start.Set(ctx, start)
}

// createMkey makes the key that the command describes. Its low 8 bits count on,
// so that an old key does not fit a new region. It models mlx5_ib_create_mkey in
// drivers/infiniband/hw/mlx5/mr.c and mlx5_core_create_mkey in
// drivers/net/ethernet/mellanox/mlx5/core/mr.c.
//
// Errors: mlx5-cmd/….
func (d *Device) createMkey(t *trace.Task, m *mailbox) (uint32, error) {
	defer t.EnterInlined(moduleIB, "mlx5_ib_create_mkey").Leave()
	defer t.Enter(moduleCore, "mlx5_core_create_mkey").Leave()
	variant := d.mkeyVar.Add(1) & 0xff
	mkc.key.Set(mkcIn.Bytes(m.in), uint64(variant))
	if err := d.exec(t, m.in, m.out); err != nil {
		return 0, err
	}
	return uint32(mkeyIndex.Get(m.out))<<8 | variant, nil
}

// destroyMkey models mlx5_core_destroy_mkey in
// drivers/net/ethernet/mellanox/mlx5/core/mr.c.
func (d *Device) destroyMkey(t *trace.Task, key uint32) error {
	defer t.Enter(moduleCore, "mlx5_core_destroy_mkey").Leave()
	return d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, key>>8)
}

// octoLen is how many units of 16 bytes the page list of a region has. It models
// get_octo_len in drivers/infiniband/hw/mlx5/mr.c.
func octoLen(addr, length uint64, pageShift uint) uint64 {
	pageSize := uint64(1) << pageShift
	return (alignUp(length+addr&(pageSize-1), pageSize)>>pageShift + 1) / 2
}

// regCreate makes the key of a region of that many bytes. With pinned memory the
// command has the list of its pages, and the key serves; without it is free, and
// has room for them. It models reg_create in drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-mr/…, mlx5-cmd/….
func (d *Device) regCreate(t *trace.Task, p *core.PD, u *umem, length, iova uint64, access uint32, pageSize uint64) (*mr, error) {
	defer t.Enter(moduleIB, "reg_create").Leave()
	if pageSize == 0 {
		return nil, rule.MLX5MRPageSize
	}
	if t.Fail(trace.Alloc, "mlx5_ib_mr") || t.Fail(trace.Alloc, "create_mkey_in") {
		return nil, rule.MLX5MRNoMemory
	}
	n := 0
	if u != nil {
		n = u.numDMABlocks(iova, pageSize)
	}
	octos := octoLen(iova, length, uint(log2(pageSize)))
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 8*int(alignUp(uint64(n), 2)))
	defer d.giveBack(m)
	present := bit(d.caps.has(capPG))
	mkeyPgAcc.Set(m.in, present)
	ctx := mkcIn.Bytes(m.in)
	if u != nil {
		u.populatePas(pageSize, n, m.in[mkeyPas:], present*mttPresent)
		d.setMkcAccess(ctx, access, iova, toPD(p).pdn())
		mkeyOctos.Set(m.in, octos)
	} else {
		d.setMkcAccess(ctx, access, iova, d.umrc.pdn)
		mkc.free.Set(ctx, 1)
	}
	mkc.accessMode10.Set(ctx, mkcAccessModeMTT)
	mkc.umrEn.Set(ctx, 1)
	mkc.length.Set(ctx, length)
	mkc.octos.Set(ctx, octos)
	mkc.logPageSize.Set(ctx, log2(pageSize))
	key, err := d.createMkey(t, m)
	if err != nil {
		return nil, err
	}
	r := newMR(key, p, iova, length, access)
	r.pageShift = uint(log2(pageSize))
	return r, nil
}

// allocCacheableMR makes the key of a region whose pages are written by work
// requests. It models alloc_cacheable_mr in drivers/infiniband/hw/mlx5/mr.c; keys
// that wait in a cache for their next region are left out.
//
// Errors: mlx5-mr/…, mlx5-cmd/….
func (d *Device) allocCacheableMR(t *trace.Task, p *core.PD, length, iova uint64, access uint32, pageSize uint64) (*mr, error) {
	defer t.Enter(moduleIB, "alloc_cacheable_mr").Leave()
	d.slowPathMutex.Lock(t)
	defer d.slowPathMutex.Unlock(t)
	return d.regCreate(t, p, nil, length, iova, access, pageSize)
}

// mkcPageSizes are the page sizes that a key can have.
func mkcPageSizes() uint64 { return logPageSizeToBitmap(mkcLogPageSize, 0) }

// mkcLogPageSize is log_page_size as the driver uses it: 5 bits.
var mkcLogPageSize = ifc.Field{Name: "log_page_size", Width: 5}

// newMR is set_mr_fields in drivers/infiniband/hw/mlx5/mr.c.
func newMR(key uint32, p *core.PD, iova, length uint64, access uint32) *mr {
	r := &mr{key: key}
	r.pd.Store(p)
	r.accessFlags.Store(access)
	r.ib.LKey, r.ib.RKey, r.ib.IOVA, r.ib.Length, r.ib.Driver = key, key, iova, length, r
	return r
}

// createRealMR takes over the pinned memory. It models create_real_mr in
// drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-mr/…, mlx5-umr/…, mlx5-cmd/….
func (d *Device) createRealMR(t *trace.Task, p *core.PD, u umem, iova uint64, access uint32) (*core.MR, error) {
	defer t.Enter(moduleIB, "create_real_mr").Leave()
	pageSize := u.findBestPgsz(mkcPageSizes(), iova)
	var r *mr
	var err error
	withUMR := d.umrCanLoadPas(u.Length)
	if withUMR {
		r, err = d.allocCacheableMR(t, p, u.Length, iova, access, pageSize)
	} else {
		d.slowPathMutex.Lock(t)
		r, err = d.regCreate(t, p, &u, u.Length, iova, access, pageSize)
		d.slowPathMutex.Unlock(t)
	}
	if err != nil {
		u.release(t, d)
		return nil, err
	}
	r.umem = u
	if withUMR {
		if err := d.umrUpdateMRPas(t, r, updXLTEnable); err != nil {
			d.deregRegion(t, r) // the first error counts
			return nil, err
		}
	}
	return &r.ib, nil
}

// regUserMR registers memory of the caller. It models mlx5_ib_reg_user_mr in
// drivers/infiniband/hw/mlx5/mr.c. The queue pair that changes keys is made for a
// device alone whose lists can be written by it.
//
// Errors: umem/…, pin/…, umem-odp/…, mlx5-odp/…, mlx5-mr/…, mlx5-umr/…,
// mlx5-qp/table-no-memory, mlx5-srq/no-memory, mlx5-eq/no-memory, mlx5-cmd/….
func (d *Device) regUserMR(p *core.PD, start, length, iova uint64, access uint32, udata *core.Udata) (*core.MR, error) {
	task := udata.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_reg_user_mr").Leave()
	if d.umrCanLoadPas(0) {
		if err := d.umrResourceInit(t); err != nil {
			return nil, err
		}
	}
	if access&core.AccessOnDemand != 0 {
		return d.createUserODPMR(task, p, start, length, iova, access)
	}
	u, err := d.umemGet(task, start, length, access)
	if err != nil {
		return nil, err
	}
	return d.createRealMR(t, p, u, iova, access)
}

// Flags of rereg_user_mr (enum ib_mr_rereg_flags in include/rdma/ib_verbs.h).
const (
	mrReregTrans  = 1 << 0 // IB_MR_REREG_TRANS
	mrReregPD     = 1 << 1 // IB_MR_REREG_PD
	mrReregAccess = 1 << 2 // IB_MR_REREG_ACCESS
)

// reregUserMR changes a region, or makes a new one in its place. It models
// mlx5_ib_rereg_user_mr in drivers/infiniband/hw/mlx5/mr.c. Memory is always new to
// a key: only keys of the kernel's cache, which is left out, take other memory.
//
// Errors: mlx5-mr/rereg-flags, umem/…, pin/…, umem-odp/…, mlx5-odp/…, mlx5-mr/…,
// mlx5-umr/…, mlx5-qp/table-no-memory, mlx5-srq/no-memory, mlx5-eq/no-memory,
// mlx5-cmd/….
func (d *Device) reregUserMR(m *core.MR, flags uint32, start, length, iova uint64, access uint32, p *core.PD, udata *core.Udata) (*core.MR, error) {
	task := udata.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_rereg_user_mr").Leave()
	r := toMR(m)
	if flags&^(mrReregTrans|mrReregPD|mrReregAccess) != 0 {
		return nil, rule.MLX5MRReregFlags
	}
	if err := r.checkRereg(t, flags, access); err != nil {
		return nil, err
	}
	if flags&mrReregAccess == 0 {
		access = r.accessFlags.Load()
	}
	if flags&mrReregPD == 0 {
		p = m.PD
	}
	if r.isImplicit() && flags&mrReregTrans == 0 {
		if access&core.AccessOnDemand == 0 {
			return nil, rule.MLX5MRReregImplicit
		}
		start, iova, length = 0, 0, math.MaxUint64
		flags |= mrReregTrans
	}
	if flags&mrReregTrans == 0 {
		return d.reregPDAccess(t, r, p, access)
	}
	if r.isPinned() && access&core.AccessOnDemand == 0 && d.canReconfigure(r.accessFlags.Load(), access) {
		u, err := d.umemGet(task, start, length, access)
		if err != nil {
			return nil, err
		}
		return d.createRealMR(t, p, u, iova, access)
	}
	return d.regUserMR(p, start, length, iova, access, udata)
}

// checkRereg is ib_umem_check_rereg for the memory that the region has.
//
// Errors: umem/rereg-read-only.
func (r *mr) checkRereg(t *trace.Task, flags, access uint32) error {
	u := r.umem.Umem
	if r.odp != nil {
		u = &core.Umem{Writable: r.odp.Writable}
	}
	return u.CheckRereg(t, flags, access)
}

// isPinned says that the region has pinned memory of a user.
func (r *mr) isPinned() bool { return r.umem.Umem != nil && r.dmabuf == nil }

// reregPDAccess changes a region whose memory stays, or moves the memory to a new
// region. No region is changed in its place.
//
// Errors: mlx5-mr/rereg-in-place, those of regUserMR.
func (d *Device) reregPDAccess(t *trace.Task, r *mr, p *core.PD, access uint32) (*core.MR, error) {
	if err := d.umrResourceInit(t); err != nil {
		return nil, err
	}
	if d.canReconfigure(r.accessFlags.Load(), access) {
		if err := d.umrReregPDAccess(t, r, p, access); err != nil {
			return nil, err
		}
		r.pd.Store(p)
		return nil, nil
	}
	if !r.isPinned() {
		return nil, rule.MLX5MRReregInPlace
	}
	if err := d.umrRevokeMR(t, r); err != nil {
		return nil, err
	}
	u := r.umem
	r.umem = umem{}
	return d.createRealMR(t, p, u, r.ib.IOVA, access)
}

// canReconfigure says whether a work request can change access rights so. It
// models can_use_umr_rereg_access in drivers/infiniband/hw/mlx5/mr.c and
// mlx5r_umr_can_reconfig in drivers/infiniband/hw/mlx5/umr.h.
func (d *Device) canReconfigure(now, access uint32) bool {
	const changeable = core.AccessLocalWrite | core.AccessRemoteWrite | core.AccessRemoteRead | core.AccessRelaxedOrdering |
		core.AccessRemoteAtomic
	c, diff := &d.caps, now^access
	relaxed := diff&core.AccessRelaxedOrdering != 0
	switch {
	case diff&^changeable != 0,
		diff&core.AccessRemoteAtomic != 0 && c.has(capAtomic) && c.has(capUMRNoAtomic),
		relaxed && c.has(capRelaxedWrite) && !c.has(capUMRRelaxedW),
		relaxed && (c.has(capRelaxedRead) || c.has(capRelaxedReadPCI)) && !c.has(capUMRRelaxedR):
		return false
	}
	return true
}

// deregMR ends a region. It models mlx5_ib_dereg_mr in
// drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-cmd/….
func (d *Device) deregMR(m *core.MR, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_dereg_mr").Leave()
	return d.deregRegion(t, toMR(m))
}

// deregRegion is __mlx5_ib_dereg_mr in drivers/infiniband/hw/mlx5/mr.c: no page
// fault uses the region any more, then its key goes, and its memory last.
//
// Errors: mlx5-cmd/….
func (d *Device) deregRegion(t *trace.Task, r *mr) error {
	d.odpKeys.erase(r.odpKey)
	if err := d.destroyRegionKey(t, r); err != nil {
		return err
	}
	switch {
	case r.dmabuf != nil:
		r.dmabuf.Release(t)
	case r.umem.Umem != nil:
		r.umem.release(t, d)
	case r.odp != nil:
		d.freeODPMR(t, r)
		r.odp.Release(t)
	}
	return nil
}

// destroyRegionKey is mlx5r_handle_mkey_cleanup in
// drivers/infiniband/hw/mlx5/mr.c. Who takes pages away has nobody to tell
// afterwards.
func (d *Device) destroyRegionKey(t *trace.Task, r *mr) error {
	switch {
	case r.odp != nil:
		r.odp.Lock(t)
		defer r.odp.Unlock(t)
	case r.dmabuf != nil:
		r.dmabuf.Lock(t)
		defer r.dmabuf.Unlock(t)
	}
	if err := d.destroyMkey(t, r.key); err != nil {
		return err
	}
	if r.odp != nil {
		r.odp.Private = nil
	}
	if r.dmabuf != nil {
		r.dmabuf.Private = nil
	}
	return nil
}
