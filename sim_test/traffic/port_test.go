package traffic

import (
	"encoding/binary"
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// gidOf is the GID of an entry, whose words are the bytes as they lie in memory.
func gidOf(e *spec.GIDEntry) (gid [16]byte) {
	for i, word := range e.GID {
		binary.LittleEndian.PutUint64(gid[8*i:], word)
	}
	return gid
}

// TestGIDTable: the table has the link-local address that the MAC makes and the
// IPv4 address, and asking for one entry tells the same as asking for all.
func TestGIDTable(t *testing.T) {
	m := boot(t, options{devices: 2})
	for n := range m.devices {
		p := m.start(n)
		table, err := p.ctx.QueryGIDTable(16)
		require.NoError(t, err)
		linkLocal := [16]byte{0xfe, 0x80, 8: 0x00, 9: 0x00, 10: 0x5e, 11: 0xff, 12: 0xfe, 13: 0x00, 14: 0x53, 15: byte(n + 1)}
		ipv4 := [16]byte{10: 0xff, 11: 0xff, 12: 192, 13: 0, 14: 2, 15: byte(n + 1)}
		found := map[[16]byte]bool{}
		for _, e := range table {
			require.EqualValues(t, port, e.PortNum)
			require.EqualValues(t, verbs.IBV_GID_TYPE_ROCE_V2, e.GIDType)
			require.NotZero(t, e.NetdevIfindex)
			found[gidOf(&e)] = true
			one, err := p.ctx.QueryGIDEntry(port, e.GIDIndex)
			require.NoError(t, err)
			require.Equal(t, e, *one)
			gid, err := p.ctx.QueryGID(port, e.GIDIndex)
			require.NoError(t, err)
			require.Equal(t, gidOf(&e), gid)
		}
		require.Equal(t, map[[16]byte]bool{linkLocal: true, ipv4: true}, found)
		require.Equal(t, ipv4, p.gid)

		attr, err := p.ctx.QueryPort(port)
		require.NoError(t, err)
		last := uint32(attr.LegacyResp.GIDTblLen) - 1
		_, err = p.ctx.QueryGIDEntry(port, last)
		require.ErrorIs(t, err, syscall.ENODATA)
		gid, err := p.ctx.QueryGID(port, last)
		require.NoError(t, err)
		require.Zero(t, gid)
		_, err = p.ctx.QueryGIDEntry(port, last+1)
		require.ErrorIs(t, err, syscall.EINVAL)
		_, err = p.ctx.QueryGIDEntry(2, 0)
		require.ErrorIs(t, err, syscall.EINVAL)
		_, err = p.ctx.QueryGIDTable(1)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
}

// TestEachGIDLeadsThere: a connection can go by any pair of addresses of the two
// devices.
func TestEachGIDLeadsThere(t *testing.T) {
	client, server := unconnected(t, setup{apart: true})
	for _, index := range []uint8{0, 1} {
		l := typical()
		for _, e := range []*end{client, server} {
			e.toState(e.qp, reset)
			e.toInit(l)
			gid, err := e.peer.ctx.QueryGID(port, uint32(index))
			require.NoError(t, err)
			attr := l.rtrAttr(e.peer.qp, gid, l.clientPSN)
			attr.AHAttr.GRH.SGIDIndex = index
			e.modify(e.qp, attr, rtrMask[rc])
			e.toRTS(l, l.clientPSN)
		}
		server.receive(server.into(1, 0, 8))
		client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
		client.succeeded(client.sent(), 1)
		server.succeeded(server.received(), 1)
	}
}

// TestPortAttributes: what a program asks a RoCE port for.
func TestPortAttributes(t *testing.T) {
	p := boot(t, options{}).start(0)
	resp, err := p.ctx.QueryPort(port)
	require.NoError(t, err)
	attr := &resp.LegacyResp
	require.EqualValues(t, spec.IB_PORT_ACTIVE, attr.State)
	require.EqualValues(t, verbs.IBV_MTU_4096, attr.MaxMtu)
	require.EqualValues(t, verbs.IBV_MTU_4096, attr.ActiveMtu, "of 9000 bytes on Ethernet")
	require.EqualValues(t, 1, attr.PkeyTblLen)
	require.Zero(t, attr.LID)
	const ethernet = 2
	require.EqualValues(t, ethernet, attr.LinkLayer)
	for _, other := range []uint8{0, 2} {
		_, err = p.ctx.QueryPort(other)
		require.ErrorIs(t, err, syscall.EINVAL)
	}
}

// TestAddressHandles: a path needs a port and addresses that are there, and a
// device that has the destination.
func TestAddressHandles(t *testing.T) {
	m := boot(t, options{devices: 2})
	a, b := m.start(0), m.start(1)
	for name, tt := range map[string]struct {
		change func(*verbs.AHAttr)
		want   error
	}{
		"good":         {func(*verbs.AHAttr) {}, nil},
		"port 0":       {func(a *verbs.AHAttr) { a.PortNum = 0 }, libmlx5.ErrAHPort},
		"port 2":       {func(a *verbs.AHAttr) { a.PortNum = 2 }, libmlx5.ErrAHPort},
		"no GRH":       {func(a *verbs.AHAttr) { a.IsGlobal = false }, libmlx5.ErrAHGlobal},
		"empty entry":  {func(a *verbs.AHAttr) { a.GRH.SGIDIndex = 3 }, syscall.ENODATA},
		"beyond table": {func(a *verbs.AHAttr) { a.GRH.SGIDIndex = 255 }, syscall.EINVAL},
	} {
		t.Run(name, func(t *testing.T) {
			attr := path(b.gid)
			tt.change(&attr)
			ah, err := a.pd.CreateAH(&attr)
			if tt.want != nil {
				require.True(t, errors.Is(err, tt.want), "%v", err)
				return
			}
			require.NoError(t, err)
			require.NoError(t, ah.Destroy())
		})
	}
}
