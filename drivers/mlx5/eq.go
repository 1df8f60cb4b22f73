package mlx5

import (
	"math/bits"
	"sync"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// Sizes of event queues, in entries (drivers/net/ethernet/mellanox/mlx5/core/eq.c
// and mlx5_core.h).
const (
	compEQSize      = 1024   // MLX5_COMP_EQ_SIZE
	numAsyncEQE     = 0x1000 // MLX5_NUM_ASYNC_EQE
	numSpareEQE     = 0x80   // MLX5_NUM_SPARE_EQE
	eqPollingBudget = 128    // MLX5_EQ_POLLING_BUDGET: entries taken at one interrupt
)

// Interrupt vectors: one for all asynchronous event queues, one for each
// completion vector behind it.
const (
	irqCtrl     = 0
	irqCompBase = 1 // MLX5_IRQ_VEC_COMP_BASE
)

// Event types that have no other home (enum mlx5_event in
// include/linux/mlx5/device.h).
const (
	eventPathMig       = 0x01
	eventCommEst       = 0x02
	eventSQDrained     = 0x03
	eventWQCatasError  = 0x05
	eventPathMigFailed = 0x07
	eventPortChange    = 0x09
	eventWQInvalReq    = 0x10
	eventWQAccessError = 0x11
	eventSRQCatasError = 0x12
	eventSRQLastWQE    = 0x13
	eventSRQRQLimit    = 0x14
	eventXRQError      = 0x18
	eventDCTDrained    = 0x1c
	eventDCTKeyViol    = 0x1d
)

// asyncEvents is MLX5_ASYNC_EVENT_MASK.
const asyncEvents = 1<<eventPathMig | 1<<eventCommEst | 1<<eventSQDrained | 1<<ifc.MLX5_EVENT_TYPE_CQ_ERROR |
	1<<eventWQCatasError | 1<<eventPathMigFailed | 1<<eventWQInvalReq | 1<<eventWQAccessError | 1<<eventPortChange |
	1<<eventSRQCatasError | 1<<eventSRQLastWQE | 1<<eventSRQRQLimit

var (
	eqcIn    = ifc.Must("create_eq_in").Field("eq_context_entry")
	eqcPas   = ifc.Must("create_eq_in").Field("pas").Byte()
	eqcMask  = ifc.Must("create_eq_in").Field("event_bitmask").Byte()
	eqNumber = ifc.Must("create_eq_out").Field("eq_number")

	eqc = struct{ logSize, uarPage, intr, logPageSize ifc.Field }{
		ifc.Must("eqc").Field("log_eq_size"), ifc.Must("eqc").Field("uar_page"),
		ifc.Must("eqc").Field("intr"), ifc.Must("eqc").Field("log_page_size"),
	}
	userAffiliated   = ifc.Must("device_event_cap").Field("user_affiliated_events").Byte()
	userUnaffiliated = ifc.Must("device_event_cap").Field("user_unaffiliated_events").Byte()
)

// eq is a struct mlx5_eq: an event queue in the kernel's memory.
type eq struct {
	dev       *Device
	eqn       uint32
	vecidx    int
	logSize   uint
	consIndex uint32
	pages     []*copyuser.Page
	dma       uint64
	cqs       cqTable

	// irq is held while an interrupt of the queue is handled.
	irq   sync.Mutex
	entry [hw.EQESize]byte
	word  [4]byte
}

// eqMask says which types of events come to a queue, bit 0 of the first word
// being type 0.
type eqMask [4]uint64

// createMapEQ makes e an event queue for nent entries that are outstanding at
// once. It models create_map_eq and mlx5_eq_enable in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c.
//
// Errors: mlx5-eq/no-memory, mlx5-cmd/….
func (d *Device) createMapEQ(t *trace.Task, e *eq, nent, vecidx int, mask eqMask) error {
	defer t.Enter(moduleCore, "create_map_eq").Leave()
	if t.Fail(trace.Alloc, "mlx5_frag_buf") {
		return rule.MLX5EQNoMemory
	}
	e.dev, e.vecidx, e.logSize = d, vecidx, uint(bits.Len(uint(nent+numSpareEQE-1)))
	e.cqs.mu.Name = "cq_table.lock"
	e.pages = make([]*copyuser.Page, max(1, hw.EQESize<<e.logSize>>copyuser.PageShift))
	for i := range e.pages {
		e.pages[i] = copyuser.NewPage()
	}
	e.initBuf()
	e.dma = d.Bus.Map(e.pages)

	var uid uint16
	if mask[0] == 0 && d.caps.has(capLogMaxUctx) {
		uid = ifc.MLX5_SHARED_RESOURCE_UID
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_EQ, uid, 8*len(e.pages))
	defer d.giveBack(m)
	for i := range e.pages {
		be.PutUint64(m.in[eqcPas+8*i:], e.dma+uint64(i)<<copyuser.PageShift)
	}
	for i, w := range mask {
		be.PutUint64(m.in[eqcMask+8*i:], w)
	}
	ctx := eqcIn.Bytes(m.in)
	eqc.logSize.Set(ctx, uint64(e.logSize))
	eqc.uarPage.Set(ctx, uint64(d.bfreg.index))
	eqc.intr.Set(ctx, uint64(vecidx))
	eqc.logPageSize.Set(ctx, copyuser.PageShift-adapterPageShift)
	if err := d.exec(t, m.in, m.out); err != nil {
		d.Bus.Unmap(e.dma, len(e.pages))
		return err
	}
	e.eqn = uint32(eqNumber.Get(m.out))
	e.updateCI()
	return nil
}

// initBuf gives all entries to the device. It models init_eq_buf in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (e *eq) initBuf() {
	const owner = 63 // the last byte of an entry; 1 is the device's in the first round
	for _, p := range e.pages {
		for at := owner; at < copyuser.PageSize; at += hw.EQESize {
			p.Store(at, []byte{1})
		}
	}
}

// destroyUnmapEQ models destroy_unmap_eq in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (d *Device) destroyUnmapEQ(t *trace.Task, e *eq) {
	defer t.Enter(moduleCore, "destroy_unmap_eq").Leave()
	if d.destroy(t, ifc.MLX5_CMD_OP_DESTROY_EQ, 0, e.eqn) != nil {
		t.Warn("destroy_unmap_eq")
	}
	d.Bus.Unmap(e.dma, len(e.pages))
}

// nextEQE returns the next entry if it is the driver's. It models next_eqe_sw in
// drivers/net/ethernet/mellanox/mlx5/core/lib/eq.h.
func (e *eq) nextEQE() (hw.EQE, bool) {
	at := int(e.consIndex&(1<<e.logSize-1)) * hw.EQESize
	e.pages[at>>copyuser.PageShift].Load(at%copyuser.PageSize, e.entry[:])
	eqe, owner := hw.DecodeEQE(e.entry[:])
	return eqe, uint32(owner) == e.consIndex>>e.logSize&1
}

// updateCI tells the device how far the driver has come, and arms the queue. It
// models eq_update_ci in drivers/net/ethernet/mellanox/mlx5/core/lib/eq.h.
func (e *eq) updateCI() {
	be.PutUint32(e.word[:], e.consIndex&0xffffff|e.eqn<<24)
	e.dev.bfreg.io.Store(ifc.MLX5_EQ_DOORBELL, e.word[:])
}

// compEQ is a struct mlx5_eq_comp: the event queue of a completion vector.
type compEQ struct {
	eq
	tasklet []*coreCQ // with a completion that their owners have not been told
}

// createCompEQ models create_comp_eq in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c. The caller holds comp_lock.
func (d *Device) createCompEQ(t *trace.Task, vector int) (*compEQ, error) {
	defer t.Enter(moduleCore, "create_comp_eq").Leave()
	e := new(compEQ)
	if err := d.createMapEQ(t, &e.eq, d.cfg.IOEQSize, vector+irqCompBase, eqMask{}); err != nil {
		return nil, err
	}
	d.compEQs[vector].Store(e)
	return e, nil
}

// compEQN returns the event queue of a completion vector, which is made when it
// is first asked for. It models mlx5_comp_eqn_get in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c.
//
// Errors: mlx5-cq/vector, and those of createMapEQ.
func (d *Device) compEQN(t *trace.Task, vector uint16) (*compEQ, error) {
	defer t.Enter(moduleCore, "mlx5_comp_eqn_get").Leave()
	if int(vector) >= len(d.compEQs) {
		return nil, rule.MLX5CQVector
	}
	d.compLock.Lock(t)
	defer d.compLock.Unlock(t)
	if e := d.compEQs[vector].Load(); e != nil {
		return e, nil
	}
	return d.createCompEQ(t, int(vector))
}

// compEQOf returns the completion event queue with that number. It models
// mlx5_eqn2comp_eq in drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (d *Device) compEQOf(eqn uint32) *compEQ {
	for i := range d.compEQs {
		if e := d.compEQs[i].Load(); e != nil && e.eqn == eqn {
			return e
		}
	}
	return nil
}

// asyncEventMask says which events come to the asynchronous event queue. It
// models gather_async_events_mask in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (d *Device) asyncEventMask() (mask eqMask) {
	mask[0] = asyncEvents
	if d.caps.has(capDCT) {
		mask[0] |= 1 << eventDCTDrained
	}
	if d.caps.has(capEventCap) {
		page := d.caps[ifc.MLX5_CAP_DEV_EVENT]
		for i := range mask {
			mask[i] |= be.Uint64(page[userAffiliated+8*i:]) | be.Uint64(page[userUnaffiliated+8*i:])
		}
	}
	return mask
}

// interrupt runs the handlers of a vector.
func (d *Device) interrupt(vector int) {
	t := d.irqTask.Load()
	if vector == irqCtrl {
		d.asyncInt(t, &d.asyncEQ)
		if e := d.odpEQ.eq.Load(); e != nil {
			d.pfInt(t, e)
		}
		return
	}
	if e := d.compEQs[vector-irqCompBase].Load(); e != nil {
		e.compInt(t)
	}
}

// compInt takes completion events and tells the completion queues' owners. It
// models mlx5_eq_comp_int in drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (e *compEQ) compInt(t *trace.Task) {
	defer t.Enter(moduleCore, "mlx5_eq_comp_int").Leave()
	e.irq.Lock()
	defer e.irq.Unlock()
	for range eqPollingBudget {
		eqe, ok := e.nextEQE()
		if !ok {
			break
		}
		if cq := e.cqs.get(t, eqe.CompCQN()); cq != nil {
			cq.armSN++
			if cq.direct != nil {
				cq.direct(t, e.entry[:])
			} else {
				cq.addToTasklet(t)
			}
		}
		e.consIndex++
	}
	e.updateCI()
	e.taskletCB(t)
}

// taskletCB models mlx5_cq_tasklet_cb in
// drivers/net/ethernet/mellanox/mlx5/core/cq.c. The kernel schedules it when
// the interrupt is over, which here is at once.
func (e *compEQ) taskletCB(t *trace.Task) {
	if len(e.tasklet) == 0 {
		return
	}
	defer t.Enter(moduleCore, "mlx5_cq_tasklet_cb").Leave()
	for i, cq := range e.tasklet {
		e.tasklet[i] = nil
		cq.queued = false
		cq.owner.comp(t)
	}
	e.tasklet = e.tasklet[:0]
}

// asyncInt takes asynchronous events and hands them to who wants them. It
// models mlx5_eq_async_int in drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (d *Device) asyncInt(t *trace.Task, e *eq) {
	defer t.Enter(moduleCore, "mlx5_eq_async_int").Leave()
	e.irq.Lock()
	defer e.irq.Unlock()
	for range eqPollingBudget {
		eqe, ok := e.nextEQE()
		if !ok {
			break
		}
		if eqe.Type == ifc.MLX5_EVENT_TYPE_CQ_ERROR {
			d.cqErrEvent(t, &eqe)
		}
		d.rscEventNotifier(t, &eqe)
		d.srqEventNotifier(t, &eqe)
		d.netdevEvent(t, &eqe)
		d.devxEventNotifier(t, &eqe, e.entry[:])
		e.consIndex++
	}
	e.updateCI()
}

// cqErrEvent models cq_err_event_notifier in
// drivers/net/ethernet/mellanox/mlx5/core/eq.c.
func (d *Device) cqErrEvent(t *trace.Task, eqe *hw.EQE) {
	defer t.Enter(moduleCore, "cq_err_event_notifier").Leave()
	cqn, _ := eqe.CQError()
	if cq := d.asyncEQ.cqs.get(t, cqn); cq != nil {
		cq.owner.event(t, eqe.Type)
	}
}
