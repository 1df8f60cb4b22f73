package hw

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// paged is two connected ends with keys for pages that are absent: 4 of them, from
// address 0x700000 on. They are the data of the ends.
type paged struct {
	*rig
	a, b       *end
	keyA, keyB uint32
}

const (
	pagedStart = 0x700000
	pagedPages = 4
)

// pageFaults asks for page faults, by Config.Event.
const pageFaults = 1 << 0x0c

func newPaged(t *testing.T, service uint8, p *Profile) *paged {
	r := newRig(t, p)
	a := r.newEnd(endOptions{service: service, base: 0x10000000, gid: 1})
	b := r.newEnd(endOptions{service: service, base: 0x20000000, gid: 1})
	c := connection{mtu: 1, rnrRetries: 7, rnrTimer: 1}
	a.connect(b, c)
	b.connect(a, c)
	for _, e := range []*end{a, b} {
		r.locked(func() { r.objects[kindQP].live[e.qpn].as.(*qp).near = false }) // packet by packet
	}
	g := &paged{rig: r, a: a, b: b}
	g.keyA, g.keyB = g.absentKey(a), g.absentKey(b)
	return g
}

func (g *paged) absentKey(e *end) uint32 {
	o := keyOptions{flags: mkcAll | mkcUMREn, mode: 1, pd: e.pdn, start: pagedStart, length: pagedPages * ramPage, shift: 12,
		pgAccess: true, mtts: make([]uint64, pagedPages)}
	return g.key(o)
}

// bring makes a page present, as the driver does.
func (g *paged) bring(key uint32, e *end, page int) {
	g.t.Helper()
	g.locked(func() { g.mkey(key).mtts[page] = e.base + endData + Addr(page*ramPage) | mttPresent })
}

// away takes it away again.
func (g *paged) away(key uint32, page int) { g.locked(func() { g.mkey(key).mtts[page] = 0 }) }

func (g *paged) seg(key uint32, off, n int) seg { return seg{key, pagedStart + Addr(off), uint32(n)} }

// faults returns the page faults that were told since the last call.
func (g *paged) faults() (all []PageFault) {
	settle(g.rig)
	for _, e := range g.events {
		if e.Type == ifc.MLX5_EVENT_TYPE_PAGE_FAULT {
			all = append(all, e.PageFault())
		}
	}
	g.events = nil
	return all
}

func (g *paged) resume(f PageFault, failed bool) Status {
	in := Input(ifc.MLX5_CMD_OP_PAGE_FAULT_RESUME, 0, 0, 0)
	word := uint32(f.Type)<<24 | f.Token
	if failed {
		word |= 1 << 31
	}
	binary.BigEndian.PutUint32(in[8:], word)
	binary.BigEndian.PutUint32(in[12:], f.Token)
	_, s := g.exec(in)
	return s
}

// TestPageFaults: what the driver is told of each use of a page that is absent, that
// nothing comes of the use before it answers, and what comes of it after either
// answer.
func TestPageFaults(t *testing.T) {
	const n = 600 // 3 packets
	write := wr{op: ifc.MLX5_OPCODE_RDMA_WRITE}
	for name, tt := range map[string]struct {
		w       wr
		atA     bool // the page of the sender is the one that is absent
		fault   PageFault
		failedA uint8 // syndrome of the sender's completion if there is no page
		failedB uint8 // of the receiver's; 0 is none
	}{
		"send from": {w: wr{op: ifc.MLX5_OPCODE_SEND}, atA: true,
			fault:   PageFault{Type: 1, PacketSize: 256},
			failedA: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR},
		"receive into": {w: wr{op: ifc.MLX5_OPCODE_SEND},
			fault:   PageFault{Type: 2, PacketSize: 256},
			failedA: ifc.MLX5_CQE_SYNDROME_REMOTE_OP_ERR, failedB: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR},
		"write from": {w: write, atA: true,
			fault:   PageFault{Type: 1, PacketSize: 256},
			failedA: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR},
		"write to": {w: write,
			fault:   PageFault{Subtype: 1, Type: 6, PacketSize: 256, OpLen: n, VA: pagedStart + 100},
			failedA: ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR},
		"read into": {w: wr{op: ifc.MLX5_OPCODE_RDMA_READ}, atA: true,
			fault:   PageFault{Type: 3, PacketSize: 256},
			failedA: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR},
		"read from": {w: wr{op: ifc.MLX5_OPCODE_RDMA_READ},
			fault:   PageFault{Subtype: 1, Type: 4, OpLen: n, VA: pagedStart + 100},
			failedA: ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR},
		"add to": {w: wr{op: ifc.MLX5_OPCODE_ATOMIC_FA},
			fault:   PageFault{Subtype: 1, Type: 6, OpLen: 8, VA: pagedStart + 100 + 4},
			failedA: ifc.MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR},
		"what was there, into": {w: wr{op: ifc.MLX5_OPCODE_ATOMIC_FA}, atA: true,
			fault:   PageFault{Type: 3, PacketSize: 8},
			failedA: ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR},
	} {
		for _, failed := range []bool{false, true} {
			t.Run(map[bool]string{false: name, true: name + ", there is none"}[failed], func(t *testing.T) {
				g := newPaged(t, ifc.MLX5_QP_ST_RC, ConnectX6Dx)
				g.createEQ(eqOptions{log: 6, mask: pageFaults})
				absent, e, present, other := g.keyB, g.b, g.keyA, g.a
				if tt.atA {
					absent, e, present, other = present, other, absent, e
				}
				g.bring(present, other, 0)
				size, at := n, 100
				if sendOps[tt.w.op].work == workAtomic {
					size, at = 8, 104
				}
				g.a.fill(at, texture(size, 1))
				g.b.fill(at, texture(size, 2))
				w := tt.w
				w.sgl = []seg{g.seg(g.keyA, at, size)}
				if sendOps[w.op].remote {
					to := g.seg(g.keyB, at, size)
					w.remote = &to
				} else {
					g.b.receive(g.seg(g.keyB, at, size))
				}
				g.a.post(w)

				want := tt.fault
				want.Token = e.qpn
				if want.Subtype == PageFaultWQE {
					want.WQNum = e.qpn
				} else {
					want.RKey = absent
				}
				require.Equal(t, []PageFault{want}, g.faults())
				for range 3 {
					g.fabric.Advance(time.Second)
					require.Empty(t, g.faults(), "it is told once")
				}
				require.Empty(t, append(g.a.poll(), g.b.poll()...))

				if !failed {
					g.bring(absent, e, 0)
				}
				require.Equal(t, MLX5_CMD_STAT_OK, g.resume(want, failed))
				for range 3 {
					require.Empty(t, g.faults())
					g.fabric.Advance(time.Second)
				}
				require.Empty(t, g.faults())
				doneA, doneB := g.a.poll(), g.b.poll()
				require.Equal(t, tt.failedA*map[bool]uint8{true: 1}[failed], doneA[0].syndrome)
				if tt.failedB != 0 && failed {
					require.Equal(t, tt.failedB, doneB[0].syndrome)
				}
				if failed {
					require.Equal(t, texture(size, 1), g.a.bytes(at, size))
					require.Equal(t, texture(size, 2), g.b.bytes(at, size), "nothing was moved")
					return
				}
				switch {
				case w.op == ifc.MLX5_OPCODE_RDMA_READ:
					require.Equal(t, texture(size, 2), g.a.bytes(at, size))
				case size == 8:
					require.Equal(t, texture(size, 2), g.a.bytes(at, size))
				default:
					require.Equal(t, texture(size, 1), g.b.bytes(at, size))
				}
			})
		}
	}
}

// TestPageFaultAhead: where a message gets into an absent page in its middle, the
// driver is told how much of it is done. What an answer needs is asked for again if
// it goes before it is sent.
func TestPageFaultAhead(t *testing.T) {
	g := newPaged(t, ifc.MLX5_QP_ST_RC, ConnectX6Dx)
	g.createEQ(eqOptions{log: 6, mask: pageFaults})
	for _, page := range []int{0, 2} {
		g.bring(g.keyA, g.a, page)
		g.bring(g.keyB, g.b, page)
	}
	const at, n = ramPage - 600, 700
	g.a.fill(at, texture(n, 5))
	g.b.receive(g.seg(g.keyB, at, n))
	g.a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{g.seg(g.keyA, at, n)}})
	require.Equal(t, []PageFault{{Type: 1, Token: g.a.qpn, WQNum: g.a.qpn, BytesCommitted: 512, PacketSize: 188}}, g.faults())
	g.bring(g.keyA, g.a, 1)
	g.resume(PageFault{Type: 1, Token: g.a.qpn}, false)
	require.Equal(t, []PageFault{{Type: 2, Token: g.b.qpn, WQNum: g.b.qpn, BytesCommitted: 512, PacketSize: 188}}, g.faults())
	g.bring(g.keyB, g.b, 1)
	g.resume(PageFault{Type: 2, Token: g.b.qpn}, false)
	g.fabric.Advance(time.Second)
	settle(g.rig)
	require.Equal(t, texture(n, 5), g.b.bytes(at, n))
	require.Len(t, g.a.poll(), 1)

	from := g.seg(g.keyB, at, n)
	g.a.post(wr{op: ifc.MLX5_OPCODE_RDMA_READ, remote: &from, sgl: []seg{g.a.data(0x8000, n)}})
	for len(g.b.answers()) == 0 {
		require.True(t, g.Step())
	}
	g.away(g.keyB, 0)
	require.Equal(t, []PageFault{{Subtype: 1, Type: 4, Token: g.b.qpn, RKey: g.keyB, VA: pagedStart + at, OpLen: n, PacketSize: 256}}, g.faults())
	g.bring(g.keyB, g.b, 0)
	g.resume(PageFault{Type: 4, Token: g.b.qpn}, false)
	settle(g.rig)
	require.Equal(t, texture(n, 5), g.a.bytes(0x8000, n))
}

// answers are those that an end has yet to send.
func (e *end) answers() (all []response) {
	e.locked(func() {
		out := &e.objects[kindQP].live[e.qpn].as.(*qp).resp.out
		for i := range out.n {
			all = append(all, *out.at(i))
		}
	})
	return all
}

// TestPageFaultStopsTimer: while a sender waits for a page no time-out runs, though an
// acknowledgement of what it sent before comes.
func TestPageFaultStopsTimer(t *testing.T) {
	f := NewFabric(Link{Delay: time.Millisecond})
	r, other := newRigOn(t, ConnectX6Dx, f), newRigOn(t, ConnectX6Dx, f)
	a := r.newEnd(endOptions{base: 0x10000000, gid: 1})
	b := other.newEnd(endOptions{base: 0x20000000, gid: 2})
	c := connection{mtu: 1, timeout: 11, retries: 1} // 8 ms
	a.connect(b, c)
	b.connect(a, c)
	g := &paged{rig: r, a: a, b: b}
	g.keyA = g.absentKey(a)
	g.createEQ(eqOptions{log: 6, mask: pageFaults})
	g.bring(g.keyA, a, 0)
	b.receive(b.data(0, 100))
	b.receive(b.data(100, 1000))
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{a.data(0, 8)}})
	a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{g.seg(g.keyA, ramPage-300, 600)}})
	require.Len(t, g.faults(), 1)
	var done []cqe
	for range 100 {
		f.Advance(time.Millisecond)
		settle(r, other)
		done = append(done, a.poll()...)
	}
	require.Len(t, done, 1, "the first message is acknowledged")
	require.Zero(t, done[0].syndrome)
	a.locked(func() {
		require.EqualValues(t, c.retries, a.objects[kindQP].live[a.qpn].as.(*qp).req.retries, "nothing was tried again")
	})
	g.bring(g.keyA, a, 1)
	g.resume(PageFault{Type: 1, Token: a.qpn}, false)
	for range 10 {
		settle(r, other)
		f.Advance(time.Millisecond)
	}
	done = a.poll()
	require.Len(t, done, 1)
	require.Zero(t, done[0].syndrome)
}

// TestNoPageFault: where nobody can bring the page in, its use fails at once.
func TestNoPageFault(t *testing.T) {
	with := func(caps map[string]uint64) *Profile {
		p, err := ConnectX6Dx.With(caps)
		require.NoError(t, err)
		return p
	}
	for name, tt := range map[string]struct {
		profile *Profile
		service uint8
		mask    uint64
		key     func(g *paged) uint32
	}{
		"no event queue":         {profile: ConnectX6Dx, mask: 1 << 0x0b},
		"no capability":          {profile: with(map[string]uint64{"pg": 0}), mask: pageFaults},
		"not for sends":          {profile: with(map[string]uint64{"odp_cap.transport_page_fault_scheme_cap.rc_odp_caps.send": 0}), mask: pageFaults},
		"not for the service":    {profile: ConnectX6Dx, service: ifc.MLX5_QP_ST_UC, mask: pageFaults},
		"the null key by itself": {profile: ConnectX6Dx, mask: pageFaults, key: func(*paged) uint32 { return 0x500 }},
	} {
		t.Run(name, func(t *testing.T) {
			g := newPaged(t, tt.service, tt.profile)
			g.createEQ(eqOptions{log: 6, mask: tt.mask})
			key := g.keyA
			if tt.key != nil {
				key = tt.key(g)
			}
			g.b.receive(g.b.data(0, 100))
			g.a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{g.seg(key, 0, 8)}})
			require.Empty(t, g.faults())
			require.EqualValues(t, ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, g.a.poll()[0].syndrome)
		})
	}
}

// TestPageFaultQueuePairGoes: a queue pair that waits can be moved to another state
// or end; the answer that comes later is nobody's.
func TestPageFaultQueuePairGoes(t *testing.T) {
	for name, op := range map[string]uint16{"error": ifc.MLX5_CMD_OP_2ERR_QP, "reset": ifc.MLX5_CMD_OP_2RST_QP, "end": ifc.MLX5_CMD_OP_DESTROY_QP} {
		t.Run(name, func(t *testing.T) {
			g := newPaged(t, ifc.MLX5_QP_ST_RC, ConnectX6Dx)
			g.createEQ(eqOptions{log: 6, mask: pageFaults})
			g.b.receive(g.seg(g.keyB, 0, 100))
			g.a.post(wr{op: ifc.MLX5_OPCODE_SEND, sgl: []seg{g.seg(g.keyA, 0, 8)}})
			faults := g.faults()
			require.Len(t, faults, 1)
			require.Equal(t, MLX5_CMD_STAT_OK, g.a.transit(op, nil))
			settle(g.rig)
			want := MLX5_CMD_STAT_OK
			if op == ifc.MLX5_CMD_OP_DESTROY_QP {
				want = MLX5_CMD_STAT_BAD_RES_ERR
			}
			require.Equal(t, want, g.resume(faults[0], true))
			g.fabric.Advance(time.Second)
			require.Empty(t, g.faults())
			done := g.a.poll()
			require.Equal(t, op == ifc.MLX5_CMD_OP_2ERR_QP, len(done) == 1)
			if len(done) == 1 {
				require.EqualValues(t, ifc.MLX5_CQE_SYNDROME_WR_FLUSH_ERR, done[0].syndrome)
			}
		})
	}
}

// TestPageFaultEQE: how the event lies in its queue (struct mlx5_eqe_page_fault).
func TestPageFaultEQE(t *testing.T) {
	for _, f := range []struct {
		fault PageFault
		data  string
	}{
		{PageFault{Type: 3, Token: 0x123456, WQNum: 0x654321, WQEIndex: 0xabcd, BytesCommitted: 0x01020304, PacketSize: 0x1122},
			"\x01\x02\x03\x04\x00\x00\xab\xcd\x00\x00\x11\x22\x00\x12\x34\x56" +
				"\x00\x00\x00\x00\x00\x00\x00\x00\x03\x65\x43\x21"},
		{PageFault{Subtype: 1, Type: 6, Token: 0x123456, RKey: 0xdeadbeef, OpLen: 0x55667788, VA: 0x0102030405060708, BytesCommitted: 9,
			PacketSize: 0x1122},
			"\x00\x00\x00\x09\xde\xad\xbe\xef\x00\x00\x11\x22\x55\x66\x77\x88" +
				"\x01\x02\x03\x04\x05\x06\x07\x08\x06\x12\x34\x56"},
	} {
		e := f.fault.eqe()
		require.Equal(t, f.data, string(e.Data[:]))
		var b [EQESize]byte
		e.encode(b[:], 1)
		require.Equal(t, []byte{0, 0x0c, 0, f.fault.Subtype}, b[:4])
		back, _ := DecodeEQE(b[:])
		require.Equal(t, f.fault, back.PageFault())
	}
}
