package hw

import (
	"bytes"
	"encoding/binary"
	"math/rand"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/sim_test/watchdog"
)

// FuzzExec sends whatever bytes as commands. The device survives, every answer
// has a status that goes with its syndrome, nothing beyond the answer's room is
// touched, and a teardown leaves nothing alive.
func FuzzExec(f *testing.F) {
	for op := range rows {
		f.Add(Input(op, 0, 0, 8), uint16(64))
	}
	create := cqOptions{log: 2, eqn: 1}
	f.Add(create.input(ifc.MLX5_CMD_OP_CREATE_CQ, 0), uint16(16))
	f.Add(create.input(ifc.MLX5_CMD_OP_MODIFY_CQ, 1), uint16(16))
	f.Fuzz(func(t *testing.T, in []byte, room uint16) {
		watchdog.On(t)
		mem := newRAM()
		d := New(Config{Bus: mem})
		require.NoError(t, Boot(nil, d, somePages))
		r := &rig{Device: d, t: t, mem: mem}
		eqn := r.createEQ(eqOptions{mask: 1 << ifc.MLX5_EVENT_TYPE_CQ_ERROR})
		r.createCQ(cqOptions{log: 2, eqn: eqn})

		buf := make([]byte, int(room)%8192+1)
		out := buf[:len(buf)-1]
		buf[len(out)] = 0x5a
		kept := append([]byte(nil), in...)
		for range 3 {
			require.NoError(t, d.Exec(nil, in, out))
			s, syndrome := Result(out)
			if len(out) >= headerSize {
				require.Equal(t, s == MLX5_CMD_STAT_OK, syndrome == 0)
				require.Equal(t, syndrome != 0, SyndromeText(syndrome) != "")
			}
		}
		require.True(t, bytes.Equal(kept, in), "the input is the caller's")
		require.Equal(t, byte(0x5a), buf[len(out)])
		for n := range uint32(8) {
			d.UARPage(n+0x10).Store(int(room)%4096, in)
			_ = d.Complete(n, Completion{Solicited: true})
		}
		for i := 0; d.Step(); i++ {
			require.Less(t, i, 100, "events come to an end")
		}
		for k, n := range d.Counts() {
			require.Positive(t, n, k)
		}
		_ = do(nil, d, Input(ifc.MLX5_CMD_OP_ENABLE_HCA, 0, 0, 0))
		_ = do(nil, d, Input(ifc.MLX5_CMD_OP_INIT_HCA, 0, 0, 0))
		_, err := Shutdown(nil, d)
		require.NoError(t, err)
		require.Empty(t, d.Counts())
	})
}

// Random lives of objects under several uids: the books agree with a plain
// model, numbers are never given twice, and at the end nothing is left.
func TestBooksBalance(t *testing.T) {
	makers := []struct {
		kind      string
		make, end uint16
	}{
		{"pd", ifc.MLX5_CMD_OP_ALLOC_PD, ifc.MLX5_CMD_OP_DEALLOC_PD},
		{"uar", ifc.MLX5_CMD_OP_ALLOC_UAR, ifc.MLX5_CMD_OP_DEALLOC_UAR},
		{"td", ifc.MLX5_CMD_OP_ALLOC_TRANSPORT_DOMAIN, ifc.MLX5_CMD_OP_DEALLOC_TRANSPORT_DOMAIN},
		{"mkey", ifc.MLX5_CMD_OP_CREATE_MKEY, ifc.MLX5_CMD_OP_DESTROY_MKEY},
		{"tis", ifc.MLX5_CMD_OP_CREATE_TIS, ifc.MLX5_CMD_OP_DESTROY_TIS},
		{"cq", ifc.MLX5_CMD_OP_CREATE_CQ, ifc.MLX5_CMD_OP_DESTROY_CQ},
	}
	type key struct {
		kind string
		n    uint32
	}
	r := newRig(t, nil)
	eqn := r.createEQ(eqOptions{uid: ifc.MLX5_SHARED_RESOURCE_UID})
	uids := []uint16{0}
	for range 3 {
		uids = append(uids, uint16(r.made(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0))))
	}
	before := r.Counts()
	live := map[key]uint16{}
	rng := rand.New(rand.NewSource(1))
	check := func() {
		want := map[string]int{}
		for k, n := range before {
			want[k] = n
		}
		for k := range live {
			want[k.kind]++
		}
		require.Equal(t, want, r.Counts())
	}
	for i := range 3000 {
		m := makers[rng.Intn(len(makers))]
		uid := uids[rng.Intn(len(uids))]
		if rng.Intn(5) < 3 {
			in := Input(m.make, uid, 0, 0)
			if m.kind == "cq" {
				in = (&cqOptions{uid: uid, eqn: eqn}).input(m.make, 0)
			}
			k := key{m.kind, r.made(in)}
			require.NotContains(t, live, k)
			live[k] = uid
		} else {
			n := uint32(rng.Intn(100)) + map[string]uint32{"uar": 0x10, "mkey": 0x100, "tis": uint32(rng.Intn(2)) * 0x1000}[m.kind]
			k := key{m.kind, n}
			owner, alive := live[k]
			_, s := r.exec(named(m.end, uid, n))
			require.Equal(t, alive && owner == uid, s == MLX5_CMD_STAT_OK)
			if s == MLX5_CMD_STAT_OK {
				delete(live, k)
			}
		}
		if i%100 == 0 {
			check()
		}
	}
	check()
	for k, uid := range live {
		for _, m := range makers {
			if m.kind == k.kind {
				r.ends(named(m.end, uid, k.n), MLX5_CMD_STAT_OK)
			}
		}
	}
	live = nil
	check()
	for _, uid := range uids[1:] {
		r.ends(named(ifc.MLX5_CMD_OP_DESTROY_UCTX, 0, uint32(uid)), MLX5_CMD_STAT_OK)
	}
}

// Commands, doorbells, completions and steps from several goroutines at once.
func TestConcurrent(t *testing.T) {
	r := newRig(t, nil)
	var mu sync.Mutex
	events := map[uint32]int{}
	r.cfg.Event = func(_ uint32, e EQE) { mu.Lock(); events[e.CompCQN()]++; mu.Unlock() }
	eqn := r.createEQ(eqOptions{})
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { r.Run(stop); close(stopped) }()
	var wg sync.WaitGroup
	var cqns []uint32
	const rounds = 200
	for g := range 4 {
		cqn := r.createCQ(cqOptions{log: 4, oi: true, eqn: eqn, buffer: []Addr{cqBuffer + Addr(g*ramPage)}, record: cqRecord + Addr(g*64)})
		cqns = append(cqns, cqn)
		wg.Go(func() {
			out := make([]byte, 16)
			for i := range uint32(rounds) {
				word := binary.BigEndian.AppendUint32(nil, i&3<<28|i)
				r.UARPage(r.uar).Store(ifc.MLX5_CQ_DOORBELL, binary.BigEndian.AppendUint32(word, cqn))
				_ = r.Complete(cqn, Completion{})
				_ = r.Exec(nil, Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0), out)
				_ = r.Exec(nil, named(ifc.MLX5_CMD_OP_DEALLOC_PD, 0, binary.BigEndian.Uint32(out[8:])), out)
				r.Counts()
			}
		})
	}
	wg.Wait()
	for r.Step() {
	}
	close(stop)
	<-stopped
	for r.Step() {
	}
	for _, cqn := range cqns {
		require.Equal(t, rounds, events[cqn], "one event for an arming")
	}
	require.Zero(t, r.Counts()["pd"])
}

// flat is memory that costs nothing to reach.
type flat []byte

func (m flat) ReadAt(p []byte, addr Addr) error  { copy(p, m[addr:]); return nil }
func (m flat) WriteAt(p []byte, addr Addr) error { copy(m[addr:], p); return nil }

func flatCQ(t testing.TB) (*Device, uint32) {
	d := New(Config{Bus: make(flat, 2*ramPage)})
	require.NoError(t, Boot(nil, d, somePages))
	r := &rig{Device: d, t: t}
	return d, r.createCQ(cqOptions{log: 6, oi: true, eqn: r.createEQ(eqOptions{}), buffer: []Addr{ramPage}, record: 64})
}

func TestCompleteAllocatesNothing(t *testing.T) {
	d, cqn := flatCQ(t)
	require.Zero(t, testing.AllocsPerRun(100, func() { _ = d.Complete(cqn, Completion{}) }))
}

func BenchmarkComplete(b *testing.B) {
	d, cqn := flatCQ(b)
	b.ReportAllocs()
	for b.Loop() {
		_ = d.Complete(cqn, Completion{})
	}
}

func BenchmarkExec(b *testing.B) {
	d, _ := flatCQ(b)
	in, out := Input(ifc.MLX5_CMD_OP_NOP, 0, 0, 0), make([]byte, 16)
	b.ReportAllocs()
	for b.Loop() {
		_ = d.Exec(nil, in, out)
	}
}
