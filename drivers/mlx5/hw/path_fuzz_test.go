package hw

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/sim_test/watchdog"
)

// pathFuzz is two connected queue pairs of one device and one of each other kind,
// whose queues, doorbells and commands are made of a fuzzer's bytes.
type pathFuzz struct {
	t     testing.TB
	g     *guard
	r     *rig
	ends  []*end
	input []byte
	did   int // actions
}

// exec is a rig's exec under the guard's eyes.
func (p *pathFuzz) exec(in []byte) ([]byte, Status) {
	out := Output(binary.BigEndian.Uint16(in), 0)
	require.NoError(p.t, p.r.Exec(nil, in, out))
	p.g.told(in, out)
	s, _ := Result(out)
	return out, s
}

func newPathFuzz(t testing.TB, input []byte) *pathFuzz {
	p := &pathFuzz{t: t, input: input}
	p.r = newRigOn(t, checking, nil)
	p.g = newGuard(p.r.mem)
	p.r.cfg.Bus = p.g
	for i, service := range []uint8{ifc.MLX5_QP_ST_RC, ifc.MLX5_QP_ST_RC, ifc.MLX5_QP_ST_UC, ifc.MLX5_QP_ST_UC, ifc.MLX5_QP_ST_UD, ifc.MLX5_QP_ST_UD} {
		p.r.told = p.g.told
		e := p.r.newEnd(endOptions{service: service, base: Addr(i+1) << 24, gid: 1})
		p.ends = append(p.ends, e)
	}
	for i, e := range p.ends {
		e.connect(p.ends[i^1], connection{mtu: 1, timeout: 1, retries: 1, rnrRetries: 1, rnrTimer: 1, depth: 1})
	}
	return p
}

// bytes takes the next n of the input; zeros follow it.
func (p *pathFuzz) bytes(n int) []byte {
	b := make([]byte, n)
	p.input = p.input[copy(b, p.input):]
	return b
}

func (p *pathFuzz) byte() byte { return p.bytes(1)[0] }

// opcodes are those that a random work request is likely to have.
var opcodes = []uint8{ifc.MLX5_OPCODE_NOP, ifc.MLX5_OPCODE_SEND, ifc.MLX5_OPCODE_SEND_IMM, ifc.MLX5_OPCODE_RDMA_WRITE,
	ifc.MLX5_OPCODE_RDMA_WRITE_IMM, ifc.MLX5_OPCODE_RDMA_READ, ifc.MLX5_OPCODE_ATOMIC_CS, ifc.MLX5_OPCODE_ATOMIC_FA, 0x33}

// step does what the next bytes say.
func (p *pathFuzz) step() {
	e := p.ends[int(p.byte())%len(p.ends)]
	peer := p.ends[int(p.byte())%len(p.ends)]
	switch what := p.byte(); what % 8 {
	case 0, 1: // a request that is nearly right
		seg := func() seg {
			from := [...]*end{e, e, e, peer}[p.byte()%4]
			return from.data(int(p.byte())*1021, int(binary.LittleEndian.Uint16(p.bytes(2))))
		}
		w := wr{op: opcodes[int(p.byte())%len(opcodes)], flags: p.byte(), quiet: what&8 != 0, imm: uint32(p.byte())}
		if op := sendOps[w.op]; op.remote {
			to := seg()
			to.key = peer.key
			to.addr += peer.base - e.base
			w.remote = &to
		}
		if e.service(p.r) == ifc.MLX5_QP_ST_UD {
			w.ud = addressVector(peer, 0x1234)
		}
		for range p.byte() % 4 {
			w.sgl = append(w.sgl, seg())
		}
		e.post(w)
	case 2: // any request
		b := p.bytes(16 * (1 + int(p.byte())%20))
		binary.BigEndian.PutUint32(b[4:], e.qpn<<8)
		if b[3] == ifc.MLX5_OPCODE_UMR || b[3] == ifc.MLX5_OPCODE_SEND_INVAL {
			b[3] = ifc.MLX5_OPCODE_SEND // keys that change behind the guard's back are FuzzKeys'
		}
		e.postRaw(b)
	case 3: // a receive
		e.receive(e.data(int(p.byte())*1021, int(binary.LittleEndian.Uint16(p.bytes(2)))), seg{key: e.key ^ uint32(p.byte()%2), addr: e.base, n: uint32(p.byte())})
	case 4: // a doorbell record and a doorbell
		e.mem.set(e.base+endRecord+Addr(p.byte()%8), p.bytes(2))
		e.UARPage(e.uar).Store(int(binary.LittleEndian.Uint16(p.bytes(2)))%4096, p.bytes(8))
		e.mem.put32(e.base+endRecord+recordSend, uint32(e.sq))
	case 5: // a command
		in := Input([...]uint16{ifc.MLX5_CMD_OP_2ERR_QP, ifc.MLX5_CMD_OP_2RST_QP, ifc.MLX5_CMD_OP_RST2INIT_QP, ifc.MLX5_CMD_OP_INIT2RTR_QP,
			ifc.MLX5_CMD_OP_RTR2RTS_QP, ifc.MLX5_CMD_OP_QUERY_QP, ifc.MLX5_CMD_OP_SQERR2RTS_QP, ifc.MLX5_CMD_OP_DESTROY_MKEY}[p.byte()%8], 0, 0, stepSize)
		copy(in[16:], p.bytes(int(p.byte())))
		n := e.qpn
		if binary.BigEndian.Uint16(in) == ifc.MLX5_CMD_OP_DESTROY_MKEY {
			n = e.key >> 8
		}
		binary.BigEndian.PutUint32(in[8:], n)
		p.exec(in)
	case 6:
		p.r.fabric.Advance(time.Duration(p.byte()) * time.Microsecond)
	case 7:
		for range p.byte() {
			p.r.Step()
		}
	}
}

// service is what an end's queue pair is for.
func (e *end) service(r *rig) uint8 { return r.objects[kindQP].live[e.qpn].as.(*qp).service }

// run plays the whole input, and lets time pass until nothing is left to do.
func (p *pathFuzz) run() {
	for steps := 0; len(p.input) > 0 && steps < 200; steps++ {
		p.step()
		p.did++
	}
	for range 20 {
		for n := 0; p.r.Step(); n++ {
			require.Less(p.t, n, 10000, "the work comes to an end: %s", p.atWork())
		}
		for _, e := range p.ends {
			e.poll()
		}
		p.r.fabric.Advance(time.Second)
	}
	require.Empty(p.t, p.g.wrong, "DMA that nothing allows")
	_, err := Shutdown(nil, p.r.Device)
	require.NoError(p.t, err)
	require.Empty(p.t, p.r.Counts())
}

// atWork says what the queue pairs are at.
func (p *pathFuzz) atWork() (s string) {
	for _, e := range p.ends {
		q := p.r.objects[kindQP].live[e.qpn].as.(*qp)
		s += fmt.Sprintf("\n%#x: state %d, %d requests, next %d, off %d, psn %#x, unacked %#x, expects %#x, sq %d/%d, queued %t, answers %d",
			q.n, q.state, q.req.ring.n, q.req.next, q.req.off, q.req.psn, q.req.unacked, q.resp.psn, q.sq.ci, q.sq.pi, q.queued, q.resp.out.n)
	}
	return s
}

// FuzzPath posts whatever bytes as work requests, doorbells and commands. The
// device survives and comes to rest, each DMA is one that a live queue or key
// allows, and a teardown leaves nothing.
func FuzzPath(f *testing.F) {
	f.Add([]byte{0, 1, 0, 0, 0, 64, 0, 3, 0, 0, 1, 0, 0, 16, 0, 7, 7, 7, 255})
	f.Add([]byte{2, 3, 2, 9, 0, 0, 0, 0x0a, 0, 0, 0, 0, 0, 0, 0, 8})
	f.Fuzz(func(t *testing.T, input []byte) {
		watchdog.On(t)
		newPathFuzz(t, input).run()
	})
}

// After
//
//	go test ./drivers/mlx5/hw -run TestRandomPath -path-rounds 45000 -v
//
// more than a million work requests, doorbells and commands were tried.
var pathRounds = flag.Int("path-rounds", 400, "how many lives TestRandomPath plays")

// TestRandomPath is FuzzPath on inputs of a fixed seed.
func TestRandomPath(t *testing.T) {
	rng := rand.NewChaCha8([32]byte{1})
	rounds, did := *pathRounds, 0
	if testing.Short() {
		rounds = min(rounds, 50)
	}
	for range rounds {
		input := make([]byte, rng.Uint64()%2000)
		_, _ = rng.Read(input) // never fails
		p := newPathFuzz(t, input)
		p.run()
		did += p.did
	}
	t.Logf("%d work requests, doorbells, commands and other actions", did)
}
