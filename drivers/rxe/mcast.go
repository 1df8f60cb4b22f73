package rxe

import (
	"slices"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// mcg is a struct rxe_mcg: a multicast group and the QPs in it. It is there as
// long as a QP is.
type mcg struct {
	gid [16]byte
	qps []*rxeQP
}

// countMcast adds the groups (struct rxe_mcg) and attachments (struct rxe_mca) that
// there are, and what the device (mcg_attach) and the QPs (mcg_num) say of the latter.
func (d *rxeDev) countMcast(counts map[string]int) {
	d.mcgLock.Lock(nil)
	counts["mcg"], counts["mcg_attach"] = len(d.mcgTree), int(d.mcgAttach)
	for _, g := range d.mcgTree {
		counts["mca"] += len(g.qps)
	}
	d.mcgLock.Unlock(nil)
	d.qpPool.lock.Lock(nil)
	defer d.qpPool.lock.Unlock(nil)
	for _, e := range d.qpPool.xa {
		if qp, ok := e.obj.(*rxeQP); ok { // or one of the kernel's own
			counts["mcg_num"] += int(qp.mcgNum.Load())
		}
	}
}

// attachMcast models rxe_attach_mcast in drivers/infiniband/sw/rxe/rxe_mcast.c.
// A QP that is in the group already is let be.
//
// Errors: rxe/mcast-groups, rxe/mcast-no-memory, rxe/mcast-address,
// rxe/mcast-attachments, rxe/mcast-group-full.
func attachMcast(task *process.Task, ibqp *core.QP, gid [16]byte, _ uint16) error {
	t := task.Trace
	defer t.Enter(module, "rxe_attach_mcast").Leave()
	d, qp := toRdev(ibqp.Device), toRqp(ibqp)
	d.mcgLock.Lock(t)
	defer d.mcgLock.Unlock(t)
	g, err := d.getMcg(t, gid)
	if err != nil {
		return err
	}
	err = d.attachMcg(t, g, qp)
	if len(g.qps) == 0 {
		delete(d.mcgTree, gid)
	}
	return err
}

// getMcg models rxe_get_mcg in drivers/infiniband/sw/rxe/rxe_mcast.c. The
// caller holds the lock, which the kernel takes twice.
func (d *rxeDev) getMcg(t *trace.Task, gid [16]byte) (*mcg, error) {
	defer t.EnterInlined(module, "rxe_get_mcg").Leave()
	if g := d.mcgTree[gid]; g != nil {
		return g, nil
	}
	if len(d.mcgTree) >= int(d.attr.MaxMcastGrp) {
		return nil, rule.RxeMcastGroups
	}
	if t.Fail(trace.Alloc, "rxe_mcg") {
		return nil, rule.RxeMcastNoMemory
	}
	if err := mcastAdd(t); err != nil {
		return nil, err
	}
	g := &mcg{gid: gid}
	d.mcgTree[gid] = g
	return g, nil
}

// mcastAdd lets the network interface listen to a group's address. It models
// rxe_mcast_add in drivers/infiniband/sw/rxe/rxe_mcast.c; the interface's list, where
// an address that is in it already takes no memory, is left out.
//
// Errors: rxe/mcast-address.
func mcastAdd(t *trace.Task) error {
	defer t.EnterInlined(module, "rxe_mcast_add").Leave()
	if t.Fail(trace.Alloc, "netdev_hw_addr") {
		return rule.RxeMcastAddress
	}
	return nil
}

// attachMcg models rxe_attach_mcg in drivers/infiniband/sw/rxe/rxe_mcast.c.
func (d *rxeDev) attachMcg(t *trace.Task, g *mcg, qp *rxeQP) error {
	defer t.EnterInlined(module, "rxe_attach_mcg").Leave()
	if slices.Contains(g.qps, qp) {
		return nil
	}
	if t.Fail(trace.Alloc, "rxe_mca") {
		return rule.RxeMcastNoMemory
	}
	if d.mcgAttach >= d.attr.MaxTotalMcastQPAttach {
		return rule.RxeMcastAttachments
	}
	if len(g.qps) >= int(d.attr.MaxMcastQPAttach) {
		return rule.RxeMcastGroupFull
	}
	d.mcgAttach++
	qp.mcgNum.Add(1)
	qp.get(t)
	g.qps = append(g.qps, qp)
	return nil
}

// detachMcast models rxe_detach_mcast in drivers/infiniband/sw/rxe/rxe_mcast.c.
//
// Errors: rxe/mcast-no-group, rxe/mcast-not-attached.
func detachMcast(task *process.Task, ibqp *core.QP, gid [16]byte, _ uint16) error {
	t := task.Trace
	defer t.Enter(module, "rxe_detach_mcast").Leave()
	d, qp := toRdev(ibqp.Device), toRqp(ibqp)
	d.mcgLock.Lock(t)
	defer d.mcgLock.Unlock(t)
	g := d.mcgTree[gid]
	if g == nil {
		return rule.RxeMcastNoGroup
	}
	i := slices.Index(g.qps, qp)
	if i < 0 {
		return rule.RxeMcastNotAttached
	}
	g.qps = slices.Delete(g.qps, i, i+1)
	d.mcgAttach--
	qp.mcgNum.Add(-1)
	qp.put(t)
	if len(g.qps) == 0 {
		delete(d.mcgTree, gid)
	}
	return nil
}
