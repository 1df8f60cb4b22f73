package mlx5

import (
	"sync"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Parts of an implicit region: keys for 1 GiB each stand behind one that has a
// piece for each GiB of the address space (drivers/infiniband/hw/mlx5/odp.c).
const (
	imrMTTShift   = 30                      // MLX5_IMR_MTT_SHIFT
	imrMTTSize    = 1 << imrMTTShift        // MLX5_IMR_MTT_SIZE
	imrMTTEntries = 1 << (imrMTTShift - 12) // MLX5_IMR_MTT_ENTRIES
	imrKSMEntries = 1 << (47 - imrMTTShift) // mlx5_imr_ksm_entries: of TASK_SIZE
	imrSize       = imrKSMEntries * imrMTTSize
)

// What IB says of a device that pages memory on demand (enum ib_odp_general_cap_bits
// and enum ib_odp_transport_cap_bits in include/rdma/ib_verbs.h).
const (
	odpSupport         = 1 << 0 // IB_ODP_SUPPORT
	odpSupportImplicit = 1 << 1 // IB_ODP_SUPPORT_IMPLICIT

	odpSupportSend    = 1 << 0 // IB_ODP_SUPPORT_SEND
	odpSupportRecv    = 1 << 1 // IB_ODP_SUPPORT_RECV
	odpSupportWrite   = 1 << 2 // IB_ODP_SUPPORT_WRITE
	odpSupportRead    = 1 << 3 // IB_ODP_SUPPORT_READ
	odpSupportAtomic  = 1 << 4 // IB_ODP_SUPPORT_ATOMIC
	odpSupportSRQRecv = 1 << 5 // IB_ODP_SUPPORT_SRQ_RECV
)

func odpCap(name string) capability {
	return capOf(ifc.MLX5_CAP_ODP, "transport_page_fault_scheme_cap."+name)
}

// odpTransportCaps are the bits of each transport that the driver asks for.
var odpTransportCaps = map[string][]flagIf{
	"ud": {{odpCap("ud_odp_caps.send"), odpSupportSend}, {odpCap("ud_odp_caps.srq_receive"), odpSupportSRQRecv}},
	"rc": odpConnectedCaps("rc_odp_caps."), "xrc": odpConnectedCaps("xrc_odp_caps."),
}

func odpConnectedCaps(of string) []flagIf {
	return []flagIf{{odpCap(of + "send"), odpSupportSend}, {odpCap(of + "receive"), odpSupportRecv},
		{odpCap(of + "write"), odpSupportWrite}, {odpCap(of + "read"), odpSupportRead},
		{odpCap(of + "atomic"), odpSupportAtomic}, {odpCap(of + "srq_receive"), odpSupportSRQRecv}}
}

// fillODPCaps says what the adapter can do with memory that is paged on demand. It
// models internal_fill_odp_caps in drivers/infiniband/hw/mlx5/odp.c for adapters
// that report page faults by transport.
func (d *Device) fillODPCaps() (odp core.ODPCaps) {
	c := &d.caps
	if !c.has(capPG) || !d.umrCanLoadPas(0) {
		return odp
	}
	odp.General = odpSupport
	odp.UD = uint32(c.flags(odpTransportCaps["ud"]))
	odp.RC = uint32(c.flags(odpTransportCaps["rc"]))
	odp.XRC = uint32(c.flags(odpTransportCaps["xrc"]))
	if c.has(capFixedBuffer) && c.has(capNullMkey) && c.has(capUMRExtOffset) && !c.has(capUMRNoIndirect) {
		odp.General |= odpSupportImplicit
	}
	return odp
}

// kernelODPCaps are those that the kernel's own users are told: none of what comes
// with receives, and none of READ.
func kernelODPCaps(odp core.ODPCaps) core.ODPCaps {
	for _, caps := range []*uint32{&odp.RC, &odp.UC, &odp.UD, &odp.XRC} {
		*caps &^= odpSupportRead | odpSupportSRQRecv
	}
	return odp
}

// implicitChildren are the regions behind an implicit one, by their GiB. One that
// was made stays until the region goes; the kernel ends those that have lost all
// their pages.
type implicitChildren struct {
	mu   sync.Mutex
	byGB map[uint64]*mr // nil for a region that is not implicit
}

func (r *mr) isImplicit() bool { return r.odp != nil && r.odp.IsImplicit }

func (c *implicitChildren) get(i uint64) *mr {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.byGB[i]
}

// add makes r the region of a GiB unless there is one; it returns the one that is
// there. A place in the table takes memory only for a new one.
//
// Errors: mlx5-odp/child-no-memory.
func (c *implicitChildren) add(t *trace.Task, i uint64, r *mr) (*mr, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.byGB[i]; other != nil {
		return other, nil
	}
	if t.Fail(trace.Alloc, "implicit_children_entry") {
		return nil, rule.MLX5ODPChildNoMemory
	}
	c.byGB[i] = r
	return r, nil
}

// populateMTT writes entries of a list of pages: those that the adapter may use
// now. It models populate_mtt in drivers/infiniband/hw/mlx5/odp.c.
func (r *mr) populateMTT(entries []byte, i, n uint64, flags int) {
	if flags&updXLTZap != 0 {
		return
	}
	for j := range n {
		be.PutUint64(entries[mttSize*j:], mttOf(r.odp.List[i+j]))
	}
}

// mttOf models umem_dma_to_mtt in drivers/infiniband/hw/mlx5/odp.c.
func mttOf(dma uint64) uint64 {
	e := dma & core.ODPDMAAddrMask
	if dma&core.ODPReadAllowed != 0 {
		e |= mttRead
	}
	if dma&core.ODPWriteAllowed != 0 {
		e |= mttWrite
	}
	return e
}

// populateKLM writes entries of an implicit region's list: the keys of the GiBs
// that have been used, and the null key for the others. It models populate_klm in
// drivers/infiniband/hw/mlx5/odp.c.
func (r *mr) populateKLM(entries []byte, i, n uint64, flags int) {
	for j := range n {
		e := entries[klmSize*j:]
		be.PutUint32(e, imrMTTSize)
		be.PutUint32(e[4:], r.nullKey)
		if flags&updXLTZap != 0 {
			continue
		}
		if child := r.children.get(i + j); child != nil {
			be.PutUint32(e[4:], child.key)
			be.PutUint64(e[8:], (i+j)*imrMTTSize)
		}
	}
}

// createUserODPMR registers memory of the caller without pinning it. Length of all
// ones from address 0 on is the whole address space. It models create_user_odp_mr
// in drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-odp/…, mlx5-mr/…, umem-odp/…, mlx5-umr/…, mlx5-eq/no-memory,
// mlx5-cmd/….
func (d *Device) createUserODPMR(task *process.Task, p *core.PD, start, length, iova uint64, access uint32) (*core.MR, error) {
	t := task.Trace
	defer t.EnterInlined(moduleIB, "create_user_odp_mr").Leave()
	if err := d.odpCreateEQ(t); err != nil {
		return nil, err
	}
	if start == 0 && length == 1<<64-1 {
		switch {
		case iova != 0:
			return nil, rule.MLX5MRODPImplicitIOVA
		case d.odpCaps.General&odpSupportImplicit == 0:
			return nil, rule.MLX5MRODPImplicit
		}
		return d.allocImplicitMR(task, p, access)
	}
	if !d.umrCanLoadPas(length) {
		return nil, rule.MLX5MRODPLength
	}
	odp, err := core.GetUmemODP(task, d.IB, d.Bus, start, length, access, d.invalidateRange)
	if err != nil {
		return nil, err
	}
	r, err := d.allocCacheableMR(t, p, length, iova, access, mkcPageSizes()&(1<<odp.PageShift()))
	if err != nil {
		odp.Release(t)
		return nil, err
	}
	r.odp, odp.Private = odp, r
	if r.odpKey, err = d.odpKeys.store(t, odpKey{key: r.key, mr: r}); err != nil {
		d.deregRegion(t, r) // the first error counts
		return nil, err
	}
	if _, err := d.pagefaultRealMR(t, r, start, length, nil, pfSnapshot|pfEnable); err != nil {
		d.deregRegion(t, r) // the first error counts
		return nil, err
	}
	return &r.ib, nil
}

// allocImplicitMR registers the whole address space. It models
// mlx5_ib_alloc_implicit_mr in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: mlx5-odp/…, umem-odp/…, mlx5-mr/no-memory, mlx5-umr/…,
// mlx5-cmd/….
func (d *Device) allocImplicitMR(task *process.Task, p *core.PD, access uint32) (*core.MR, error) {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_alloc_implicit_mr").Leave()
	if !d.umrCanLoadPas(imrMTTSize) {
		return nil, rule.MLX5ODPImplicitLength
	}
	odp, err := core.AllocUmemODPImplicit(task, d.IB, d.Bus, access)
	if err != nil {
		return nil, err
	}
	r, err := d.createCacheMkey(t, p, mkcAccessModeKSM, imrKSMEntries, access)
	if err != nil {
		odp.Release(t)
		return nil, err
	}
	r.odp, r.nullKey = odp, d.mkeys.null
	r.children.byGB = map[uint64]*mr{}
	if err := d.umrUpdateXLT(t, r, 0, imrKSMEntries, imrMTTShift, updXLTIndirect|updXLTZap|updXLTEnable); err != nil {
		d.deregRegion(t, r) // the first error counts
		return nil, err
	}
	if r.odpKey, err = d.odpKeys.store(t, odpKey{key: r.key, mr: r}); err != nil {
		d.deregRegion(t, r) // the first error counts
		return nil, err
	}
	return &r.ib, nil
}

// createCacheMkey makes a free key with room for that many entries. It models
// mlx5_mr_cache_alloc, create_cache_mkey and set_cache_mkc in
// drivers/infiniband/hw/mlx5/mr.c, as if no key waited in the cache.
//
// Errors: mlx5-mr/no-memory, mlx5-cmd/….
func (d *Device) createCacheMkey(t *trace.Task, p *core.PD, mode, entries uint64, access uint32) (*mr, error) {
	defer t.Enter(moduleIB, "mlx5_mr_cache_alloc").Leave()
	if t.Fail(trace.Alloc, "mlx5_ib_mr") || t.Fail(trace.Alloc, "create_mkey_in") {
		return nil, rule.MLX5MRNoMemory
	}
	size := uint64(mttSize)
	if mode != mkcAccessModeMTT {
		size = klmSize
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 0)
	defer d.giveBack(m)
	mkeyPgAcc.Set(m.in, bit(mode == mkcAccessModeMTT))
	ctx := mkcIn.Bytes(m.in)
	d.setMkcAccess(ctx, 0, 0, d.umrc.pdn)
	mkc.free.Set(ctx, 1)
	mkc.umrEn.Set(ctx, 1)
	mkc.accessMode10.Set(ctx, mode&3)
	mkc.accessMode42.Set(ctx, mode>>2)
	mkc.octos.Set(ctx, entries*size/umrOctoword)
	mkc.logPageSize.Set(ctx, adapterPageShift)
	key, err := d.createMkey(t, m)
	if err != nil {
		return nil, err
	}
	return newMR(key, p, 0, 0, access), nil
}

// implicitGetChild returns the region of a GiB of an implicit one, which is made
// when it is first needed. It models implicit_get_child_mr in
// drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: umem-odp/…, mlx5-mr/no-memory, mlx5-odp/child-no-memory, mlx5-umr/…,
// mlx5-cmd/….
func (d *Device) implicitGetChild(t *trace.Task, imr *mr, i uint64) (*mr, error) {
	defer t.Enter(moduleIB, "implicit_get_child_mr").Leave()
	odp, err := imr.odp.AllocChild(t, i*imrMTTSize, imrMTTSize, d.invalidateRange)
	if err != nil {
		return nil, err
	}
	r, err := d.createCacheMkey(t, imr.pd.Load(), mkcAccessModeMTT, imrMTTEntries, imr.accessFlags.Load())
	if err != nil {
		odp.Release(t)
		return nil, err
	}
	r.odp, odp.Private = odp, r
	r.ib.IOVA, r.ib.Length = i*imrMTTSize, imrMTTSize
	if err := d.umrUpdateXLT(t, r, 0, imrMTTEntries, adapterPageShift, updXLTZap|updXLTEnable); err != nil {
		d.deregRegion(t, r) // the first error counts
		return nil, err
	}
	first, err := imr.children.add(t, i, r)
	if first != r {
		d.deregRegion(t, r)
	}
	return first, err
}

// freeODPMR ends the regions behind an implicit one, whose key is gone. It models
// mlx5_ib_free_odp_mr in drivers/infiniband/hw/mlx5/odp.c.
func (d *Device) freeODPMR(t *trace.Task, r *mr) {
	defer t.Enter(moduleIB, "mlx5_ib_free_odp_mr").Leave()
	for _, child := range r.children.byGB {
		d.deregRegion(t, child) // as the kernel does
	}
	r.children.byGB = nil
}

// invalidateRange takes pages away from the adapter that are to change in the
// address space. It models mlx5_ib_invalidate_range in
// drivers/infiniband/hw/mlx5/odp.c.
func (d *Device) invalidateRange(t *trace.Task, u *core.UmemODP, start, end uint64) {
	defer t.Enter(moduleIB, "mlx5_ib_invalidate_range").Leave()
	u.Lock(t)
	defer u.Unlock(t)
	r, _ := u.Private.(*mr)
	if u.NPages == 0 || r == nil {
		return
	}
	start, end = max(start, u.Start()), min(end, u.End())
	const blockMask = umrXLTAlignment/mttSize - 1
	size := uint64(1) << u.PageShift()
	first, i, inBlock := uint64(0), uint64(0), false
	zap := func(n uint64) { d.umrUpdateXLT(t, r, first, n, 0, updXLTZap) } // as the kernel does
	for at := start; at < end; at += size {
		i = (at - u.Start()) / size
		switch {
		case u.List[i] != 0:
			if !inBlock {
				first, inBlock = i, true
			}
		case inBlock && i&blockMask == 0:
			zap(i - first)
			inBlock = false
		}
	}
	if inBlock {
		zap(i - first + 1)
	}
	u.UnmapDMAPages(t, start, end)
}

// adviseMR is the driver's part of ADVISE_MR. It models mlx5_ib_advise_mr in
// drivers/infiniband/hw/mlx5/mr.c and mlx5_ib_advise_mr_prefetch in
// drivers/infiniband/hw/mlx5/odp.c. What the kernel leaves to a work queue, without
// IB_UVERBS_ADVISE_MR_FLAG_FLUSH, is done at once here, and its errors are nobody's.
//
// Errors: mlx5-mr/advice, mlx5-odp/…, hmm/…, umem-odp/…, mlx5-umr/….
func (d *Device) adviseMR(p *core.PD, advice, flags uint32, list []core.SGE, attrs core.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mlx5_ib_advise_mr").Leave()
	pf, ok := adviceFlags[advice]
	if !ok {
		return rule.MLX5MRAdvice
	}
	if flags&spec.IB_UVERBS_ADVISE_MR_FLAG_FLUSH != 0 {
		return d.prefetchList(t, p, advice, pf, list)
	}
	if t.Fail(trace.Alloc, "prefetch_mr_work") {
		return rule.MLX5ODPNoMemory
	}
	keys := make([]*odpKey, 0, len(list))
	defer func() {
		for _, k := range keys {
			k.put()
		}
	}()
	for i := range list {
		k, err := d.prefetchable(p, advice, list[i].LKey)
		if err != nil {
			return err
		}
		keys = append(keys, k)
	}
	for i, k := range keys {
		d.pagefaultMR(t, k.mr, list[i].Addr, uint64(list[i].Length), nil, pf) // as the kernel does
	}
	return nil
}

// adviceFlags are what each advice means for a page fault.
var adviceFlags = map[uint32]int{
	spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH:          pfDowngrade,
	spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE:    0,
	spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT: pfSnapshot,
}

// prefetchList models mlx5_ib_prefetch_sg_list in
// drivers/infiniband/hw/mlx5/odp.c.
func (d *Device) prefetchList(t *trace.Task, p *core.PD, advice uint32, pf int, list []core.SGE) error {
	for _, s := range list {
		k, err := d.prefetchable(p, advice, s.LKey)
		if err != nil {
			return err
		}
		_, err = d.pagefaultMR(t, k.mr, s.Addr, uint64(s.Length), nil, pf)
		k.put()
		if err != nil {
			return err
		}
	}
	return nil
}

// prefetchable finds the region of a key, whose put the caller calls. It models
// get_prefetchable_mr in drivers/infiniband/hw/mlx5/odp.c.
//
// Errors: mlx5-odp/no-key, mlx5-odp/key-type, mlx5-odp/foreign-pd,
// mlx5-odp/read-only.
func (d *Device) prefetchable(p *core.PD, advice, lkey uint32) (*odpKey, error) {
	k := d.odpKeys.get(lkey)
	err := error(nil)
	switch {
	case k == nil:
		return nil, rule.MLX5ODPNoKey
	case k.key != lkey:
		err = rule.MLX5ODPNoKey
	case k.mr == nil:
		err = rule.MLX5ODPKeyType
	case k.mr.pd.Load() != p:
		err = rule.MLX5ODPForeignPD
	case advice == spec.IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE && !k.mr.isWritable():
		err = rule.MLX5ODPReadOnly
	default:
		return k, nil
	}
	k.put()
	return nil, err
}

// isWritable says whether the memory was registered for writing.
func (r *mr) isWritable() bool {
	if r.dmabuf != nil {
		return r.dmabuf.Writable
	}
	return r.odp.Writable
}
