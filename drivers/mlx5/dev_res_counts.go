package mlx5

// OwnCounts returns, of each kind of object in the adapter, how many the driver
// made for itself when they were first needed, and keeps until the device goes.
// They belong to no user, so books of what users left do not count them.
func (d *Device) OwnCounts() map[string]int {
	counts := map[string]int{}
	r := &d.devr
	r.srqLock.Lock(nil)
	if r.s1 != nil {
		counts["srq"] = 2
	}
	r.srqLock.Unlock(nil)
	r.cqLock.Lock(nil)
	if r.c0 != nil {
		counts["pd"], counts["cq"] = 1, 1
	}
	r.cqLock.Unlock(nil)
	u := &d.umrc
	u.initLock.Lock(nil)
	if u.isMade {
		for _, kind := range []string{"pd", "mkey", "cq", "qp"} {
			counts[kind]++
		}
	}
	u.initLock.Unlock(nil)
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
