package methods

import (
	"encoding/binary"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestSRQByWrite follows the recorded cases srq/write-create, srq/write-xsrq,
// srq/write-unknown-pd, srq/write-query-modify-destroy and
// srq/write-unknown-destroy.
func TestSRQByWrite(t *testing.T) {
	var modified core.SRQAttr
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.QuerySRQ = func(_ *process.Task, _ *core.SRQ, attr *core.SRQAttr) error {
			*attr = core.SRQAttr{MaxWR: 8, MaxSGE: 1, Limit: 2}
			return nil
		}
		ops.ModifySRQ = func(_ *core.SRQ, attr *core.SRQAttr, mask uint32, _ *core.Udata) error {
			modified = *attr
			if mask == spec.IB_SRQ_MAX_WR {
				return syscall.EINVAL
			}
			return nil
		}
	})
	pd := uint32(r.newPD())
	err := r.command(spec.IB_USER_VERBS_CMD_CREATE_SRQ, bytesOf(spec.CreateSRQ{PDHandle: 99}), r.resp(spec.CreateSRQRespSize))
	require.Equal(t, error(rule.ObjectNotFound), err)
	answer := r.commanded(spec.IB_USER_VERBS_CMD_CREATE_SRQ, bytesOf(spec.CreateSRQ{UserHandle: 9, PDHandle: pd, MaxWR: 4, MaxSGE: 1}), spec.CreateSRQRespSize)
	require.Equal(t, spec.CreateSRQResp{SRQHandle: 1, MaxWR: 8, MaxSGE: 1}, decode[spec.CreateSRQResp](t, answer))
	require.EqualValues(t, 9, r.srq.Object.UserHandle.Load())
	answer = r.commanded(spec.IB_USER_VERBS_CMD_CREATE_XSRQ, bytesOf(spec.CreateXSRQ{PDHandle: pd, MaxWR: 4, MaxSGE: 1}), spec.CreateSRQRespSize)
	require.EqualValues(t, 2, decode[spec.CreateSRQResp](t, answer).SRQHandle)

	answer = r.commanded(spec.IB_USER_VERBS_CMD_QUERY_SRQ, bytesOf(spec.QuerySRQ{SRQHandle: 1}), spec.QuerySRQRespSize)
	require.Equal(t, spec.QuerySRQResp{MaxWR: 8, MaxSGE: 1, SRQLimit: 2}, decode[spec.QuerySRQResp](t, answer))
	modify := func(handle, mask uint32) error {
		cmd := spec.ModifySRQ{SRQHandle: handle, AttrMask: mask, MaxWR: 16, SRQLimit: 3}
		return r.command(spec.IB_USER_VERBS_CMD_MODIFY_SRQ, bytesOf(cmd), respBuf{})
	}
	require.Equal(t, error(syscall.EINVAL), modify(1, spec.IB_SRQ_MAX_WR))
	require.NoError(t, modify(1, spec.IB_SRQ_LIMIT))
	require.Equal(t, core.SRQAttr{MaxWR: 16, Limit: 3}, modified)
	require.Equal(t, error(rule.ObjectNotFound), modify(99, spec.IB_SRQ_LIMIT))

	answer = r.commanded(spec.IB_USER_VERBS_CMD_DESTROY_SRQ, bytesOf(spec.DestroySRQ{SRQHandle: 1}), spec.DestroySRQRespSize)
	require.Equal(t, "00000000", answer)
	err = r.command(spec.IB_USER_VERBS_CMD_DESTROY_SRQ, bytesOf(spec.DestroySRQ{SRQHandle: 1}), r.resp(spec.DestroySRQRespSize))
	require.Equal(t, error(rule.ObjectNotFound), err)
}

// TestXSRQ: an XRC SRQ needs a domain, a CQ and a PD, looked up in this order;
// it tells its number, and what it uses is free again after a failure.
func TestXSRQ(t *testing.T) {
	fail := error(nil)
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateSRQ = func(srq *core.SRQ, attr *core.SRQInitAttr, _ *core.Udata) error {
			srq.SRQNum = 0x99
			if attr.Type == spec.IB_UVERBS_SRQT_TM && attr.MaxNumTags != 6 {
				return syscall.EDOM
			}
			return fail
		}
	})
	pd, cq := uint32(r.newPD()), r.cqByWrite(createCQCmd)
	xrcd, err := r.openXRCD(r.fd, syscall.O_CREAT)
	require.NoError(t, err)
	create := func(cmd spec.CreateXSRQ) (spec.CreateSRQResp, error) {
		resp := r.resp(spec.CreateSRQRespSize)
		err := r.command(spec.IB_USER_VERBS_CMD_CREATE_XSRQ, bytesOf(cmd), resp)
		return decode[spec.CreateSRQResp](t, r.hex(resp.at, resp.n)), err
	}
	xrc := spec.CreateXSRQ{SRQType: spec.IB_UVERBS_SRQT_XRC, PDHandle: pd, XRCDHandle: xrcd, CQHandle: cq}
	for _, tt := range []struct {
		change func(*spec.CreateXSRQ)
		want   error
	}{
		{func(c *spec.CreateXSRQ) { c.XRCDHandle, c.CQHandle = 99, pd }, rule.CmdSRQXRCD},
		{func(c *spec.CreateXSRQ) { c.CQHandle, c.PDHandle = pd, 99 }, rule.ObjectWrongType},
		{func(c *spec.CreateXSRQ) { c.PDHandle = 99 }, rule.ObjectNotFound},
		{func(c *spec.CreateXSRQ) { c.SRQType, c.XRCDHandle, c.MaxNumTags = spec.IB_UVERBS_SRQT_TM, 99, 5 }, syscall.EDOM},
		{func(*spec.CreateXSRQ) { fail = syscall.EIO }, syscall.EIO},
	} {
		cmd := xrc
		tt.change(&cmd)
		_, err := create(cmd)
		require.Equal(t, tt.want, err)
	}
	fail = nil
	require.NoError(t, r.closeXRCD(xrcd))
	xrcd, err = r.openXRCD(r.fd, syscall.O_CREAT)
	require.NoError(t, err)
	xrc.XRCDHandle = xrcd
	got, err := create(xrc)
	require.NoError(t, err)
	require.EqualValues(t, 0x99, got.SRQN)
	require.Equal(t, error(rule.XRCDBusy), r.closeXRCD(xrcd))

	// An XRC SRQ is no SRQ for a QP of another type.
	cmd := rcCmd(pd, cq)
	cmd.IsSRQ, cmd.SRQHandle = 1, got.SRQHandle
	_, err = r.createQP(cmd)
	require.Equal(t, error(rule.CmdQPSRQXRC), err)

	r.commanded(spec.IB_USER_VERBS_CMD_DESTROY_SRQ, bytesOf(spec.DestroySRQ{SRQHandle: got.SRQHandle}), spec.DestroySRQRespSize)
	require.NoError(t, r.closeXRCD(xrcd))
	r.requireUnused()
}

// TestXSRQType: a type beyond 8 bits is as unknown to a driver as any other.
func TestXSRQType(t *testing.T) {
	var seen uint8
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateSRQ = func(_ *core.SRQ, attr *core.SRQInitAttr, _ *core.Udata) error {
			seen = attr.Type
			return syscall.EOPNOTSUPP
		}
	})
	cmd := bytesOf(spec.CreateXSRQ{SRQType: 256, PDHandle: uint32(r.newPD())})
	require.Equal(t, error(syscall.EOPNOTSUPP), r.command(spec.IB_USER_VERBS_CMD_CREATE_XSRQ, cmd, r.resp(spec.CreateSRQRespSize)))
	require.EqualValues(t, 255, seen)
}

// createWQ makes a work queue.
func (r *rig) createWQ(pd, cq uint32) uint32 {
	r.Helper()
	cmd := spec.ExCreateWQ{UserHandle: 0x33, PDHandle: pd, CQHandle: cq, MaxWR: 4, MaxSGE: 1}
	answer := r.commandedEx(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ, bytesOf(cmd), spec.ExCreateWQRespSize)
	return decode[spec.ExCreateWQResp](r, answer).WQHandle
}

// tableRequest is a request for an indirection table.
func tableRequest(logSize uint32, wqs ...uint32) []byte {
	b := bytesOf(spec.ExCreateRWQIndTable{LogIndTblSize: logSize})
	for _, wq := range wqs {
		b = binary.LittleEndian.AppendUint32(b, wq)
	}
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// createTable makes an indirection table.
func (r *rig) createTable(logSize uint32, wqs ...uint32) uint32 {
	r.Helper()
	answer := r.commandedEx(spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, tableRequest(logSize, wqs...), spec.ExCreateRWQIndTableRespSize)
	return decode[spec.ExCreateRWQIndTableResp](r, answer).IndTblHandle
}

// TestWQByWrite: a work queue from its creation to its end.
func TestWQByWrite(t *testing.T) {
	r := newCommands(t, nil)
	pd, cq := uint32(r.newPD()), r.cqByWrite(createCQCmd)
	for _, tt := range []struct {
		cmd  spec.ExCreateWQ
		want error
	}{
		{spec.ExCreateWQ{CompMask: 1, PDHandle: 99}, rule.CmdWQCreateCompMask},
		{spec.ExCreateWQ{PDHandle: cq, CQHandle: 99}, rule.ObjectWrongType},
		{spec.ExCreateWQ{PDHandle: pd, CQHandle: 99}, rule.ObjectNotFound},
	} {
		err := r.commandEx(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ, bytesOf(tt.cmd), r.resp(spec.ExCreateWQRespSize))
		require.Equal(t, tt.want, err)
	}
	cmd := spec.ExCreateWQ{UserHandle: 0x33, PDHandle: pd, CQHandle: cq, MaxWR: 4, MaxSGE: 1}
	answer := r.commandedEx(spec.IB_USER_VERBS_EX_CMD_CREATE_WQ, bytesOf(cmd), spec.ExCreateWQRespSize)
	require.Equal(t, spec.ExCreateWQResp{ResponseLength: spec.ExCreateWQRespSize, WQHandle: 2, MaxWR: 4, MaxSGE: 1, WQN: 1},
		decode[spec.ExCreateWQResp](t, answer))
	require.EqualValues(t, 0x33, r.wq.Object.UserHandle.Load())
	for _, o := range []struct {
		d      destroyer
		handle uint32
	}{{destroyPD, pd}, {destroyCQ, cq}} {
		_, err := r.destroy(o.d, uint64(o.handle))
		require.ErrorIs(t, err, syscall.EBUSY)
	}

	destroy := bytesOf(spec.ExDestroyWQ{CompMask: 1, WQHandle: 2})
	require.Equal(t, error(rule.CmdWQDestroyCompMask), r.commandEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, destroy, r.resp(16)))
	answer = r.commandedEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_WQ, bytesOf(spec.ExDestroyWQ{WQHandle: 2}), spec.ExDestroyWQRespSize)
	require.Equal(t, spec.ExDestroyWQResp{ResponseLength: 16}, decode[spec.ExDestroyWQResp](t, answer))
	_, err := r.destroy(destroyCQ, uint64(cq))
	require.NoError(t, err)
}

// TestModifyWQ: what a driver is handed; and a state out of range, after which
// the queue is in use for ever.
func TestModifyWQ(t *testing.T) {
	var attr core.WQAttr
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.ModifyWQ = func(_ *core.WQ, a *core.WQAttr, _ uint32, _ *core.Udata) error {
			attr = *a
			return nil
		}
	})
	wq := r.createWQ(uint32(r.newPD()), r.cqByWrite(createCQCmd))
	r.wq.State.Store(spec.IB_WQS_RDY)
	modify := func(cmd spec.ExModifyWQ) error {
		return r.commandEx(spec.IB_USER_VERBS_EX_CMD_MODIFY_WQ, bytesOf(cmd), respBuf{})
	}
	const state, cur, flags = spec.IB_WQ_STATE, spec.IB_WQ_CUR_STATE, spec.IB_WQ_FLAGS
	require.Equal(t, error(rule.CmdWQModifyNothing), modify(spec.ExModifyWQ{WQHandle: 99}))
	require.Equal(t, error(rule.CmdWQModifyMask), modify(spec.ExModifyWQ{WQHandle: 99, AttrMask: 8}))
	require.Equal(t, error(rule.ObjectNotFound), modify(spec.ExModifyWQ{WQHandle: 99, AttrMask: state}))
	for _, tt := range []struct {
		cmd  spec.ExModifyWQ
		want core.WQAttr
	}{
		{spec.ExModifyWQ{AttrMask: flags, Flags: 3, FlagsMask: 7, WQState: 9, CurrWQState: 9},
			core.WQAttr{State: spec.IB_WQS_RDY, CurState: spec.IB_WQS_RDY, Flags: 3, FlagsMask: 7}},
		{spec.ExModifyWQ{AttrMask: state, WQState: spec.IB_WQS_ERR, Flags: 3}, core.WQAttr{State: spec.IB_WQS_ERR, CurState: spec.IB_WQS_RDY}},
		{spec.ExModifyWQ{AttrMask: cur, CurrWQState: spec.IB_WQS_ERR}, core.WQAttr{State: spec.IB_WQS_ERR, CurState: spec.IB_WQS_ERR}},
	} {
		tt.cmd.WQHandle = wq
		require.NoError(t, modify(tt.cmd))
		require.Equal(t, tt.want, attr)
	}
	require.Zero(t, r.wq.Object.Usecnt())
	require.Equal(t, error(rule.CmdWQModifyState), modify(spec.ExModifyWQ{WQHandle: wq, AttrMask: state, WQState: 3}))
	require.Equal(t, error(rule.CmdWQModifyCurState), modify(spec.ExModifyWQ{WQHandle: wq, AttrMask: cur, CurrWQState: 3}))
	require.EqualValues(t, 2, r.wq.Object.Usecnt())
	_, err := r.destroy(destroyWQ, uint64(wq))
	require.Equal(t, error(rule.ObjectBusyWrite), err)
	require.NoError(t, r.p.Close(r.fd))
	require.Contains(t, r.took(), "destroy_wq")
}

// TestRWQIndTable: a table counts as a user of each of its queues, as often as
// it has it, and of none after a failure.
func TestRWQIndTable(t *testing.T) {
	fail := error(nil)
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateRWQIndTable = func(tbl *core.RWQIndTable, attr *core.RWQIndTableInitAttr, _ *core.Udata) error {
			tbl.TblNum = 0x44
			return fail
		}
	})
	wq := r.createWQ(uint32(r.newPD()), r.cqByWrite(createCQCmd))
	withMask := tableRequest(0, wq)
	withMask[0] = 1
	short := tableRequest(2, wq, wq)
	tests := []struct {
		name    string
		request []byte
		want    error
	}{
		{"comp_mask", withMask, rule.CmdRWQCompMask},
		{"no struct", nil, rule.CmdStartShort},
		{"log_ind_tbl_size", tableRequest(14), rule.CmdRWQLogSize},
		{"fewer handles than announced", short, rule.CmdNextShort},
		{"more handles than announced", tableRequest(0, wq, wq), rule.CmdFinishTail},
		{"a handle of 0 may be padding", tableRequest(0, wq, 0), nil},
		{"the second is unknown", tableRequest(1, wq, 99), rule.ObjectNotFound},
		{"the second is no work queue", tableRequest(1, wq, 0), rule.ObjectWrongType},
		{"the driver", tableRequest(1, wq, wq), syscall.EIO},
		{"one queue twice", tableRequest(1, wq, wq), nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fail = nil
			if tt.want == error(syscall.EIO) {
				fail = syscall.EIO
			}
			used := r.wq.Usecnt.Load()
			resp := r.resp(spec.ExCreateRWQIndTableRespSize)
			require.Equal(t, tt.want, r.commandEx(spec.IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL, tt.request, resp))
			require.Zero(t, r.wq.Object.Usecnt())
			if tt.want != nil {
				require.Equal(t, used, r.wq.Usecnt.Load())
				return
			}
			got := decode[spec.ExCreateRWQIndTableResp](t, r.hex(resp.at, resp.n))
			require.EqualValues(t, 0x44, got.IndTblNum)
			require.EqualValues(t, 16, got.ResponseLength)
			require.Equal(t, used+int32(1<<tt.request[4]), r.wq.Usecnt.Load())
		})
	}
	_, err := r.destroy(destroyWQ, uint64(wq))
	require.Equal(t, error(rule.WQBusy), err)
	destroy := func(cmd spec.ExDestroyRWQIndTable) error {
		return r.commandEx(spec.IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL, bytesOf(cmd), respBuf{})
	}
	require.Equal(t, error(rule.CmdRWQDestroyCompMask), destroy(spec.ExDestroyRWQIndTable{CompMask: 1, IndTblHandle: wq + 1}))
	require.NoError(t, destroy(spec.ExDestroyRWQIndTable{IndTblHandle: wq + 1}))
	require.NoError(t, destroy(spec.ExDestroyRWQIndTable{IndTblHandle: wq + 2}))
	_, err = r.destroy(destroyWQ, uint64(wq))
	require.NoError(t, err)
}
