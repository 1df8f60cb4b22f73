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

// The write() commands of UVERBS_OBJECT_DEVICE.

// uverbsGetContext gives the file its context and its async event file, whose
// descriptor the user learns before the context exists. It models
// ib_uverbs_get_context in drivers/infiniband/core/uverbs_cmd.c.
func uverbsGetContext(b *kernel.Bundle) error {
	var cmd spec.GetContext
	if err := request(b, &cmd); err != nil {
		return err
	}
	if err := allocUcontext(b); err != nil {
		return err
	}
	err := getContextAsync(b)
	if err != nil {
		b.SetUcontext(nil)
	}
	return err
}

// getContextAsync is uverbsGetContext from the async event file on.
func getContextAsync(b *kernel.Bundle) error {
	o, _, err := uobjAlloc(b, spec.UVERBS_OBJECT_ASYNC_EVENT)
	if err != nil {
		return err
	}
	resp := spec.GetContextResp{
		AsyncFD:        uint32(o.ID()),
		NumCompVectors: b.File().Device.NumCompVectors,
	}
	if err = response(b, &resp); err == nil {
		err = initUcontext(b)
	}
	if err != nil {
		uobjAllocAbort(o, b)
		return err
	}
	o.Ext.(*kernel.AsyncEventFile).Init(b, o)
	uobject.AllocCommit(o, b)
	return nil
}

// copyQueryDevFields models copy_query_dev_fields in
// drivers/infiniband/core/uverbs_cmd.c.
func copyQueryDevFields(b *kernel.Bundle, dev *core.Device, resp *spec.QueryDeviceResp, attr *core.DeviceAttr) {
	defer b.Trace().EnterInlined(trace.Uverbs, "copy_query_dev_fields").Leave()
	*resp = spec.QueryDeviceResp{
		FwVer:                 attr.FwVer,
		NodeGuid:              binary.LittleEndian.Uint64(dev.Attr.NodeGUID[:]),
		SysImageGuid:          binary.LittleEndian.Uint64(attr.SysImageGUID[:]),
		MaxMRSize:             attr.MaxMRSize,
		PageSizeCap:           attr.PageSizeCap,
		VendorID:              attr.VendorID,
		VendorPartID:          attr.VendorPartID,
		HwVer:                 attr.HwVer,
		MaxQP:                 attr.MaxQP,
		MaxQPWR:               attr.MaxQPWR,
		DeviceCapFlags:        uint32(attr.DeviceCapFlags),
		MaxSGE:                min(attr.MaxSendSGE, attr.MaxRecvSGE),
		MaxSGERd:              attr.MaxSGERd,
		MaxCQ:                 attr.MaxCQ,
		MaxCQE:                attr.MaxCQE,
		MaxMR:                 attr.MaxMR,
		MaxPD:                 attr.MaxPD,
		MaxQPRdAtom:           attr.MaxQPRdAtom,
		MaxEeRdAtom:           attr.MaxEERdAtom,
		MaxResRdAtom:          attr.MaxResRdAtom,
		MaxQPInitRdAtom:       attr.MaxQPInitRdAtom,
		MaxEeInitRdAtom:       attr.MaxEEInitRdAtom,
		AtomicCap:             attr.AtomicCap,
		MaxEe:                 attr.MaxEE,
		MaxRdd:                attr.MaxRDD,
		MaxMW:                 attr.MaxMW,
		MaxRawIPv6QP:          attr.MaxRawIPv6QP,
		MaxRawEthyQP:          attr.MaxRawEthyQP,
		MaxMcastGrp:           attr.MaxMcastGrp,
		MaxMcastQPAttach:      attr.MaxMcastQPAttach,
		MaxTotalMcastQPAttach: attr.MaxTotalMcastQPAttach,
		MaxAH:                 attr.MaxAH,
		MaxSRQ:                attr.MaxSRQ,
		MaxSRQWR:              attr.MaxSRQWR,
		MaxSRQSGE:             attr.MaxSRQSGE,
		MaxPkeys:              attr.MaxPkeys,
		LocalCaAckDelay:       attr.LocalCAAckDelay,
		PhysPortCnt:           uint8(min(dev.PhysPorts, math.MaxUint8)),
	}
}

// uverbsQueryDevice tells what the device can do, as the driver told when it
// registered the device. It models ib_uverbs_query_device in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsQueryDevice(b *kernel.Bundle) error {
	ucontext, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	var cmd spec.QueryDevice
	if err := request(b, &cmd); err != nil {
		return err
	}
	dev := ucontext.Device
	var resp spec.QueryDeviceResp
	copyQueryDevFields(b, dev, &resp, &dev.Attr)
	return response(b, &resp)
}

// uverbsExQueryDevice tells what the device can do, as the driver tells now.
// It models ib_uverbs_ex_query_device in drivers/infiniband/core/uverbs_cmd.c.
//
// Errors: cmd-device/ex-comp-mask, cmd-device/ex-reserved, and those of the
// driver.
func uverbsExQueryDevice(b *kernel.Bundle) error {
	ucontext, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	var cmd spec.ExQueryDevice
	if err := request(b, &cmd); err != nil {
		return err
	}
	if cmd.CompMask != 0 {
		return rule.CmdDeviceExCompMask
	}
	if cmd.Reserved != 0 {
		return rule.CmdDeviceExReserved
	}
	dev := ucontext.Device
	var attr core.DeviceAttr
	if err := dev.Ops.QueryDevice(b.Task(), dev, &attr, &b.DriverUdata); err != nil {
		return err
	}
	var resp spec.ExQueryDeviceResp
	copyQueryDevFields(b, dev, &resp.Base, &attr)
	resp.ODPCaps.GeneralCaps = attr.ODP.General
	resp.ODPCaps.PerTransportCaps.RcODPCaps = attr.ODP.RC
	resp.ODPCaps.PerTransportCaps.UcODPCaps = attr.ODP.UC
	resp.ODPCaps.PerTransportCaps.UDODPCaps = attr.ODP.UD
	resp.XrcODPCaps = attr.ODP.XRC
	resp.TimestampMask = attr.TimestampMask
	resp.HcaCoreClock = attr.HcaCoreClock
	resp.DeviceCapFlagsEx = attr.DeviceCapFlags
	resp.RSSCaps.SupportedQpts = attr.RSS.SupportedQPTs
	resp.RSSCaps.MaxRWQIndirectionTables = attr.RSS.MaxRWQIndirectionTables
	resp.RSSCaps.MaxRWQIndirectionTableSize = attr.RSS.MaxRWQIndirectionTableSize
	resp.MaxWQTypeRQ = attr.MaxWQTypeRQ
	resp.RawPacketCaps = attr.RawPacketCaps
	resp.TMCaps.MaxRndvHdrSize = attr.TM.MaxRndvHdrSize
	resp.TMCaps.MaxNumTags = attr.TM.MaxNumTags
	resp.TMCaps.MaxOps = attr.TM.MaxOps
	resp.TMCaps.MaxSGE = attr.TM.MaxSGE
	resp.TMCaps.Flags = attr.TM.Flags
	resp.CQModerationCaps.MaxCQModerationCount = attr.CQModeration.MaxCQModerationCount
	resp.CQModerationCaps.MaxCQModerationPeriod = attr.CQModeration.MaxCQModerationPeriod
	resp.MaxDMSize = attr.MaxDMSize
	resp.ResponseLength = responseLength(b, &resp)
	return response(b, &resp)
}

// uverbsQueryPort tells the state of a port. It models ib_uverbs_query_port in
// drivers/infiniband/core/uverbs_cmd.c.
func uverbsQueryPort(b *kernel.Bundle) error {
	ucontext, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	dev := ucontext.Device
	var cmd spec.QueryPort
	if err := request(b, &cmd); err != nil {
		return err
	}
	attr := portAttrs.Get().(*core.PortAttr)
	defer portAttrs.Put(attr)
	if err := core.QueryPort(b.Task(), dev, uint32(cmd.PortNum), attr); err != nil {
		return err
	}
	var resp spec.QueryPortResp
	copyPortAttrToResp(b.Trace(), attr, &resp, dev)
	return response(b, &resp)
}
