package methods

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
)

// route is a path to one of the device's own addresses.
var route = spec.GlobalRoute{DGID: [16]byte{10: 0xff, 11: 0xff, 12: 192, 14: 2, 15: 1}, FlowLabel: 0x12345, SGIDIndex: 1,
	HopLimit: 7, TrafficClass: 8}

func (r *rig) createAH(cmd spec.CreateAH) (string, error) {
	resp := r.resp(spec.CreateAHRespSize)
	err := r.command(spec.IB_USER_VERBS_CMD_CREATE_AH, bytesOf(cmd), resp)
	return r.hex(resp.at, resp.n), err
}

// TestCreateAH follows the recorded cases ah/ok, ah/port-2 and ah/sgid-900.
func TestCreateAH(t *testing.T) {
	var made core.AHAttr
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateUserAH = func(_ *core.AH, attr *core.AHAttr, _ *core.Udata) error {
			made = *attr
			return nil
		}
	})
	pd := uint32(r.newPD())
	good := spec.CreateAH{PDHandle: pd, Attr: spec.AHAttr{GRH: route, DLID: 1, Sl: 2, SrcPathBits: 3, StaticRate: 4, IsGlobal: 1, PortNum: 1}}
	tests := []struct {
		name   string
		change func(*spec.CreateAH)
		want   error
	}{
		{"ah/port-2", func(c *spec.CreateAH) { c.Attr.PortNum = 2 }, rule.CmdAHPort},
		{"the port comes before the PD", func(c *spec.CreateAH) { c.Attr.PortNum, c.PDHandle = 0, 99 }, rule.CmdAHPort},
		{"an unknown PD", func(c *spec.CreateAH) { c.PDHandle = 99 }, rule.ObjectNotFound},
		{"ah/sgid-900", func(c *spec.CreateAH) { c.Attr.GRH.SGIDIndex = 200 }, rule.GIDEmpty},
		{"no global route on Ethernet", func(c *spec.CreateAH) { c.Attr.IsGlobal = 0 }, rule.AHAttrNoGRH},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			cmd := good
			tt.change(&cmd)
			answer, err := r.createAH(cmd)
			require.Equal(t, tt.want, err)
			require.Equal(t, "a5a5a5a5", answer)
		})
	}
	answer, err := r.createAH(good)
	require.NoError(t, err)
	require.Equal(t, "01000000", answer)
	require.Equal(t, core.AHAttr{DGID: route.DGID, FlowLabel: 0x12345, SGIDIndex: 1, HopLimit: 64, TrafficClass: 8,
		DLID: 1, SL: 2, SrcPathBits: 3, StaticRate: 4, IsGlobal: true, PortNum: 1}, made)
	_, err = r.destroy(destroyPD, uint64(pd))
	require.Equal(t, error(rule.PDBusy), err)
	destroy := bytesOf(spec.DestroyAH{AHHandle: 1})
	require.NoError(t, r.command(spec.IB_USER_VERBS_CMD_DESTROY_AH, destroy, respBuf{}))
	_, err = r.destroy(destroyPD, uint64(pd))
	require.NoError(t, err)
}

// TestAHAddress: how a GID becomes a MAC address. A group's is computed, so is
// a link-local one's under RoCE version 1, and others the network is asked for.
func TestAHAddress(t *testing.T) {
	var made core.AHAttr
	r := newCommands(t, func(ops *core.DeviceOps) {
		ops.CreateUserAH = func(_ *core.AH, attr *core.AHAttr, _ *core.Udata) error {
			made = *attr
			return nil
		}
	})
	pd := uint32(r.newPD())
	linkLocal := [16]byte{0: 0xfe, 1: 0x80, 8: 0x02, 9: 0x11, 10: 0x22, 11: 0xff, 12: 0xfe, 13: 0x33, 14: 0x44, 15: 0x55}
	tests := []struct {
		name  string
		gid   [16]byte
		v1    bool
		mac   [6]byte
		hops  uint8
		fails error
	}{
		{"an IPv6 group", [16]byte{0: 0xff, 1: 2, 12: 1, 13: 2, 14: 3, 15: 4}, false, [6]byte{0x33, 0x33, 1, 2, 3, 4}, 7, nil},
		{"an IPv4 group", [16]byte{10: 0xff, 11: 0xff, 12: 224, 13: 0x81, 14: 2, 15: 3}, false, [6]byte{1, 0, 0x5e, 1, 2, 3}, 7, nil},
		{"link-local, version 1", linkLocal, true, [6]byte{0, 0x11, 0x22, 0x33, 0x44, 0x55}, 7, nil},
		{"link-local, version 2", linkLocal, false, [6]byte{9, 9, 9, 9, 9, 9}, 33, nil},
		{"unreachable", route.DGID, false, [6]byte{}, 0, syscall.ENETUNREACH},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r.dev.GIDs[1].Type = 2
			if tt.v1 {
				r.dev.GIDs[1].Type = 1
			}
			r.dev.ResolveAddr = func(_ *process.Task, _ *core.GIDAttr, gid [16]byte) ([6]byte, uint8, error) {
				require.Equal(t, tt.gid, gid)
				return tt.mac, tt.hops, tt.fails
			}
			cmd := spec.CreateAH{PDHandle: pd, Attr: spec.AHAttr{GRH: route, IsGlobal: 1, PortNum: 1}}
			cmd.Attr.GRH.DGID = tt.gid
			_, err := r.createAH(cmd)
			require.Equal(t, tt.fails, err)
			if err == nil {
				require.Equal(t, tt.mac, made.DMAC)
				require.Equal(t, tt.hops, made.HopLimit)
			}
		})
	}
}
