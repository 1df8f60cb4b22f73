package mlx5

// dmaPage is the name under which pages are counted that are mapped on the bus.
const dmaPage = "dma_page"

// Counts returns what there is in the adapter, as its Counts does, and under
// "dma_page" the pages that are mapped for it. It counts on when the device is gone.
func (d *Device) Counts() map[string]int {
	counts := d.HW.Counts()
	if n := d.Bus.Mapped(); n > 0 {
		counts[dmaPage] = n
	}
	return counts
}

// OwnCounts returns, of each kind that Counts has, how many the driver made for itself
// when they were first needed, and keeps until the device goes, and the pages that it
// has mapped for them. They belong to no user, so books of what users left do not count
// them.
func (d *Device) OwnCounts() map[string]int {
	counts := map[string]int{}
	r := &d.devr
	r.srqLock.Lock(nil)
	if r.s1 != nil {
		counts["srq"] = 2
		counts[dmaPage] += 2
	}
	r.srqLock.Unlock(nil)
	r.cqLock.Lock(nil)
	if r.c0 != nil {
		counts["pd"], counts["cq"] = 1, 1
		counts[dmaPage]++
	}
	r.cqLock.Unlock(nil)
	u := &d.umrc
	u.initLock.Lock(nil)
	if u.isMade {
		for _, kind := range []string{"pd", "mkey", "cq", "qp"} {
			counts[kind]++
		}
		counts[dmaPage] += 2 // of the two queues
	}
	u.initLock.Unlock(nil)
	queues := []*eq{d.odpEQ.eq.Load()}
	for i := range d.compEQs {
		if e := d.compEQs[i].Load(); e != nil {
			queues = append(queues, &e.eq)
		}
	}
	for _, e := range queues {
		if e != nil {
			counts["eq"]++
			counts[dmaPage] += len(e.pages)
		}
	}
	d.flows.lock.Lock(nil)
	defer d.flows.lock.Unlock(nil)
	for _, p := range d.flows.prios {
		if p.anchor.isMade { // the table that the priority's anchors are
			counts["flow_table"]++
			counts["flow_group"] += len(p.anchor.groups)
		}
	}
	return counts
}

// TableCounts returns how much of what the driver gives out or notes by itself, without
// the adapter, is given out or noted: numbers in its tables of queues and of keys that
// page faults may be about, doorbells, memory of the device, places for rates, and
// subscriptions. It counts on when the device is gone.
func (d *Device) TableCounts() map[string]int {
	counts := map[string]int{"qp_table": d.qps.len(), "srq_table": d.srqs.len(), "odp_mkeys": d.odpKeys.len()}
	d.vars.lock.Lock(nil)
	counts["var_table"] = d.vars.doorbells.taken
	d.vars.lock.Unlock(nil)
	d.memic.lock.Lock(nil)
	counts["memic_alloc_pages"] = d.memic.pages.taken
	d.memic.lock.Unlock(nil)
	d.icm.lock.Lock(nil)
	for i := range d.icm.blocks {
		counts["icm_blocks"] += d.icm.blocks[i].taken
	}
	d.icm.lock.Unlock(nil)
	d.rl.lock.Lock(nil)
	counts["rl_table"] = d.rl.refs
	d.rl.lock.Unlock(nil)
	d.devxEvents.list.Lock()
	defer d.devxEvents.list.Unlock()
	for _, subs := range d.devxEvents.byKey {
		counts["devx_subscription"] += len(subs)
	}
	return counts
}
