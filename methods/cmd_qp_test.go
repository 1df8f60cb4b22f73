package methods

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// rcCmd is a CREATE_QP of an RC QP.
func rcCmd(pd, cq uint32) spec.CreateQP {
	return spec.CreateQP{UserHandle: 0x77, PDHandle: pd, SendCQHandle: cq, RecvCQHandle: cq, MaxSendWR: 4, MaxRecvWR: 5,
		MaxSendSGE: 1, MaxRecvSGE: 2, MaxInlineData: 3, QPType: spec.IB_QPT_RC}
}

func (r *rig) createQP(cmd spec.CreateQP) (spec.CreateQPResp, error) {
	resp := r.resp(spec.CreateQPRespSize)
	err := r.command(spec.IB_USER_VERBS_CMD_CREATE_QP, bytesOf(cmd), resp)
	return decode[spec.CreateQPResp](r, r.hex(resp.at, resp.n)), err
}

// qpByWrite makes a QP of that type on a PD and a CQ of its own.
func (r *rig) qpByWrite(qpType uint8) uint32 {
	r.Helper()
	cmd := rcCmd(uint32(r.newPD()), r.cqByWrite(createCQCmd))
	cmd.QPType = qpType
	made, err := r.createQP(cmd)
	require.NoError(r, err)
	return made.QPHandle
}

// TestCreateQPByWrite follows the recorded cases qp/write-create and
// qp/write-reserved: the answer has what the driver grants.
func TestCreateQPByWrite(t *testing.T) {
	var attr core.QPInitAttr
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateQP = func(qp *core.QP, a *core.QPInitAttr, _ *core.Udata) error {
			attr = *a
			qp.QPNum = 0x11
			a.Cap.MaxSendWR, a.Cap.MaxInlineData = 7, 60
			return nil
		}
	})
	pd, cq := uint32(r.newPD()), r.cqByWrite(createCQCmd)
	cmd := rcCmd(pd, cq)
	cmd.Reserved, cmd.SQSigAll = 0xff, 1
	got, err := r.createQP(cmd)
	require.NoError(t, err)
	require.Equal(t, spec.CreateQPResp{QPHandle: 2, QPN: 0x11, MaxSendWR: 7, MaxRecvWR: 5, MaxSendSGE: 1, MaxRecvSGE: 2, MaxInlineData: 60}, got)
	require.Same(t, attr.SendCQ, attr.RecvCQ)
	require.EqualValues(t, signalAllWR, attr.SqSigType)
	require.Equal(t, core.QPCap{MaxSendWR: 4, MaxRecvWR: 5, MaxSendSGE: 1, MaxRecvSGE: 2, MaxInlineData: 3}, attr.Cap)
	require.EqualValues(t, 1, attr.SendCQ.Object.HW.(*core.CQ).Usecnt.Load()-1) // once for each direction
	for _, d := range []destroyer{destroyPD, destroyCQ} {
		_, err := r.destroy(d, uint64(map[uint16]uint32{destroyPD.object: pd, destroyCQ.object: cq}[d.object]))
		require.ErrorIs(t, err, syscall.EBUSY)
	}
	answer := r.commanded(spec.IB_USER_VERBS_CMD_DESTROY_QP, bytesOf(spec.DestroyQP{QPHandle: 2}), spec.DestroyQPRespSize)
	require.Equal(t, "00000000", answer)
	for _, o := range []struct {
		d      destroyer
		handle uint32
	}{{destroyCQ, cq}, {destroyPD, pd}} {
		_, err := r.destroy(o.d, uint64(o.handle))
		require.NoError(t, err)
	}
}

// TestCreateQPByWriteRefused follows the recorded cases qp/write-…: in which
// order the objects are looked up, and which lookups keep their errno.
func TestCreateQPByWriteRefused(t *testing.T) {
	r := newCommands(t, nil)
	pd, cq, cq2 := uint32(r.newPD()), r.cqByWrite(createCQCmd), r.cqByWrite(createCQCmd)
	srq := decode[spec.CreateSRQResp](t, r.commanded(spec.IB_USER_VERBS_CMD_CREATE_SRQ, bytesOf(spec.CreateSRQ{PDHandle: pd}), spec.CreateSRQRespSize)).SRQHandle
	tests := []struct {
		name   string
		change func(*spec.CreateQP)
		want   error
	}{
		{"an unknown type", func(c *spec.CreateQP) { c.QPType = 1 }, rule.CmdQPType},
		{"qp/write-xrc-tgt", func(c *spec.CreateQP) { c.QPType = spec.IB_QPT_XRC_TGT }, rule.CmdQPXRCD},
		{"qp/write-unknown-pd", func(c *spec.CreateQP) { c.PDHandle = 99 }, rule.ObjectNotFound},
		{"qp/write-unknown-cq", func(c *spec.CreateQP) { c.SendCQHandle, c.RecvCQHandle = 99, 99 }, rule.ObjectNotFound},
		{"qp/write-order-cq-pd", func(c *spec.CreateQP) { c.SendCQHandle, c.RecvCQHandle, c.PDHandle = pd, pd, 99 }, rule.ObjectWrongType},
		{"qp/write-rcq-first", func(c *spec.CreateQP) { c.SendCQHandle, c.RecvCQHandle = 99, pd }, rule.ObjectWrongType},
		{"the SRQ before all", func(c *spec.CreateQP) { c.IsSRQ, c.SRQHandle, c.RecvCQHandle = 1, pd, 99 }, rule.ObjectWrongType},
		{"the send CQ after the others", func(c *spec.CreateQP) { c.IsSRQ, c.SRQHandle, c.RecvCQHandle, c.SendCQHandle = 1, srq, cq2, 99 }, rule.ObjectNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := rcCmd(pd, cq)
			tt.change(&cmd)
			got, err := r.createQP(cmd)
			require.Equal(t, tt.want, err)
			require.EqualValues(t, 0xa5a5a5a5, got.QPHandle)
		})
	}
	require.EqualValues(t, srq+1, r.newPD())
	r.requireUnused()
}

// TestCreateQPParts: what each type of QP is made of.
func TestCreateQPParts(t *testing.T) {
	var attr core.QPInitAttr
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateQP = func(_ *core.QP, a *core.QPInitAttr, _ *core.Udata) error {
			attr = *a
			return syscall.EOPNOTSUPP
		}
	})
	pd, cq, cq2 := uint32(r.newPD()), r.cqByWrite(createCQCmd), r.cqByWrite(createCQCmd)
	wq := r.createWQ(pd, cq)
	tbl := r.createTable(0, wq)
	create := func(change func(*spec.ExCreateQP)) error {
		c := rcCmd(pd, cq)
		cmd := spec.ExCreateQP{PDHandle: pd, SendCQHandle: cq, RecvCQHandle: cq2, MaxSendWR: c.MaxSendWR, MaxRecvWR: c.MaxRecvWR, QPType: c.QPType}
		change(&cmd)
		attr = core.QPInitAttr{}
		return r.commandEx(spec.IB_USER_VERBS_EX_CMD_CREATE_QP, bytesOf(cmd), r.resp(spec.ExCreateQPRespSize))
	}
	refused := error(syscall.EOPNOTSUPP)
	require.Equal(t, refused, create(func(*spec.ExCreateQP) {}))
	require.NotSame(t, attr.SendCQ, attr.RecvCQ)
	require.NotNil(t, attr.RecvCQ)

	// An XRC initiator does not receive: whatever was said of that is ignored.
	require.Equal(t, refused, create(func(c *spec.ExCreateQP) { c.QPType, c.RecvCQHandle, c.IsSRQ = spec.IB_QPT_XRC_INI, 99, 1 }))
	require.NotNil(t, attr.SendCQ)
	require.Nil(t, attr.RecvCQ)
	require.Zero(t, attr.Cap.MaxRecvWR)

	withTable := func(c *spec.ExCreateQP) {
		c.CompMask, c.RWQIndTblHandle = spec.IB_UVERBS_CREATE_QP_MASK_IND_TABLE, tbl
		c.MaxRecvWR = 0
	}
	require.Equal(t, refused, create(withTable))
	require.NotNil(t, attr.SendCQ)
	require.Nil(t, attr.RecvCQ)
	require.NotNil(t, attr.RWQIndTable)
	require.Equal(t, refused, create(func(c *spec.ExCreateQP) { withTable(c); c.MaxSendWR, c.SendCQHandle = 0, 99 }))
	require.Nil(t, attr.SendCQ)
	require.Equal(t, error(rule.CmdQPIndTable), create(func(c *spec.ExCreateQP) { withTable(c); c.MaxRecvSGE = 1 }))
	require.Equal(t, error(rule.ObjectWrongType), create(func(c *spec.ExCreateQP) { withTable(c); c.RWQIndTblHandle = pd }))
	r.requireUnused()
}

// TestExCreateQP: what only the extended command has, and the capabilities
// that it asks for.
func TestExCreateQP(t *testing.T) {
	var attr core.QPInitAttr
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateQP = func(_ *core.QP, a *core.QPInitAttr, _ *core.Udata) error {
			attr = *a
			return nil
		}
	})
	pd, cq := uint32(r.newPD()), r.cqByWrite(createCQCmd)
	create := func(change func(*spec.ExCreateQP)) error {
		cmd := spec.ExCreateQP{PDHandle: pd, SendCQHandle: cq, RecvCQHandle: cq, QPType: spec.IB_QPT_UD}
		change(&cmd)
		return r.commandEx(spec.IB_USER_VERBS_EX_CMD_CREATE_QP, bytesOf(cmd), r.resp(spec.ExCreateQPRespSize))
	}
	sourceQPN := func(c *spec.ExCreateQP) { c.CreateFlags, c.SourceQPN = spec.IB_QP_CREATE_SOURCE_QPN, 5 }
	rawPacket := func(c *spec.ExCreateQP) { c.QPType = spec.IB_QPT_RAW_PACKET }
	require.Equal(t, error(rule.CmdQPExCompMask), create(func(c *spec.ExCreateQP) { c.CompMask = 2 }))
	require.Equal(t, error(rule.CmdQPExReserved), create(func(c *spec.ExCreateQP) { c.Reserved = 1 }))
	require.Equal(t, error(rule.CmdQPCreateFlags), create(func(c *spec.ExCreateQP) { c.CreateFlags = 1 }))
	require.NoError(t, create(sourceQPN))
	require.EqualValues(t, 5, attr.SourceQPN)
	require.NoError(t, create(rawPacket))

	r.drop(process.CAP_NET_RAW)
	pd, cq = uint32(r.newPD()), r.cqByWrite(createCQCmd)
	require.Equal(t, error(rule.CmdQPSourceQPN), create(sourceQPN))
	require.Equal(t, error(rule.CmdQPRawPacket), create(rawPacket))
}

// TestQueryQP follows the recorded case qp/query: every member of the answer.
func TestQueryQP(t *testing.T) {
	ah := core.AHAttr{DGID: [16]byte{1, 2}, FlowLabel: 3, SGIDIndex: 4, HopLimit: 5, TrafficClass: 6, DLID: 7, SL: 8,
		SrcPathBits: 9, StaticRate: 10, IsGlobal: true, PortNum: 11}
	var mask uint32
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.QueryQP = func(_ *process.Task, _ *core.QP, attr *core.QPAttr, m uint32, init *core.QPInitAttr) error {
			mask = m
			*attr = core.QPAttr{State: 1, CurState: 2, PathMTU: 3, PathMigState: 4, QKey: 5, RqPSN: 6, SqPSN: 7, DestQPNum: 8,
				AccessFlags: 9, PkeyIndex: 10, AltPkeyIndex: 11, SQDraining: 12, MaxRdAtomic: 13, MaxDestRdAtomic: 14,
				MinRNRTimer: 15, PortNum: 16, Timeout: 17, RetryCnt: 18, RNRRetry: 19, AltPortNum: 20, AltTimeout: 21, AH: ah}
			attr.AltAH = ah
			attr.AltAH.IsGlobal = false
			*init = core.QPInitAttr{Cap: core.QPCap{MaxSendWR: 22, MaxRecvWR: 23, MaxSendSGE: 24, MaxRecvSGE: 25, MaxInlineData: 26}}
			return nil
		}
	})
	qp := r.qpByWrite(spec.IB_QPT_RC)
	answer := r.commanded(spec.IB_USER_VERBS_CMD_QUERY_QP, bytesOf(spec.QueryQP{QPHandle: qp, AttrMask: 0x1234}), spec.QueryQPRespSize)
	require.EqualValues(t, 0x1234, mask)
	alt := spec.QPDest{DLID: 7, Sl: 8, SrcPathBits: 9, StaticRate: 10, PortNum: 11}
	dest := alt
	dest.DGID, dest.FlowLabel, dest.SGIDIndex, dest.HopLimit, dest.TrafficClass, dest.IsGlobal = [16]uint8{1, 2}, 3, 4, 5, 6, 1
	require.Equal(t, spec.QueryQPResp{Dest: dest, AltDest: alt, QPState: 1, CurQPState: 2, PathMtu: 3, PathMigState: 4, Qkey: 5,
		RQPSN: 6, SQPSN: 7, DestQPNum: 8, QPAccessFlags: 9, PkeyIndex: 10, AltPkeyIndex: 11, SQDraining: 12, MaxRdAtomic: 13,
		MaxDestRdAtomic: 14, MinRnrTimer: 15, PortNum: 16, Timeout: 17, RetryCnt: 18, RnrRetry: 19, AltPortNum: 20,
		AltTimeout: 21, MaxSendWR: 22, MaxRecvWR: 23, MaxSendSGE: 24, MaxRecvSGE: 25, MaxInlineData: 26, SQSigAll: 1},
		decode[spec.QueryQPResp](t, answer))
	err := r.command(spec.IB_USER_VERBS_CMD_QUERY_QP, bytesOf(spec.QueryQP{QPHandle: 99}), r.resp(spec.QueryQPRespSize))
	require.Equal(t, error(rule.ObjectNotFound), err)
	require.Zero(t, r.qp.Object.Usecnt())
}

// modifyRig is a rig with a QP, whose MODIFY_QPs are noted.
func modifyRig(t *testing.T, qpType uint8) (r *rig, attr *core.QPAttr, mask *uint32, modify func(spec.ModifyQP) error) {
	attr, mask = new(core.QPAttr), new(uint32)
	r = newCommands(t, func(ops *core.DeviceOps) {
		ops.ModifyQP = func(_ *core.QP, a *core.QPAttr, m uint32, _ *core.Udata) error {
			*attr, *mask = *a, m
			return nil
		}
	})
	r.dev.PhysPorts = 2
	qp := r.qpByWrite(qpType)
	return r, attr, mask, func(cmd spec.ModifyQP) error {
		cmd.QPHandle = qp
		return r.command(spec.IB_USER_VERBS_CMD_MODIFY_QP, bytesOf(cmd), respBuf{})
	}
}

// toInit takes a QP to INIT on port 1.
var toInit = spec.ModifyQP{AttrMask: spec.IB_QP_STATE | spec.IB_QP_PORT, QPState: spec.IB_QPS_INIT, PortNum: 1}

// path is an address with that port.
func path(port uint8) spec.QPDest {
	return spec.QPDest{DGID: route.DGID, SGIDIndex: 1, IsGlobal: 1, PortNum: port, HopLimit: 1}
}

// TestModifyQPChecks follows the recorded cases qp/modify-port-zero,
// qp/modify-state-7, qp/modify-mask-rate-limit and qp/modify-mask-undefined,
// and has the checks of ports that only devices with several of them meet.
func TestModifyQPChecks(t *testing.T) {
	const av, port, state, alt = spec.IB_QP_AV, spec.IB_QP_PORT, spec.IB_QP_STATE, spec.IB_QP_ALT_PATH
	tests := []struct {
		name string
		cmd  spec.ModifyQP
		want error
	}{
		{"qp/modify-mask-rate-limit", spec.ModifyQP{AttrMask: spec.IB_QP_RATE_LIMIT}, rule.CmdQPModifyMask},
		{"qp/modify-mask-undefined", spec.ModifyQP{AttrMask: 1 << 21}, rule.CmdQPModifyMask},
		{"qp/modify-port-zero", spec.ModifyQP{AttrMask: port}, rule.CmdQPModifyPort},
		{"a path without a port", spec.ModifyQP{AttrMask: av}, rule.CmdQPModifyPathPort},
		{"to RTR on another port", spec.ModifyQP{AttrMask: av | state, QPState: spec.IB_QPS_RTR, Dest: path(2)}, rule.CmdQPModifyOtherPort},
		{"a port and a path on another", spec.ModifyQP{AttrMask: av | port, PortNum: 1, Dest: path(2)}, rule.CmdQPModifyTwoPorts},
		{"an alternate path without ports", spec.ModifyQP{AttrMask: alt}, rule.CmdQPModifyAltPort},
		{"an alternate path on another port", spec.ModifyQP{AttrMask: alt, AltPortNum: 1, AltDest: path(2)}, rule.CmdQPModifyAltPort},
		{"an alternate path on Ethernet", spec.ModifyQP{AttrMask: alt, AltPortNum: 1, AltDest: path(1)}, rule.QPAltPath},
		{"qp/modify-state-7", spec.ModifyQP{AttrMask: state, QPState: 7}, rule.CmdQPModifyState},
		{"the state that it is in", spec.ModifyQP{AttrMask: spec.IB_QP_CUR_STATE, CurQPState: 7}, rule.CmdQPModifyState},
		{"a path without a GID entry", spec.ModifyQP{AttrMask: av, Dest: spec.QPDest{PortNum: 1, IsGlobal: 1, SGIDIndex: 9}}, rule.GIDEmpty},
		{"to RTR on its own port", spec.ModifyQP{AttrMask: av | state, QPState: spec.IB_QPS_RTR, Dest: path(1)}, nil},
		{"unmasked members do not count", spec.ModifyQP{QPState: 9, PortNum: 9}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _, _, modify := modifyRig(t, spec.IB_QPT_RC)
			require.NoError(t, modify(toInit))
			require.Equal(t, tt.want, modify(tt.cmd))
			require.Zero(t, r.qp.Object.Usecnt())
		})
	}
}

// TestModifyQPAttrs: only what the mask names reaches the driver.
func TestModifyQPAttrs(t *testing.T) {
	r, attr, mask, modify := modifyRig(t, spec.IB_QPT_UD)
	full := spec.ModifyQP{QPState: 1, CurQPState: 2, PathMtu: 3, PathMigState: 4, Qkey: 5, RQPSN: 0xff000006, SQPSN: 0xff000007, DestQPNum: 8,
		QPAccessFlags: 9, PkeyIndex: 10, AltPkeyIndex: 11, EnSqdAsyncNotify: 12, MaxRdAtomic: 13, MaxDestRdAtomic: 14,
		MinRnrTimer: 15, PortNum: 1, Timeout: 17, RetryCnt: 18, RnrRetry: 19, AltPortNum: 1, AltTimeout: 21, Dest: path(1)}
	require.NoError(t, modify(full))
	require.Equal(t, core.QPAttr{}, *attr)
	require.Zero(t, *mask)

	full.AttrMask = spec.IB_QP_ATTR_STANDARD_BITS &^ (spec.IB_QP_ALT_PATH | spec.IB_QP_CAP)
	require.NoError(t, modify(full))
	require.EqualValues(t, full.AttrMask, *mask)
	require.Equal(t, core.QPAttr{State: 1, CurState: 2, PathMTU: 3, PathMigState: 4, QKey: 5, RqPSN: 6, SqPSN: 7, DestQPNum: 8,
		AccessFlags: 9, PkeyIndex: 10, EnSQDAsyncNotify: 12, MaxRdAtomic: 13, MaxDestRdAtomic: 14, MinRNRTimer: 15, PortNum: 1,
		Timeout: 17, RetryCnt: 18, RNRRetry: 19,
		AH: core.AHAttr{DGID: route.DGID, SGIDIndex: 1, HopLimit: 1, IsGlobal: true, PortNum: 1}}, *attr)
	require.EqualValues(t, 1, r.qp.Port.Load())
}

// TestModifyQPMask: a path alone moves the QP to its port, and XRC QPs ignore
// what their half of the connection does not have.
func TestModifyQPMask(t *testing.T) {
	r, attr, mask, modify := modifyRig(t, spec.IB_QPT_RC)
	r.dev.GIDs = append(r.dev.GIDs, core.GIDAttr{GID: route.DGID, Index: 1, Port: 2, Type: 2})
	require.NoError(t, modify(spec.ModifyQP{AttrMask: spec.IB_QP_AV, Dest: path(2)}))
	require.EqualValues(t, spec.IB_QP_AV|spec.IB_QP_PORT, *mask)
	require.EqualValues(t, 2, attr.PortNum)
	require.EqualValues(t, 64, attr.AH.HopLimit) // the route's, as the QP is connected

	_, _, mask, modify = modifyRig(t, spec.IB_QPT_XRC_INI)
	all := uint32(spec.IB_QP_MAX_DEST_RD_ATOMIC | spec.IB_QP_MIN_RNR_TIMER | spec.IB_QP_MAX_QP_RD_ATOMIC | spec.IB_QP_RETRY_CNT | spec.IB_QP_RNR_RETRY)
	require.NoError(t, modify(spec.ModifyQP{AttrMask: all}))
	require.EqualValues(t, spec.IB_QP_MAX_QP_RD_ATOMIC|spec.IB_QP_RETRY_CNT|spec.IB_QP_RNR_RETRY, *mask)

	x, _, mask, _ := modifyRig(t, spec.IB_QPT_RC)
	xrcd, err := x.openXRCD(-1, 0)
	require.NoError(t, err)
	made, err := x.createQP(xrcTgt(xrcd))
	require.NoError(t, err)
	require.NoError(t, x.command(spec.IB_USER_VERBS_CMD_MODIFY_QP, bytesOf(spec.ModifyQP{QPHandle: made.QPHandle, AttrMask: all}), respBuf{}))
	require.EqualValues(t, spec.IB_QP_MAX_DEST_RD_ATOMIC|spec.IB_QP_MIN_RNR_TIMER, *mask)
}

// TestModifyQPPrivilegedQKey: a Q_Key with bit 31 wants CAP_NET_RAW, but only
// if it is to be set.
func TestModifyQPPrivilegedQKey(t *testing.T) {
	r := newCommands(t, nil)
	r.drop(process.CAP_NET_RAW)
	qp := r.qpByWrite(spec.IB_QPT_UD)
	for _, tt := range []struct {
		mask, qkey uint32
		want       error
	}{
		{spec.IB_QP_QKEY, 0x80000000, rule.CmdQPModifyQKey},
		{spec.IB_QP_QKEY, 0x7fffffff, nil},
		{0, 0x80000000, nil},
	} {
		cmd := spec.ModifyQP{QPHandle: qp, AttrMask: tt.mask, Qkey: tt.qkey}
		require.Equal(t, tt.want, r.command(spec.IB_USER_VERBS_CMD_MODIFY_QP, bytesOf(cmd), respBuf{}))
	}
}

// TestExModifyQP: the extended command has a rate limit and an answer.
func TestExModifyQP(t *testing.T) {
	r, attr, _, _ := modifyRig(t, spec.IB_QPT_RC)
	modify := func(mask uint32) (string, error) {
		cmd := spec.ExModifyQP{Base: spec.ModifyQP{QPHandle: uint32(r.qp.Object.ID()), AttrMask: mask}, RateLimit: 5}
		resp := r.resp(spec.ExModifyQPRespSize)
		err := r.commandEx(spec.IB_USER_VERBS_EX_CMD_MODIFY_QP, bytesOf(cmd), resp)
		return r.hex(resp.at, resp.n), err
	}
	answer, err := modify(1 << 26)
	require.Equal(t, error(rule.CmdQPExModifyMask), err)
	require.Equal(t, untouched8, answer)
	answer, err = modify(spec.IB_QP_RATE_LIMIT)
	require.NoError(t, err)
	require.Equal(t, "0000000008000000", answer)
	require.EqualValues(t, 5, attr.RateLimit)
}

// TestMcast follows the recorded cases qp/mcast-unicast-gid and
// qp/mcast-close: a group is attached once, whatever the user asks, and a QP
// cannot be destroyed with groups.
func TestMcast(t *testing.T) {
	var log []string
	fail := error(nil)
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.AttachMcast = func(*process.Task, *core.QP, [16]byte, uint16) error { log = append(log, "attach"); return fail }
		ops.DetachMcast = func(*process.Task, *core.QP, [16]byte, uint16) error { log = append(log, "detach"); return fail }
	})
	qp := r.qpByWrite(spec.IB_QPT_UD)
	group := [16]uint8{0: 0xff, 15: 1}
	attach := func(qp uint32, gid [16]uint8, lid uint16) error {
		return r.command(spec.IB_USER_VERBS_CMD_ATTACH_MCAST, bytesOf(spec.AttachMcast{GID: gid, QPHandle: qp, Mlid: lid}), respBuf{})
	}
	detach := func(lid uint16) error {
		return r.command(spec.IB_USER_VERBS_CMD_DETACH_MCAST, bytesOf(spec.DetachMcast{GID: group, QPHandle: qp, Mlid: lid}), respBuf{})
	}
	require.Equal(t, error(rule.McastAttachGroup), attach(qp, [16]uint8{0: 0xfe, 15: 1}, 0))
	require.Equal(t, error(rule.McastAttachGroup), attach(r.qpByWrite(spec.IB_QPT_RC), group, 0))
	require.Equal(t, error(rule.CmdMcastNotAttached), detach(0))
	fail = syscall.ENOSPC
	require.Equal(t, fail, attach(qp, group, 0))
	fail = nil
	require.NoError(t, attach(qp, group, 0))
	require.NoError(t, attach(qp, group, 0))
	require.NoError(t, attach(qp, group, 1))
	require.Equal(t, []string{"attach", "attach", "attach"}, log)
	_, err := r.destroy(destroyQP, uint64(qp))
	require.Equal(t, error(rule.QPMcastAttached), err)

	require.NoError(t, detach(0))
	require.Equal(t, error(rule.CmdMcastNotAttached), detach(0))
	fail = syscall.EIO
	require.Equal(t, fail, detach(1)) // forgotten, but the QP counts it as attached
	fail = nil
	_, err = r.destroy(destroyQP, uint64(qp))
	require.Equal(t, error(rule.QPBusy), err)
}

// TestMcastLID: on InfiniBand the LID has to be a multicast one.
func TestMcastLID(t *testing.T) {
	r := newCommands(t, nil)
	r.dev.LinkLayer = core.LinkLayerInfiniband
	qp := r.qpByWrite(spec.IB_QPT_UD)
	for lid, want := range map[uint16]error{0xbfff: rule.McastAttachGroup, 0xc000: nil, 0xfffe: nil, 0xffff: rule.McastAttachGroup} {
		cmd := spec.AttachMcast{GID: [16]uint8{0: 0xff}, QPHandle: qp, Mlid: lid}
		require.Equal(t, want, r.command(spec.IB_USER_VERBS_CMD_ATTACH_MCAST, bytesOf(cmd), respBuf{}))
	}
}
