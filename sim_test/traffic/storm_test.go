package traffic

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// storm is a connection on which requests of all kinds are posted at random. Shadow
// is what the server's memory must have when the requests that were posted are
// done: a reliable connection does them in order, reads aside.
type storm struct {
	client, server *end
	dice           *rand.Rand
	shadow         []byte
	checks         map[uint64]func() // of a client's requests, by their completions
	arrivals       []func(wc libmlx5.WC)
	next           uint64
	slots          uint64 // of the client's memory that were used
	held           int    // receives posted and not used
	reading        bool   // a read was posted, and nothing with a fence since
}

const (
	stormArea = 1 << 14 // of the server's memory that is written and read
	stormSlot = 4096    // of memory for one message
	stormMost = 3000    // bytes
)

// pieces cuts n bytes at an offset of memory into up to three pieces.
func (s *storm) pieces(m *memory, off, n uint64) (sges []verbs.SGE) {
	for range 2 {
		if n > 1 && s.dice.IntN(2) == 0 {
			part := s.dice.Uint64N(n)
			sges = append(sges, m.sge(off, part))
			off, n = off+part, n-part
		}
	}
	return append(sges, m.sge(off, n))
}

// slot returns memory of the client that no request under way uses.
func (s *storm) slot() uint64 {
	s.slots++
	return s.slots % 32 * stormSlot
}

func (s *storm) data(n uint64) []byte {
	data := make([]byte, 0, n+8)
	for uint64(len(data)) < n {
		data = binary.LittleEndian.AppendUint64(data, s.dice.Uint64())
	}
	return data[:n]
}

// post posts a request of some kind.
func (s *storm) post() {
	n, at := s.dice.Uint64N(stormMost), s.slot()
	off := s.dice.Uint64N(stormArea - stormMost)
	wr := signaled(s.next, 0)
	s.next++
	wr.RDMA = s.server.mem.remote(off)
	check := func() {}
	switch s.dice.IntN(6) {
	case 0, 1:
		wr.Opcode = verbs.IBV_WR_SEND
		wr.SGList = s.message(at, n)
	case 2:
		wr.Opcode = verbs.IBV_WR_RDMA_WRITE
		wr.SGList = s.written(at, off, n)
	case 3:
		wr.Opcode, wr.ImmData = verbs.IBV_WR_RDMA_WRITE_WITH_IMM, s.dice.Uint32()
		wr.SGList = s.written(at, off, n)
		s.arrives(func(wc libmlx5.WC) {
			require.Equal(s.client, libmlx5.IBV_WC_RECV_RDMA_WITH_IMM, wc.Opcode)
			require.Equal(s.client, wr.ImmData, wc.Imm)
			require.EqualValues(s.client, n, wc.ByteLen)
		})
	case 4:
		wr.Opcode = verbs.IBV_WR_RDMA_READ
		wr.SGList = s.pieces(s.client.mem, at, n)
		want := append([]byte(nil), s.shadow[off:off+n]...)
		check = func() { require.Equal(s.client, want, s.client.mem.load(at, n)) }
	case 5:
		wr.Opcode = verbs.IBV_WR_ATOMIC_FETCH_AND_ADD
		off &^= 7
		wr.SGList = []verbs.SGE{s.client.mem.sge(at, 8)}
		wr.Atomic = libmlx5.AtomicWR{RemoteAddr: s.server.mem.iova + off, RKey: s.server.mem.RKey, CompareAdd: s.dice.Uint64()}
		old := binary.LittleEndian.Uint64(s.shadow[off:])
		binary.LittleEndian.PutUint64(s.shadow[off:], old+wr.Atomic.CompareAdd)
		check = func() { require.Equal(s.client, old, s.client.mem.word(at)) }
	}
	// What changes memory overtakes a read that was posted before, but for a fence.
	changes := wr.Opcode != verbs.IBV_WR_SEND && wr.Opcode != verbs.IBV_WR_RDMA_READ
	if s.reading && changes || s.dice.IntN(8) == 0 {
		wr.SendFlags |= verbs.IBV_SEND_FENCE
		s.reading = false
	}
	s.reading = s.reading || wr.Opcode == verbs.IBV_WR_RDMA_READ
	s.checks[wr.WRID] = check
	s.client.post(wr)
}

// written fills memory with what is written to an offset of the server's.
func (s *storm) written(at, off, n uint64) []verbs.SGE {
	data := s.data(n)
	s.client.mem.store(at, data)
	copy(s.shadow[off:], data)
	return s.pieces(s.client.mem, at, n)
}

// message fills memory with a message for the server.
func (s *storm) message(at, n uint64) []verbs.SGE {
	data := s.data(n)
	s.client.mem.store(at, data)
	s.arrives(func(wc libmlx5.WC) {
		require.Equal(s.client, libmlx5.IBV_WC_RECV, wc.Opcode)
		require.EqualValues(s.client, n, wc.ByteLen)
		require.Equal(s.client, data, s.server.mem.load(stormArea+wc.WRID*stormSlot, n))
	})
	return s.pieces(s.client.mem, at, n)
}

// arrives expects a completion at the server, whose receive is posted now or
// later.
func (s *storm) arrives(check func(wc libmlx5.WC)) { s.arrivals = append(s.arrivals, check) }

// poll takes the completions that are there.
func (s *storm) poll() {
	for _, wc := range s.client.poll(s.client.sendCQ) {
		require.Equal(s.client, good, wc.Status, "request %d", wc.WRID)
		s.checks[wc.WRID]()
		delete(s.checks, wc.WRID)
	}
	for _, wc := range s.server.poll(s.server.recvCQ) {
		require.Equal(s.client, good, wc.Status)
		require.NotEmpty(s.client, s.arrivals)
		s.arrivals[0](wc)
		s.arrivals = s.arrivals[1:]
		s.held--
	}
}

// TestStorm: whatever is posted together, over links of all sorts, everything is
// done once and in order.
func TestStorm(t *testing.T) {
	links := map[string]hw.Link{
		"good":  {},
		"slow":  {Delay: 20 * time.Microsecond},
		"lossy": {Loss: 0.03, Delay: 4 * time.Microsecond, Seed: 3},
		"wild":  {Loss: 0.05, Reorder: 0.1, Delay: 4 * time.Microsecond, Jitter: 40 * time.Microsecond, Seed: 4},
	}
	for name, l := range links {
		for kind, c := range map[string]setup{"RC": {}, "SRQ": {srq: true}, "XRC": {typ: verbs.IBV_QPT_XRC_SEND}} {
			t.Run(name+"/"+kind, func(t *testing.T) {
				c := setup{typ: c.typ, apart: true, srq: c.srq, size: stormArea + 32*stormSlot, cqe: 300,
					cap:  verbs.QPCap{MaxSendWR: 16, MaxRecvWR: 16, MaxSendSGE: 3, MaxRecvSGE: 1},
					link: func(l *link) { l.mtu, l.timeout, l.reads, l.answers = verbs.IBV_MTU_512, 6, 4, 4; l.rnrTimer = 1 }}
				c.options.link = l
				client, server := pair(t, c)
				s := &storm{client: client, server: server, dice: rand.New(rand.NewPCG(1, 2)), shadow: make([]byte, stormArea),
					checks: map[uint64]func(){}}
				slot := uint64(0)
				const requests = 100
				for s.next < requests || len(s.checks) > 0 {
					for s.next < requests && len(s.checks) < 12 && s.dice.IntN(8) > 0 {
						s.post()
					}
					for s.held < 8 && s.dice.IntN(3) > 0 {
						server.receive(libmlx5.RecvWR{WRID: slot % 32, SGList: []verbs.SGE{server.mem.sge(stormArea+slot%32*stormSlot, stormSlot)}})
						slot++
						s.held++
					}
					client.settle()
					s.poll()
					if next, waits := client.deadline(); waits {
						client.fabric.Advance(max(next-client.fabric.Now(), 0))
					}
				}
				client.exhaust()
				s.poll()
				require.Empty(t, s.arrivals)
				require.Equal(t, s.shadow, server.mem.load(0, stormArea))
				require.Empty(t, client.events())
				require.Empty(t, server.events())
			})
		}
	}
}
