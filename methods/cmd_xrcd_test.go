package methods

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

func (r *rig) openXRCD(fd int, oflags uint32) (uint32, error) {
	resp := r.resp(spec.OpenXRCDRespSize)
	err := r.command(spec.IB_USER_VERBS_CMD_OPEN_XRCD, bytesOf(spec.OpenXRCD{FD: uint32(fd), Oflags: oflags}), resp)
	return decode[spec.OpenXRCDResp](r, r.hex(resp.at, resp.n)).XRCDHandle, err
}

func (r *rig) closeXRCD(handle uint32) error {
	return r.command(spec.IB_USER_VERBS_CMD_CLOSE_XRCD, bytesOf(spec.CloseXRCD{XRCDHandle: handle}), respBuf{})
}

// TestXRCDShared: a domain is shared by whoever names the same inode, in other
// files of the device too, and ends with its last handle.
func TestXRCDShared(t *testing.T) {
	allocs := 0
	r := newContext(t, nil, lacking(func(ops *core.DeviceOps) {
		ops.AllocXRCD = func(*core.XRCD, *core.Udata) error {
			allocs++
			return nil
		}
	}))
	first := r.fd
	_, err := r.openXRCD(first, 0)
	require.Equal(t, error(rule.CmdXRCDNoCreate), err)
	_, err = r.openXRCD(1000, syscall.O_CREAT)
	require.Equal(t, error(rule.CmdXRCDBadFD), err)
	a, err := r.openXRCD(first, syscall.O_CREAT|syscall.O_EXCL)
	require.NoError(t, err)
	_, err = r.openXRCD(first, syscall.O_CREAT|syscall.O_EXCL)
	require.Equal(t, error(rule.CmdXRCDExcl), err)
	b, err := r.openXRCD(first, 0)
	require.NoError(t, err)

	r.fd = r.open()
	r.ok(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
	_, err = r.openXRCD(r.fd, 0)
	require.NoError(t, err)
	require.Equal(t, 1, allocs)
	require.Len(t, r.uverbs.XRCDTree, 1)
	r.took()
	require.NoError(t, r.p.Close(r.fd))
	r.fd = first
	require.NoError(t, r.closeXRCD(a))
	require.NotContains(t, r.took(), "dealloc_xrcd")
	require.NoError(t, r.closeXRCD(b))
	require.Contains(t, r.took(), "dealloc_xrcd")
	require.Empty(t, r.uverbs.XRCDTree)
}

// TestXRCDInodes: all event descriptors share an inode, which is not the
// device's.
func TestXRCDInodes(t *testing.T) {
	r := newContext(t, nil)
	_, err := r.openXRCD(r.newChannel(), syscall.O_CREAT)
	require.NoError(t, err)
	_, err = r.openXRCD(r.newChannel(), 0)
	require.NoError(t, err)
	_, err = r.openXRCD(r.fd, 0)
	require.Equal(t, error(rule.CmdXRCDNoCreate), err)
	require.Len(t, r.uverbs.XRCDTree, 1)
}

// TestXRCDPrivate: without a file each call makes a domain, which ends with
// its only handle. What lives in it keeps it.
func TestXRCDPrivate(t *testing.T) {
	r := newContext(t, nil)
	a, err := r.openXRCD(-1, 0)
	require.NoError(t, err)
	b, err := r.openXRCD(-1, syscall.O_CREAT|syscall.O_EXCL)
	require.NoError(t, err)
	require.NotEqual(t, a, b)
	require.Empty(t, r.uverbs.XRCDTree)
	require.NoError(t, r.closeXRCD(a))
	require.Equal(t, []string{"dealloc_xrcd"}, r.took())
	require.Equal(t, error(rule.ObjectNotFound), r.closeXRCD(a))
}

// TestXRCDFails: an answer that faults ends the domain, and so does a table
// that has no room.
func TestXRCDFails(t *testing.T) {
	fail := failing{}
	r := newContext(t, trace.NewTask(1, fail))
	open := bytesOf(spec.OpenXRCD{FD: uint32(r.fd), Oflags: syscall.O_CREAT})
	require.Equal(t, error(rule.CmdResponseFault), r.command(spec.IB_USER_VERBS_CMD_OPEN_XRCD, open, r.readonly(4)))
	require.Equal(t, []string{"dealloc_xrcd"}, r.took())
	require.Empty(t, r.uverbs.XRCDTree)
	fail["xrcd_table_entry"] = true
	require.Equal(t, error(rule.CmdXRCDNoMemory), r.command(spec.IB_USER_VERBS_CMD_OPEN_XRCD, open, r.resp(4)))
	require.Equal(t, []string{"dealloc_xrcd"}, r.took())
	require.Empty(t, r.uverbs.XRCDTree)
	require.Zero(t, r.newPD())
}

// xrcTgt is a CREATE_QP of an XRC target.
func xrcTgt(xrcd uint32) spec.CreateQP {
	return spec.CreateQP{UserHandle: 0x55, PDHandle: xrcd, QPType: spec.IB_QPT_XRC_TGT}
}

// TestOpenQP: an XRC target is opened by its number through the domain, lives
// until its last handle goes, and keeps the domain.
func TestOpenQP(t *testing.T) {
	r := newContext(t, nil)
	xrcd, err := r.openXRCD(r.fd, syscall.O_CREAT)
	require.NoError(t, err)
	made := decode[spec.CreateQPResp](t, r.commanded(spec.IB_USER_VERBS_CMD_CREATE_QP, bytesOf(xrcTgt(xrcd)), spec.CreateQPRespSize))
	open := func(cmd spec.OpenQP) (spec.CreateQPResp, error) {
		resp := r.resp(spec.CreateQPRespSize)
		err := r.command(spec.IB_USER_VERBS_CMD_OPEN_QP, bytesOf(cmd), resp)
		return decode[spec.CreateQPResp](t, r.hex(resp.at, resp.n)), err
	}
	good := spec.OpenQP{UserHandle: 0x66, PDHandle: xrcd, QPN: made.QPN, QPType: spec.IB_QPT_XRC_TGT}
	for _, tt := range []struct {
		change func(*spec.OpenQP)
		want   error
	}{
		{func(c *spec.OpenQP) { c.PDHandle = 99 }, rule.CmdQPOpenXRCD},
		{func(c *spec.OpenQP) { c.PDHandle = made.QPHandle }, rule.CmdQPOpenXRCD},
		{func(c *spec.OpenQP) { c.QPType = spec.IB_QPT_RC }, rule.QPOpenType},
		{func(c *spec.OpenQP) { c.QPN++ }, rule.QPOpenUnknown},
	} {
		cmd := good
		tt.change(&cmd)
		_, err := open(cmd)
		require.Equal(t, tt.want, err)
	}
	got, err := open(good)
	require.NoError(t, err)
	require.Equal(t, spec.CreateQPResp{QPHandle: made.QPHandle + 1, QPN: made.QPN}, got)

	require.Equal(t, error(rule.XRCDBusy), r.closeXRCD(xrcd))
	destroy := func(handle uint32) {
		r.commanded(spec.IB_USER_VERBS_CMD_DESTROY_QP, bytesOf(spec.DestroyQP{QPHandle: handle}), spec.DestroyQPRespSize)
	}
	destroy(made.QPHandle)
	require.Empty(t, r.took())
	require.Equal(t, error(rule.XRCDBusy), r.closeXRCD(xrcd))
	destroy(got.QPHandle)
	require.Equal(t, []string{"destroy_qp"}, r.took())
	require.NoError(t, r.closeXRCD(xrcd))
}
