package methods

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

const objMR = spec.UVERBS_OBJECT_MR

// newMR registers memory by the write() command.
func (r *rig) newMR(pd uint64, access uint32) uint64 {
	r.Helper()
	start := uint64(r.buf(64))
	cmd := spec.RegMR{Start: start, Length: 64, HcaVA: start, PDHandle: uint32(pd), AccessFlags: access}
	return r.handleOf(r.write(spec.IB_USER_VERBS_CMD_REG_MR, spec.Bytes(&cmd), spec.RegMRRespSize))
}

func queryMRAttrs(r *rig, mr uint64) []spec.IoctlAttr {
	return []spec.IoctlAttr{
		num(spec.UVERBS_ATTR_QUERY_MR_HANDLE, 0, mr),
		ptr(spec.UVERBS_ATTR_QUERY_MR_RESP_LENGTH, 8, r.buf(8)),
		ptr(spec.UVERBS_ATTR_QUERY_MR_RESP_RKEY, 4, r.buf(4)),
		ptr(spec.UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, r.buf(4)),
	}
}

// TestQueryMR follows the recorded cases mr/reg-query-destroy,
// mr/query-no-iova and mr/query-order.
func TestQueryMR(t *testing.T) {
	r := newContext(t, nil)
	mr := r.newMR(r.newPD(), core.AccessLocalWrite)
	attrs := queryMRAttrs(r, mr)
	r.ok(objMR, spec.UVERBS_METHOD_QUERY_MR, attrs...)
	require.Equal(t, ".!!!", r.written())
	require.Equal(t, "4000000000000000", r.hex(addrOf(attrs[1]), 8))
	require.Equal(t, "01010000", r.hex(addrOf(attrs[2]), 4))
	require.Equal(t, "01000000", r.hex(addrOf(attrs[3]), 4))

	iova := r.buf(8)
	r.ok(objMR, spec.UVERBS_METHOD_QUERY_MR, append(queryMRAttrs(r, mr), ptr(spec.UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, iova))...)
	require.Equal(t, ".!!!!", r.written())

	attrs = with(queryMRAttrs(r, mr), ptr(spec.UVERBS_ATTR_QUERY_MR_RESP_LKEY, 4, r.unplug))
	r.refused(rule.AttrOutputFault, objMR, spec.UVERBS_METHOD_QUERY_MR, attrs...)
	require.Equal(t, "....", r.written())
	require.Equal(t, "a5a5a5a5", r.hex(addrOf(attrs[2]), 4))

	attrs = append(queryMRAttrs(r, mr), ptr(spec.UVERBS_ATTR_QUERY_MR_RESP_IOVA, 8, r.unplug))
	r.refused(rule.AttrOutputFault, objMR, spec.UVERBS_METHOD_QUERY_MR, attrs...)
	require.Equal(t, ".!!!.", r.written())
}

// TestMRKeepsPDBusy follows the recorded case busy/pd-with-mr.
func TestMRKeepsPDBusy(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	mr := r.newMR(pd, core.AccessLocalWrite)
	r.took()
	_, err := r.destroy(destroyPD, pd)
	require.Equal(t, error(rule.PDBusy), err)
	require.Empty(t, r.took())
	require.Equal(t, mr+1, r.newMR(pd, 0), "the PD is whole after the refused destroy")
	for _, h := range []uint64{mr, mr + 1} {
		_, err = r.destroy(destroyMR, h)
		require.NoError(t, err)
	}
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
	require.Equal(t, []string{"dereg_mr", "dereg_mr", "dealloc_pd"}, r.took())
}

// TestMRRefusesDestroy: an MR that the driver will not let go keeps its PD.
func TestMRRefusesDestroy(t *testing.T) {
	stuck := true
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.DeregMR = func(*core.MR, *core.Udata) error {
			if stuck {
				return rule.ObjectBusyWrite
			}
			return nil
		}
	}))
	pd := r.newPD()
	mr := r.newMR(pd, 0)
	_, err := r.destroy(destroyMR, mr)
	require.Equal(t, error(rule.ObjectBusyWrite), err)
	_, err = r.destroy(destroyPD, pd)
	require.Equal(t, error(rule.PDBusy), err)
	stuck = false
	_, err = r.destroy(destroyMR, mr)
	require.NoError(t, err)
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
}

// TestAdviseMR holds the handler's checks in their order.
func TestAdviseMR(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	sges := make([]byte, 32)
	binary.LittleEndian.PutUint32(sges[8:], 64)
	list := r.data(sges)
	attrs := func(advice, flags uint64, n int, at copyuser.Addr) []spec.IoctlAttr {
		return []spec.IoctlAttr{
			num(spec.UVERBS_ATTR_ADVISE_MR_PD_HANDLE, 0, pd),
			num(spec.UVERBS_ATTR_ADVISE_MR_ADVICE, 8, advice),
			num(spec.UVERBS_ATTR_ADVISE_MR_FLAGS, 4, flags),
			ptr(spec.UVERBS_ATTR_ADVISE_MR_SGE_LIST, n, at),
		}
	}
	const advise = spec.UVERBS_METHOD_ADVISE_MR
	r.ok(objMR, advise, attrs(0, spec.IB_UVERBS_ADVISE_MR_FLAG_FLUSH, 32, list)...)
	r.refused(rule.ConstRange, objMR, advise, attrs(1<<32, 2, 24, list)...)
	r.refused(rule.FlagsUnknown, objMR, advise, attrs(0, 2, 24, list)...)
	r.refused(rule.AttrArraySize, objMR, advise, attrs(0, 0, 24, list)...)
	r.refused(rule.AttrDataFault, objMR, advise, attrs(0, 0, 32, r.unplug)...)

	r = newContext(t, nil, lacking(func(ops *core.DeviceOps) { ops.AdviseMR = nil }))
	pd = r.newPD()
	r.refused(rule.AdviseMRUnsupported, objMR, advise, attrs(1<<32, 2, 24, r.buf(32))...)
}

// TestDMMR: a region of device memory keeps that and its PD busy, and lies
// inside it.
func TestDMMR(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	r.ok(spec.UVERBS_OBJECT_DM, spec.UVERBS_METHOD_DM_ALLOC, num(0, 0, 0), num(1, 8, 4096), num(2, 4, 6))
	dm := r.attr(0).Data
	attrs := func(offset, length, access uint64) []spec.IoctlAttr {
		return []spec.IoctlAttr{
			num(spec.UVERBS_ATTR_REG_DM_MR_HANDLE, 0, 0),
			num(spec.UVERBS_ATTR_REG_DM_MR_OFFSET, 8, offset),
			num(spec.UVERBS_ATTR_REG_DM_MR_LENGTH, 8, length),
			num(spec.UVERBS_ATTR_REG_DM_MR_PD_HANDLE, 0, pd),
			num(spec.UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, 8, access),
			num(spec.UVERBS_ATTR_REG_DM_MR_DM_HANDLE, 0, dm),
			ptr(spec.UVERBS_ATTR_REG_DM_MR_RESP_LKEY, 4, r.buf(4)),
			ptr(spec.UVERBS_ATTR_REG_DM_MR_RESP_RKEY, 4, r.buf(4)),
		}
	}
	const reg, zero = spec.UVERBS_METHOD_DM_MR_REG, core.AccessZeroBased
	r.refused(rule.FlagsUnknown, objMR, reg, attrs(0, 64, zero|1<<10)...)
	r.refused(rule.DMMRZeroBased, objMR, reg, attrs(8192, 64, core.AccessRemoteWrite)...)
	r.refused(rule.MRAccessNeedsLocalWrite, objMR, reg, attrs(8192, 64, zero|core.AccessRemoteWrite)...)
	r.refused(rule.MRAccessNoOnDemand, objMR, reg, attrs(0, 64, zero|core.AccessOnDemand)...)
	r.refused(rule.MRAccessNoFlush, objMR, reg, attrs(0, 64, zero|core.AccessFlushGlobal)...)
	r.refused(rule.DMMRRange, objMR, reg, attrs(4097, 0, zero)...)
	r.refused(rule.DMMRRange, objMR, reg, attrs(0, 4097, zero)...)
	r.refused(rule.DMMRRange, objMR, reg, attrs(4096, 1, zero)...)
	r.refused(rule.DMMRRange, objMR, reg, attrs(^uint64(0), 2, zero)...)
	r.ok(objMR, reg, attrs(4095, 1, zero)...)
	mr := r.attr(0).Data
	require.Equal(t, "......!!", r.written())

	_, err := r.destroy(destroyDM, dm)
	require.Equal(t, error(rule.DMBusy), err)
	_, err = r.destroy(destroyPD, pd)
	require.Equal(t, error(rule.PDBusy), err)
	_, err = r.destroy(destroyMR, mr)
	require.NoError(t, err)
	_, err = r.destroy(destroyDM, dm)
	require.NoError(t, err)
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
}

// TestDmabufMR holds the handler's checks in their order.
func TestDmabufMR(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	attrs := func(offset, iova, access uint64) []spec.IoctlAttr {
		return []spec.IoctlAttr{
			num(spec.UVERBS_ATTR_REG_DMABUF_MR_HANDLE, 0, 0),
			num(spec.UVERBS_ATTR_REG_DMABUF_MR_PD_HANDLE, 0, pd),
			num(spec.UVERBS_ATTR_REG_DMABUF_MR_OFFSET, 8, offset),
			num(spec.UVERBS_ATTR_REG_DMABUF_MR_LENGTH, 8, 64),
			num(spec.UVERBS_ATTR_REG_DMABUF_MR_IOVA, 8, iova),
			num(spec.UVERBS_ATTR_REG_DMABUF_MR_FD, 4, 3),
			num(spec.UVERBS_ATTR_REG_DMABUF_MR_ACCESS_FLAGS, 8, access),
			ptr(spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_LKEY, 4, r.buf(4)),
			ptr(spec.UVERBS_ATTR_REG_DMABUF_MR_RESP_RKEY, 4, r.buf(4)),
		}
	}
	const reg = spec.UVERBS_METHOD_REG_DMABUF_MR
	r.refused(rule.DmabufMRMisaligned, objMR, reg, attrs(8, 0x1000, core.AccessMWBind)...)
	r.refused(rule.FlagsUnknown, objMR, reg, attrs(8, 0x1008, core.AccessMWBind|core.AccessRemoteWrite)...)
	r.refused(rule.MRAccessNeedsLocalWrite, objMR, reg, attrs(8, 0x1008, core.AccessRemoteWrite)...)
	r.ok(objMR, reg, attrs(8, 0x1008, core.AccessLocalWrite|core.AccessRelaxedOrdering)...)
	mr := r.attr(0).Data
	_, err := r.destroy(destroyPD, pd)
	require.Equal(t, error(rule.PDBusy), err)
	_, err = r.destroy(destroyMR, mr)
	require.NoError(t, err)

	r = newContext(t, nil, lacking(func(ops *core.DeviceOps) { ops.RegUserMRDmabuf, ops.RegDMMR = nil, nil }))
	pd = r.newPD()
	r.refused(rule.DmabufMRUnsupported, objMR, reg, attrs(8, 0x1000, 0)...)
}
