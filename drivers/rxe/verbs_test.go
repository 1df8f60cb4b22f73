package rxe

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
)

// recorded decodes bytes of a recorded answer into a wire struct; bytes that
// differ from machine to machine stand there as zeros.
func recorded[T any](t *testing.T, text string) (v T) {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(text, "*", "0"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, copy(spec.Bytes(&v), b), len(spec.Bytes(&v)))
	return v
}

// TestQueryDevice follows the recorded cases invoke/query-device and
// write/ex-query-device.
func TestQueryDevice(t *testing.T) {
	want := recorded[spec.ExQueryDeviceResp](t, "0000000000000000********************************ffffffffffffffff00f0ffff00000000ffffff000000000000000000f0ff0f00"+
		"00001000763c2201200000002000000000001000ff7f0000ffff070000001000800000000000000000f003008000000000000000010000000000000000000000ffff07"+
		"000000000000000000002000003800000000000700ff7f00000000000000000000ffff0d00000010001b00000040000f010000000000000000300100000000000000"+
		"0000000000000000000000000000000000000000000000000000000000000000000000763c2201c001000000000000000000000000000000000000000000000000000000"+
		"0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000")
	r := newRig(t, Config{})
	var a core.DeviceAttr
	require.NoError(t, r.dev.Ops.QueryDevice(r.task, r.dev, &a, r.udata(nil, 0)))
	require.Equal(t, r.dev.Attr, a, "the core keeps the same attributes")

	b := want.Base
	require.Equal(t, b.MaxMRSize, a.MaxMRSize)
	require.Equal(t, b.PageSizeCap, a.PageSizeCap)
	require.Equal(t, b.VendorID, a.VendorID)
	require.Equal(t, [...]uint32{b.MaxQP, b.MaxQPWR, b.MaxSGE, b.MaxSGERd, b.MaxCQ, b.MaxCQE, b.MaxMR, b.MaxPD},
		[...]uint32{a.MaxQP, a.MaxQPWR, a.MaxSendSGE, a.MaxSGERd, a.MaxCQ, a.MaxCQE, a.MaxMR, a.MaxPD})
	require.Equal(t, a.MaxSendSGE, a.MaxRecvSGE)
	require.Equal(t, want.DeviceCapFlagsEx, a.DeviceCapFlags)
	require.Equal(t, b.DeviceCapFlags, uint32(a.DeviceCapFlags))
	require.Equal(t, [...]uint32{b.MaxQPRdAtom, b.MaxEeRdAtom, b.MaxResRdAtom, b.MaxQPInitRdAtom, b.MaxEeInitRdAtom, b.AtomicCap},
		[...]uint32{a.MaxQPRdAtom, a.MaxEERdAtom, a.MaxResRdAtom, a.MaxQPInitRdAtom, a.MaxEEInitRdAtom, a.AtomicCap})
	require.Equal(t, [...]uint32{b.MaxEe, b.MaxRdd, b.MaxMW, b.MaxRawIPv6QP, b.MaxRawEthyQP, b.MaxMcastGrp, b.MaxMcastQPAttach, b.MaxTotalMcastQPAttach},
		[...]uint32{a.MaxEE, a.MaxRDD, a.MaxMW, a.MaxRawIPv6QP, a.MaxRawEthyQP, a.MaxMcastGrp, a.MaxMcastQPAttach, a.MaxTotalMcastQPAttach})
	require.Equal(t, [...]uint32{b.MaxAH, b.MaxSRQ, b.MaxSRQWR, b.MaxSRQSGE}, [...]uint32{a.MaxAH, a.MaxSRQ, a.MaxSRQWR, a.MaxSRQSGE})
	require.Equal(t, b.MaxPkeys, a.MaxPkeys)
	require.Equal(t, b.LocalCaAckDelay, a.LocalCAAckDelay)
	require.Equal(t, uint32(b.PhysPortCnt), r.dev.PhysPorts)
	require.Equal(t, want.MaxWQTypeRQ, a.MaxWQTypeRQ)

	for _, u := range []*core.Udata{r.udata(make([]byte, 8), 0), r.udata(nil, 8)} {
		refused(t, rule.RxeQueryDeviceUdata, r.dev.Ops.QueryDevice(r.task, r.dev, &a, u), "a driver's part")
	}
}

// TestQueryPort follows the recorded case ptrout/port-ok.
func TestQueryPort(t *testing.T) {
	want := recorded[spec.QueryPortResp](t, "000001000000008000000000000000000004000001000000000004050300010000000101050201000000000001000000")
	r := newRig(t, Config{})
	var a core.PortAttr
	require.NoError(t, r.dev.Ops.QueryPort(r.task, r.dev, 1, &a))
	require.Equal(t, [...]uint32{want.PortCapFlags, want.MaxMsgSz, want.BadPkeyCntr, want.QkeyViolCntr, want.GIDTblLen},
		[...]uint32{a.PortCapFlags, a.MaxMsgSz, a.BadPkeyCntr, a.QkeyViolCntr, a.GIDTblLen})
	require.Equal(t, [...]uint8{want.State, want.MaxMtu, want.ActiveMtu, want.Lmc, want.MaxVlNum, want.SmSl, want.SubnetTimeout,
		want.InitTypeReply, want.ActiveWidth, want.ActiveSpeed, want.PhysState, want.LinkLayer},
		[...]uint8{a.State, a.MaxMTU, a.ActiveMTU, a.LMC, a.MaxVLNum, a.SMSL, a.SubnetTimeout,
			a.InitTypeReply, a.ActiveWidth, uint8(a.ActiveSpeed), a.PhysState, r.dev.LinkLayer})
	require.Equal(t, want.PkeyTblLen, a.PkeyTblLen)
	require.Equal(t, want.GIDTblLen, uint32(r.dev.GIDTblLen))

	refused(t, rule.RxeQueryPort, r.dev.Ops.QueryPort(r.task, r.dev, 2, &a), "port 2")
}

// TestLink: without a carrier, and after it went, the port is down and polls
// for one.
func TestLink(t *testing.T) {
	var a core.PortAttr
	query := func(r *rig) [2]uint8 {
		require.NoError(t, r.dev.Ops.QueryPort(r.task, r.dev, 1, &a))
		return [2]uint8{a.State, a.PhysState}
	}
	down := [2]uint8{spec.IB_PORT_DOWN, spec.IB_PORT_PHYS_STATE_POLLING}
	up := [2]uint8{spec.IB_PORT_ACTIVE, spec.IB_PORT_PHYS_STATE_LINK_UP}
	require.Equal(t, down, query(newRig(t, Config{NoCarrier: true})))

	r := newRig(t, Config{})
	require.Equal(t, up, query(r))
	r.dev.RegisterEventHandler(r.task, &core.EventHandler{Handle: r.event})
	SetLink(nil, r.dev, false)
	require.Equal(t, down, query(r))
	SetLink(nil, r.dev, true)
	require.Equal(t, up, query(r))
	require.Equal(t, []uint32{spec.IB_EVENT_PORT_ERR, spec.IB_EVENT_PORT_ACTIVE}, r.raised())
}

// TestActiveMTU: the largest IB MTU whose packets fit into the interface's, and
// never none.
func TestActiveMTU(t *testing.T) {
	for mtu, want := range map[int]uint8{
		68: spec.IB_MTU_256, 335: spec.IB_MTU_256, 336: spec.IB_MTU_256, 592: spec.IB_MTU_512, 591: spec.IB_MTU_256,
		1500: spec.IB_MTU_1024, 2128: spec.IB_MTU_2048, 4176: spec.IB_MTU_4096, 9000: spec.IB_MTU_4096,
	} {
		r := newRig(t, Config{MTU: mtu})
		var a core.PortAttr
		require.NoError(t, r.dev.Ops.QueryPort(r.task, r.dev, 1, &a))
		require.Equal(t, want, a.ActiveMTU, mtu)
	}
}

func TestQueryPkey(t *testing.T) {
	r := newRig(t, Config{})
	key, err := r.dev.Ops.QueryPkey(r.task, r.dev, 1, 0)
	require.NoError(t, err)
	require.Equal(t, uint16(0xffff), key)
	_, err = r.dev.Ops.QueryPkey(r.task, r.dev, 1, 1)
	refused(t, rule.RxeQueryPkey, err, "index 1")
}

// TestGIDs follows the recorded case query/gid-table: two entries of RoCE v2.
// The first is the link-local address of the MAC.
func TestGIDs(t *testing.T) {
	dev, _ := New(Config{})
	require.Equal(t, []core.GIDAttr{
		{GID: netip.MustParseAddr("fe80::5eff:fe00:5301").As16(), Index: 0, Port: 1, Type: 2, Ifindex: 2},
		{GID: netip.MustParseAddr("::ffff:192.0.2.1").As16(), Index: 1, Port: 1, Type: 2, Ifindex: 2},
	}, dev.GIDs)
	require.Equal(t, [8]byte{0x00, 0x00, 0x5e, 0xff, 0xfe, 0x00, 0x53, 0x01}, dev.Attr.NodeGUID)

	dev, _ = New(Config{MAC: [6]byte{0x52, 0x54, 0, 1, 2, 3}, Addrs: []netip.Addr{netip.MustParseAddr("2001:db8::1")}})
	require.Equal(t, netip.MustParseAddr("fe80::5054:ff:fe01:203").As16(), dev.GIDs[0].GID)
	require.Equal(t, netip.MustParseAddr("2001:db8::1").As16(), dev.GIDs[1].GID)
	require.Len(t, dev.GIDs, 2)
}

// TestOperations wants exactly the operations that rxe_dev_ops has and that
// something depends on, and the commands that the driver adds to the mask.
func TestOperations(t *testing.T) {
	lacks := map[spec.Op]bool{
		spec.OpAllocXRCD: true, spec.OpCreateFlow: true, spec.OpCreateRWQIndTable: true, spec.OpCreateWQ: true,
		spec.OpDeallocDM: true, spec.OpDeallocXRCD: true, spec.OpDestroyCounters: true, spec.OpDestroyFlow: true,
		spec.OpDestroyFlowAction: true, spec.OpDestroyRWQIndTable: true, spec.OpDestroyWQ: true, spec.OpModifyCQ: true,
		spec.OpModifyWQ: true,
	}
	dev, defs := New(Config{CPUs: 4})
	for op := range spec.NumOps {
		require.Equal(t, !lacks[op], dev.Ops.Has(op), op)
	}
	require.Nil(t, dev.Ops.DisassociateUcontext, "a removal waits for the files")
	require.Empty(t, defs.Spec)
	require.Equal(t, uint64(1<<spec.IB_USER_VERBS_CMD_POST_SEND|1<<spec.IB_USER_VERBS_CMD_REQ_NOTIFY_CQ),
		dev.UverbsCmdMask&^spec.DefaultUverbsCmdMask)
	require.Equal(t, uint32(4), dev.NumCompVectors)
	require.Equal(t, "rxe0", dev.Name)
	require.Equal(t, uint32(14), dev.DriverID)
}

// TestSizes: the constants for what lies in queues are those of the structs.
func TestSizes(t *testing.T) {
	require.Len(t, spec.Bytes(new(spec.RxeSGE)), sgeSize)
	require.Len(t, spec.Bytes(new(spec.RxeSendWQE)), sendWQESize)
	require.Len(t, spec.Bytes(new(spec.RxeRecvWQE)), recvWQESize)
	require.Len(t, spec.Bytes(new(spec.RxeQueueBuf)), bufData)
	require.Len(t, spec.Bytes(new(spec.RxeCreateCQResp)), createCQRespSize)
	require.Len(t, spec.Bytes(new(spec.RxeResizeCQResp)), resizeCQRespSize)
	require.Len(t, spec.Bytes(new(spec.RxeCreateSRQResp)), createSRQRespSize)
	require.Len(t, spec.Bytes(new(spec.RxeModifySRQCmd)), modifySRQCmdSize)
	require.Len(t, spec.Bytes(new(spec.RxeCreateQPResp)), createQPRespSize)
	require.Len(t, spec.Bytes(new(spec.RxeCreateAHResp)), createAHRespSize)

	w := spec.RxeSendWQE{Status: 1, State: 2, FirstPSN: 3, LastPSN: 4, HasRdAtomic: 5}
	for off, want := range map[int]uint32{sendWQEStatus: 1, sendWQEState: 2, sendWQEFirstPSN: 3, sendWQELastPSN: 4, sendWQEHasRdAtomic: 5} {
		require.Equal(t, want, binary.LittleEndian.Uint32(spec.Bytes(&w)[off:]))
	}
	q := spec.RxeQueueBuf{Log2ElemSize: 1, IndexMask: 2, ProducerIndex: 3, ConsumerIndex: 4}
	for off, want := range map[int]uint32{bufLog2ElemSize: 1, bufIndexMask: 2, bufProducerIndex: 3, bufConsumerIndex: 4} {
		require.Equal(t, want, binary.LittleEndian.Uint32(spec.Bytes(&q)[off:]))
	}
}
