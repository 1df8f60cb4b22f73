package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// mr is a struct mlx5_ib_mr: a memory region with a key of the device.
type mr struct {
	ib          core.MR
	key         uint32 // number of the key, and 8 bits that the driver chose
	umem        umem   // none for device memory
	accessFlags uint32
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
		octos, logPageSize, enRInval ifc.Field
	}{
		free: mkcField("free"), umrEn: mkcField("umr_en"), enRInval: mkcField("en_rinval"),
		accessMode10: mkcField("access_mode_1_0"), accessMode42: mkcField("access_mode_4_2"),
		a: mkcField("a"), rw: mkcField("rw"), rr: mkcField("rr"), lw: mkcField("lw"), lr: mkcField("lr"),
		relaxedWrite: mkcField("relaxed_ordering_write"), relaxedRead: mkcField("relaxed_ordering_read"),
		qpn: mkcField("qpn"), key: mkcField("mkey_7_0"), pd: mkcField("pd"),
		start: mkcField("start_addr"), length: mkcField("len"),
		octos: mkcField("translations_octword_size"), logPageSize: mkcField("log_page_size"),
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
func (d *Device) setMkcAccess(ctx []byte, access uint32, start uint64, p *pd) {
	mkc.a.Set(ctx, bit(access&core.AccessRemoteAtomic != 0))
	mkc.rw.Set(ctx, bit(access&core.AccessRemoteWrite != 0))
	mkc.rr.Set(ctx, bit(access&core.AccessRemoteRead != 0))
	mkc.lw.Set(ctx, bit(access&core.AccessLocalWrite != 0))
	mkc.lr.Set(ctx, 1)
	if access&core.AccessRelaxedOrdering != 0 {
		mkc.relaxedWrite.Set(ctx, bit(d.caps.has(capRelaxedWrite)))
		mkc.relaxedRead.Set(ctx, bit(d.caps.has(capRelaxedRead) || d.caps.has(capRelaxedReadPCI)))
	}
	mkc.pd.Set(ctx, uint64(p.pdn()))
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

// regCreate makes a region of pinned memory with one command that has the list of
// its pages. It models reg_create in drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-mr/…, mlx5-cmd/….
func (d *Device) regCreate(t *trace.Task, p *core.PD, u umem, iova uint64, access uint32) (*mr, error) {
	defer t.Enter(moduleIB, "reg_create").Leave()
	pageSize := u.findBestPgsz(logPageSizeToBitmap(mkcLogPageSize, 0), iova)
	if pageSize == 0 {
		return nil, rule.MLX5MRPageSize
	}
	if t.Fail(trace.Alloc, "mlx5_ib_mr") || t.Fail(trace.Alloc, "create_mkey_in") {
		return nil, rule.MLX5MRNoMemory
	}
	n := u.numDMABlocks(iova, pageSize)
	octos := octoLen(iova, u.Length, uint(log2(pageSize)))
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 8*int(alignUp(uint64(n), 2)))
	defer d.giveBack(m)
	present := bit(d.caps.has(capPG)) // MLX5_IB_MTT_PRESENT
	mkeyPgAcc.Set(m.in, present)
	u.populatePas(pageSize, n, m.in[mkeyPas:], present)
	ctx := mkcIn.Bytes(m.in)
	d.setMkcAccess(ctx, access, iova, toPD(p))
	mkc.accessMode10.Set(ctx, mkcAccessModeMTT)
	mkc.umrEn.Set(ctx, 1)
	mkc.length.Set(ctx, u.Length)
	mkc.octos.Set(ctx, octos)
	mkc.logPageSize.Set(ctx, log2(pageSize))
	mkeyOctos.Set(m.in, octos)
	key, err := d.createMkey(t, m)
	if err != nil {
		return nil, err
	}
	return newMR(key, u, iova, u.Length, access), nil
}

// mkcLogPageSize is log_page_size as the driver uses it: 5 bits.
var mkcLogPageSize = ifc.Field{Name: "log_page_size", Width: 5}

// newMR is set_mr_fields in drivers/infiniband/hw/mlx5/mr.c.
func newMR(key uint32, u umem, iova, length uint64, access uint32) *mr {
	r := &mr{key: key, umem: u, accessFlags: access}
	r.ib.LKey, r.ib.RKey, r.ib.IOVA, r.ib.Length, r.ib.Driver = key, key, iova, length, r
	return r
}

// createRealMR takes over the pinned memory. It models create_real_mr in
// drivers/infiniband/hw/mlx5/mr.c for a device without UMR, which has no cache of
// keys either.
//
// Errors: mlx5-mr/…, mlx5-cmd/….
func (d *Device) createRealMR(t *trace.Task, p *core.PD, u umem, iova uint64, access uint32) (*core.MR, error) {
	defer t.Enter(moduleIB, "create_real_mr").Leave()
	d.slowPathMutex.Lock(t)
	r, err := d.regCreate(t, p, u, iova, access)
	d.slowPathMutex.Unlock(t)
	if err != nil {
		u.release(t, d)
		return nil, err
	}
	return &r.ib, nil
}

// regUserMR registers memory of the caller. It models mlx5_ib_reg_user_mr in
// drivers/infiniband/hw/mlx5/mr.c; the queue pair for UMR that it makes at the
// first call, and on-demand paging, are left out.
//
// Errors: umem/…, pin/…, mlx5-mr/…, mlx5-cmd/….
func (d *Device) regUserMR(p *core.PD, start, length, iova uint64, access uint32, udata *core.Udata) (*core.MR, error) {
	task := udata.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_reg_user_mr").Leave()
	if access&core.AccessOnDemand != 0 {
		return nil, rule.MLX5Unmodelled
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

// reregUserMR makes a new region in an old one's place. It models
// mlx5_ib_rereg_user_mr in drivers/infiniband/hw/mlx5/mr.c where that takes other
// memory; a change of the domain or the access alone needs UMR and is outside of
// the model.
//
// Errors: mlx5-mr/rereg-flags, umem/…, pin/…, mlx5-mr/…, mlx5-cmd/….
func (d *Device) reregUserMR(m *core.MR, flags uint32, start, length, iova uint64, access uint32, p *core.PD, udata *core.Udata) (*core.MR, error) {
	task := udata.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_rereg_user_mr").Leave()
	if flags&^(mrReregTrans|mrReregPD|mrReregAccess) != 0 {
		return nil, rule.MLX5MRReregFlags
	}
	if flags&mrReregAccess == 0 {
		access = toMR(m).accessFlags
	}
	if flags&mrReregPD == 0 {
		p = m.PD
	}
	if flags&mrReregTrans == 0 {
		return nil, rule.MLX5Unmodelled
	}
	u, err := d.umemGet(task, start, length, access)
	if err != nil {
		return nil, err
	}
	return d.createRealMR(t, p, u, iova, access)
}

// deregMR ends a region. It models mlx5_ib_dereg_mr in
// drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-cmd/….
func (d *Device) deregMR(m *core.MR, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_dereg_mr").Leave()
	r := toMR(m)
	if err := d.destroyMkey(t, r.key); err != nil {
		return err
	}
	if r.umem.Umem != nil {
		r.umem.release(t, d)
	}
	return nil
}
