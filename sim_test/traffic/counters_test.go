package traffic

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/spec"
	"uverbsim/verbs"
)

// firmware executes a firmware command that makes nothing, as
// mlx5dv_devx_general_cmd does.
func (p *program) firmware(in []byte, outLen int) []byte {
	p.Helper()
	f := p.ctx.Frame()
	defer f.Leave()
	out := make([]byte, outLen)
	cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_OTHER, 2, nil)
	cmd.FillAttrIn(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in)
	cmd.FillAttrOut(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out)
	require.NoError(p, p.ctx.ExecuteIoctl(cmd))
	return out
}

// traffic reads a counter of the port.
func (p *program) traffic(name string) (packets, octets uint64) {
	p.Helper()
	in := make([]byte, ifc.Must("query_vport_counter_in").Size())
	ifc.Must("query_vport_counter_in").Field("opcode").Set(in, ifc.MLX5_CMD_OP_QUERY_VPORT_COUNTER)
	layout := ifc.Must("query_vport_counter_out")
	out := p.firmware(in, layout.Size())
	return layout.Field(name + ".packets").Get(out), layout.Field(name + ".octets").Get(out)
}

// TestPortCounters: the port counts the packets of a message and their bytes, going
// out and coming in.
func TestPortCounters(t *testing.T) {
	client, server := pair(t, setup{typ: verbs.IBV_QPT_UC, apart: true, link: func(l *link) { l.mtu = verbs.IBV_MTU_256 }})
	outPackets, outOctets := client.traffic("transmitted_ib_unicast")
	inPackets, inOctets := server.traffic("received_ib_unicast")
	server.receive(server.into(1, 0, 1000))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 1000)))
	client.succeeded(client.sent(), 1)
	packets, octets := client.traffic("transmitted_ib_unicast")
	require.EqualValues(t, 4, packets-outPackets)
	require.GreaterOrEqual(t, octets-outOctets, uint64(1000))
	packets, octets = server.traffic("received_ib_unicast")
	require.EqualValues(t, 4, packets-inPackets)
	require.GreaterOrEqual(t, octets-inOctets, uint64(1000))
	packets, _ = server.traffic("transmitted_ib_unicast")
	require.Zero(t, packets, "nobody acknowledges here")
}

// TestMulticastCounters: a datagram to a group counts apart from others.
func TestMulticastCounters(t *testing.T) {
	m := boot(t, options{devices: 2})
	ends := datagrams(m, 0, 1)
	gid := groups["IPv4"]
	require.NoError(t, ends[1].qp.AttachMcast(gid, 0))
	ends[1].receive(ends[1].into(1, 0, 16))
	ends[0].sendToGroup(ends[0].createAH(gid), "counted")
	packets, _ := ends[0].traffic("transmitted_ib_multicast")
	require.EqualValues(t, 1, packets)
	packets, _ = ends[1].traffic("received_ib_multicast")
	require.EqualValues(t, 1, packets)
	packets, _ = ends[0].traffic("transmitted_ib_unicast")
	require.Zero(t, packets)
	require.NoError(t, ends[1].qp.DetachMcast(gid, 0))
}
