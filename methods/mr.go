package methods

import (
	"encoding/binary"
	"math"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// objectMR is UVERBS_OBJECT_MR
// (drivers/infiniband/core/uverbs_std_types_mr.c).
var objectMR = object{
	id:  spec.UVERBS_OBJECT_MR,
	typ: &uobject.TypeAttrs{Destroy: freeMR},
	methods: map[uint16]kernel.Handler{
		spec.UVERBS_METHOD_ADVISE_MR:     adviseMR,
		spec.UVERBS_METHOD_DM_MR_REG:     dmMRReg,
		spec.UVERBS_METHOD_QUERY_MR:      queryMR,
		spec.UVERBS_METHOD_REG_DMABUF_MR: regDmabufMR,
	},
}

// freeMR ends a memory region. It models uverbs_free_mr.
func freeMR(o *uobject.Object, _ uobject.RemoveReason, attrs uobject.Attrs) error {
	defer attrs.Task().Trace.Enter(trace.Uverbs, "uverbs_free_mr").Leave()
	return core.DeregMRUser(o.HW.(*core.MR), core.UdataOf(attrs))
}

// adviseMR tells the driver how memory will be used. It is the handler of
// UVERBS_METHOD_ADVISE_MR.
//
// Errors: advise-mr/unsupported, const/range, flags/…, attr/array-size, and
// those of the driver.
func adviseMR(b *kernel.Bundle) error {
	pd := mustHW[*core.PD](b, spec.UVERBS_ATTR_ADVISE_MR_PD_HANDLE)
	if pd.Device.Ops.AdviseMR == nil {
		return rule.AdviseMRUnsupported
	}
	advice, err := b.Const(spec.UVERBS_ATTR_ADVISE_MR_ADVICE, math.MaxUint32)
	if err != nil {
		return err
	}
	flags, err := b.Flags32(spec.UVERBS_ATTR_ADVISE_MR_FLAGS, spec.IB_UVERBS_ADVISE_MR_FLAG_FLUSH)
	if err != nil {
		return err
	}
	n, err := b.ArraySize(spec.UVERBS_ATTR_ADVISE_MR_SGE_LIST, spec.SGESize)
	if err != nil || n == 0 {
		return err
	}
	raw, err := b.Bytes(spec.UVERBS_ATTR_ADVISE_MR_SGE_LIST)
	if err != nil {
		return err
	}
	list := make([]core.SGE, n)
	for i := range list {
		sge := raw[i*spec.SGESize:]
		list[i] = core.SGE{Addr: binary.LittleEndian.Uint64(sge), Length: binary.LittleEndian.Uint32(sge[8:]),
			LKey: binary.LittleEndian.Uint32(sge[12:])}
	}
	return pd.Device.Ops.AdviseMR(pd, uint32(advice), flags, list, b)
}

// dmMRReg registers a part of the device's own memory. It is the handler of
// UVERBS_METHOD_DM_MR_REG.
//
// Errors: dm-mr/unsupported, flags/…, dm-mr/zero-based, mr-access/…,
// dm-mr/range, attr/output-fault, attr/flag-fault, and those of the driver.
func dmMRReg(b *kernel.Bundle) error {
	o := mustObject(b, spec.UVERBS_ATTR_REG_DM_MR_HANDLE)
	dm := mustHW[*core.DM](b, spec.UVERBS_ATTR_REG_DM_MR_DM_HANDLE)
	pd := mustHW[*core.PD](b, spec.UVERBS_ATTR_REG_DM_MR_PD_HANDLE)
	dev := pd.Device
	if dev.Ops.RegDMMR == nil {
		return rule.DMMRUnsupported
	}
	var attr core.DMMRAttr
	var err error
	if attr.Offset, err = b.Uint64(spec.UVERBS_ATTR_REG_DM_MR_OFFSET); err != nil {
		return err
	}
	if attr.Length, err = b.Uint64(spec.UVERBS_ATTR_REG_DM_MR_LENGTH); err != nil {
		return err
	}
	attr.AccessFlags, err = b.Flags32(spec.UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, core.AccessSupported)
	if err != nil {
		return err
	}
	if attr.AccessFlags&core.AccessZeroBased == 0 {
		return rule.DMMRZeroBased
	}
	if err := core.CheckMRAccess(dev, attr.AccessFlags); err != nil {
		return err
	}
	if size := uint64(dm.Length); attr.Offset > size || attr.Length > size || attr.Length > size-attr.Offset {
		return rule.DMMRRange
	}
	mr, err := dev.Ops.RegDMMR(pd, dm, &attr, b)
	if err != nil {
		return err
	}
	mr.Device, mr.PD, mr.Type, mr.DM = dev, pd, core.MRTypeDM, dm
	pd.Usecnt.Count(b.Trace(), "ib_pd", 1)
	dm.Usecnt.Count(b.Trace(), "ib_dm", 1)
	o.HW = mr
	b.FinalizeCreate(spec.UVERBS_ATTR_REG_DM_MR_HANDLE)
	if err := b.CopyToUint32(spec.UVERBS_ATTR_REG_DM_MR_RESP_LKEY, mr.LKey); err != nil {
		return err
	}
	return b.CopyToUint32(spec.UVERBS_ATTR_REG_DM_MR_RESP_RKEY, mr.RKey)
}

// queryMR tells a region's keys, length and address. It is the handler of
// UVERBS_METHOD_QUERY_MR.
//
// Errors: attr/output-fault, attr/flag-fault.
func queryMR(b *kernel.Bundle) error {
	mr := mustHW[*core.MR](b, spec.UVERBS_ATTR_QUERY_MR_HANDLE)
	if err := b.CopyToUint32(spec.UVERBS_ATTR_QUERY_MR_RESP_LKEY, mr.LKey); err != nil {
		return err
	}
	if err := b.CopyToUint32(spec.UVERBS_ATTR_QUERY_MR_RESP_RKEY, mr.RKey); err != nil {
		return err
	}
	if err := b.CopyToUint64(spec.UVERBS_ATTR_QUERY_MR_RESP_LENGTH, mr.Length); err != nil {
		return err
	}
	if err := b.CopyToUint64(spec.UVERBS_ATTR_QUERY_MR_RESP_IOVA, mr.IOVA); isCopyErr(err) {
		return err
	}
	return nil
}

// dmabufAccess has the rights that memory of another device can be given.
const dmabufAccess = core.AccessLocalWrite | core.AccessRemoteRead | core.AccessRemoteWrite |
	core.AccessRemoteAtomic | core.AccessRelaxedOrdering

// regDmabufMR registers memory of another device, which a dma-buf descriptor
// stands for. It is the handler of UVERBS_METHOD_REG_DMABUF_MR.
//
// Errors: dmabuf-mr/unsupported, dmabuf-mr/misaligned, flags/…, mr-access/…,
// attr/output-fault, attr/flag-fault, and those of the driver.
func regDmabufMR(b *kernel.Bundle) error {
	o := mustObject(b, spec.UVERBS_ATTR_REG_DMABUF_MR_HANDLE)
	pd := mustHW[*core.PD](b, spec.UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE)
	dev := pd.Device
	if dev.Ops.RegUserMRDmabuf == nil {
		return rule.DmabufMRUnsupported
	}
	offset, err := b.Uint64(spec.UVERBS_ATTR_REG_DMABUF_MR_OFFSET)
	if err != nil {
		return err
	}
	length, err := b.Uint64(spec.UVERBS_ATTR_REG_DMABUF_MR_LENGTH)
	if err != nil {
		return err
	}
	iova, err := b.Uint64(spec.UVERBS_ATTR_REG_DMABUF_MR_IOVA)
	if err != nil {
		return err
	}
	if (offset^iova)%copyuser.PageSize != 0 {
		return rule.DmabufMRMisaligned
	}
	fd, err := b.Uint32(spec.UVERBS_ATTR_REG_DMABUF_MR_FD)
	if err != nil {
		return err
	}
	access, err := b.Flags32(spec.UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, dmabufAccess)
	if err != nil {
		return err
	}
	if err := core.CheckMRAccess(dev, access); err != nil {
		return err
	}
	mr, err := dev.Ops.RegUserMRDmabuf(pd, offset, length, iova, int(int32(fd)), access, b)
	if err != nil {
		return err
	}
	mr.Device, mr.PD, mr.Type = dev, pd, core.MRTypeUser
	pd.Usecnt.Count(b.Trace(), "ib_pd", 1)
	o.HW = mr
	b.FinalizeCreate(spec.UVERBS_ATTR_REG_DMABUF_MR_HANDLE)
	if err := b.CopyToUint32(spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, mr.LKey); err != nil {
		return err
	}
	return b.CopyToUint32(spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, mr.RKey)
}
