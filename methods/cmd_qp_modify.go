package methods

import (
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// The write() commands of UVERBS_OBJECT_QP that ask for and change a QP's
// attributes.

// uverbsQueryQP tells a QP's attributes. It models ib_uverbs_query_qp in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-qp/query-no-memory, those of the lookup, qp/no-query, and those
// of the driver.
func uverbsQueryQP(b *kernel.Bundle) error {
	var cmd spec.QueryQP
	if err := request(b, &cmd); err != nil {
		return err
	}
	if b.Trace().Fail(trace.Alloc, "ib_qp_attr") || b.Trace().Fail(trace.Alloc, "ib_qp_init_attr") {
		return rule.CmdQPQueryNoMemory
	}
	qp, o, err := uobjGetObjRead[*core.QP](b, spec.UVERBS_OBJECT_QP, cmd.QPHandle)
	if err != nil {
		return err
	}
	var attr core.QPAttr
	var init core.QPInitAttr
	err = core.QueryQP(b.Task(), qp, &attr, cmd.AttrMask, &init)
	uobjPutRead(o, b)
	if err != nil {
		return err
	}
	resp := spec.QueryQPResp{
		Dest:            ahAttrToUverbs(b, &attr.AH),
		AltDest:         ahAttrToUverbs(b, &attr.AltAH),
		MaxSendWR:       init.Cap.MaxSendWR,
		MaxRecvWR:       init.Cap.MaxRecvWR,
		MaxSendSGE:      init.Cap.MaxSendSGE,
		MaxRecvSGE:      init.Cap.MaxRecvSGE,
		MaxInlineData:   init.Cap.MaxInlineData,
		Qkey:            attr.QKey,
		RQPSN:           attr.RqPSN,
		SQPSN:           attr.SqPSN,
		DestQPNum:       attr.DestQPNum,
		QPAccessFlags:   attr.AccessFlags,
		PkeyIndex:       attr.PkeyIndex,
		AltPkeyIndex:    attr.AltPkeyIndex,
		QPState:         attr.State,
		CurQPState:      attr.CurState,
		PathMtu:         attr.PathMTU,
		PathMigState:    attr.PathMigState,
		SQDraining:      attr.SQDraining,
		MaxRdAtomic:     attr.MaxRdAtomic,
		MaxDestRdAtomic: attr.MaxDestRdAtomic,
		MinRnrTimer:     attr.MinRNRTimer,
		PortNum:         uint8(attr.PortNum),
		Timeout:         attr.Timeout,
		RetryCnt:        attr.RetryCnt,
		RnrRetry:        attr.RNRRetry,
		AltPortNum:      uint8(attr.AltPortNum),
		AltTimeout:      attr.AltTimeout,
	}
	if init.SqSigType == signalAllWR {
		resp.SQSigAll = 1
	}
	return response(b, &resp)
}

// ahAttrToUverbs models copy_ah_attr_to_uverbs in
// drivers/infiniband/core/uverbs_cmd.c.
func ahAttrToUverbs(b *kernel.Bundle, attr *core.AHAttr) spec.QPDest {
	defer b.Trace().EnterInlined(trace.Uverbs, "copy_ah_attr_to_uverbs").Leave()
	dest := spec.QPDest{
		DLID:        uint16(attr.DLID),
		Sl:          attr.SL,
		SrcPathBits: attr.SrcPathBits,
		StaticRate:  attr.StaticRate,
		PortNum:     uint8(attr.PortNum),
	}
	if attr.IsGlobal {
		dest.IsGlobal = 1
		dest.DGID = attr.DGID
		dest.FlowLabel = attr.FlowLabel
		dest.SGIDIndex = attr.SGIDIndex
		dest.HopLimit = attr.HopLimit
		dest.TrafficClass = attr.TrafficClass
	}
	return dest
}

// ahAttrFromUverbs models copy_ah_attr_from_uverbs in
// drivers/infiniband/core/uverbs_cmd.c.
func ahAttrFromUverbs(b *kernel.Bundle, dest *spec.QPDest) core.AHAttr {
	defer b.Trace().Enter(trace.Uverbs, "copy_ah_attr_from_uverbs").Leave()
	attr := core.AHAttr{
		DLID:        uint32(dest.DLID),
		SL:          dest.Sl,
		SrcPathBits: dest.SrcPathBits,
		StaticRate:  dest.StaticRate,
		PortNum:     uint32(dest.PortNum),
	}
	if dest.IsGlobal != 0 {
		attr.IsGlobal = true
		attr.DGID = dest.DGID
		attr.FlowLabel = dest.FlowLabel
		attr.SGIDIndex = dest.SGIDIndex
		attr.HopLimit = dest.HopLimit
		attr.TrafficClass = dest.TrafficClass
	}
	return attr
}

// modifyQPMask returns the mask without what QPs of that type ignore. It
// models modify_qp_mask in drivers/infiniband/core/uverbs_cmd.c.
func modifyQPMask(b *kernel.Bundle, qpType uint8, mask uint32) uint32 {
	defer b.Trace().EnterInlined(trace.Uverbs, "modify_qp_mask").Leave()
	switch qpType {
	case spec.IB_QPT_XRC_INI:
		return mask &^ (spec.IB_QP_MAX_DEST_RD_ATOMIC | spec.IB_QP_MIN_RNR_TIMER)
	case spec.IB_QPT_XRC_TGT:
		return mask &^ (spec.IB_QP_MAX_QP_RD_ATOMIC | spec.IB_QP_RETRY_CNT | spec.IB_QP_RNR_RETRY)
	}
	return mask
}

// checkModifyQP checks the ports and states of a request. A primary path
// without a port names its own as the QP's.
func checkModifyQP(qp *core.QP, cmd *spec.ModifyQP) error {
	has := func(bits uint32) bool { return cmd.AttrMask&bits != 0 }
	isPort := func(port uint8) bool { return qp.Device.IsPort(uint32(port)) }
	if has(spec.IB_QP_PORT) && !isPort(cmd.PortNum) {
		return rule.CmdQPModifyPort
	}
	if has(spec.IB_QP_AV) {
		switch {
		case !isPort(cmd.Dest.PortNum):
			return rule.CmdQPModifyPathPort
		case has(spec.IB_QP_STATE) && cmd.QPState == spec.IB_QPS_RTR:
			// On the way from INIT to RTR, which must not set the port, the
			// QP has one from before.
			if uint32(cmd.Dest.PortNum) != qp.RealQP.Port.Load() {
				return rule.CmdQPModifyOtherPort
			}
		case has(spec.IB_QP_PORT):
			if cmd.PortNum != cmd.Dest.PortNum {
				return rule.CmdQPModifyTwoPorts
			}
		default:
			// In SQD a new primary path moves the QP to its port.
			cmd.AttrMask |= spec.IB_QP_PORT
			cmd.PortNum = cmd.Dest.PortNum
		}
	}
	if has(spec.IB_QP_ALT_PATH) &&
		(!isPort(cmd.AltPortNum) || !isPort(cmd.AltDest.PortNum) || cmd.AltPortNum != cmd.AltDest.PortNum) {
		return rule.CmdQPModifyAltPort
	}
	if has(spec.IB_QP_CUR_STATE) && cmd.CurQPState > spec.IB_QPS_ERR ||
		has(spec.IB_QP_STATE) && cmd.QPState > spec.IB_QPS_ERR {
		return rule.CmdQPModifyState
	}
	return nil
}

// qpSetQKey is IB_QP_SET_QKEY in include/rdma/ib_verbs.h: the bit of a Q_Key
// that makes it a privileged one.
const qpSetQKey = 0x80000000

// modifyQPAttr returns those attributes that the request's mask names.
//
// Errors: cmd-qp/modify-qkey.
func modifyQPAttr(b *kernel.Bundle, cmd *spec.ExModifyQP) (attr core.QPAttr, err error) {
	m := &cmd.Base
	has := func(bit uint32) bool { return m.AttrMask&bit != 0 }
	if has(spec.IB_QP_STATE) {
		attr.State = m.QPState
	}
	if has(spec.IB_QP_CUR_STATE) {
		attr.CurState = m.CurQPState
	}
	if has(spec.IB_QP_PATH_MTU) {
		attr.PathMTU = m.PathMtu
	}
	if has(spec.IB_QP_PATH_MIG_STATE) {
		attr.PathMigState = m.PathMigState
	}
	if has(spec.IB_QP_QKEY) {
		// Without netlink nobody can turn privileged Q_Keys on for everyone.
		if m.Qkey&qpSetQKey != 0 && !b.Task().Capable(process.CAP_NET_RAW) {
			return attr, rule.CmdQPModifyQKey
		}
		attr.QKey = m.Qkey
	}
	if has(spec.IB_QP_RQ_PSN) {
		attr.RqPSN = m.RQPSN
	}
	if has(spec.IB_QP_SQ_PSN) {
		attr.SqPSN = m.SQPSN
	}
	if has(spec.IB_QP_DEST_QPN) {
		attr.DestQPNum = m.DestQPNum
	}
	if has(spec.IB_QP_ACCESS_FLAGS) {
		attr.AccessFlags = m.QPAccessFlags
	}
	if has(spec.IB_QP_PKEY_INDEX) {
		attr.PkeyIndex = m.PkeyIndex
	}
	if has(spec.IB_QP_EN_SQD_ASYNC_NOTIFY) {
		attr.EnSQDAsyncNotify = m.EnSqdAsyncNotify
	}
	if has(spec.IB_QP_MAX_QP_RD_ATOMIC) {
		attr.MaxRdAtomic = m.MaxRdAtomic
	}
	if has(spec.IB_QP_MAX_DEST_RD_ATOMIC) {
		attr.MaxDestRdAtomic = m.MaxDestRdAtomic
	}
	if has(spec.IB_QP_MIN_RNR_TIMER) {
		attr.MinRNRTimer = m.MinRnrTimer
	}
	if has(spec.IB_QP_PORT) {
		attr.PortNum = uint32(m.PortNum)
	}
	if has(spec.IB_QP_TIMEOUT) {
		attr.Timeout = m.Timeout
	}
	if has(spec.IB_QP_RETRY_CNT) {
		attr.RetryCnt = m.RetryCnt
	}
	if has(spec.IB_QP_RNR_RETRY) {
		attr.RNRRetry = m.RnrRetry
	}
	if has(spec.IB_QP_ALT_PATH) {
		attr.AltPortNum = uint32(m.AltPortNum)
		attr.AltTimeout = m.AltTimeout
		attr.AltPkeyIndex = m.AltPkeyIndex
	}
	if has(spec.IB_QP_RATE_LIMIT) {
		attr.RateLimit = cmd.RateLimit
	}
	if has(spec.IB_QP_AV) {
		attr.AH = ahAttrFromUverbs(b, &m.Dest)
	}
	if has(spec.IB_QP_ALT_PATH) {
		attr.AltAH = ahAttrFromUverbs(b, &m.AltDest)
	}
	return attr, nil
}

// modifyQP changes a QP for both its commands. It models modify_qp in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-qp/modify-…, those of the lookup, qp/alt-path, and those of the
// driver.
func modifyQP(b *kernel.Bundle, cmd *spec.ExModifyQP) error {
	t := b.Trace()
	defer t.Enter(trace.Uverbs, "modify_qp").Leave()
	if t.Fail(trace.Alloc, "ib_qp_attr") {
		return rule.CmdQPModifyNoMemory
	}
	qp, o, err := uobjGetObjRead[*core.QP](b, spec.UVERBS_OBJECT_QP, cmd.Base.QPHandle)
	if err != nil {
		return err
	}
	defer uobjPutRead(o, b)
	if err := checkModifyQP(qp, &cmd.Base); err != nil {
		return err
	}
	attr, err := modifyQPAttr(b, cmd)
	if err != nil {
		return err
	}
	mask := modifyQPMask(b, qp.Type, cmd.Base.AttrMask)
	return core.ModifyQPWithUdata(qp, &attr, mask, &b.DriverUdata)
}

// uverbsModifyQP models ib_uverbs_modify_qp in
// drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-qp/modify-mask, and those of modifyQP.
func uverbsModifyQP(b *kernel.Bundle) error {
	var cmd spec.ExModifyQP
	if err := request(b, &cmd.Base); err != nil {
		return err
	}
	if cmd.Base.AttrMask&^spec.IB_QP_ATTR_STANDARD_BITS != 0 {
		return rule.CmdQPModifyMask
	}
	return modifyQP(b, &cmd)
}

// uverbsExModifyQP is uverbsModifyQP with a rate limit. It models
// ib_uverbs_ex_modify_qp in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-qp/ex-modify-mask, and those of modifyQP.
func uverbsExModifyQP(b *kernel.Bundle) error {
	var resp spec.ExModifyQPResp
	resp.ResponseLength = responseLength(b, &resp)
	var cmd spec.ExModifyQP
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.Base.AttrMask&^(spec.IB_QP_ATTR_STANDARD_BITS|spec.IB_QP_RATE_LIMIT) != 0 {
		return rule.CmdQPExModifyMask
	}
	if err := modifyQP(b, &cmd); err != nil {
		return err
	}
	return response(b, &resp)
}
