package methods

import (
	"encoding/binary"
	"math"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_WQ.

// uverbsExCreateWQ makes a receive work queue. It models ib_uverbs_ex_create_wq
// in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-wq/create-comp-mask, those of the lookups, and those of the
// driver.
func uverbsExCreateWQ(b *kernel.Bundle) error {
	var cmd spec.ExCreateWQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdWQCreateCompMask
	}
	o, _, err := uobjAlloc(b, spec.UVERBS_OBJECT_WQ)
	if err != nil {
		return err
	}
	attr := core.WQInitAttr{
		Type:         uint8(min(cmd.WQType, math.MaxUint8)),
		MaxWR:        cmd.MaxWR,
		MaxSGE:       cmd.MaxSGE,
		CreateFlags:  cmd.CreateFlags,
		EventHandler: wqEventHandler,
	}
	wq, err := newWQ(b, o, &cmd, &attr)
	if err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	uobjFinalizeUobjCreate(o, b)
	resp := spec.ExCreateWQResp{
		WQHandle: uint32(o.ID()),
		MaxWR:    attr.MaxWR,
		MaxSGE:   attr.MaxSGE,
		WQN:      wq.WQNum,
	}
	resp.ResponseLength = responseLength(b, &resp)
	return response(b, &resp)
}

// newWQ is the part of uverbsExCreateWQ that holds the PD and the CQ.
func newWQ(b *kernel.Bundle, o *uobject.Object, cmd *spec.ExCreateWQ, attr *core.WQInitAttr) (*core.WQ, error) {
	pd, pdObject, err := uobjGetObjRead[*core.PD](b, spec.UVERBS_OBJECT_PD, cmd.PDHandle)
	if err != nil {
		return nil, err
	}
	cq, cqObject, err := uobjGetObjRead[*core.CQ](b, spec.UVERBS_OBJECT_CQ, cmd.CQHandle)
	if err != nil {
		uobjPutRead(pdObject, b)
		return nil, err
	}
	attr.CQ = cq
	o.UserHandle = cmd.UserHandle
	wq, err := pd.Device.Ops.CreateWQ(pd, attr, &b.DriverUdata)
	if err != nil {
		uobjPutRead(cqObject, b)
		uobjPutRead(pdObject, b)
		return nil, err
	}
	wq.Object, o.HW = o, wq
	wq.Type, wq.CQ, wq.PD, wq.Device = attr.Type, cq, pd, pd.Device
	pd.Usecnt.Add(1)
	cq.Usecnt.Add(1)
	o.Ext.(*uwq).EventFile = defaultAsyncEvent(b)
	uobjPutRead(pdObject, b)
	uobjPutRead(cqObject, b)
	return wq, nil
}

// uverbsExDestroyWQ destroys a queue and tells how many of its events the user
// has read. It models ib_uverbs_ex_destroy_wq in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-wq/destroy-comp-mask, and those of the destruction.
func uverbsExDestroyWQ(b *kernel.Bundle) error {
	var cmd spec.ExDestroyWQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdWQDestroyCompMask
	}
	var resp spec.ExDestroyWQResp
	resp.ResponseLength = responseLength(b, &resp)
	o, err := uobjGetDestroy(b, spec.UVERBS_OBJECT_WQ, cmd.WQHandle)
	if err != nil {
		return err
	}
	resp.EventsReported = o.Ext.(*uwq).EventsReported
	uobjPutDestroy(o, b)
	return response(b, &resp)
}

// wqAttrs are the attributes that a modify knows (enum ib_wq_attr_mask).
const wqAttrs = spec.IB_WQ_STATE | spec.IB_WQ_CUR_STATE | spec.IB_WQ_FLAGS

// uverbsExModifyWQ changes a queue. A state that is out of range leaves the
// queue locked shared for ever, so that it can no longer be destroyed but by
// closing the file. It models ib_uverbs_ex_modify_wq in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-wq/modify-nothing, cmd-wq/modify-mask, cmd-wq/modify-cur-state,
// cmd-wq/modify-state, those of the lookup, and those of the driver.
func uverbsExModifyWQ(b *kernel.Bundle) error {
	var cmd spec.ExModifyWQ
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.AttrMask == 0 {
		return rule.CmdWQModifyNothing
	}
	if cmd.AttrMask > wqAttrs {
		return rule.CmdWQModifyMask
	}
	wq, o, err := uobjGetObjRead[*core.WQ](b, spec.UVERBS_OBJECT_WQ, cmd.WQHandle)
	if err != nil {
		return err
	}
	var attr core.WQAttr
	if cmd.AttrMask&spec.IB_WQ_FLAGS != 0 {
		attr.Flags, attr.FlagsMask = cmd.Flags, cmd.FlagsMask
	}
	attr.CurState = wq.State
	if cmd.AttrMask&spec.IB_WQ_CUR_STATE != 0 {
		if cmd.CurrWQState > spec.IB_WQS_ERR {
			return rule.CmdWQModifyCurState
		}
		attr.CurState = cmd.CurrWQState
	}
	attr.State = attr.CurState
	if cmd.AttrMask&spec.IB_WQ_STATE != 0 {
		if cmd.WQState > spec.IB_WQS_ERR {
			return rule.CmdWQModifyState
		}
		attr.State = cmd.WQState
	}
	err = wq.Device.Ops.ModifyWQ(wq, &attr, cmd.AttrMask, &b.DriverUdata)
	uobjPutRead(o, b)
	return err
}

// uverbsExCreateRWQIndTable makes an indirection table, which spreads what a
// QP receives over work queues. It models ib_uverbs_ex_create_rwq_ind_table in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-rwq/comp-mask, cmd-rwq/log-size, cmd-rwq/handles-no-memory,
// cmd-rwq/table-no-memory, cmd-rwq/no-memory, cmd/next-…, cmd/finish-tail,
// those of the lookups, and those of the driver.
func uverbsExCreateRWQIndTable(b *kernel.Bundle) error {
	t := b.Trace()
	var cmd spec.ExCreateRWQIndTable
	it, err := requestStart(b, &cmd)
	if err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdRWQCompMask
	}
	if cmd.LogIndTblSize > spec.IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE {
		return rule.CmdRWQLogSize
	}
	if t.Fail(trace.Alloc, "wqs_handles") {
		return rule.CmdRWQHandlesNoMemory
	}
	handles := make([]byte, 4<<cmd.LogIndTblSize)
	if err := it.next(handles); err != nil {
		return err
	}
	if err := it.finish(); err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "wqs") {
		return rule.CmdRWQTableNoMemory
	}
	wqs, objects, err := lookupWQs(b, handles)
	var o *uobject.Object
	var tbl *core.RWQIndTable
	if err == nil {
		o, tbl, err = newRWQIndTable(b, cmd.LogIndTblSize, wqs)
	}
	if err != nil {
		for i, wqObject := range objects {
			uobjPutRead(wqObject, b)
			wqs[i].Usecnt.Add(-1)
		}
		return err
	}
	for _, wqObject := range objects {
		uobjPutRead(wqObject, b)
	}
	uobjFinalizeUobjCreate(o, b)
	resp := spec.ExCreateRWQIndTableResp{IndTblHandle: uint32(o.ID()), IndTblNum: tbl.TblNum}
	resp.ResponseLength = responseLength(b, &resp)
	return response(b, &resp)
}

// lookupWQs looks work queues up, by handles of 4 bytes each, and counts the
// table as their user. After an error it returns those that it has found.
func lookupWQs(b *kernel.Bundle, handles []byte) (wqs []*core.WQ, objects []*uobject.Object, err error) {
	for i := 0; i < len(handles); i += 4 {
		handle := binary.LittleEndian.Uint32(handles[i:])
		wq, o, err := uobjGetObjRead[*core.WQ](b, spec.UVERBS_OBJECT_WQ, handle)
		if err != nil {
			return wqs, objects, err
		}
		wqs, objects = append(wqs, wq), append(objects, o)
		wq.Usecnt.Add(1)
	}
	return wqs, objects, nil
}

// newRWQIndTable is the part of uverbsExCreateRWQIndTable that makes the table
// itself.
func newRWQIndTable(b *kernel.Bundle, logSize uint32, wqs []*core.WQ) (*uobject.Object, *core.RWQIndTable, error) {
	o, dev, err := uobjAlloc(b, spec.UVERBS_OBJECT_RWQ_IND_TBL)
	if err != nil {
		return nil, nil, err
	}
	if b.Trace().Fail(trace.Alloc, "ib_rwq_ind_table") {
		uobjAllocAbort(o, b)
		return nil, nil, rule.CmdRWQNoMemory
	}
	tbl := &core.RWQIndTable{Device: dev, LogSize: logSize, Table: wqs}
	o.HW = tbl
	attr := core.RWQIndTableInitAttr{LogSize: logSize, Table: wqs}
	if err := dev.Ops.CreateRWQIndTable(tbl, &attr, &b.DriverUdata); err != nil {
		uobjAllocAbort(o, b)
		return nil, nil, err
	}
	return o, tbl, nil
}

// uverbsExDestroyRWQIndTable destroys an indirection table. It models
// ib_uverbs_ex_destroy_rwq_ind_table in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-rwq/destroy-comp-mask, and those of the destruction.
func uverbsExDestroyRWQIndTable(b *kernel.Bundle) error {
	var cmd spec.ExDestroyRWQIndTable
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdRWQDestroyCompMask
	}
	return uobjPerformDestroy(b, spec.UVERBS_OBJECT_RWQ_IND_TBL, cmd.IndTblHandle)
}
