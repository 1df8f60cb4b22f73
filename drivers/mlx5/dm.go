package mlx5

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// dm is a struct mlx5_ib_dm: memory of the device that a user has. Its address is
// one of the device's own, without that of its address range.
type dm struct {
	ib   core.DM
	dev  *Device
	typ  uint64
	addr uint64
	size uint64

	// Of memory that users can map (struct mlx5_ib_dm_memic): with the last of the
	// mappings it goes.
	entry     userMmapEntry
	reqLength uint64
	refs      atomic.Int32
	opsLock   trace.Mutex
	ops       map[uint8]*userMmapEntry

	objID uint32 // of memory for steering (struct mlx5_ib_dm_icm)
}

// toDM models to_mdm.
func toDM(m *core.DM) *dm { return m.Driver.(*dm) }

// Memory that users can map is given out in units of 64 bytes.
const (
	memicBaseAlign = 6                   // MLX5_MEMIC_BASE_ALIGN
	memicBaseSize  = 1 << memicBaseAlign // MLX5_MEMIC_BASE_SIZE
)

var (
	capMemicBarSize      = devMem("memic_bar_size")
	capMemicStart        = devMem("memic_bar_start_addr")
	capMemicMaxAlignment = devMem("log_max_memic_addr_alignment")
	capMemicOperations   = devMem("memic_operations")
)

// memicTable is a struct mlx5_dm of mlx5_ib: which pages of the memory that users
// can map are given out.
type memicTable struct {
	lock  trace.Mutex
	pages areas
}

// areas says which of many equal units are given out.
type areas struct {
	used  []bool
	taken int // how many are
}

func newAreas(n uint64) areas { return areas{used: make([]bool, n)} }

// take gives n units out that lie one behind the other from unit first on, or
// behind it, at a multiple of align.
func (a *areas) take(first, n, align uint64) (uint64, bool) {
	for first = alignUp(first, align); first+n <= uint64(len(a.used)); first += align {
		if !slices.Contains(a.used[first:first+n], true) {
			a.set(first, n, true)
			return first, true
		}
	}
	return 0, false
}

// giveBack ends what take gave.
func (a *areas) giveBack(first, n uint64) { a.set(first, n, false) }

func (a *areas) set(first, n uint64, used bool) {
	for i := range n {
		a.used[first+i] = used
	}
	if used {
		a.taken += int(n)
	} else {
		a.taken -= int(n)
	}
}

// initDM models the part of mlx5_ib_stage_init_init in
// drivers/infiniband/hw/mlx5/main.c about memory of the device, and mlx5_dm_create
// in drivers/net/ethernet/mellanox/mlx5/core/lib/dm.c.
func (d *Device) initDM() {
	d.memic.lock.Name, d.icm.lock.Name = "dm.lock", "dm.lock"
	d.memic.pages = newAreas(d.caps.get(capMemicBarSize) >> copyuser.PageShift)
	d.initICM()
}

// allocDM allocates memory of the device. It models mlx5_ib_alloc_dm in
// drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: const/range, mlx5-dm/…, mlx5-cmd/…, umap/no-offset, attr/….
func (d *Device) allocDM(ctx *core.Ucontext, attr *core.DMAllocAttr, attrs core.Attrs) (*core.DM, error) {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mlx5_ib_alloc_dm").Leave()
	b := attrs.(*kernel.Bundle)
	typ, err := b.ConstDefault(spec.MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE, 1<<32-1, spec.MLX5_IB_UAPI_DM_TYPE_MEMIC)
	if err != nil {
		return nil, err
	}
	c := toUcontext(ctx)
	switch typ {
	case spec.MLX5_IB_UAPI_DM_TYPE_MEMIC:
		return c.allocMemic(b, attr)
	case spec.MLX5_IB_UAPI_DM_TYPE_STEERING_SW_ICM, spec.MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_SW_ICM,
		spec.MLX5_IB_UAPI_DM_TYPE_HEADER_MODIFY_PATTERN_SW_ICM, spec.MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM:
		return c.allocSWICM(b, attr, typ)
	}
	return nil, rule.MLX5DMType
}

// allocMemic allocates memory that users can map. It models
// handle_alloc_dm_memic in drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: mlx5-dm/…, mlx5-cmd/…, umap/no-offset, attr/….
func (c *ucontext) allocMemic(b *kernel.Bundle, attr *core.DMAllocAttr) (*core.DM, error) {
	t := b.Trace()
	defer t.EnterInlined(moduleIB, "handle_alloc_dm_memic").Leave()
	if !c.dev.caps.has(capMemic) {
		return nil, rule.MLX5DMNoMemic
	}
	if t.Fail(trace.Alloc, "mlx5_ib_dm_memic") {
		return nil, rule.MLX5DMNoMemory
	}
	m := &dm{dev: c.dev, typ: spec.MLX5_IB_UAPI_DM_TYPE_MEMIC, size: alignUp(attr.Length, memicBaseSize),
		reqLength: attr.Length, ops: map[uint8]*userMmapEntry{}}
	m.ib.Driver, m.opsLock.Name = m, "ops_xa_lock"
	m.refs.Store(1)
	if err := m.cmdAllocMemic(t, attr.Alignment); err != nil {
		return nil, err
	}
	m.entry = userMmapEntry{typ: mmapTypeMemic, address: m.addr &^ pageMask, dm: m}
	if err := m.addMmapEntry(t, c, &m.entry); err != nil {
		m.cmdDeallocMemic(t)
		return nil, err
	}
	err := copyPage(b, &m.entry, m.addr, spec.MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX,
		spec.MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET)
	if err != nil {
		m.entry.rdma.Remove(t)
		return nil, err
	}
	return &m.ib, nil
}

// addMmapEntry gives an entry an offset among those of device memory. It models
// add_dm_mmap_entry in drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: umap/no-offset.
func (m *dm) addMmapEntry(t *trace.Task, c *ucontext, e *userMmapEntry) error {
	defer t.EnterInlined(moduleIB, "add_dm_mmap_entry").Leave()
	e.rdma.Driver = e
	const first = spec.MLX5_IB_MMAP_DEVICE_MEM << 16
	return c.ib.InsertMmapEntry(t, &e.rdma, m.size, first, first+1<<16-1)
}

// copyPage tells the user where to map an entry: its index among those of device
// memory, and the offset of addr in the first page.
//
// Errors: attr/….
func copyPage(b *kernel.Bundle, e *userMmapEntry, addr uint64, index, offset uint16) error {
	if err := b.CopyTo(index, le.AppendUint16(nil, uint16(e.rdma.Pgoff))); err != nil {
		return err
	}
	return b.CopyToUint64(offset, addr&pageMask)
}

// Where ALLOC_MEMIC, DEALLOC_MEMIC and MODIFY_MEMIC have their fields.
var (
	memicLogAlignment = num(15, 1)
	memicRangeStart   = num(16, 8)
	memicRangeSize    = num(24, 4)
	memicSize         = num(28, 4)
	memicStartOut     = num(8, 8)
	memicStart        = num(16, 8)
	memicFreedSize    = num(24, 4)
	memicOpType       = num(15, 1)
	memicOpAddr       = num(16, 8)
)

// Operation modifiers of MODIFY_MEMIC.
const (
	modifyMemicAlloc   = 0 // MLX5_MODIFY_MEMIC_OP_MOD_ALLOC
	modifyMemicDealloc = 1 // MLX5_MODIFY_MEMIC_OP_MOD_DEALLOC
)

// cmdAllocMemic gives the device pages in which it shall find room. It models
// mlx5_cmd_alloc_memic in drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: mlx5-dm/…, mlx5-cmd/….
func (m *dm) cmdAllocMemic(t *trace.Task, alignment uint32) error {
	defer t.EnterInlined(moduleIB, "mlx5_cmd_alloc_memic").Leave()
	d := m.dev
	if m.size == 0 {
		return rule.MLX5DMLength
	}
	alignment = max(alignment, memicBaseAlign) - memicBaseAlign
	if uint64(alignment) > d.caps.get(capMemicMaxAlignment) {
		return rule.MLX5DMAlignment
	}
	start, n := d.caps.get(capMemicStart), m.numPages()
	for page := uint64(0); ; page++ {
		d.memic.lock.Lock(t)
		at, ok := d.memic.pages.take(page, n, 1)
		d.memic.lock.Unlock(t)
		if !ok {
			return rule.MLX5DMFull
		}
		page = at
		box := d.mailbox(ifc.MLX5_CMD_OP_ALLOC_MEMIC, 0, 0)
		memicLogAlignment.Set(box.in, uint64(alignment))
		memicRangeStart.Set(box.in, start+page<<copyuser.PageShift)
		memicRangeSize.Set(box.in, n<<copyuser.PageShift)
		memicSize.Set(box.in, m.size)
		err := d.exec(t, box.in, box.out)
		m.addr = memicStartOut.Get(box.out)
		d.giveBack(box)
		if err == nil {
			return nil
		}
		d.memic.lock.Lock(t)
		d.memic.pages.giveBack(page, n)
		d.memic.lock.Unlock(t)
		if err != rule.MLX5CmdNoRes {
			return err
		}
	}
}

// numPages is how many pages the memory may touch, as a 32-bit number.
func (m *dm) numPages() uint64 {
	return uint64(uint32((m.size + copyuser.PageSize - 1) >> copyuser.PageShift))
}

// cmdDeallocMemic models mlx5_cmd_dealloc_memic in
// drivers/infiniband/hw/mlx5/dm.c.
func (m *dm) cmdDeallocMemic(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_cmd_dealloc_memic").Leave()
	d := m.dev
	box := d.mailbox(ifc.MLX5_CMD_OP_DEALLOC_MEMIC, 0, 0)
	defer d.giveBack(box)
	memicStart.Set(box.in, m.addr)
	memicFreedSize.Set(box.in, m.size)
	if d.exec(t, box.in, box.out) != nil {
		return
	}
	d.memic.lock.Lock(t)
	d.memic.pages.giveBack((m.addr-d.caps.get(capMemicStart))>>copyuser.PageShift, m.numPages())
	d.memic.lock.Unlock(t)
}

// cmdModifyMemic allocates the address at which writes do an operation, or gives
// it back. It models mlx5_cmd_alloc_memic_op and mlx5_cmd_dealloc_memic_op in
// drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: mlx5-cmd/….
func (m *dm) cmdModifyMemic(t *trace.Task, opMod uint16, op uint8) (addr uint64, err error) {
	box := m.dev.mailbox(ifc.MLX5_CMD_OP_MODIFY_MEMIC, 0, 0)
	defer m.dev.giveBack(box)
	be.PutUint16(box.in[6:], opMod)
	memicOpType.Set(box.in, uint64(op))
	memicStart.Set(box.in, m.addr)
	if err := m.dev.exec(t, box.in, box.out); err != nil {
		return 0, err
	}
	return memicOpAddr.Get(box.out), nil
}

// dmMapOpAddr is the handler of MLX5_IB_METHOD_DM_MAP_OP_ADDR: where writes do an
// operation on the memory instead. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DM_MAP_OP_ADDR) in drivers/infiniband/hw/mlx5/dm.c,
// with its treatment of memory for steering, which is taken for the other kind.
//
// Errors: mlx5-dm/…, mlx5-cmd/…, umap/no-offset, attr/….
func dmMapOpAddr(b *kernel.Bundle) error {
	t := b.Trace()
	o, err := b.Object(spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE)
	if err != nil {
		return err
	}
	m := toDM(o.HW.(*core.DM))
	var arg [1]byte
	if err := b.CopyFrom(arg[:], spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP); err != nil {
		return err
	}
	op := arg[0]
	if op >= 32 {
		return rule.MLX5DMOpRange
	}
	if m.dev.caps.get(capMemicOperations)>>op&1 == 0 {
		return rule.MLX5DMOp
	}
	m.opsLock.Lock(t)
	defer m.opsLock.Unlock(t)
	if e := m.ops[op]; e != nil {
		return e.copyOpToUser(b)
	}
	if t.Fail(trace.Alloc, "mlx5_ib_dm_op_entry") {
		return rule.MLX5DMOpNoMemory
	}
	addr, err := m.cmdModifyMemic(t, modifyMemicAlloc, op)
	if err != nil {
		return err
	}
	e := &userMmapEntry{typ: mmapTypeMemicOp, address: addr &^ pageMask, dm: m, op: op, opAddr: addr}
	if err := m.addMmapEntry(t, toUcontext(o.Context().(*core.Ucontext)), e); err != nil {
		m.cmdModifyMemic(t, modifyMemicDealloc, op) // as the kernel does
		return err
	}
	m.refs.Add(1)
	if err := e.copyOpToUser(b); err != nil {
		e.rdma.Remove(t)
		return err
	}
	if t.Fail(trace.Alloc, "ops_xa_entry") {
		e.rdma.Remove(t)
		return rule.MLX5DMOpTable
	}
	m.ops[op] = e
	return nil
}

// copyOpToUser models copy_op_to_user in drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: attr/….
func (e *userMmapEntry) copyOpToUser(b *kernel.Bundle) error {
	return copyPage(b, e, e.opAddr, spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX,
		spec.MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET)
}

// dmMmapFree is told that no area maps an entry of device memory any more. It
// models mlx5_ib_dm_mmap_free in drivers/infiniband/hw/mlx5/dm.c.
func (e *userMmapEntry) dmMmapFree(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_dm_mmap_free").Leave()
	m := e.dm
	if e.typ == mmapTypeMemicOp {
		m.cmdModifyMemic(t, modifyMemicDealloc, e.op) // as the kernel does
	}
	if m.refs.Add(-1) == 0 {
		m.cmdDeallocMemic(t)
	}
}

// deallocDM gives memory of the device back. It models mlx5_ib_dealloc_dm in
// drivers/infiniband/hw/mlx5/dm.c.
func (d *Device) deallocDM(ib *core.DM, attrs core.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mlx5_ib_dealloc_dm").Leave()
	m := toDM(ib)
	if m.typ != spec.MLX5_IB_UAPI_DM_TYPE_MEMIC {
		d.swICMDealloc(t, m, toUcontext(attrs.Ucontext()).devxUID)
		return nil
	}
	m.opsLock.Lock(t)
	for op, e := range m.ops {
		delete(m.ops, op)
		e.rdma.Remove(t)
	}
	m.opsLock.Unlock(t)
	m.entry.rdma.Remove(t)
	return nil
}

// dmQuery is the handler of MLX5_IB_METHOD_DM_QUERY. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DM_QUERY) in drivers/infiniband/hw/mlx5/dm.c.
//
// Errors: mlx5-dm/query-type, attr/….
func dmQuery(b *kernel.Bundle) error {
	o, err := b.Object(spec.MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE)
	if err != nil {
		return err
	}
	m := toDM(o.HW.(*core.DM))
	if m.typ != spec.MLX5_IB_UAPI_DM_TYPE_MEMIC {
		return rule.MLX5DMQueryType
	}
	err = copyPage(b, &m.entry, m.addr, spec.MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX,
		spec.MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET)
	if err != nil {
		return err
	}
	return b.CopyToUint64(spec.MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, m.reqLength)
}

// Access flags that regions of device memory take.
const (
	dmSWICMAccess = core.AccessLocalWrite | core.AccessRemoteWrite | core.AccessRemoteRead | core.AccessZeroBased
	dmMemicAccess = dmSWICMAccess | core.AccessRemoteAtomic
)

// regDMMR registers memory of the device. It models mlx5_ib_reg_dm_mr and
// mlx5_ib_get_dm_mr in drivers/infiniband/hw/mlx5/mr.c.
//
// Errors: mlx5-dm/mr-access, mlx5-dm/mr-no-memory, mlx5-cmd/….
func (d *Device) regDMMR(p *core.PD, ib *core.DM, attr *core.DMMRAttr, attrs core.Attrs) (*core.MR, error) {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mlx5_ib_reg_dm_mr").Leave()
	m := toDM(ib)
	allowed, mode := uint32(dmSWICMAccess), uint64(mkcAccessModeSWICM)
	if m.typ == spec.MLX5_IB_UAPI_DM_TYPE_MEMIC {
		allowed, mode = dmMemicAccess, mkcAccessModeMemic
	}
	if attr.AccessFlags&^allowed != 0 {
		return nil, rule.MLX5DMMRAccess
	}
	if t.Fail(trace.Alloc, "mlx5_ib_mr") || t.Fail(trace.Alloc, "create_mkey_in") {
		return nil, rule.MLX5DMMRNoMemory
	}
	box := d.mailbox(ifc.MLX5_CMD_OP_CREATE_MKEY, 0, 0)
	defer d.giveBack(box)
	ctx := mkcIn.Bytes(box.in)
	mkc.accessMode10.Set(ctx, mode&3)
	mkc.accessMode42.Set(ctx, mode>>2)
	mkc.length.Set(ctx, attr.Length)
	start := m.addr + attr.Offset
	d.setMkcAccess(ctx, attr.AccessFlags, start, toPD(p).pdn())
	key, err := d.createMkey(t, box)
	if err != nil {
		return nil, err
	}
	return &newMR(key, p, start, attr.Length, attr.AccessFlags).ib, nil
}

// capNetRawIO says whether the caller has both capabilities that raw access to
// the device wants.
func capNetRawIO(task *process.Task) bool {
	return task.Capable(capSysRawIO) && task.Capable(process.CAP_NET_RAW)
}

// roundUpBlocks rounds a length up to a power of two of blocks; what has none in
// 64 bits is 0.
func roundUpBlocks(length, block uint64) uint64 {
	length = alignUp(length, block)
	if length == 0 {
		return 0
	}
	return 1 << bits.Len64(length-1)
}
