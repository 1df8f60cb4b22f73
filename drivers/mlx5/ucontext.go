package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// ucontext is a struct mlx5_ib_ucontext: what a file is to the driver.
type ucontext struct {
	ib  *core.Ucontext
	dev *Device

	bfregs     bfregInfo
	cqeVersion uint8
	tdn        uint32 // transport domain
	libCaps    uint64
	devxUID    uint16 // 0 without DEVX

	dbPageMutex trace.Mutex
	dbPages     []*userDBPage

	req  spec.Mlx5AllocUcontextReqV2
	resp spec.Mlx5AllocUcontextResp
}

// Counts returns how often users' queues have chosen registers of the context, and
// how many pages of doorbell records it has. No call may be under way.
func (c *ucontext) Counts() map[string]int {
	counts := map[string]int{"db_page": len(c.dbPages)}
	for _, n := range c.bfregs.count {
		counts["bfreg"] += int(n)
	}
	return counts
}

// toUcontext models to_mucontext.
func toUcontext(c *core.Ucontext) *ucontext { return c.Driver.(*ucontext) }

// minRequestV2 is where max_cqe_version begins in struct
// mlx5_ib_alloc_ucontext_req_v2: the shortest request of the second version.
const minRequestV2 = 16

// allocUcontext makes a context: with a DEVX user if that is asked for, its
// pages of registers, and a transport domain. The request is read as far as its
// length and the struct go, without a look at what follows. It models
// mlx5_ib_alloc_ucontext in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-ucontext/…, mlx5-devx/no-uctx, mlx5-cmd/….
func (d *Device) allocUcontext(ctx *core.Ucontext, udata *core.Udata) error {
	task := udata.Task()
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_alloc_ucontext").Leave()
	c := &ucontext{ib: ctx, dev: d}
	c.dbPageMutex.Name = "db_page_mutex"
	c.bfregs.lock.Name = "bfregi.lock"
	if !d.active.Load() {
		return rule.MLX5UctxInactive
	}
	req := &c.req
	switch {
	case udata.InLen == spec.Mlx5AllocUcontextReqSize:
		c.bfregs.ver = 0
	case udata.InLen >= minRequestV2:
		c.bfregs.ver = 2
	default:
		return rule.MLX5UctxRequestSize
	}
	if !udata.CopyFrom(spec.Bytes(req)[:min(udata.InLen, spec.Mlx5AllocUcontextReqV2Size)]) {
		return rule.MLX5UctxRequestFault
	}
	if req.Flags&^spec.MLX5_IB_ALLOC_UCTX_DEVX != 0 {
		return rule.MLX5UctxFlags
	}
	if req.CompMask != 0 || req.Reserved0 != 0 || req.Reserved1 != 0 || req.Reserved2 != 0 {
		return rule.MLX5UctxReserved
	}
	req.TotalNumBfregs = (req.TotalNumBfregs + nonFPBfregsPerUAR - 1) &^ (nonFPBfregsPerUAR - 1)
	if req.NumLowLatencyBfregs > req.TotalNumBfregs-1 {
		return rule.MLX5UctxLowLatency
	}

	if req.Flags&spec.MLX5_IB_ALLOC_UCTX_DEVX != 0 {
		uid, err := d.devxCreate(t, task)
		if err != nil {
			return err
		}
		c.devxUID = uid
	}
	err := c.allocRegisters(t)
	if err == nil {
		err = c.finishAlloc(t, udata)
	}
	if err != nil && c.devxUID != 0 {
		d.devxDestroy(t, c.devxUID)
	}
	if err != nil {
		return err
	}
	c.libCaps = req.LibCaps
	ctx.Driver = c
	return nil
}

// allocRegisters is the part of mlx5_ib_alloc_ucontext up to its label uar_done:
// the context's pages of registers.
func (c *ucontext) allocRegisters(t *trace.Task) error {
	b := &c.bfregs
	if b.libUARDyn = c.req.LibCaps&spec.MLX5_LIB_CAP_DYN_UAR != 0; b.libUARDyn {
		return nil
	}
	b.libUAR4K = c.req.LibCaps&spec.MLX5_LIB_CAP_4K_UAR != 0
	if err := c.dev.calcTotalBfregs(t, b, &c.req); err != nil {
		return err
	}
	if t.Fail(trace.Alloc, "bfregi.count") || t.Fail(trace.Alloc, "bfregi.sys_pages") {
		return rule.MLX5UctxNoMemory
	}
	return c.allocateUARs(t)
}

// finishAlloc is the part of mlx5_ib_alloc_ucontext behind its label uar_done:
// the transport domain and the answer. When it fails it undoes allocRegisters
// too.
func (c *ucontext) finishAlloc(t *trace.Task, udata *core.Udata) error {
	d := c.dev
	err := c.allocTransportDomain(t)
	if err != nil {
		c.deallocateUARs(t)
		return err
	}
	c.cqeVersion = min(uint8(d.caps.get(capCQEVersion)), c.req.MaxCQEVersion)
	c.setResp(t, &c.resp)
	c.resp.ResponseLength = uint32(min(udata.OutLen, spec.Mlx5AllocUcontextRespSize))
	if !udata.CopyTo(spec.Bytes(&c.resp)[:c.resp.ResponseLength]) {
		c.deallocTransportDomain(t)
		c.deallocateUARs(t)
		return rule.MLX5UctxResponseFault
	}
	return nil
}

// allocTransportDomain models mlx5_ib_alloc_transport_domain in
// drivers/infiniband/hw/mlx5/main.c. A loop-back that can be switched off, which
// the driver would switch on with the second domain, is left out.
//
// Errors: mlx5-cmd/….
func (c *ucontext) allocTransportDomain(t *trace.Task) (err error) {
	defer t.Enter(moduleIB, "mlx5_ib_alloc_transport_domain").Leave()
	if !c.dev.caps.has(capLogMaxTD) {
		return nil
	}
	c.tdn, err = c.dev.create(t, ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, c.devxUID)
	return err
}

// deallocTransportDomain models mlx5_ib_dealloc_transport_domain in
// drivers/infiniband/hw/mlx5/main.c.
func (c *ucontext) deallocTransportDomain(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_dealloc_transport_domain").Leave()
	if c.dev.caps.has(capLogMaxTD) {
		c.dev.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN, c.devxUID, c.tdn) // as the kernel does
	}
}

// Where the core clock lies in its page: internal_timer_h of struct
// mlx5_init_seg, at 0x1000 of the device's address range.
const coreClockOffset = 0x1000 & pageMask

// setResp fills in the answer to GET_CONTEXT and QUERY_CONTEXT. It models
// set_ucontext_resp in drivers/infiniband/hw/mlx5/main.c.
func (c *ucontext) setResp(t *trace.Task, resp *spec.Mlx5AllocUcontextResp) {
	defer t.Enter(moduleIB, "set_ucontext_resp").Leave()
	d, caps := c.dev, &c.dev.caps
	*resp = spec.Mlx5AllocUcontextResp{
		QPTabSize:         caps.pow2(capLogMaxQP),
		CacheLineSize:     cacheLineSize,
		MaxSQDescSz:       uint16(caps.get(capMaxWQESzSQ)),
		MaxRQDescSz:       uint16(caps.get(capMaxWQESzRQ)),
		MaxSendWqebb:      caps.pow2(capLogMaxQPSz),
		MaxRecvWR:         caps.pow2(capLogMaxQPSz),
		MaxSRQRecvWR:      caps.pow2(capLogMaxSRQSz),
		CQEVersion:        c.cqeVersion,
		LogUARSize:        adapterPageShift,
		NumUarsPerPage:    1,
		NumPorts:          uint16(d.IB.PhysPorts),
		CmdsSuppUhw:       spec.MLX5_USER_CMDS_SUPP_UHW_QUERY_DEVICE | spec.MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		ClockInfoVersions: 1 << spec.MLX5_IB_CLOCK_INFO_V1,
		CompMask: spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_CORE_CLOCK_OFFSET |
			spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_MKEY_UPDATE_TAG,
		HcaCoreClockOffset: coreClockOffset,
		NumDynBfregs:       c.bfregs.numDynBfregs,
	}
	if caps.has(capDumpFillMkey) {
		resp.DumpFillMkey = d.mkeys.dumpFill
		resp.CompMask |= spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_DUMP_FILL_MKEY
	}
	if d.wcSupport(t) {
		resp.BfRegSize = caps.pow2(capLogBFRegSize)
	}
	if caps.has(capUAR4K) {
		resp.NumUarsPerPage = uint32(caps.get(capNumUARsPerPage))
	}
	if !c.bfregs.libUARDyn {
		resp.TotBfregs = c.bfregs.totalNumBfregs - c.bfregs.numDynBfregs
	}
	if d.IB.LinkLayer == core.LinkLayerEthernet {
		resp.EthMinInline = d.queryMinInline(t) + 1
	}
	if caps.has(capECESupport) {
		resp.CompMask |= spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_ECE
	}
	if rtSupported(caps.get(capSQTSFormat)) && rtSupported(caps.get(capRQTSFormat)) && rtSupported(caps.get(capQPTSFormat)) {
		resp.CompMask |= spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_REAL_TIME_TS
	}
	if caps.has(capDrainSigerr) {
		resp.CompMask |= spec.MLX5_IB_ALLOC_UCONTEXT_RESP_MASK_SQD2RTS
	}
}

// cacheLineSize is cache_line_size() of x86.
const cacheLineSize = 64

// rtSupported says whether a time stamp format is, or can be, real time. It
// models rt_supported in drivers/infiniband/hw/mlx5/mlx5_ib.h.
func rtSupported(format uint64) bool {
	const realTime, freeRunningAndRealTime = 1, 2 // MLX5_TIMESTAMP_FORMAT_CAP_…
	return format == realTime || format == freeRunningAndRealTime
}

var minInline = ifc.Must("query_nic_vport_context_out").Field("nic_vport_context.min_wqe_inline_mode")

// queryMinInline asks how much of a packet a work request must carry inline. It
// models mlx5_query_min_inline in
// drivers/net/ethernet/mellanox/mlx5/core/vport.c.
func (d *Device) queryMinInline(t *trace.Task) uint8 {
	defer t.Enter(moduleCore, "mlx5_query_min_inline").Leave()
	// The values of wqe_inline_mode, and those of the answer.
	const modeL2, modeVportContext, modeNotRequired = 0, 1, 2
	const inlineNone, inlineL2 = 0, 1
	switch d.caps.get(capWQEInlineMode) {
	case modeVportContext:
		m := d.mailbox(ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 0, 0)
		defer d.giveBack(m)
		if d.exec(t, m.in, m.out) == nil {
			return uint8(minInline.Get(m.out))
		}
		return inlineL2
	case modeL2:
		return inlineL2
	case modeNotRequired:
		return inlineNone
	}
	return 0
}

// queryUcontext answers as GET_CONTEXT did. It models mlx5_ib_query_ucontext in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: attr/….
func (d *Device) queryUcontext(ctx *core.Ucontext, attrs core.Attrs) error {
	t := attrs.Task().Trace
	defer t.Enter(moduleIB, "mlx5_ib_query_ucontext").Leave()
	var resp spec.Mlx5AllocUcontextResp
	toUcontext(ctx).setResp(t, &resp)
	n, err := attrs.Len(spec.MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX)
	if err != nil {
		return err
	}
	resp.ResponseLength = uint32(min(n, spec.Mlx5AllocUcontextRespSize))
	return attrs.(*kernel.Bundle).CopyToStructOrZero(spec.MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX, spec.Bytes(&resp))
}

// deallocUcontext ends a context. It models mlx5_ib_dealloc_ucontext in
// drivers/infiniband/hw/mlx5/main.c.
func (d *Device) deallocUcontext(task *process.Task, ctx *core.Ucontext) {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_dealloc_ucontext").Leave()
	c := toUcontext(ctx)
	c.deallocTransportDomain(t)
	c.deallocateUARs(t)
	if c.devxUID != 0 {
		d.devxDestroy(t, c.devxUID)
	}
}

// disassociateUcontext says by its presence that the device can be taken from
// its users. It models mlx5_ib_disassociate_ucontext in
// drivers/infiniband/hw/mlx5/main.c.
func (d *Device) disassociateUcontext(task *process.Task, _ *core.Ucontext) {
	task.Trace.Enter(moduleIB, "mlx5_ib_disassociate_ucontext").Leave()
}
