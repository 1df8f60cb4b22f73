package methods

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// regCmd is a REG_MR of a buffer.
func regCmd(pd uint32, start uint64, access uint32) spec.RegMR {
	return spec.RegMR{Start: start, Length: 48, HcaVA: start, PDHandle: pd, AccessFlags: access}
}

func (r *rig) regMR(cmd spec.RegMR) (spec.RegMRResp, error) {
	resp := r.resp(spec.RegMRRespSize)
	err := r.command(spec.IB_USER_VERBS_CMD_REG_MR, bytesOf(cmd), resp)
	return decode[spec.RegMRResp](r, r.hex(resp.at, resp.n)), err
}

// TestRegMR follows the recorded cases mr/reg-query-destroy, mr/access-…,
// mr/misaligned-iova and mr/order-access-pd.
func TestRegMR(t *testing.T) {
	r := newContext(t, nil)
	pd := uint32(r.newPD())
	untouched := spec.RegMRResp{MRHandle: 0xa5a5a5a5, Lkey: 0xa5a5a5a5, Rkey: 0xa5a5a5a5}
	misaligned := regCmd(pd, 0x1000, 0)
	misaligned.HcaVA++
	tests := []struct {
		name string
		cmd  spec.RegMR
		want error
	}{
		{"mr/access-2", regCmd(pd, 0x1000, 0x2), rule.MRAccessNeedsLocalWrite},
		{"mr/access-400", regCmd(pd, 0x1000, 0x400), rule.MRAccessUnknown},
		{"mr/access-40000000", regCmd(pd, 0x1000, 0x40000000), rule.MRAccessUnknown},
		{"mr/misaligned-iova", misaligned, rule.CmdMRAlignment},
		{"mr/order-access-pd", regCmd(pd+100, 0x1000, 0x2), rule.MRAccessNeedsLocalWrite},
		{"an unknown PD", regCmd(pd+100, 0x1000, 0), rule.ObjectNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			resp, err := r.regMR(tt.cmd)
			require.Equal(t, tt.want, err)
			require.Equal(t, untouched, resp)
		})
	}
	for i, access := range []uint32{0x3, 0x4, 0x10, 0x100000, 0x20000000} {
		resp, err := r.regMR(regCmd(pd, 0x1000, access))
		require.NoError(t, err)
		require.EqualValues(t, pd+1+uint32(i), resp.MRHandle)
		require.Equal(t, resp.Lkey+0x100, resp.Rkey)
	}
	_, err := r.destroy(destroyPD, uint64(pd))
	require.Equal(t, error(rule.PDBusy), err)
}

// TestRegMRFault follows the recorded case mr/response-fault: neither the
// region nor its use of the PD is left.
func TestRegMRFault(t *testing.T) {
	r := newContext(t, nil)
	pd := r.newPD()
	err := r.command(spec.IB_USER_VERBS_CMD_REG_MR, bytesOf(regCmd(uint32(pd), 0x1000, 1)), r.readonly(12))
	require.Equal(t, error(rule.CmdResponseFault), err)
	_, err = r.destroy(destroyPD, pd)
	require.NoError(t, err)
	require.Equal(t, []string{"alloc_pd", "dereg_mr", "dealloc_pd"}, r.took())
}

// TestDeregMR follows the recorded case mr/dereg-by-write-pd.
func TestDeregMR(t *testing.T) {
	r := newContext(t, nil)
	pd := uint32(r.newPD())
	mr, err := r.regMR(regCmd(pd, 0x1000, 1))
	require.NoError(t, err)
	dereg := func(handle uint32) error {
		return r.command(spec.IB_USER_VERBS_CMD_DEREG_MR, bytesOf(spec.DeregMR{MRHandle: handle}), respBuf{})
	}
	require.Equal(t, error(rule.ObjectWrongType), dereg(pd))
	require.NoError(t, dereg(mr.MRHandle))
	require.Equal(t, error(rule.ObjectNotFound), dereg(mr.MRHandle))
}

func (r *rig) reregMR(cmd spec.ReregMR) (string, error) {
	resp := r.resp(spec.ReregMRRespSize)
	err := r.command(spec.IB_USER_VERBS_CMD_REREG_MR, bytesOf(cmd), resp)
	return r.hex(resp.at, resp.n), err
}

const untouched8 = "a5a5a5a5a5a5a5a5"

// TestReregMRRefused follows the recorded cases mr/rereg-8,
// mr/rereg-order-flags-handle, mr/rereg-trans-misaligned, mr/rereg-bad-access
// and mr/rereg-unknown-pd: the region lives on, and its handle is the last one
// taken.
func TestReregMRRefused(t *testing.T) {
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.ReregUserMR = func(*core.MR, uint32, uint64, uint64, uint64, uint32, *core.PD, *core.Udata) (*core.MR, error) {
			return nil, syscall.EBUSY
		}
	})
	pd := uint32(r.newPD())
	mr, err := r.regMR(regCmd(pd, 0x1000, 1))
	require.NoError(t, err)
	tests := []struct {
		name string
		cmd  spec.ReregMR
		want error
	}{
		{"no flags", spec.ReregMR{MRHandle: 99}, rule.CmdMRReregNothing},
		{"mr/rereg-8", spec.ReregMR{MRHandle: mr.MRHandle, Flags: 8}, rule.CmdMRReregFlags},
		{"mr/rereg-order-flags-handle", spec.ReregMR{MRHandle: 99, Flags: 8}, rule.CmdMRReregFlags},
		{"mr/rereg-trans-misaligned", spec.ReregMR{MRHandle: 99, Flags: 1, Start: 1}, rule.CmdMRReregAlignment},
		{"offsets count with TRANS only", spec.ReregMR{MRHandle: 99, Flags: 4, Start: 1}, rule.ObjectNotFound},
		{"mr/rereg-bad-access", spec.ReregMR{MRHandle: mr.MRHandle, Flags: 4, AccessFlags: 2}, rule.MRAccessNeedsLocalWrite},
		{"mr/rereg-unknown-pd", spec.ReregMR{MRHandle: mr.MRHandle, Flags: 2, PDHandle: 99}, rule.ObjectNotFound},
		{"the driver", spec.ReregMR{MRHandle: mr.MRHandle, Flags: 2, PDHandle: pd}, syscall.EBUSY},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer, err := r.reregMR(tt.cmd)
			require.Equal(t, tt.want, err)
			require.Equal(t, untouched8, answer)
		})
	}
	require.EqualValues(t, mr.MRHandle+1, r.newPD())
	_, err = r.destroy(destroyMR, uint64(mr.MRHandle))
	require.NoError(t, err)
	_, err = r.destroy(destroyPD, uint64(pd))
	require.NoError(t, err)
}

// TestReregMRInPlace follows the recorded cases mr/rereg-2, mr/rereg-4,
// mr/rereg-new-pd and mr/rereg-handle-kept, with a driver that changes the
// region itself.
func TestReregMRInPlace(t *testing.T) {
	var flags []uint32
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.ReregUserMR = func(_ *core.MR, f uint32, _, _, _ uint64, _ uint32, _ *core.PD, _ *core.Udata) (*core.MR, error) {
			flags = append(flags, f)
			return nil, nil
		}
	})
	pd, pd2 := uint32(r.newPD()), uint32(r.newPD())
	mr, err := r.regMR(regCmd(pd, 0x1000, 1))
	require.NoError(t, err)
	keys := "0100000001010000"
	for _, cmd := range []spec.ReregMR{
		{MRHandle: mr.MRHandle, Flags: spec.IB_MR_REREG_PD, PDHandle: pd}, // the same, so nothing of it is left
		{MRHandle: mr.MRHandle, Flags: spec.IB_MR_REREG_ACCESS, AccessFlags: 3},
		{MRHandle: mr.MRHandle, Flags: spec.IB_MR_REREG_PD | spec.IB_MR_REREG_TRANS, PDHandle: pd2, Start: 0x2000, Length: 64, HcaVA: 0x3000},
	} {
		answer, err := r.reregMR(cmd)
		require.NoError(t, err)
		require.Equal(t, keys, answer)
	}
	require.Equal(t, []uint32{0, spec.IB_MR_REREG_ACCESS, spec.IB_MR_REREG_PD | spec.IB_MR_REREG_TRANS}, flags)
	_, err = r.destroy(destroyPD, uint64(pd2))
	require.Equal(t, error(rule.PDBusy), err)
	_, err = r.destroy(destroyPD, uint64(pd))
	require.NoError(t, err)
	require.EqualValues(t, pd, r.newPD())
	require.EqualValues(t, mr.MRHandle+1, r.newPD())
}

// TestReregMRReplaced: a driver may make a new region; it takes over the old
// one's handle, and the old one is destroyed, also when the answer faults.
func TestReregMRReplaced(t *testing.T) {
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.ReregUserMR = func(*core.MR, uint32, uint64, uint64, uint64, uint32, *core.PD, *core.Udata) (*core.MR, error) {
			return &core.MR{LKey: 0x77, RKey: 0x88}, nil
		}
	})
	pd, pd2 := uint32(r.newPD()), uint32(r.newPD())
	mr, err := r.regMR(regCmd(pd, 0x1000, 1))
	require.NoError(t, err)
	r.took()
	cmd := spec.ReregMR{MRHandle: mr.MRHandle, Flags: spec.IB_MR_REREG_PD, PDHandle: pd2}
	answer, err := r.reregMR(cmd)
	require.NoError(t, err)
	require.Equal(t, "7700000088000000", answer)
	require.Equal(t, []string{"dereg_mr"}, r.took())
	_, err = r.destroy(destroyPD, uint64(pd))
	require.NoError(t, err)

	cmd.Flags, cmd.AccessFlags = spec.IB_MR_REREG_ACCESS, 1
	err = r.command(spec.IB_USER_VERBS_CMD_REREG_MR, bytesOf(cmd), r.readonly(8))
	require.Equal(t, error(rule.CmdResponseFault), err)
	require.Equal(t, []string{"dealloc_pd", "dereg_mr"}, r.took())
	_, err = r.destroy(destroyMR, uint64(mr.MRHandle))
	require.NoError(t, err)
	_, err = r.destroy(destroyPD, uint64(pd2))
	require.NoError(t, err)
}

// TestAllocMW follows the recorded cases mw/type-…, mw/bad-pd-bad-type and
// mw/destroy-by-write.
func TestAllocMW(t *testing.T) {
	r := newContext(t, nil)
	pd := uint32(r.newPD())
	alloc := func(cmd spec.AllocMW) (string, error) {
		resp := r.resp(spec.AllocMWRespSize)
		err := r.command(spec.IB_USER_VERBS_CMD_ALLOC_MW, bytesOf(cmd), resp)
		return r.hex(resp.at, resp.n), err
	}
	for _, typ := range []uint8{0, 3} {
		answer, err := alloc(spec.AllocMW{PDHandle: pd, MWType: typ})
		require.Equal(t, error(rule.CmdMWType), err)
		require.Equal(t, untouched8, answer)
	}
	_, err := alloc(spec.AllocMW{PDHandle: 99, MWType: 3})
	require.Equal(t, error(rule.ObjectNotFound), err)
	for i, typ := range []uint8{1, 2} {
		answer, err := alloc(spec.AllocMW{PDHandle: pd, MWType: typ})
		require.NoError(t, err)
		want := spec.AllocMWResp{MWHandle: pd + 1 + uint32(i), Rkey: uint32(i + 1)}
		require.Equal(t, want, decode[spec.AllocMWResp](t, answer))
	}
	dealloc := func() error {
		return r.command(spec.IB_USER_VERBS_CMD_DEALLOC_MW, bytesOf(spec.DeallocMW{MWHandle: pd + 1}), respBuf{})
	}
	require.NoError(t, dealloc())
	require.Equal(t, error(rule.ObjectNotFound), dealloc())
	_, err = r.destroy(destroyPD, uint64(pd))
	require.Equal(t, error(rule.PDBusy), err)
}

// TestReregDMMR: a region of device memory stays as it is.
func TestReregDMMR(t *testing.T) {
	r := newCommands(t, nil)
	mr, err := r.regMR(regCmd(uint32(r.newPD()), 0x1000, 1))
	require.NoError(t, err)
	for o := range r.objects() {
		if o.ID() == int64(mr.MRHandle) {
			o.HW.(*core.MR).DM = new(core.DM)
		}
	}
	_, err = r.reregMR(spec.ReregMR{MRHandle: mr.MRHandle, Flags: spec.IB_MR_REREG_ACCESS, AccessFlags: 2})
	require.Equal(t, error(rule.CmdMRReregDM), err)
	r.requireUnused()
}
