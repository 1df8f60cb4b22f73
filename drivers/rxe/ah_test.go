package rxe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/trace"
)

// TestCreateAH follows the recorded case ah/ok, and what the driver adds where
// there is room.
func TestCreateAH(t *testing.T) {
	r := newRig(t, Config{})
	attr := &core.AHAttr{SGIDIndex: 1, IsGlobal: true, PortNum: 1}
	create := func(u *core.Udata, a *core.AHAttr) (*core.AH, error) {
		ah := &core.AH{Device: r.dev, PD: r.pd}
		return ah, r.dev.Ops.CreateUserAH(ah, a, u)
	}
	short, long := r.udata(nil, 4), r.udata(nil, 8)
	ah, err := create(short, attr)
	require.NoError(t, err, "ah/ok: a user library that does not ask for the number")
	require.Equal(t, uint32(0xa5a5a5a5), r.word(short.Out))
	_, err = create(long, attr)
	require.NoError(t, err)
	require.Equal(t, uint32(2), r.word(long.Out), "the second handle's number")
	require.Equal(t, uint32(0xa5a5a5a5), r.word(long.Out+4), "only the number")

	before := r.counts()
	_, err = create(r.outAt(r.none, 8), attr)
	refused(t, rule.RxeAHFault, err, "fault")
	_, err = create(long, &core.AHAttr{SGIDIndex: 200, IsGlobal: true, PortNum: 1})
	refused(t, rule.RxeAVNetworkType, err, "an index of nothing")
	require.Equal(t, before, r.counts())
	require.NoError(t, r.dev.Ops.DestroyAH(r.task, ah, 1))
	require.Equal(t, 1, r.counts()["ah"])
}

// TestResolve: an IPv4 destination cannot be reached from the link-local
// address, as recorded AHs with sgid_index 0 show (EINVAL), and an IPv6 address
// without a route not at all.
func TestResolve(t *testing.T) {
	dev, _ := New(Config{})
	v6, v4 := &dev.GIDs[0], &dev.GIDs[1]
	mac, hops, err := dev.ResolveAddr(nil, v4, v4.GID)
	require.NoError(t, err)
	require.Equal(t, [6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x01}, mac)
	require.Equal(t, uint8(64), hops)
	_, _, err = dev.ResolveAddr(nil, v6, v6.GID)
	require.NoError(t, err)
	for _, pair := range [][2]*core.GIDAttr{{v6, v4}, {v4, v6}} {
		_, _, err = dev.ResolveAddr(nil, pair[0], pair[1].GID)
		refused(t, rule.RxeAddrFamily, err, "family")
	}
	for _, gid := range [][16]byte{{}, {0: 0xfe, 1: 0x80, 5: 1, 15: 1}} {
		_, _, err = dev.ResolveAddr(nil, v6, gid)
		refused(t, rule.RxeAddrNoRoute, err, "the recorded found/ah-no-route and found/ah-other-link-local")
	}
}

// TestMcast follows the recorded cases qp/mcast-close: a QP that is in a group
// cannot be destroyed.
func TestMcast(t *testing.T) {
	r := newRig(t, Config{})
	cq := r.newCQ(16)
	a, b := r.newQP(r.rcInit(cq)), r.newQP(r.rcInit(cq))
	gid, other := [16]byte{0xff, 1}, [16]byte{0xff, 2}
	attach := func(qp *core.QP, gid [16]byte) error { return r.dev.Ops.AttachMcast(r.task, qp, gid, 0) }
	detach := func(qp *core.QP, gid [16]byte) error { return r.dev.Ops.DetachMcast(r.task, qp, gid, 0) }
	refused(t, rule.RxeMcastNoGroup, detach(a, gid), "no group")
	require.NoError(t, attach(a, gid))
	require.NoError(t, attach(a, gid), "twice is once")
	refused(t, rule.RxeMcastNotAttached, detach(b, gid), "another QP")
	refused(t, rule.RxeMcastNoGroup, detach(a, other), "another group")
	refused(t, rule.RxeQPInMcastGroup, r.dev.Ops.DestroyQP(a, r.udata(nil, 0)), "busy")
	require.NoError(t, detach(a, gid))
	refused(t, rule.RxeMcastNoGroup, detach(a, gid), "the group went with its last QP")
	require.NoError(t, r.dev.Ops.DestroyQP(a, r.udata(nil, 0)))
	require.Empty(t, r.d.mcgTree)
}

// TestMcastLimits: as many groups, QPs in a group and attachments as the device
// has, and a refused one leaves no group behind.
func TestMcastLimits(t *testing.T) {
	r := newRig(t, Config{})
	cq := r.newCQ(16)
	init := func() *core.QPInitAttr { return &core.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: 2} }
	u := r.udata(nil, createQPRespSize)
	gid := [16]byte{0xff, 1}
	for range maxMcastQPAttach {
		qp, err := r.qp(init(), u)
		require.NoError(t, err)
		require.NoError(t, r.dev.Ops.AttachMcast(r.task, qp, gid, 0))
	}
	qp, err := r.qp(init(), u)
	require.NoError(t, err)
	refused(t, rule.RxeMcastGroupFull, r.dev.Ops.AttachMcast(r.task, qp, gid, 0), "57 of 56")

	r.d.mcgAttach = maxTotMcastQP
	refused(t, rule.RxeMcastAttachments, r.dev.Ops.AttachMcast(r.task, qp, [16]byte{0xff, 2}, 0), "all attachments taken")
	require.Len(t, r.d.mcgTree, 1)
	r.d.mcgAttach = 0
	for i := range maxMcastGrp - 1 {
		r.d.mcgTree[[16]byte{0xfe, byte(i), byte(i >> 8)}] = &mcg{}
	}
	refused(t, rule.RxeMcastGroups, r.dev.Ops.AttachMcast(r.task, qp, [16]byte{0xff, 2}, 0), "8193 of 8192")
	require.NoError(t, r.dev.Ops.DestroyQP(qp, r.udata(nil, 0)), "it is in no group")
}

// TestMcastNoMemory: neither a group nor a place in it is left of an attachment
// that failed.
func TestMcastNoMemory(t *testing.T) {
	for what, want := range map[string]error{
		"rxe_mcg": rule.RxeMcastNoMemory, "netdev_hw_addr": rule.RxeMcastAddress, "rxe_mca": rule.RxeMcastNoMemory,
	} {
		f := new(failing)
		r := newTracedRig(t, Config{}, trace.NewTask(1, f))
		qp := r.newQP(r.rcInit(r.newCQ(16)))
		f.what = what
		refused(t, want, r.dev.Ops.AttachMcast(r.task, qp, [16]byte{0xff}, 0), what)
		require.Empty(t, r.d.mcgTree, what)
		require.NoError(t, r.dev.Ops.DestroyQP(qp, r.udata(nil, 0)), what)
	}
}
