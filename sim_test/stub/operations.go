package stub

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/process"
)

// operation is one that the device can have or not: what sets it by default,
// nil where it is then missing, and what sets it when it is asked for.
type operation struct {
	name       string
	dflt, with func(*core.DeviceOps)
}

// always is an operation of the default device.
func always(name string, set func(*core.DeviceOps)) operation { return operation{name, set, set} }

// asked is one that a device has only when it is asked for.
func asked(name string, set func(*core.DeviceOps)) operation { return operation{name, nil, set} }

// operations are all of them, in the order of struct ib_device_ops's subjects.
func (d *Driver) operations() []operation {
	return []operation{
		always("alloc_ucontext", func(o *core.DeviceOps) { o.AllocUcontext = d.allocUcontext }),
		always("dealloc_ucontext", func(o *core.DeviceOps) { o.DeallocUcontext = d.deallocUcontext }),
		asked("query_ucontext", func(o *core.DeviceOps) { o.QueryUcontext = d.queryUcontext }),
		asked("disassociate_ucontext", func(o *core.DeviceOps) { o.DisassociateUcontext = d.disassociateUcontext }),
		asked("mmap", func(o *core.DeviceOps) { o.Mmap = d.mmap }),
		always("query_device", func(o *core.DeviceOps) { o.QueryDevice = queryDevice }),
		always("query_port", func(o *core.DeviceOps) { o.QueryPort = queryPort }),

		always("alloc_pd", func(o *core.DeviceOps) { o.AllocPD = d.allocPD }),
		always("dealloc_pd", func(o *core.DeviceOps) { o.DeallocPD = d.deallocPD }),
		always("alloc_xrcd", func(o *core.DeviceOps) { o.AllocXRCD = d.allocXRCD }),
		always("dealloc_xrcd", func(o *core.DeviceOps) { o.DeallocXRCD = d.deallocXRCD }),

		always("create_cq", func(o *core.DeviceOps) { o.CreateCQ = d.createCQ }),
		always("destroy_cq", func(o *core.DeviceOps) { o.DestroyCQ = d.destroyCQ }),
		asked("modify_cq", func(o *core.DeviceOps) { o.ModifyCQ = d.modifyCQ }),
		asked("resize_cq", func(o *core.DeviceOps) { o.ResizeCQ = d.resizeCQ }),
		asked("poll_cq", func(o *core.DeviceOps) { o.PollCQ = d.pollCQ }),
		asked("req_notify_cq", func(o *core.DeviceOps) { o.ReqNotifyCQ = d.reqNotifyCQ }),

		{"create_qp", func(o *core.DeviceOps) { o.CreateQP = noQP }, func(o *core.DeviceOps) { o.CreateQP = d.createQP }},
		always("destroy_qp", func(o *core.DeviceOps) { o.DestroyQP = d.destroyQP }),
		asked("modify_qp", func(o *core.DeviceOps) { o.ModifyQP = d.modifyQP }),
		asked("query_qp", func(o *core.DeviceOps) { o.QueryQP = d.queryQP }),
		asked("post_send", func(o *core.DeviceOps) { o.PostSend = d.postSend }),
		asked("post_recv", func(o *core.DeviceOps) { o.PostRecv = d.postRecv }),
		asked("attach_mcast", func(o *core.DeviceOps) { o.AttachMcast = d.attachMcast }),
		asked("detach_mcast", func(o *core.DeviceOps) { o.DetachMcast = d.detachMcast }),

		asked("create_srq", func(o *core.DeviceOps) { o.CreateSRQ = d.createSRQ }),
		asked("destroy_srq", func(o *core.DeviceOps) { o.DestroySRQ = d.destroySRQ }),
		asked("modify_srq", func(o *core.DeviceOps) { o.ModifySRQ = d.modifySRQ }),
		asked("query_srq", func(o *core.DeviceOps) { o.QuerySRQ = d.querySRQ }),
		asked("post_srq_recv", func(o *core.DeviceOps) { o.PostSRQRecv = d.postSRQRecv }),

		{"create_wq", func(o *core.DeviceOps) { o.CreateWQ = noWQ }, func(o *core.DeviceOps) { o.CreateWQ = d.createWQ }},
		always("destroy_wq", func(o *core.DeviceOps) { o.DestroyWQ = d.destroyWQ }),
		asked("modify_wq", func(o *core.DeviceOps) { o.ModifyWQ = d.modifyWQ }),
		asked("create_rwq_ind_table", func(o *core.DeviceOps) { o.CreateRWQIndTable = d.createRWQIndTable }),
		asked("destroy_rwq_ind_table", func(o *core.DeviceOps) { o.DestroyRWQIndTable = d.destroyRWQIndTable }),

		asked("create_ah", func(*core.DeviceOps) {}), // only kernel clients call it
		asked("create_user_ah", func(o *core.DeviceOps) { o.CreateUserAH = d.createAH }),
		asked("destroy_ah", func(o *core.DeviceOps) { o.DestroyAH = d.destroyAH }),

		asked("alloc_mw", func(o *core.DeviceOps) { o.AllocMW = d.allocMW }),
		asked("dealloc_mw", func(o *core.DeviceOps) { o.DeallocMW = d.deallocMW }),
		asked("reg_user_mr", func(o *core.DeviceOps) { o.RegUserMR = d.regUserMR }),
		asked("reg_user_mr_dmabuf", func(o *core.DeviceOps) { o.RegUserMRDmabuf = d.regUserMRDmabuf }),
		asked("reg_dm_mr", func(o *core.DeviceOps) { o.RegDMMR = d.regDMMR }),
		asked("rereg_user_mr", func(o *core.DeviceOps) { o.ReregUserMR = d.reregUserMR }),
		asked("advise_mr", func(o *core.DeviceOps) { o.AdviseMR = d.adviseMR }),
		always("dereg_mr", func(o *core.DeviceOps) { o.DeregMR = d.deregMR }),
		always("alloc_dm", func(o *core.DeviceOps) { o.AllocDM = d.allocDM }),
		always("dealloc_dm", func(o *core.DeviceOps) { o.DeallocDM = d.deallocDM }),

		asked("create_flow", func(o *core.DeviceOps) { o.CreateFlow = d.createFlow }),
		always("destroy_flow", func(o *core.DeviceOps) { o.DestroyFlow = d.destroyFlow }),
		always("destroy_flow_action", func(o *core.DeviceOps) { o.DestroyFlowAction = d.destroyFlowAction }),
		always("create_counters", func(o *core.DeviceOps) { o.CreateCounters = d.createCounters }),
		always("destroy_counters", func(o *core.DeviceOps) { o.DestroyCounters = d.destroyCounters }),
		asked("read_counters", func(o *core.DeviceOps) { o.ReadCounters = d.readCounters }),
	}
}

// number is the next of those that QPs, keys and so on have.
func (d *Driver) number() uint32 { return d.numbers.Add(1) }

// did notes an operation that has nothing else to do.
func (d *Driver) did(name string) error {
	d.trail.said(name)
	return nil
}

func (d *Driver) allocUcontext(*core.Ucontext, *core.Udata) error { return d.did("alloc_ucontext") }

func (d *Driver) deallocUcontext(*process.Task, *core.Ucontext) {
	_ = d.trail.destroys("dealloc_ucontext")
}

func (d *Driver) queryUcontext(*core.Ucontext, core.Attrs) error { return d.did("query_ucontext") }

func (d *Driver) disassociateUcontext(*process.Task, *core.Ucontext) {
	d.trail.said("disassociate_ucontext")
}

// mmap shows the driver's pages: at offset 0 up to four, at the offset of a UAR
// the first.
func (d *Driver) mmap(task *process.Task, uc *core.Ucontext, a *copyuser.Area) error {
	d.trail.said("mmap")
	t := task.Trace
	if a.Pgoff != 0 {
		e := uc.MmapEntryOf(t, a)
		if e == nil {
			return noMapping
		}
		defer e.Put(t)
		return uc.MmapIO(t, a, d.pages[:1], e)
	}
	if a.Pages() > mapPages {
		return mappingTooLong
	}
	return uc.MmapIO(t, a, d.pages[:a.Pages()], nil)
}

func queryDevice(*process.Task, *core.Device, *core.DeviceAttr, *core.Udata) error { return nil }

// queryPort says that the port is up. The numbers are enum ib_port_state, enum
// ib_mtu, enum ib_port_width and enum ib_port_speed.
func queryPort(_ *process.Task, _ *core.Device, _ uint32, a *core.PortAttr) error {
	a.State = 4 // IB_PORT_ACTIVE
	a.MaxMTU, a.ActiveMTU = 3, 3
	a.ActiveWidth, a.ActiveSpeed = 1, 1
	return nil
}

func (d *Driver) allocPD(*core.PD, *core.Udata) error { return d.did("alloc_pd") }
func (d *Driver) deallocPD(_ *core.PD, u *core.Udata) error {
	return d.trail.destroysFor("dealloc_pd", u)
}
func (d *Driver) allocXRCD(*core.XRCD, *core.Udata) error { return d.did("alloc_xrcd") }
func (d *Driver) deallocXRCD(_ *core.XRCD, u *core.Udata) error {
	return d.trail.destroysFor("dealloc_xrcd", u)
}
func (d *Driver) createAH(*core.AH, *core.AHAttr, *core.Udata) error { return d.did("create_ah") }

func (d *Driver) destroyAH(*process.Task, *core.AH, uint32) error {
	return d.trail.destroys("destroy_ah")
}

func (d *Driver) createCQ(cq *core.CQ, a *core.CQInitAttr, _ core.Attrs) error {
	d.trail.said("create_cq")
	cq.CQE.Store(a.CQE)
	d.objects.addCQ(cq)
	return nil
}

func (d *Driver) destroyCQ(cq *core.CQ, u *core.Udata) error {
	if err := d.trail.destroysFor("destroy_cq", u); err != nil {
		return err
	}
	d.objects.dropCQ(cq)
	return nil
}

func (d *Driver) modifyCQ(*process.Task, *core.CQ, uint16, uint16) error { return d.did("modify_cq") }

func (d *Driver) resizeCQ(cq *core.CQ, cqe int32, _ *core.Udata) error {
	d.trail.said("resize_cq")
	cq.CQE.Store(uint32(cqe))
	return nil
}

func (d *Driver) pollCQ(*process.Task, *core.CQ, int) ([]core.WC, error) {
	d.trail.said("poll_cq")
	return nil, nil
}

func (d *Driver) reqNotifyCQ(*process.Task, *core.CQ, core.NotifyFlags) error {
	return d.did("req_notify_cq")
}

func noQP(*core.QP, *core.QPInitAttr, *core.Udata) error { return noQueuePairs }

func (d *Driver) createQP(qp *core.QP, _ *core.QPInitAttr, _ *core.Udata) error {
	d.trail.said("create_qp")
	qp.QPNum = d.number()
	d.objects.addQP(qp)
	return nil
}

func (d *Driver) destroyQP(qp *core.QP, u *core.Udata) error {
	if err := d.trail.destroysFor("destroy_qp", u); err != nil {
		return err
	}
	d.objects.dropQP(qp)
	return nil
}

func (d *Driver) modifyQP(*core.QP, *core.QPAttr, uint32, *core.Udata) error {
	return d.did("modify_qp")
}

func (d *Driver) queryQP(*process.Task, *core.QP, *core.QPAttr, uint32, *core.QPInitAttr) error {
	return d.did("query_qp")
}

func (d *Driver) postSend(*process.Task, *core.QP, []core.SendWR) (int, error) {
	return 0, d.did("post_send")
}

func (d *Driver) postRecv(*process.Task, *core.QP, []core.RecvWR) (int, error) {
	return 0, d.did("post_recv")
}

func (d *Driver) attachMcast(*process.Task, *core.QP, [16]byte, uint16) error {
	return d.did("attach_mcast")
}

func (d *Driver) detachMcast(*process.Task, *core.QP, [16]byte, uint16) error {
	return d.did("detach_mcast")
}

func (d *Driver) createSRQ(srq *core.SRQ, _ *core.SRQInitAttr, _ *core.Udata) error {
	d.trail.said("create_srq")
	srq.SRQNum = d.number()
	d.objects.addSRQ(srq)
	return nil
}

func (d *Driver) destroySRQ(srq *core.SRQ, u *core.Udata) error {
	if err := d.trail.destroysFor("destroy_srq", u); err != nil {
		return err
	}
	d.objects.dropSRQ(srq)
	return nil
}

func (d *Driver) modifySRQ(*core.SRQ, *core.SRQAttr, uint32, *core.Udata) error {
	return d.did("modify_srq")
}

func (d *Driver) querySRQ(*process.Task, *core.SRQ, *core.SRQAttr) error { return d.did("query_srq") }

func (d *Driver) postSRQRecv(*process.Task, *core.SRQ, []core.RecvWR) (int, error) {
	return 0, d.did("post_srq_recv")
}

func noWQ(*core.PD, *core.WQInitAttr, *core.Udata) (*core.WQ, error) { return nil, noWorkQueues }

func (d *Driver) createWQ(*core.PD, *core.WQInitAttr, *core.Udata) (*core.WQ, error) {
	d.trail.said("create_wq")
	return &core.WQ{WQNum: d.number()}, nil
}

func (d *Driver) destroyWQ(_ *core.WQ, u *core.Udata) error {
	return d.trail.destroysFor("destroy_wq", u)
}

func (d *Driver) modifyWQ(*core.WQ, *core.WQAttr, uint32, *core.Udata) error {
	return d.did("modify_wq")
}

func (d *Driver) createRWQIndTable(t *core.RWQIndTable, _ *core.RWQIndTableInitAttr, _ *core.Udata) error {
	d.trail.said("create_rwq_ind_table")
	t.TblNum = d.number()
	return nil
}

func (d *Driver) destroyRWQIndTable(*process.Task, *core.RWQIndTable) error {
	return d.trail.destroys("destroy_rwq_ind_table")
}

func (d *Driver) allocMW(mw *core.MW, _ *core.Udata) error {
	d.trail.said("alloc_mw")
	mw.RKey = d.number()
	return nil
}

func (d *Driver) deallocMW(*process.Task, *core.MW) error { return d.trail.destroys("dealloc_mw") }

// newMR makes a region that covers nothing.
func (d *Driver) newMR(op string) (*core.MR, error) {
	d.trail.said(op)
	key := d.number()
	return &core.MR{LKey: key, RKey: key}, nil
}

func (d *Driver) regUserMR(*core.PD, uint64, uint64, uint64, uint32, *core.Udata) (*core.MR, error) {
	return d.newMR("reg_user_mr")
}

func (d *Driver) regUserMRDmabuf(*core.PD, uint64, uint64, uint64, int, uint32, core.Attrs) (*core.MR, error) {
	return d.newMR("reg_user_mr_dmabuf")
}

func (d *Driver) regDMMR(*core.PD, *core.DM, *core.DMMRAttr, core.Attrs) (*core.MR, error) {
	return d.newMR("reg_dm_mr")
}

func (d *Driver) reregUserMR(*core.MR, uint32, uint64, uint64, uint64, uint32, *core.PD, *core.Udata) (*core.MR, error) {
	return nil, d.did("rereg_user_mr")
}

func (d *Driver) adviseMR(*core.PD, uint32, uint32, []core.SGE, core.Attrs) error {
	return d.did("advise_mr")
}

func (d *Driver) deregMR(_ *core.MR, u *core.Udata) error { return d.trail.destroysFor("dereg_mr", u) }

func (d *Driver) allocDM(*core.Ucontext, *core.DMAllocAttr, core.Attrs) (*core.DM, error) {
	return new(core.DM), d.did("alloc_dm")
}

func (d *Driver) deallocDM(*core.DM, core.Attrs) error { return d.trail.destroys("dealloc_dm") }

func (d *Driver) createFlow(*core.QP, *core.FlowAttr, *core.Udata) (*core.Flow, error) {
	return new(core.Flow), d.did("create_flow")
}

func (d *Driver) destroyFlow(*process.Task, *core.Flow) error {
	return d.trail.destroys("destroy_flow")
}

func (d *Driver) destroyFlowAction(*process.Task, *core.FlowAction) error {
	return d.did("destroy_flow_action")
}

func (d *Driver) createCounters(*core.Counters, core.Attrs) error { return d.did("create_counters") }

func (d *Driver) destroyCounters(*process.Task, *core.Counters) error {
	return d.trail.destroys("destroy_counters")
}

func (d *Driver) readCounters(*core.Counters, *core.CountersReadAttr, core.Attrs) error {
	return d.did("read_counters")
}
