package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestROCEAddresses(t *testing.T) {
	r := newRig(t, ConnectX6Dx)
	set := func(index uint64, numbers ...at) []byte {
		return cmd(0x761, 0, 0, 0, append([]at{{8, 2, index}}, numbers...)...)
	}
	get := func(index uint64) []byte { return cmd(0x760, 0, 0, 0, at{8, 2, index}) }
	gid := []at{{16, 8, 0xfe80000000000000}, {24, 8, 0x02005efffe005310}}
	rest := []at{{32, 2, 0x1005}, {34, 2, 0x0200}, {36, 4, 0x5e005310}, {42, 1, 1}, {43, 1, 2}} // VLAN 5, MAC, IPv6, RoCE v2
	want := [16]byte{0xfe, 0x80, 8: 0x02, 0x00, 0x5e, 0xff, 0xfe, 0x00, 0x53, 0x10}

	_, _, ok := r.gid(3)
	require.False(t, ok)
	r.answers(get(3))
	r.answers(set(3, append(gid, rest...)...))
	r.answers(get(3), append(gid, rest...)...)
	got, mac, ok := r.gid(3)
	require.True(t, ok)
	require.Equal(t, want, got)
	require.Equal(t, [6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x10}, mac)
	require.True(t, r.ownsGID(want))
	require.Equal(t, r.Device, r.Fabric().owner(want))

	// The same GID at a second place; it is the device's until both are emptied.
	r.answers(set(254, append(gid, rest...)...))
	require.Equal(t, [][16]byte{want}, r.gids())
	r.answers(set(3))
	_, _, ok = r.gid(3)
	require.False(t, ok)
	require.True(t, r.ownsGID(want))
	r.answers(set(254))
	require.False(t, r.ownsGID(want))
	require.Nil(t, r.Fabric().owner(want))

	r.refused(set(255), badGIDIndex)
	r.refused(get(255), badGIDIndex)
	_, _, ok = r.gid(255)
	require.False(t, ok)
	r.refused(set(0, append(gid, at{43, 1, 0})...), badROCEVersion) // RoCE v1

	r.answers(set(0, append(gid, rest...)...))
	_, err := Shutdown(nil, r.Device)
	require.NoError(t, err)
	require.False(t, r.ownsGID(want), "the driver is gone")
	require.Nil(t, r.Fabric().owner(want))
}
