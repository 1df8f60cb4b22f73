package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// sized is a change of a queue pair's context to a send queue of 1<<sq blocks and a
// receive queue of 1<<rq entries.
func sized(sq, rq uint64) func(ctx []byte) {
	return func(ctx []byte) {
		qpc.logSQSize.Set(ctx, sq)
		qpc.logRQSize.Set(ctx, rq)
	}
}

// selfConnected is an end that sends to itself, with queues of that size.
func selfConnected(t testing.TB, sq, rq uint64) *end {
	e := newRig(t, checking).newEnd(endOptions{service: ifc.MLX5_QP_ST_RC, base: 0x10000000, gid: 1, change: sized(sq, rq)})
	e.sqBlocks, e.rqEntries = 1<<sq, 1<<rq
	e.connect(e, connection{rnrRetries: 7})
	return e
}

// TestSmallestQueues: queues of one entry, for so long that every counter begins
// again.
func TestSmallestQueues(t *testing.T) {
	e := selfConnected(t, 0, 0)
	for i := range 1<<16 + 10 {
		e.receive(e.data(0, 8))
		e.post(wr{op: ifc.MLX5_OPCODE_SEND, inline: binary.BigEndian.AppendUint32(nil, uint32(i))})
		settleEnds(e)
		got := e.poll()
		require.Equal(t, []uint8{0, 0}, results(got))
		for _, c := range got {
			require.Equal(t, uint32(i)&0xffff, c.counter)
		}
		require.Equal(t, uint32(i), binary.BigEndian.Uint32(e.bytes(0, 4)))
	}
}

// TestLongestRequest: a request of 63 segments at each place of a queue, around its
// end too.
func TestLongestRequest(t *testing.T) {
	e := selfConnected(t, endLogSQ, endLogRQ)
	want := texture(62*3, 1)
	e.fill(0x1000, want)
	for range 1 << endLogSQ {
		e.receive(e.data(0, len(want)))
		w := wr{op: ifc.MLX5_OPCODE_SEND}
		for i := range 62 {
			w.sgl = append(w.sgl, e.data(0x1000+3*i, 3))
		}
		first := e.post(w)
		settleEnds(e)
		e.post(wr{op: ifc.MLX5_OPCODE_NOP, quiet: true}) // so that the next begins one block further
		settleEnds(e)
		got := e.poll()
		require.Equal(t, []uint8{0, 0}, results(got))
		require.Contains(t, []uint32{got[0].counter, got[1].counter}, uint32(first))
		require.Equal(t, want, e.bytes(0, len(want)))
		e.fill(0, make([]byte, len(want)))
	}
}

// TestRequestBeyondWhatIsPosted: a request that says it is longer than what was
// posted fails, and nothing that lies behind it is done.
func TestRequestBeyondWhatIsPosted(t *testing.T) {
	for name, sq := range map[string]uint64{"longer than posted": endLogSQ, "longer than the queue": 0} {
		t.Run(name, func(t *testing.T) {
			e := selfConnected(t, sq, endLogRQ)
			b := make([]byte, 64)
			b[3] = ifc.MLX5_OPCODE_NOP
			binary.BigEndian.PutUint32(b[4:], e.qpn<<8|17) // two blocks
			e.mem.set(e.sqStart(), b)
			e.sq++
			e.ringDoorbell(b)
			settleEnds(e)
			require.Equal(t, []uint8{ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR}, results(e.poll()))
			require.Equal(t, e.queuePair().sq.pi, e.queuePair().sq.ci)
		})
	}
}
