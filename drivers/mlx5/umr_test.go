package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/rule"
	"uverbsim/trace"
)

// TestUMRWQE: how a work request that changes a key lies in its queue (struct
// mlx5_wqe_umr_ctrl_seg, struct mlx5_mkey_seg and struct mlx5_wqe_data_seg in
// include/linux/mlx5/qp.h).
func TestUMRWQE(t *testing.T) {
	w := umrWQE{flags: 0x30, mask: 0x0123456789abcdef, offset: 0x0001_2345_6789, list: umrList{addr: 0x1122334455667788, length: 0x1fc}}
	w.ctx[0], w.ctx[63] = 0xa5, 0x5a
	b := make([]byte, umrWQESize)
	require.Equal(t, 144, w.encode(b, 0xcafe0001))
	for at, want := range map[int]string{
		16:  "\x30\x00\x00\x00\x00\x20\x67\x89", // flags, octowords rounded up to 64 bytes, low bits of the offset
		24:  "\x01\x23\x45\x67\x89\xab\xcd\xef",
		32:  "\x00\x01\x23\x45", // bits 47:16 of the offset
		64:  "\xa5",
		127: "\x5a",
		128: "\x00\x00\x01\xfc\xca\xfe\x00\x01\x11\x22\x33\x44\x55\x66\x77\x88",
	} {
		require.Equal(t, want, string(b[at:at+len(want)]), "at %d", at)
	}
	w.list = umrList{}
	require.Equal(t, 128, w.encode(b, 0xcafe0001), "without a list there is no data segment")
}

// umrDevice is an adapter whose driver has its queue pair for keys.
func umrDevice(t *testing.T) *Device {
	t.Helper()
	r := newRig(t, Config{Profile: hw.ConnectX6Dx})
	require.NoError(t, r.dev.umrResourceInit(nil))
	return r.dev
}

// TestUMRFailure: a work request that the adapter refuses leaves the queue pair in
// error. The driver leads it out, however often, and the next one is carried out.
func TestUMRFailure(t *testing.T) {
	d := umrDevice(t)
	p := &core.PD{Driver: &pd{}}
	p.Driver.(*pd).resp.PDN = d.umrc.pdn
	good, err := d.createCacheMkey(nil, p, mkcAccessModeMTT, 4, 0)
	require.NoError(t, err)
	for range 20 { // more than its queues have room for
		gone := newMR(good.key^0xff00, p, 0, 0, 0)
		require.Equal(t, error(rule.MLX5UMRFailed), d.umrRevokeMR(nil, gone))
		require.NoError(t, d.umrRevokeMR(nil, good))
	}
	require.NoError(t, d.destroyMkey(nil, good.key))
}

// TestUMRDeviceInError: an adapter in error changes no key; a key that is to be
// revoked counts as revoked.
func TestUMRDeviceInError(t *testing.T) {
	d := umrDevice(t)
	p := &core.PD{Driver: &pd{}}
	r, err := d.createCacheMkey(nil, p, mkcAccessModeMTT, 4, 0)
	require.NoError(t, err)
	d.HW.Fail()
	require.NoError(t, d.umrRevokeMR(nil, r))
	require.Equal(t, error(rule.MLX5UMRDevice), d.umrReregPDAccess(nil, r, p, 0))
}

// TestUMRResources: what the driver makes for itself is made once, at the first
// region, and goes with the device. If one of its commands fails nothing is left.
func TestUMRResources(t *testing.T) {
	r := newRig(t, Config{Profile: hw.ConnectX6Dx})
	require.NoError(t, r.dev.devResSRQInit(nil))
	before, mapped := r.dev.HW.Counts(), r.dev.Bus.Mapped()
	for _, command := range []string{"ALLOC_PD", "CREATE_MKEY", "CREATE_CQ", "CREATE_QP", "RST2INIT_QP", "INIT2RTR_QP", "RTR2RTS_QP"} {
		require.Error(t, r.dev.umrResourceInit(failing(command)), command)
		if command == "CREATE_CQ" { // the event queue of the vector was made, and stays
			before["eq"], mapped = r.dev.HW.Counts()["eq"], r.dev.Bus.Mapped()
		}
		require.Equal(t, before, r.dev.HW.Counts(), command)
		require.Equal(t, mapped, r.dev.Bus.Mapped(), command)
	}
	for range 2 {
		require.NoError(t, r.dev.umrResourceInit(nil))
		after := r.dev.HW.Counts()
		for _, kind := range []string{"pd", "mkey", "cq", "qp"} {
			require.Equal(t, before[kind]+1, after[kind], kind)
		}
	}
	r.task.Exit()
	require.NoError(t, r.dev.Remove(r.task))
	require.Empty(t, r.dev.HW.Counts())
	require.Zero(t, r.dev.Bus.Mapped())
}

// failing is a thread whose firmware commands of that name fail.
func failing(command string) *trace.Task { return trace.NewTask(1, failingCommand(command)) }

type failingCommand string

func (failingCommand) Event(*trace.Task, *trace.Event) {}

func (c failingCommand) Fail(_ *trace.Task, s trace.Step, what string) bool {
	return s == trace.Command && what == string(c)
}
