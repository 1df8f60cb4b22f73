package methods

import (
	"encoding/binary"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// The write() commands of UVERBS_OBJECT_RWQ_IND_TBL.

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
			wqs[i].Usecnt.Count(t, "ib_wq", -1)
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
		wq.Usecnt.Count(b.Trace(), "ib_wq", 1)
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
