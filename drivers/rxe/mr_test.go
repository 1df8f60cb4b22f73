package rxe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestMRAccess follows the recorded cases mr/access-…, as far as the core lets
// the rights through.
func TestMRAccess(t *testing.T) {
	r := newRig(t, Config{})
	at := r.take(64)
	for access, want := range map[uint32]error{
		0x3: nil, 0x4: nil, 0x10: nil, 0x100: nil, 0x100000: nil, 0x20000000: nil, 0x1f: nil,
		0x20:  rule.RxeMRAccess, // mr/access-20: ZERO_BASED
		0x80:  rule.RxeMRAccess, // mr/access-80: HUGETLB
		0x40:  rule.UmemOnDemand,
		0x200: rule.RxeMRNotPersistent,
	} {
		mr, err := r.mr(r.pd, at, 64, access)
		refused(t, want, err, "access")
		if err == nil {
			require.NoError(t, r.dev.Ops.DeregMR(mr, r.udata(nil, 0)))
		}
		require.Equal(t, map[string]int{"uc": 1, "pd": 1}, r.counts())
		require.Zero(t, r.task.Mem.PinnedPages())
		require.Zero(t, r.task.Mem.PinnedVM())
	}
}

// TestMRMemory follows the recorded cases mr/unmapped, mr/length-zero,
// mr/length-zero-unaligned and mr/length-wraps.
func TestMRMemory(t *testing.T) {
	r := newRig(t, Config{})
	page := r.take(1).PageDown()
	for _, c := range []struct {
		name string
		at   copyuser.Addr
		n    uint64
		want error
	}{
		{"mr/length-zero", page, 0, rule.UmemEmpty},
		{"mr/length-zero-unaligned", page + 8, 0, nil},
		{"mr/length-wraps", page, 1<<64 - 1, rule.UmemOverflow},
		{"mr/unmapped", r.none, 8, rule.PinUnmapped},
	} {
		_, err := r.mr(r.pd, c.at, c.n, 0)
		refused(t, c.want, err, c.name)
	}
}

// TestMRKeys: both keys are the region's number and one byte, which comes from
// where the device was told to take it.
func TestMRKeys(t *testing.T) {
	next := uint8(0x40)
	r := newRig(t, Config{Key: func() uint8 { next++; return next }})
	a, b := r.newMR(r.take(8), 8, 1), r.newMR(r.take(8), 8, 1)
	require.Equal(t, []uint32{0x241, 0x241, 0x342, 0x342}, []uint32{a.LKey, a.RKey, b.LKey, b.RKey})
	require.Equal(t, uint8(core.MRTypeUser), a.Type)

	mw := &core.MW{Device: r.dev, PD: r.pd, Type: 2}
	require.NoError(t, r.dev.Ops.AllocMW(mw, r.udata(nil, 0)))
	require.Equal(t, uint32((1<<19+1)<<8|0x43), mw.RKey)
	require.NoError(t, r.dev.Ops.DeallocMW(r.task, mw))
	require.Equal(t, map[string]int{"uc": 1, "pd": 1, "mr": 2}, r.counts())
}

// TestKeySequence: the keys that a device gives without being told look at all
// 256 values, and begin alike for each device.
func TestKeySequence(t *testing.T) {
	a, b := keySequence(), keySequence()
	seen := map[uint8]bool{}
	for range 256 {
		k := a()
		require.Equal(t, k, b())
		seen[k] = true
	}
	require.Len(t, seen, 256)
}

// TestRereg follows the recorded cases mr/rereg-2, mr/rereg-4, mr/rereg-8 and
// mr/rereg-new-pd.
func TestRereg(t *testing.T) {
	const trans, pd, access = spec.IB_MR_REREG_TRANS, spec.IB_MR_REREG_PD, spec.IB_MR_REREG_ACCESS
	for _, c := range []struct {
		name          string
		had           uint32
		flags, access uint32
		want          error
	}{
		{"mr/rereg-2", 1, pd, 0, nil},
		{"mr/rereg-4", 1, access, 7, nil},
		{"both", 1, pd | access, 4, nil},
		{"other memory", 1, trans, 0, rule.RxeMRReregFlags},
		{"other memory and rights that the driver does not know", 1, trans | access, 0x80, rule.RxeMRReregFlags},
		{"rights that the driver does not know", 1, access, 0x80, rule.RxeMRReregAccess},
		{"they do not matter if they do not change", 1, pd, 0x80, nil},
		{"memory pinned for reading becomes writable", 4, access, 1, rule.UmemReregReadOnly},
		{"this is found before the rights", 4, access, 0x81, rule.UmemReregReadOnly},
		{"memory pinned for reading stays so", 4, access, 0, nil},
	} {
		r := newRig(t, Config{})
		mr := r.newMR(r.take(64), 64, c.had)
		other := r.newPD()
		same, err := r.dev.Ops.ReregUserMR(mr, c.flags, 0, 0, 0, c.access, other, r.udata(nil, 0))
		refused(t, c.want, err, c.name)
		require.Nil(t, same, "the MR stays the same object")
		want, wantPD := c.had, r.pd
		if err == nil && c.flags&access != 0 {
			want = c.access
		}
		if err == nil && c.flags&pd != 0 {
			wantPD = other
		}
		require.Equal(t, want, toRmr(mr).access, c.name)
		require.Same(t, toRpd(wantPD), toRmr(mr).pd, c.name)

		require.NoError(t, r.dev.Ops.DeregMR(mr, r.udata(nil, 0)))
		require.NoError(t, r.dev.Ops.DeallocPD(other, r.udata(nil, 0)), c.name)
		require.NoError(t, r.dev.Ops.DeallocPD(r.pd, r.udata(nil, 0)), c.name)
	}
}

// TestDeregWithWindows: a region with windows bound to it stays.
func TestDeregWithWindows(t *testing.T) {
	r := newRig(t, Config{})
	mr := r.newMR(r.take(8), 8, 1)
	toRmr(mr).numMW.Store(1)
	refused(t, rule.RxeMRHasWindows, r.dev.Ops.DeregMR(mr, r.udata(nil, 0)), "bound")
	toRmr(mr).numMW.Store(0)
	require.NoError(t, r.dev.Ops.DeregMR(mr, r.udata(nil, 0)))
}

// TestCopyData: a list that spans regions and pages, with empty places in it,
// is filled in order; what is not registered stops it.
func TestCopyData(t *testing.T) {
	r := newRig(t, Config{})
	page := (r.take(1) + copyuser.PageSize).PageDown()
	r.mem = page + 4*copyuser.PageSize
	a := r.newMR(page+4000, 200, 1) // over a page's end
	b := r.newMR(page+2*copyuser.PageSize, 10, 1)
	readOnly := r.newMR(page+3*copyuser.PageSize, 10, 0)
	other, err := r.mr(r.newPD(), page+3*copyuser.PageSize, 10, 1)
	require.NoError(t, err)
	sge := func(at copyuser.Addr, n uint32, mr *core.MR) spec.RxeSGE {
		return spec.RxeSGE{Addr: uint64(at), Length: n, Lkey: mr.LKey}
	}
	data := []byte("0123456789abcdefghij")
	for _, c := range []struct {
		name  string
		sges  []spec.RxeSGE
		resid uint32
		want  copyResult
	}{
		{"three places", []spec.RxeSGE{sge(page+4090, 12, a), {}, sge(page+2*copyuser.PageSize, 8, b)}, 20, copyDone},
		{"not enough places", []spec.RxeSGE{sge(page+4090, 12, a)}, 20, copyNoSpace},
		{"too long a message", []spec.RxeSGE{sge(page+4090, 12, a)}, 12, copyInvalid},
		{"outside of the region", []spec.RxeSGE{sge(page+4190, 20, a)}, 20, copyInvalid},
		{"before the region", []spec.RxeSGE{sge(page+3990, 20, a)}, 20, copyInvalid},
		{"a key of nothing", []spec.RxeSGE{{Addr: uint64(page), Length: 20, Lkey: 0x900}}, 20, copyInvalid},
		{"a key with another low byte", []spec.RxeSGE{{Addr: uint64(page + 4000), Length: 20, Lkey: a.LKey ^ 1}}, 20, copyInvalid},
		{"no right to write", []spec.RxeSGE{sge(page+3*copyuser.PageSize, 10, readOnly)}, 20, copyInvalid},
		{"another PD", []spec.RxeSGE{sge(page+3*copyuser.PageSize, 10, other)}, 20, copyInvalid},
	} {
		l := &sgList{sges: c.sges}
		l.dma.Resid, l.dma.NumSGE = c.resid, uint32(len(c.sges))
		require.Equal(t, c.want, r.d.copyData(nil, toRpd(r.pd), spec.IB_ACCESS_LOCAL_WRITE, l, data, true), c.name)
		if c.want != copyDone {
			continue
		}
		require.Equal(t, "0123456789ab", string(r.bytes(page+4090, 12)))
		require.Equal(t, "cdefghij", string(r.bytes(page+2*copyuser.PageSize, 8)))
		require.Zero(t, l.dma.Resid)
	}
}
