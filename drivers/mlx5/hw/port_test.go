package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A port that goes down and comes up again says so, to the event queues that
// asked and in the answers about it.
func TestPortUp(t *testing.T) {
	r := newObjectRig(t)
	vport := []at{{15, 1, 0x11}}
	hca := func(states uint64) []at {
		const guid = 0x02005e0300005310
		return []at{{50, 2, states}, {56, 8, guid}, {64, 8, guid}, {72, 8, guid}}
	}
	register := func(id uint64, extra int) []byte { return cmd(0x805, 0, 1, extra, at{10, 2, id}) }
	read := func(id uint64, size int, byte int) uint64 {
		out := Output(0x805, size)
		require.NoError(t, r.Exec(nil, register(id, size), out))
		return uint64(out[16+byte])<<24 | uint64(out[17+byte])<<16 | uint64(out[18+byte])<<8 | uint64(out[19+byte])
	}
	up := func() {
		r.answers(query(0x750, 0), vport...)
		r.answers(query(0x762, 0), hca(0x5041)...)
		require.Equal(t, uint64(1<<9), read(0x5004, 64, 32), "PTYS ext_eth_proto_oper")
		require.Equal(t, uint64(1), read(0x5006, 16, 0)&0xf, "PAOS oper_status")
	}
	up()
	r.PortUp(true)
	require.Empty(t, r.happened(), "nothing has changed")

	r.PortUp(false)
	require.Equal(t, []EQE{event(0x09, 1, at{8, 1, 0x10})}, r.happened())
	r.answers(query(0x750, 0), at{15, 1, 0x10})
	r.answers(query(0x762, 0), hca(0x2010)...)
	require.Zero(t, read(0x5004, 64, 32))
	require.Equal(t, uint64(1<<9), read(0x5004, 64, 8), "PTYS ext_eth_proto_capability")
	require.Equal(t, uint64(2), read(0x5006, 16, 0)&0xf)

	// The link is no matter of the driver's: it stays as it is.
	_, err := Shutdown(nil, r.Device)
	require.NoError(t, err)
	require.NoError(t, Boot(nil, r.Device, somePages))
	r.answers(query(0x750, 0), at{15, 1, 0x10})

	r.eqn = r.createEQ(eqOptions{mask: 1 << 9})
	r.PortUp(true)
	require.Equal(t, []EQE{event(0x09, 4, at{8, 1, 0x10})}, r.happened())
	up()
}

func TestPkeys(t *testing.T) {
	r := newRig(t, ConnectX6Dx)
	ask := func(index uint64) []byte { return cmd(0x765, 0, 0, 0, at{14, 2, index}) }
	for index, want := range map[uint64][]byte{0: {0, 0, 0xff, 0xff}, 1: {0, 0, 0, 0}, 0xffff: {0, 0, 0xff, 0xff}} {
		out := Output(0x765, 4)
		require.NoError(t, r.Exec(nil, ask(index), out))
		require.Equal(t, want, out[16:], "index %d", index)
	}
}
