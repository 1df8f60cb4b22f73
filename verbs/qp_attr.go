package verbs

import "uverbsim/spec"

// GlobalRoute is struct ibv_global_route.
type GlobalRoute struct {
	DGID         [16]byte
	FlowLabel    uint32 // 20 bits
	SGIDIndex    uint8
	HopLimit     uint8
	TrafficClass uint8
}

// AHAttr is a path to a port: struct ibv_ah_attr. With RoCE it is always global.
type AHAttr struct {
	GRH         GlobalRoute
	DLID        uint16
	SL          uint8
	SrcPathBits uint8
	StaticRate  uint8 // enum ibv_rate
	IsGlobal    bool  // GRH counts
	PortNum     uint8
}

// QPAttr are the attributes of a queue pair that can be modified and queried:
// struct ibv_qp_attr.
type QPAttr struct {
	QPState          QPState
	CurQPState       QPState
	PathMTU          MTU
	PathMigState     MigState
	QKey             uint32
	RQPSN            uint32 // 24 bits
	SQPSN            uint32 // 24 bits
	DestQPNum        uint32 // 24 bits
	QPAccessFlags    uint32 // IBV_ACCESS_*
	Cap              QPCap
	AHAttr           AHAttr
	AltAHAttr        AHAttr
	PKeyIndex        uint16
	AltPKeyIndex     uint16
	EnSQDAsyncNotify uint8
	SQDraining       uint8
	MaxRdAtomic      uint8
	MaxDestRdAtomic  uint8
	MinRNRTimer      uint8 // a code of 5 bits
	PortNum          uint8
	Timeout          uint8 // 4.096 µs times 2 to this power; 0 is for ever
	RetryCnt         uint8
	RNRRetry         uint8 // 7 is for ever
	AltPortNum       uint8
	AltTimeout       uint8
	RateLimit        uint32 // kbit/s
}

// dest is the path as a queue pair's commands have it.
func (a *AHAttr) dest() spec.QPDest {
	return spec.QPDest{DGID: a.GRH.DGID, FlowLabel: a.GRH.FlowLabel, DLID: a.DLID,
		SGIDIndex: a.GRH.SGIDIndex, HopLimit: a.GRH.HopLimit, TrafficClass: a.GRH.TrafficClass,
		Sl: a.SL, SrcPathBits: a.SrcPathBits, StaticRate: a.StaticRate,
		IsGlobal: wireBool(a.IsGlobal), PortNum: a.PortNum}
}

func pathOf(d *spec.QPDest) AHAttr {
	return AHAttr{
		GRH: GlobalRoute{DGID: d.DGID, FlowLabel: d.FlowLabel, SGIDIndex: d.SGIDIndex,
			HopLimit: d.HopLimit, TrafficClass: d.TrafficClass},
		DLID: d.DLID, SL: d.Sl, SrcPathBits: d.SrcPathBits, StaticRate: d.StaticRate,
		IsGlobal: d.IsGlobal != 0, PortNum: d.PortNum,
	}
}

// modifyFields are the members that a bit of the mask each stands for.
var modifyFields = []struct {
	mask uint32
	copy func(cmd *spec.ModifyQP, a *QPAttr)
}{
	{IBV_QP_STATE, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.QPState = uint8(a.QPState) }},
	{IBV_QP_CUR_STATE, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.CurQPState = uint8(a.CurQPState) }},
	{IBV_QP_EN_SQD_ASYNC_NOTIFY, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.EnSqdAsyncNotify = a.EnSQDAsyncNotify }},
	{IBV_QP_ACCESS_FLAGS, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.QPAccessFlags = a.QPAccessFlags }},
	{IBV_QP_PKEY_INDEX, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.PkeyIndex = a.PKeyIndex }},
	{IBV_QP_PORT, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.PortNum = a.PortNum }},
	{IBV_QP_QKEY, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.Qkey = a.QKey }},
	{IBV_QP_AV, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.Dest = a.AHAttr.dest() }},
	{IBV_QP_PATH_MTU, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.PathMtu = uint8(a.PathMTU) }},
	{IBV_QP_TIMEOUT, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.Timeout = a.Timeout }},
	{IBV_QP_RETRY_CNT, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.RetryCnt = a.RetryCnt }},
	{IBV_QP_RNR_RETRY, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.RnrRetry = a.RNRRetry }},
	{IBV_QP_RQ_PSN, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.RQPSN = a.RQPSN }},
	{IBV_QP_MAX_QP_RD_ATOMIC, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.MaxRdAtomic = a.MaxRdAtomic }},
	{IBV_QP_ALT_PATH, func(cmd *spec.ModifyQP, a *QPAttr) {
		cmd.AltPkeyIndex, cmd.AltPortNum, cmd.AltTimeout = a.AltPKeyIndex, a.AltPortNum, a.AltTimeout
		cmd.AltDest = a.AltAHAttr.dest()
	}},
	{IBV_QP_MIN_RNR_TIMER, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.MinRnrTimer = a.MinRNRTimer }},
	{IBV_QP_SQ_PSN, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.SQPSN = a.SQPSN }},
	{IBV_QP_MAX_DEST_RD_ATOMIC, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.MaxDestRdAtomic = a.MaxDestRdAtomic }},
	{IBV_QP_PATH_MIG_STATE, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.PathMigState = uint8(a.PathMigState) }},
	{IBV_QP_DEST_QPN, func(cmd *spec.ModifyQP, a *QPAttr) { cmd.DestQPNum = a.DestQPNum }},
}

// attrOf is what a query has answered.
func attrOf(r *spec.QueryQPResp) QPAttr {
	return QPAttr{
		QPState: QPState(r.QPState), CurQPState: QPState(r.CurQPState),
		PathMTU: MTU(r.PathMtu), PathMigState: MigState(r.PathMigState),
		QKey: r.Qkey, RQPSN: r.RQPSN, SQPSN: r.SQPSN, DestQPNum: r.DestQPNum, QPAccessFlags: r.QPAccessFlags,
		Cap: QPCap{MaxSendWR: r.MaxSendWR, MaxRecvWR: r.MaxRecvWR, MaxSendSGE: r.MaxSendSGE,
			MaxRecvSGE: r.MaxRecvSGE, MaxInlineData: r.MaxInlineData},
		AHAttr: pathOf(&r.Dest), AltAHAttr: pathOf(&r.AltDest),
		PKeyIndex: r.PkeyIndex, AltPKeyIndex: r.AltPkeyIndex,
		SQDraining: r.SQDraining, MaxRdAtomic: r.MaxRdAtomic, MaxDestRdAtomic: r.MaxDestRdAtomic,
		MinRNRTimer: r.MinRnrTimer, PortNum: r.PortNum, Timeout: r.Timeout, RetryCnt: r.RetryCnt,
		RNRRetry: r.RnrRetry, AltPortNum: r.AltPortNum, AltTimeout: r.AltTimeout,
	}
}
