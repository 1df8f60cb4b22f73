package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// devxObj is a struct devx_obj: a firmware object that a user made with its own
// command.
type devxObj struct {
	dev    *Device
	objID  uint64 // as encObjID has it
	dinbox []byte // the command that ends it
	cq     *coreCQ
	bulk   uint64  // counters that a flow counter stands for
	odpKey *odpKey // of a key that consists of other keys

	subs []*devxSubscription // event_sub
}

// devxObjType says how firmware objects go.
var devxObjType = uobject.TypeAttrs{Destroy: devxObjCleanup}

// destroy ends the firmware object.
//
// Errors: mlx5-cmd/….
func (o *devxObj) destroy(t *trace.Task) error {
	if o.cq != nil {
		return o.dev.coreDestroyCQ(t, o.cq)
	}
	return o.dev.exec(t, o.dinbox, make([]byte, minCommand))
}

// devxObjCleanup models devx_obj_cleanup in drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-cmd/….
func devxObjCleanup(obj *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "devx_obj_cleanup").Leave()
	o := obj.HW.(*devxObj)
	o.dev.odpKeys.erase(o.odpKey)
	if err := o.destroy(t); err != nil {
		return err
	}
	table := &o.dev.devxEvents
	table.mu.Lock(t)
	for _, s := range o.subs {
		table.cleanup(s)
	}
	table.mu.Unlock(t)
	return nil
}

// devxCQOwner is who hears of a completion queue that a user made with its own
// command.
type devxCQOwner struct{ obj *devxObj }

// comp is not reached: completions of such queues are dispatched in the
// interrupt.
func (devxCQOwner) comp(*trace.Task) {}

// event does nothing: errors of such queues reach subscribers of the event.
func (devxCQOwner) event(*trace.Task, uint8) {}

// devxCQComp models devx_cq_comp in drivers/infiniband/hw/mlx5/devx.c.
func (o *devxObj) devxCQComp(t *trace.Task, eqe []byte) {
	defer t.Enter(moduleIB, "devx_cq_comp").Leave()
	o.dev.devxEvents.dispatch(t, devxEventKey{level1: ifc.MLX5_EVENT_TYPE_COMP, affiliated: true, objID: o.cq.cqn}, eqe)
}

// apuCQ is the bit of a completion queue's context that says that it reports to
// no event queue but to an element of the device's own processor.
var (
	apuCQ  = flag(16, 7)
	capAPU = gen("apu")
)

// isAPUCQ models is_apu_cq in drivers/infiniband/hw/mlx5/devx.c.
func (d *Device) isAPUCQ(in devxCmd) bool { return d.caps.has(capAPU) && apuCQ.Get(in) != 0 }

// mkcEnd is where the context ends in CREATE_MKEY.
const mkcEnd = 80

// handleMkeyCreate says that the key's addresses are numbers of registered
// memory, unless the key consists of other keys. It models
// devx_handle_mkey_create in drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/mkey-size.
func handleMkeyCreate(t *trace.Task, in devxCmd, length int) error {
	defer t.EnterInlined(moduleIB, "devx_handle_mkey_create").Leave()
	if length < mkcEnd {
		return rule.MLX5DevxMkeySize
	}
	ctx := mkcIn.Bytes(in)
	switch accessMode(ctx) {
	case mkcAccessModeKLMs, mkcAccessModeKSM:
	default:
		in.setUmemValid()
	}
	return nil
}

// accessMode returns how a key finds its memory.
func accessMode(ctx []byte) uint64 { return mkc.accessMode10.Get(ctx) | mkc.accessMode42.Get(ctx)<<2 }

// counterBulk is how many flow counters ALLOC_FLOW_COUNTER makes: a power of
// two, or where that is 0 a multiple of 128.
var counterBulkLog, counterBulk = ifc.Field{Off: 115, Width: 5, Count: 1}, num(15, 1)

func bulkOf(in devxCmd) uint64 {
	if n := counterBulkLog.Get(in); n != 0 {
		return 1 << n
	}
	return 128 * counterBulk.Get(in)
}

// devxObjCreate is the handler of MLX5_IB_METHOD_DEVX_OBJ_CREATE. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_CREATE) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/…, mlx5-cq/no-eq, mlx5-qp/dct-table-no-memory,
// mlx5-odp/key-no-memory, mlx5-cmd/status, mlx5-cmd/down, bundle/no-memory,
// attr/….
func devxObjCreate(b *kernel.Bundle) error {
	const cmdIn, cmdOut = spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN, spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT
	t := b.Trace()
	c := toUcontext(b.Ucontext())
	in, err := commandIn(b, cmdIn)
	if err != nil {
		return err
	}
	uobj, err := b.Object(spec.MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE)
	if err != nil {
		return err
	}
	if in.tunnel() != 0 {
		return rule.MLX5DevxCreateTunnel
	}
	uid, err := in.uid(c)
	if err != nil {
		return err
	}
	cr := in.creation()
	if cr == nil {
		return rule.MLX5DevxNotCreate
	}
	out, err := allocOut(b, cmdOut)
	if err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "devx_obj") {
		return rule.MLX5DevxCreateNoMemory
	}
	in.setUID(uid)
	if cr.opcode == ifc.MLX5_CMD_OP_CREATE_MKEY {
		length, _ := b.Len(cmdIn)
		if err := handleMkeyCreate(t, in, length); err != nil {
			return err
		}
	} else {
		in.setUmemValid()
	}
	o := &devxObj{dev: c.dev}
	if err := o.create(t, in, out); err != nil {
		return answerStatus(b, cmdOut, out, err)
	}
	if cr.opcode == ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER {
		o.bulk = bulkOf(in)
	}
	var objType uint16
	if cr.opcode == ifc.MLX5_CMD_OP_CREATE_GENERAL_OBJECT {
		objType = in.objType()
	}
	id := cr.createdID(in, out)
	o.objID, o.dinbox = encObjID(cr.opcode, objType, id), cr.destroyCmd(in, id)
	uobj.HW = o
	if err := b.CopyTo(cmdOut, out); err != nil {
		o.destroy(t) // as the kernel does
		return err
	}
	if cr.opcode == ifc.MLX5_CMD_OP_CREATE_MKEY {
		if err := o.handleMkeyIndirect(t, in, id); err != nil {
			o.destroy(t) // as the kernel does
			return err
		}
	}
	return nil
}

// handleMkeyIndirect lets page faults find a key that consists of other keys. It
// models devx_handle_mkey_indirect in drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-odp/key-no-memory.
func (o *devxObj) handleMkeyIndirect(t *trace.Task, in devxCmd, id uint32) (err error) {
	defer t.EnterInlined(moduleIB, "devx_handle_mkey_indirect").Leave()
	ctx := mkcIn.Bytes(in)
	switch accessMode(ctx) {
	case mkcAccessModeKLMs, mkcAccessModeKSM:
		o.odpKey, err = o.dev.odpKeys.store(t, odpKey{key: id<<8 | uint32(mkc.key.Get(ctx)), entries: int(mkc.octos.Get(ctx))})
	}
	return err
}

// create runs the command that makes the object. The draining of a DCT when it
// goes is left out, so that it is like any other object.
//
// Errors: mlx5-cq/no-eq, mlx5-qp/dct-table-no-memory, mlx5-cmd/status,
// mlx5-cmd/down.
func (o *devxObj) create(t *trace.Task, in devxCmd, out []byte) error {
	switch op := in.opcode(); {
	case op == ifc.MLX5_CMD_OP_CREATE_DCT:
		return o.dev.coreCreateDCT(t, in, out)
	case op == ifc.MLX5_CMD_OP_CREATE_CQ && !o.dev.isAPUCQ(in):
		o.cq = &coreCQ{owner: devxCQOwner{o}, direct: o.devxCQComp}
		return o.dev.createCQ(t, o.cq, in, out)
	}
	return o.dev.cmdDo(t, in, out)
}

// allocOut returns room for a command's answer, as long as the attribute.
//
// Errors: attr/absent, bundle/no-memory.
func allocOut(b *kernel.Bundle, attr uint16) ([]byte, error) {
	n, err := b.Len(attr)
	if err != nil {
		return nil, err
	}
	return b.Alloc(n)
}

// answerStatus copies the answer of a command out that the device has refused;
// other errors pass.
//
// Errors: attr/….
func answerStatus(b *kernel.Bundle, attr uint16, out []byte, err error) error {
	if err == rule.MLX5CmdStatus {
		if err := b.CopyTo(attr, out); err != nil {
			return err
		}
	}
	return err
}

// run carries a user's command out and copies the answer, whatever its status.
//
// Errors: bundle/no-memory, mlx5-cmd/status, mlx5-cmd/down, attr/….
func (c devxCmd) run(b *kernel.Bundle, d *Device, uid, attr uint16, umem bool) error {
	out, err := allocOut(b, attr)
	if err != nil {
		return err
	}
	c.setUID(uid)
	if umem {
		c.setUmemValid()
	}
	if err := d.cmdDo(b.Trace(), c, out); err != nil {
		return answerStatus(b, attr, out, err)
	}
	return b.CopyTo(attr, out)
}

// names says whether the command's object is the one behind the handle. It
// models devx_is_valid_obj_id in drivers/infiniband/hw/mlx5/devx.c.
func (a devxAccess) names(o *uobject.Object, in devxCmd) bool {
	id := a.objectID(in)
	switch hw := o.HW.(type) {
	case *core.CQ:
		return encObjID(ifc.MLX5_CMD_OP_CREATE_CQ, 0, toCQ(hw).cqn) == id
	case *core.SRQ:
		s := &toSRQ(hw).coreSRQ
		return encObjID(srqCommands[s.typ].create, 0, s.srqn) == id
	case *core.WQ:
		return encObjID(ifc.MLX5_CMD_OP_CREATE_RQ, 0, hw.WQNum) == id
	case *core.QP:
		return toQP(hw.RealQP).hasDevxID(id)
	case *core.RWQIndTable:
		return encObjID(ifc.MLX5_CMD_OP_CREATE_RQT, 0, hw.TblNum) == id
	case *devxObj:
		if in.opcode() == ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER && hw.bulk != 0 {
			return hw.objID <= id && id < hw.objID+hw.bulk
		}
		return hw.objID == id
	}
	return false
}

// devxObjModify is the handler of MLX5_IB_METHOD_DEVX_OBJ_MODIFY. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_MODIFY) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/…, mlx5-cmd/status, mlx5-cmd/down, bundle/no-memory, attr/….
func devxObjModify(b *kernel.Bundle) error {
	c := toUcontext(b.Ucontext())
	in, err := commandIn(b, spec.MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN)
	if err != nil {
		return err
	}
	if in.tunnel() != 0 {
		return rule.MLX5DevxModifyTunnel
	}
	uid, err := in.uid(c)
	if err != nil {
		return err
	}
	access, ok := in.modification()
	if !ok {
		return rule.MLX5DevxNotModify
	}
	uobj, err := b.Object(spec.MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE)
	if err != nil {
		return err
	}
	if !access.names(uobj, in) {
		return rule.MLX5DevxModifyObject
	}
	return in.run(b, c.dev, uid, spec.MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, true)
}

// devxObjQuery is the handler of MLX5_IB_METHOD_DEVX_OBJ_QUERY. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_QUERY) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/…, mlx5-cmd/status, mlx5-cmd/down, bundle/no-memory, attr/….
func devxObjQuery(b *kernel.Bundle) error {
	c := toUcontext(b.Ucontext())
	in, err := commandIn(b, spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN)
	if err != nil {
		return err
	}
	if in.tunnel() != 0 {
		return rule.MLX5DevxQueryTunnel
	}
	uid, err := in.uid(c)
	if err != nil {
		return err
	}
	access, ok := in.query()
	if !ok {
		return rule.MLX5DevxNotQuery
	}
	uobj, err := b.Object(spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE)
	if err != nil {
		return err
	}
	if !access.names(uobj, in) {
		return rule.MLX5DevxQueryObject
	}
	return in.run(b, c.dev, uid, spec.MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, false)
}
