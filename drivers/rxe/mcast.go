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

// attachMcast models rxe_attach_mcast in drivers/infiniband/sw/rxe/rxe_mcast.c.
// A QP that is in the group already is let be.
//
// Errors: rxe/mcast-groups, rxe/mcast-no-memory, rxe/mcast-attachments,
// rxe/mcast-group-full.
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
	g := &mcg{gid: gid}
	d.mcgTree[gid] = g
	return g, nil
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
