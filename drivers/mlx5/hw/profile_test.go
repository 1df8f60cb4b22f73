package hw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// A device without a capability has no command for it.
func TestCommandsThatNeedACapability(t *testing.T) {
	for op, capability := range map[uint16]string{0x705: "xrc", 0x710: "dct", 0x717: "tag_matching", 0x761: "roce"} {
		for value, want := range map[uint64]bool{0: true, 1: false} {
			p, err := ConnectX6Dx.With(map[string]uint64{capability: value})
			require.NoError(t, err)
			out, _ := newRig(t, p).exec(cmd(op, 0, 0, 0))
			_, syndrome := Result(out)
			require.Equal(t, want, syndrome == noCapability.syndrome, "%s %d", capability, value)
		}
	}
}

// Each profile has a name of its own and a device that comes up, and adapters of
// different profiles can be in one machine.
func TestEachProfile(t *testing.T) {
	names, macs := map[string]bool{}, map[uint64]bool{}
	for _, p := range Profiles() {
		names[p.Name()] = true
		macs[p.Cap("nic_vport_context.permanent_address")] = true
		d := New(Config{Profile: p, Bus: newRAM()})
		require.NoError(t, Boot(nil, d, somePages))
		_, err := Shutdown(nil, d)
		require.NoError(t, err)
		require.Empty(t, d.Counts())
	}
	require.Len(t, names, len(Profiles()))
	require.Len(t, macs, len(Profiles()))
}

// The recorded device makes objects of what it is given; what they need they need
// all the same, if it is there.
func TestRecordedTakesWhatItIsGiven(t *testing.T) {
	for create, destroy := range map[uint16]uint16{
		0x700: 0x701, 0x705: 0x706, 0x710: 0x711, 0x717: 0x718, // SRQ, XRC SRQ, DCT, XRQ
		0x900: 0x902, 0x904: 0x906, 0x908: 0x90a, 0x90c: 0x90e, 0x912: 0x914, // TIR, SQ, RQ, RMP, TIS
		0xa00: 0xa03, // a general object, of type 0x77
	} {
		r := newRig(t, Recorded)
		before := r.Counts()
		n := r.made(cmd(create, 0, 0x77, 0))
		r.ends(cmd(destroy, 0, 0x77, 0, at{8, 4, uint64(n)}), MLX5_CMD_STAT_OK)
		require.Equal(t, before, r.Counts(), "%#x", create)
	}
	r := newRig(t, Recorded)
	pd := r.made(Input(0x800, 0, 0, 0))
	in := cmd(0x90c, 0, 0, 8, append(wqNumbers(80, pd), at{33, 1, 0x10}, at{272, 8, srqBuffer})...)
	s := r.srqOf(r.made(in))
	require.False(t, s.isBroken)
	r.refused(query(0x801, pd), objectBusy)
}

func TestWithMAC(t *testing.T) {
	before := ConnectX6Dx.Cap("nic_vport_context.node_guid")
	p := ConnectX6Dx.WithMAC([6]byte{0x0c, 0x42, 0xa1, 0x12, 0x34, 0x56})
	require.Equal(t, before, ConnectX6Dx.Cap("nic_vport_context.node_guid"), "the profile itself stays")
	for _, guid := range []string{"system_image_guid", "port_guid", "node_guid"} {
		require.Equal(t, uint64(0x0c42a10300123456), p.Cap("nic_vport_context."+guid))
	}
	require.Equal(t, ConnectX6Dx.Name(), p.Name())
	require.Equal(t, ConnectX6Dx.Cap("log_max_qp"), p.Cap("log_max_qp"))

	// As the driver asks for it: the MAC at byte 2 of 8, 244 bytes into the context.
	r := newRig(t, p)
	out, _ := r.exec(Input(ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT, 0, 0, 0))
	require.Equal(t, []byte{0, 0, 0x0c, 0x42, 0xa1, 0x12, 0x34, 0x56}, out[16+244:16+252])
}

// What the profiles say of themselves, in the numbers that ibv_devinfo shows.
func TestProfiles(t *testing.T) {
	for _, tt := range []struct {
		profile *Profile
		caps    map[string]uint64
	}{
		{ConnectX6Dx, map[string]uint64{
			"log_max_qp": 17, "log_max_cq": 24, "log_max_mkey": 24, "log_max_mcg": 21, "max_qp_mcg": 240, "log_max_srq_sz": 15,
			"local_ca_ack_delay": 16, "cqe_version": 1, "cq_resize": 1, "xrc": 1, "imaicl": 1, "atomic": 1,
			"roce_cap.roce_address_table_size": 255, "roce_cap.roce_version": 4,
			"dct": 0, "tag_matching": 0, "striding_rq": 0, "qos": 0, "sctr_data_cqe": 0, "cqe_compression": 0, "general_obj_types": 0,
		}},
		{Small, map[string]uint64{
			"log_max_qp": 6, "cqe_version": 0, "cq_resize": 0, "cq_moderation": 0, "imaicl": 0, "atomic": 0, "device_memory": 0,
			"log_max_uctx": 0, "null_mkey": 0, "xrc": 1,
		}},
	} {
		t.Run(tt.profile.Name(), func(t *testing.T) {
			for name, want := range tt.caps {
				require.Equal(t, want, tt.profile.Cap(name), name)
			}
			require.Empty(t, tt.profile.rows, "it does what it says, as any device")
		})
	}
}

func TestFindCap(t *testing.T) {
	for name, known := range map[string]bool{
		"log_max_cq": true, "roce_cap.l3_type": true, "log_max_cat": false, "roce_cat.l3_type": false, "": false,
	} {
		n, ok := ConnectX6Dx.FindCap(name)
		require.Equal(t, known, ok, name)
		if known {
			require.Equal(t, ConnectX6Dx.Cap(name), n)
			continue
		}
		require.Panics(t, func() { ConnectX6Dx.Cap(name) }, name)
	}
}
