package hw

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/sim_test/watchdog"
)

// seedFrames are frames of each kind that the parser knows.
func seedFrames() [][]byte {
	inner := frameOf(macB, macA, be16(etherIPv4), ip4(protoTCP, 20, "10.0.0.1", "10.0.0.2"), tcp(5, 6, 0, 0, nil))
	return [][]byte{
		frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, 8, "192.0.2.1", "192.0.2.2"), udp(1, 2, nil)),
		frameOf(macGroup, macA, be16(etherIPv6), ip6(protoTCP, 20, "::1", "::2"), tcp(1, 2, 3, 4, nil)),
		frameOf(macGroup, macA, be16(etherSVLAN, 1, etherVLAN, 2, etherMPLS), []byte{1, 2, 3, 4}),
		frameOf(macGroup, macA, be16(etherIPv4), ip4(protoUDP, 8, "192.0.2.1", "192.0.2.2"), udp(1, portVXLAN, append(make([]byte, 8), inner...))),
		frameOf(macGroup, macA, be16(etherIPv4), ip4(protoGRE, 8, "192.0.2.1", "192.0.2.2"), be16(0xb000, etherTEB), make([]byte, 12), inner),
		frameOf(macGroup, macA, be16(etherIPv6), ip6(protoFragment, 16, "::1", "::2"), []byte{protoUDP, 0, 0, 9, 0, 0, 0, 0}, udp(1, 2, nil)),
		frameOf(macGroup, macA, be16(etherIPv4), ip4(protoIPIP, 20, "192.0.2.1", "192.0.2.2"), ip4(protoUDP, 0, "10.0.0.1", "10.0.0.2")),
	}
}

// FuzzFrame: whatever a frame is, its layers lie inside of it and in their order, a
// rule that compares every bit of it is met by it and by no frame that differs where
// one looks, and check sums that were filled in are right.
func FuzzFrame(f *testing.F) {
	for _, b := range seedFrames() {
		f.Add(b, uint16(13), uint8(1))
	}
	f.Fuzz(func(t *testing.T, b []byte, at uint16, flip uint8) {
		watchdog.On(t)
		if len(b) < etherHeader || len(b) > maxFrame {
			return
		}
		l := layersOf(b, 0)
		if l.version != 0 {
			require.LessOrEqual(t, etherHeader, l.l3)
			require.LessOrEqual(t, l.l3+l.l3Size, l.payload)
		}
		if l.tcp || l.udp {
			require.LessOrEqual(t, l.l3+l.l3Size, l.l4)
			require.Less(t, l.l4, l.payload)
		}
		require.LessOrEqual(t, l.payload, l.end)
		require.LessOrEqual(t, l.end, len(b))

		var p, q matchParam
		p.describe(b, &l, 0x123)
		all := newFlowMask(bytes.Repeat([]byte{0xff}, len(p)), 0xff)
		require.True(t, all.matches(&p, &p))
		other := bytes.Clone(b)
		other[int(at)%len(b)] ^= flip
		lo := layersOf(other, 0)
		q.describe(other, &lo, 0x123)
		require.Equal(t, p == q, all.matches(&p, &q))
		if int(at)%len(b) < 12 && flip != 0 {
			require.False(t, all.matches(&p, &q), "an address differs")
		}

		var tir [240]byte
		tirHashFn.Set(tir[:], hashToeplitz)
		tirOuter.fields.Set(tir[:], 0xf)
		tirOuter.ipv6.Set(tir[:], uint64(flip&1))
		tirOuter.udp.Set(tir[:], uint64(flip>>1&1))
		tirInner.fields.Set(tir[:], uint64(flip>>2&0xf))
		require.NotPanics(t, func() { hashFor(tir[:], &passing{bytes: b, layers: l}) })

		tun := tunnelOf(other, &lo)
		tun.inner.fillSums(other, true, true)
		lo.fillSums(other, true, true)
		if lo.is4() {
			require.True(t, lo.networkSumOK(other))
		}
		if (lo.tcp || lo.udp) && !lo.fragment {
			require.True(t, lo.transportSumOK(other))
		}
	})
}

// FuzzEthWQE: whatever a send queue has, the device goes on, completes each work
// request or the queue ends, and takes no more than was posted.
func FuzzEthWQE(f *testing.F) {
	seed := make([]byte, 64)
	seed[3], seed[7] = ifc.MLX5_OPCODE_SEND, 3
	f.Add(seed, uint8(1))
	tso := bytes.Clone(seed)
	tso[3], tso[23], tso[29] = ifc.MLX5_OPCODE_TSO, 8, 34
	f.Add(tso, uint8(4))
	f.Fuzz(func(t *testing.T, wqes []byte, posted uint8) {
		watchdog.On(t)
		r := newEtherRig(t)
		r.everything()
		for range 8 {
			r.post(0, 0x800)
		}
		r.mem.set(etherSQ, wqes[:min(len(wqes), ramPage)])
		n := uint32(posted) % (1 << etherLogSQ)
		r.mem.put32(etherRecord+4, n)
		r.Scan()
		r.Drain()
		out, _ := r.exec(query(ifc.MLX5_CMD_OP_QUERY_SQ, r.sq))
		l := ifc.Must("query_sq_out")
		done := l.Field("sq_context.wq.hw_counter").Get(out)
		require.LessOrEqual(t, done, uint64(n))
		if l.Field("sq_context.state").Get(out) == ifc.MLX5_SQC_STATE_RDY {
			require.Equal(t, uint64(n), done)
		}
	})
}

// FuzzFlowRules: whatever a rule says, the command is taken or refused with a
// reason, what it holds is let go again, and a frame finds its way or its end.
func FuzzFlowRules(f *testing.F) {
	r := newEtherRig(f)
	good := r.ruleInput(ruleIn{actions: actionForward, tirs: []uint32{1}, tables: []uint32{1}, counters: []uint32{1}})
	f.Add(good[4:], uint8(0))
	f.Fuzz(func(t *testing.T, body []byte, which uint8) {
		watchdog.On(t)
		r := newEtherRig(t)
		table := r.newTable(tableNICRX)
		r.group(table, 0, 63)
		r.made(Input(ifc.MLX5_CMD_OP_ALLOC_FLOW_COUNTER, 0, 0, 0))
		before := r.Counts()
		ops := [...]uint16{ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, ifc.MLX5_CMD_OP_SET_FLOW_TABLE_ENTRY, ifc.MLX5_CMD_OP_MODIFY_FLOW_TABLE,
			ifc.MLX5_CMD_OP_CREATE_FLOW_GROUP, ifc.MLX5_CMD_OP_DELETE_FLOW_TABLE_ENTRY, ifc.MLX5_CMD_OP_QUERY_FLOW_COUNTER}
		for i := range 3 {
			in := Input(ops[(int(which)+i)%len(ops)], 0, 0, len(body))
			copy(in[4:], body)
			r.exec(in)
		}
		r.steered(seedFrames()[int(which)%len(seedFrames())])
		if after := r.Counts(); after["flow_group"] == before["flow_group"] {
			require.Equal(t, before, after)
		}
	})
}
