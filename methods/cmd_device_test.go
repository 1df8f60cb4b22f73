package methods

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// TestGetContextByWrite follows the recorded cases write/get-context and
// write/get-context-twice: the second answer is written although the call
// fails, and its descriptor is free again.
func TestGetContextByWrite(t *testing.T) {
	r := newRig(t, nil)
	get := func(resp respBuf) error {
		return r.command(spec.IB_USER_VERBS_CMD_GET_CONTEXT, bytesOf(spec.GetContext{}), resp)
	}
	require.Equal(t, error(rule.ContextNone), r.command(spec.IB_USER_VERBS_CMD_ALLOC_PD, bytesOf(spec.AllocPD{}), r.resp(4)))
	first := r.resp(8)
	require.NoError(t, get(first))
	want := spec.GetContextResp{AsyncFD: uint32(r.fd + 1), NumCompVectors: 2}
	require.Equal(t, want, decode[spec.GetContextResp](t, r.hex(first.at, 8)))
	require.Equal(t, []string{"alloc_ucontext"}, r.took())
	require.Equal(t, 1, r.dev.EventHandlers())

	second := r.resp(8)
	require.Equal(t, error(rule.UcontextTwice), get(second))
	want.AsyncFD++
	require.Equal(t, want, decode[spec.GetContextResp](t, r.hex(second.at, 8)))
	require.Empty(t, r.took())
	require.Equal(t, 1, r.dev.EventHandlers())
	require.Equal(t, r.fd+2, r.newChannel())
}

// TestGetContextFault follows the recorded case write/get-context-response-fault:
// there is no context after it, and the next call makes one.
func TestGetContextFault(t *testing.T) {
	r := newRig(t, nil)
	err := r.command(spec.IB_USER_VERBS_CMD_GET_CONTEXT, bytesOf(spec.GetContext{}), r.readonly(8))
	require.Equal(t, error(rule.CmdResponseFault), err)
	require.Empty(t, r.took())
	r.ok(spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_GET_CONTEXT)
}

// TestQueryDevice: the plain command tells what was registered, the extended
// one what the driver says now, and the GUID of the node is the device's in
// both.
func TestQueryDevice(t *testing.T) {
	r := newCommands(t, nil)
	r.dev.Attr = core.DeviceAttr{NodeGUID: [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, MaxQP: 5, MaxSendSGE: 30, MaxRecvSGE: 20}
	r.dev.PhysPorts = 300
	answer := r.commanded(spec.IB_USER_VERBS_CMD_QUERY_DEVICE, bytesOf(spec.QueryDevice{}), spec.QueryDeviceRespSize)
	got := decode[spec.QueryDeviceResp](t, answer)
	require.EqualValues(t, 5, got.MaxQP)
	require.EqualValues(t, 20, got.MaxSGE)
	require.EqualValues(t, 255, got.PhysPortCnt)
	require.Equal(t, "0102030405060708", answer[16:32])

	answer = r.commandedEx(spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE, bytesOf(spec.ExQueryDevice{}), spec.ExQueryDeviceRespSize)
	require.EqualValues(t, 7, decode[spec.ExQueryDeviceResp](t, answer).Base.MaxQP)
	require.Equal(t, "0102030405060708", answer[16:32])
}

// TestExQueryDeviceRequest: the members that must be zero, and the recorded
// case write/ex-in-short: an empty request is taken.
func TestExQueryDeviceRequest(t *testing.T) {
	r := newCommands(t, nil)
	for _, tt := range []struct {
		request []byte
		want    error
	}{
		{bytesOf(spec.ExQueryDevice{CompMask: 1}), rule.CmdDeviceExCompMask},
		{bytesOf(spec.ExQueryDevice{Reserved: 1}), rule.CmdDeviceExReserved},
		{append(bytesOf(spec.ExQueryDevice{}), 0, 0, 0, 0, 0, 0, 0, 1), rule.CmdRequestTail},
		{nil, nil},
	} {
		require.Equal(t, tt.want, r.commandEx(spec.IB_USER_VERBS_EX_CMD_QUERY_DEVICE, tt.request, r.resp(spec.ExQueryDeviceRespSize)))
	}
}

// TestQueryPortByWrite: a port is told as the ioctl tells it, in the struct
// that came first; there is no port 0.
func TestQueryPortByWrite(t *testing.T) {
	r := newContext(t, nil)
	query := func(port uint8) (string, error) {
		resp := r.resp(spec.QueryPortRespSize)
		err := r.command(spec.IB_USER_VERBS_CMD_QUERY_PORT, bytesOf(spec.QueryPort{PortNum: port}), resp)
		return r.hex(resp.at, resp.n), err
	}
	answer, err := query(1)
	require.NoError(t, err)
	got := decode[spec.QueryPortResp](t, answer)
	require.EqualValues(t, 0x1234, got.LID)
	require.EqualValues(t, spec.IB_SPEED_NDR, got.ActiveSpeed)
	require.EqualValues(t, spec.IB_LINK_LAYER_ETHERNET, got.LinkLayer)
	for _, port := range []uint8{0, 2} {
		_, err := query(port)
		require.Equal(t, error(rule.PortInvalid), err)
	}
}

// TestQueriesAllocateNothing: a command that asks for a port costs no memory.
func TestQueriesAllocateNothing(t *testing.T) {
	r := newContext(t, nil)
	resp := r.resp(spec.QueryPortRespSize)
	query := func() {
		r.free = resp.at + 256
		if err := r.command(spec.IB_USER_VERBS_CMD_QUERY_PORT, bytesOf(spec.QueryPort{PortNum: 1}), resp); err != nil {
			t.Fatal(err)
		}
	}
	query()
	at := r.data(append([]byte{spec.IB_USER_VERBS_CMD_QUERY_PORT, 0, 0, 0, 6, 0, spec.QueryPortRespSize / 4, 0},
		bytesOf(spec.QueryPort{Response: uint64(resp.at), PortNum: 1})...))
	allocs := testing.AllocsPerRun(100, func() {
		if _, err := r.p.Write(r.fd, at, 24); err != nil {
			t.Fatal(err)
		}
	})
	require.Zero(t, allocs)
}

// TestDeallocPDByWrite follows the recorded cases write/dealloc-pd-unknown and
// write/dealloc-pd-is-cq.
func TestDeallocPDByWrite(t *testing.T) {
	r := newContext(t, nil)
	pd := uint32(r.newPD())
	cq := uint32(r.newCQ())
	r.took()
	dealloc := func(handle uint32) error {
		return r.command(spec.IB_USER_VERBS_CMD_DEALLOC_PD, bytesOf(spec.DeallocPD{PDHandle: handle}), respBuf{})
	}
	require.Equal(t, error(rule.ObjectWrongType), dealloc(cq))
	require.NoError(t, dealloc(pd))
	require.Equal(t, error(rule.ObjectNotFound), dealloc(pd))
	require.Equal(t, []string{"dealloc_pd"}, r.took())
}

// TestAfterRemoval follows the recorded cases rmwrite/cmd-1 and rmwrite/cmd-3:
// what needs the device is EIO on a file whose device went.
func TestAfterRemoval(t *testing.T) {
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.DisassociateUcontext = func(*process.Task, *core.Ucontext) {}
	})
	pd := uint32(r.newPD())
	r.m.Unregister(r.p.MainTask(), r.uverbs)
	for _, tt := range []struct {
		cmd     uint8
		request []byte
		resp    int
		want    error
	}{
		{spec.IB_USER_VERBS_CMD_QUERY_DEVICE, bytesOf(spec.QueryDevice{}), spec.QueryDeviceRespSize, rule.ContextDeviceGone},
		{spec.IB_USER_VERBS_CMD_QUERY_PORT, bytesOf(spec.QueryPort{PortNum: 1}), spec.QueryPortRespSize, rule.ContextDeviceGone},
		{spec.IB_USER_VERBS_CMD_GET_CONTEXT, bytesOf(spec.GetContext{}), spec.GetContextRespSize, rule.UcontextDeviceGone},
		{spec.IB_USER_VERBS_CMD_ALLOC_PD, bytesOf(spec.AllocPD{}), spec.AllocPDRespSize, rule.ContextDeviceGone},
		{spec.IB_USER_VERBS_CMD_DEALLOC_PD, bytesOf(spec.DeallocPD{PDHandle: pd + 1}), 0, rule.ObjectNotFound},
	} {
		require.Equal(t, tt.want, r.command(tt.cmd, tt.request, r.resp(tt.resp)))
	}
}
