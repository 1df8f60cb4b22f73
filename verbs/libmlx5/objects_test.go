package libmlx5_test

import (
	"encoding/hex"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestBindMW: a window of type 1 has a new key at once.
func TestBindMW(t *testing.T) {
	m := boot(t)
	qp, _ := m.rc(nil)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	mw, err := pd.AllocMW(verbs.IBV_MW_TYPE_1)
	require.NoError(t, err)
	old := mw.RKey
	mr := &verbs.MR{LKey: 7}
	require.NoError(t, qp.BindMW(mw, &libmlx5.MWBind{WRID: 1, BindInfo: libmlx5.BindInfo{MR: mr, Addr: 0x1000, Length: 0x1000}}))
	require.Equal(t, verbs.IncRKey(old), mw.RKey)
	require.Equal(t, []byte{0xff, 0xff, 0xff, byte(mw.RKey)}, m.load(qp.Buffer().SQ+68, 4))
	for name, tt := range map[string]struct {
		bind libmlx5.MWBind
		want error
	}{
		"zero based":        {libmlx5.MWBind{BindInfo: libmlx5.BindInfo{MR: mr, Length: 1, MWAccessFlags: verbs.IBV_ACCESS_ZERO_BASED}}, libmlx5.ErrBindZeroBased},
		"zero based region": {libmlx5.MWBind{BindInfo: libmlx5.BindInfo{MR: &verbs.MR{Access: verbs.IBV_ACCESS_ZERO_BASED}, Length: 1}}, libmlx5.ErrBindZeroBased},
		"too long":          {libmlx5.MWBind{BindInfo: libmlx5.BindInfo{MR: mr, Length: 1<<31 + 1}}, libmlx5.ErrBindLength},
	} {
		key := mw.RKey
		require.ErrorIs(t, qp.BindMW(mw, &tt.bind), tt.want, name)
		require.Equal(t, key, mw.RKey, name)
	}
	require.NoError(t, mw.Dealloc())
	_, err = pd.AllocMW(7)
	require.ErrorIs(t, err, syscall.EINVAL)
	require.Equal(t, uint32(0x12345600), verbs.IncRKey(0x123456ff))
}

// TestAH: address vectors of RoCE, and what is refused. The MAC address is the
// kernel's answer.
func TestAH(t *testing.T) {
	m := boot(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	qp, _ := m.rc(func(a *libmlx5.QPInitAttr) { a.Type, a.PD = verbs.IBV_QPT_UD, pd })
	gid := m.gid()
	av := func(attr verbs.AHAttr) string {
		attr.IsGlobal, attr.PortNum, attr.GRH.DGID = true, 1, gid
		ah, err := pd.CreateAH(&attr)
		require.NoError(t, err)
		_, err = qp.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, UD: libmlx5.UDWR{AH: ah}})
		require.NoError(t, err)
		require.NoError(t, qp.Modify(&verbs.QPAttr{QPState: verbs.IBV_QPS_RESET}, verbs.IBV_QP_STATE))
		m.toRTS(qp, 0)
		require.NoError(t, ah.Destroy())
		return hex.EncodeToString(m.load(qp.Buffer().SQ+16+12, 8)) + hex.EncodeToString(m.load(qp.Buffer().SQ+16+26, 6))
	}
	// static rate and service level, path bits, source port; traffic class, hop
	// limit, GID index and flow label.
	require.Equal(t, "0000c00000000000"+"000000000000", av(verbs.AHAttr{}), "any source port: the first")
	require.Equal(t, "0000c00100000000"+"000000000000", av(verbs.AHAttr{}), "and the next")
	require.Equal(t, "0e00c00000000000"+"070900004001", av(verbs.AHAttr{SL: 0xf, SrcPathBits: 0x55, DLID: 7,
		GRH: verbs.GlobalRoute{TrafficClass: 7, HopLimit: 9, FlowLabel: 0x04001}}), "0x04001 folds to port 0xc000")
	require.Equal(t, "7000c03f00000000"+"0000000fc000", av(verbs.AHAttr{StaticRate: 2, GRH: verbs.GlobalRoute{FlowLabel: 0xfc000}}))
	require.Equal(t, "0000ffff00000000"+"000000003fff", av(verbs.AHAttr{StaticRate: 14, GRH: verbs.GlobalRoute{FlowLabel: 0x3fff}}))

	for name, tt := range map[string]struct {
		attr verbs.AHAttr
		want error
	}{
		"port 0":       {verbs.AHAttr{IsGlobal: true}, libmlx5.ErrAHPort},
		"port 2":       {verbs.AHAttr{IsGlobal: true, PortNum: 2}, libmlx5.ErrAHPort},
		"not global":   {verbs.AHAttr{PortNum: 1}, libmlx5.ErrAHGlobal},
		"no such GID":  {verbs.AHAttr{IsGlobal: true, PortNum: 1, GRH: verbs.GlobalRoute{SGIDIndex: 255, DGID: gid}}, syscall.EINVAL},
		"no such path": {verbs.AHAttr{IsGlobal: true, PortNum: 1}, syscall.ENETUNREACH},
	} {
		_, err := pd.CreateAH(&tt.attr)
		require.ErrorIs(t, err, tt.want, name)
	}
}

// TestMRCalls: reregistration and advice.
func TestMRCalls(t *testing.T) {
	m := boot(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	other, err := m.ctx.AllocPD()
	require.NoError(t, err)
	at, err := verbs.Alloc(m.proc, 16384)
	require.NoError(t, err)
	mr, err := pd.RegMR(at, 4096, uint64(at), verbs.IBV_ACCESS_LOCAL_WRITE)
	require.NoError(t, err)
	require.NoError(t, mr.Rereg(verbs.IBV_REREG_MR_CHANGE_TRANSLATION|verbs.IBV_REREG_MR_CHANGE_PD, other.PD, at+4096, 8192, 0))
	require.Equal(t, at+4096, mr.Addr)
	require.Equal(t, uint64(8192), mr.Length)
	require.NoError(t, pd.Dealloc(), "the region is the other domain's")
	require.ErrorIs(t, other.Dealloc(), syscall.EBUSY)
	require.ErrorIs(t, mr.Rereg(1<<10, nil, 0, 0, 0), syscall.EOPNOTSUPP)
	require.ErrorIs(t, other.AdviseMR(99, 0, []verbs.SGE{{Addr: at, Length: 8, LKey: mr.LKey}}), syscall.EOPNOTSUPP)
	require.NoError(t, mr.Dereg())
}

// TestQueryGID: entries, empty ones, and the table of all.
func TestQueryGID(t *testing.T) {
	m := boot(t)
	e, err := m.ctx.QueryGIDEntry(1, 1)
	require.NoError(t, err)
	require.Equal(t, []uint32{1, 1, verbs.IBV_GID_TYPE_ROCE_V2}, []uint32{e.GIDIndex, e.PortNum, e.GIDType})
	_, err = m.ctx.QueryGIDEntry(1, 12)
	require.ErrorIs(t, err, syscall.ENODATA)
	gid, err := m.ctx.QueryGID(1, 12)
	require.NoError(t, err)
	require.Zero(t, gid)
	_, err = m.ctx.QueryGID(9, 0)
	require.ErrorIs(t, err, syscall.EINVAL)
	all, err := m.ctx.QueryGIDTable(100)
	require.NoError(t, err)
	require.NotEmpty(t, all)
	for i := range all {
		one, err := m.ctx.QueryGIDEntry(all[i].PortNum, all[i].GIDIndex)
		require.NoError(t, err)
		require.Equal(t, *one, all[i])
	}
	_, err = m.ctx.QueryGIDTable(len(all) - 1)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// TestDM: memory of the device that the program writes and reads in words.
func TestDM(t *testing.T) {
	m := boot(t)
	areas := m.proc.Mem.Areas()
	dm, err := m.ctx.AllocDM(&verbs.DMAttr{Length: 5000})
	require.NoError(t, err)
	at, err := verbs.Alloc(m.proc, 8192)
	require.NoError(t, err)
	require.True(t, m.proc.Store(at, []byte("device memory...")))
	require.NoError(t, dm.MemcpyTo(4092, at, 16))
	require.NoError(t, dm.MemcpyFrom(at+4096, 4096, 12))
	require.Equal(t, "ce memory...", string(m.load(at+4096, 12)))
	require.ErrorIs(t, dm.MemcpyTo(0, at, 6), libmlx5.ErrDMAlign)
	require.ErrorIs(t, dm.MemcpyTo(2, at, 4), syscall.EINVAL)
	require.ErrorIs(t, dm.MemcpyTo(4996, at, 8), libmlx5.ErrDMRange)
	require.ErrorIs(t, dm.MemcpyFrom(at, 4996, 8), syscall.EFAULT)

	second, err := m.ctx.AllocDM(&verbs.DMAttr{Length: 64})
	require.NoError(t, err)
	third, err := m.ctx.AllocDM(&verbs.DMAttr{Length: 64})
	require.NoError(t, err)
	require.NoError(t, second.MemcpyTo(0, at, 8))
	require.NoError(t, third.MemcpyTo(0, at+8, 8))
	require.NoError(t, second.MemcpyFrom(at+4096, 0, 8))
	require.Equal(t, "device m", string(m.load(at+4096, 8)), "they lie apart")
	require.NoError(t, second.Free())
	require.NoError(t, third.Free())

	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	_, err = pd.RegDMMR(dm, 0, 64, verbs.IBV_ACCESS_LOCAL_WRITE)
	require.ErrorIs(t, err, verbs.ErrDMZeroBased)
	_, err = pd.RegDMMR(dm, 0, 64, verbs.IBV_ACCESS_ZERO_BASED|verbs.IBV_ACCESS_MW_BIND)
	require.ErrorIs(t, err, libmlx5.ErrDMAccess)
	mr, err := pd.RegDMMR(dm, 64, 128, verbs.IBV_ACCESS_ZERO_BASED|verbs.IBV_ACCESS_LOCAL_WRITE)
	require.NoError(t, err)
	require.NotZero(t, mr.LKey)
	require.ErrorIs(t, dm.Free(), syscall.EBUSY)
	require.NoError(t, mr.Dereg())
	require.NoError(t, dm.Free())
	require.NoError(t, m.proc.Munmap(at, 8192))
	require.Equal(t, areas, m.proc.Mem.Areas())
	_, err = m.ctx.AllocDM(&verbs.DMAttr{Length: 1 << 40})
	require.ErrorIs(t, err, libmlx5.ErrDMLength)
}

// TestNoDM: a device without memory of its own gives none.
func TestNoDM(t *testing.T) {
	_, err := bootWith(t, hw.Small).ctx.AllocDM(&verbs.DMAttr{Length: 64})
	require.ErrorIs(t, err, libmlx5.ErrDMLength)
}
