package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Bits of the first words of a memory key's context, be32 as they lie there.
const (
	mkcFree      = 1 << 30
	mkcUMREn     = 1 << 15
	mkcAtomic    = 1 << 14
	mkcRemWrite  = 1 << 13
	mkcRemRead   = 1 << 12
	mkcLocWrite  = 1 << 11
	mkcLocRead   = 1 << 10
	mkcAll       = mkcAtomic | mkcRemWrite | mkcRemRead | mkcLocWrite | mkcLocRead
	mkcLength64  = 1 << 31 // with the domain
	mkcRemoteInv = 1 << 24 // with the domain
)

// keyOptions describe a CREATE_MKEY as a driver writes it.
type keyOptions struct {
	uid      uint16
	flags    uint32 // first word, without the mode
	mode     uint32 // access mode
	pd       uint32 // with mkcLength64 and mkcRemoteInv
	qpn      uint32 // 0 is any
	tag      uint32
	start    uint64
	length   uint64
	room     int // octowords; 0 is as many as the list has
	actual   int // octowords; 0 is as many as the list has
	shift    uint32
	pgAccess bool
	umem     uint32 // a UMEM's number, 0 is none
	umemOff  uint64
	mtts     []uint64
	klms     []klmEntry
}

type klmEntry struct {
	count, key uint32
	addr       uint64
}

// list is the list in the command.
func (o *keyOptions) list() (b []byte) {
	for _, e := range o.mtts {
		b = binary.BigEndian.AppendUint64(b, e)
	}
	if len(b)%16 != 0 {
		b = append(b, make([]byte, 8)...)
	}
	return append(b, klmBytes(o.klms...)...)
}

func klmBytes(klms ...klmEntry) (b []byte) {
	for _, k := range klms {
		b = binary.BigEndian.AppendUint32(b, k.count)
		b = binary.BigEndian.AppendUint32(b, k.key)
		b = binary.BigEndian.AppendUint64(b, k.addr)
	}
	return b
}

// context is the 64 bytes of the key's context.
func (o *keyOptions) context() []byte {
	be := binary.BigEndian
	b := make([]byte, 64)
	be.PutUint32(b, o.flags|o.mode&3<<8|o.mode>>2<<26)
	qpn := o.qpn
	if qpn == 0 {
		qpn = 0xffffff
	}
	be.PutUint32(b[4:], qpn<<8|o.tag)
	be.PutUint32(b[12:], o.pd)
	be.PutUint64(b[16:], o.start)
	be.PutUint64(b[24:], o.length)
	room := o.room
	if room == 0 {
		room = len(o.list()) / 16
	}
	be.PutUint32(b[52:], uint32(room))
	b[59] = byte(o.shift)
	return b
}

func (o *keyOptions) input() []byte {
	be := binary.BigEndian
	in := append(make([]byte, 272), o.list()...)
	be.PutUint16(in, 0x200)
	be.PutUint16(in[2:], o.uid)
	if o.pgAccess {
		in[12] |= 0x80
	}
	copy(in[16:], o.context())
	actual := o.actual
	if actual == 0 {
		actual = len(o.list()) / 16
	}
	be.PutUint32(in[96:], uint32(actual))
	if o.umem != 0 {
		in[12] |= 0x40
		be.PutUint32(in[100:], o.umem)
		be.PutUint64(in[104:], o.umemOff)
	}
	return in
}

// key makes a key and returns it as users name it.
func (r *rig) key(o keyOptions) uint32 {
	r.t.Helper()
	return r.made(o.input())<<8 | o.tag
}

func (r *rig) pd(uid uint16) uint32 {
	r.t.Helper()
	return r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, uid, 0, 0))
}

func (r *rig) userContext() uint16 {
	r.t.Helper()
	return uint16(r.made(Input(ifc.MLX5_CMD_OP_CREATE_UCTX, 0, 0, 0)))
}

// locked runs f as the data path runs.
func (r *rig) locked(f func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f()
}

func (r *rig) reaches(key uint32, who user, want right, addr, n uint64) (e keyError) {
	r.locked(func() { _, e = r.reach(key, who, want, addr, n) })
	return e
}

// load reads through a key what a remote read would.
func (r *rig) load(key uint32, who user, addr uint64, n int) (p []byte, e keyError) {
	r.locked(func() {
		var m *mkey
		if m, e = r.reach(key, who, localRead, addr, uint64(n)); e == keyOK {
			p = make([]byte, n)
			e = r.readKey(m, addr, p)
		}
	})
	return p, e
}

func (r *rig) store(key uint32, who user, addr uint64, p []byte) (e keyError) {
	r.locked(func() {
		var m *mkey
		if m, e = r.reach(key, who, localWrite, addr, uint64(len(p))); e == keyOK {
			e = r.writeKey(m, addr, p)
		}
	})
	return e
}

func flatKey(t testing.TB) (*Device, uint32, user) {
	mem := make(flat, 64*ramPage)
	d := New(Config{Bus: mem})
	require.NoError(t, Boot(nil, d, somePages))
	r := &rig{Device: d, t: t}
	o := keyOptions{flags: mkcAll, mode: 1, pd: r.pd(0), start: 0x7000_0000_0123, length: 16*ramPage - 0x123, shift: 12}
	for i := range uint64(16) {
		o.mtts = append(o.mtts, (i+32)*ramPage)
	}
	return d, r.key(o), user{pd: o.pd, qpn: 0x40}
}

func BenchmarkReachRead64(b *testing.B) {
	d, key, who := flatKey(b)
	p := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		m, e := d.reach(key, who, remoteRead, 0x7000_0000_1000, 64)
		if e != keyOK || d.readKey(m, 0x7000_0000_1000, p) != keyOK {
			b.Fatal(e)
		}
	}
}

// Through a window: a key that stands for a piece of another.
func BenchmarkWindowReachRead64(b *testing.B) {
	d, key, who := flatKey(b)
	r := &rig{Device: d, t: b}
	window := r.key(keyOptions{flags: mkcAll, mode: 2, pd: who.pd, start: 0x7000_0000_1000, length: 0x4000,
		klms: []klmEntry{{0x4000, key, 0x7000_0000_1000}}})
	p := make([]byte, 64)
	b.ReportAllocs()
	for b.Loop() {
		m, e := d.reach(window, who, remoteRead, 0x7000_0000_1040, 64)
		if e != keyOK || d.readKey(m, 0x7000_0000_1040, p) != keyOK {
			b.Fatal(e)
		}
	}
}

func BenchmarkWriteKey4096(b *testing.B) {
	d, key, who := flatKey(b)
	p := make([]byte, 4096)
	b.SetBytes(4096)
	b.ReportAllocs()
	for b.Loop() {
		m, e := d.reach(key, who, remoteWrite, 0x7000_0000_0123, 4096)
		if e != keyOK || d.writeKey(m, 0x7000_0000_0123, p) != keyOK {
			b.Fatal(e)
		}
	}
}

func TestCreateMKeyRefusals(t *testing.T) {
	p := Recorded.clone()
	p.rows = nil
	r := newRig(t, p)
	uid := r.userContext()
	pd, own := r.pd(0), r.pd(uid)
	page := []uint64{ramPage}
	for _, tt := range []struct {
		name string
		key  keyOptions
		want *refusal
	}{
		{"a list in its room", keyOptions{mode: 1, pd: pd, mtts: page, room: 1}, nil},
		{"room and no list", keyOptions{mode: 1, pd: pd, room: 1 << 20}, nil},
		{"a crossing key", keyOptions{mode: 6, pd: pd}, badMKeyMode},
		{"a mode without a name", keyOptions{mode: 7, pd: pd}, badMKeyMode},
		{"a list longer than its room", keyOptions{mode: 1, pd: pd, mtts: []uint64{1, 2, 3}, room: 1}, longMKeyList},
		{"a list longer than the command", keyOptions{mode: 1, pd: pd, mtts: page, room: 2, actual: 2}, shortMKeyList},
		{"a list without an end", keyOptions{mode: 2, pd: pd, room: 0xffffffff, actual: 0xffffffff}, shortMKeyList},
		{"a user's list of keys", keyOptions{uid: uid, mode: 2, pd: own, room: 1 << 16}, nil},
		{"a longer one", keyOptions{uid: uid, mode: 2, pd: own, room: 1<<16 + 1}, bigMKeyList},
		{"the driver may", keyOptions{mode: 3, pd: own, room: 1 << 17}, nil},
		{"a domain that nobody has", keyOptions{mode: 1, pd: 0xabcdef, mtts: page}, noSuchPD},
		{"the driver's domain", keyOptions{uid: uid, mode: 2, pd: pd, room: 4}, noSuchPD},
		{"a user's page list", keyOptions{uid: uid, mode: 1, pd: own, mtts: page}, foreignMemory},
		{"a user's physical addresses", keyOptions{uid: uid, mode: 0, pd: own}, foreignMemory},
		{"a user's device memory", keyOptions{uid: uid, mode: 5, pd: own}, foreignMemory},
		{"a UMEM that is none", keyOptions{uid: uid, mode: 1, pd: own, umem: 7, room: 1, shift: 12}, noSuchUMEM},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out := make([]byte, 16)
			require.NoError(t, r.Exec(nil, tt.key.input(), out))
			s, syndrome := Result(out)
			if tt.want == nil {
				require.Equal(t, MLX5_CMD_STAT_OK, s)
				return
			}
			require.Equal(t, tt.want.syndrome, syndrome)
			require.Equal(t, tt.want.status, s)
		})
	}
}

// What the command says that the key can do, it can do, and no more.
func TestKeyErrors(t *testing.T) {
	r := newRig(t, nil)
	pd, other := r.pd(0), r.pd(0)
	who := user{pd: pd, qpn: 0x40}
	const start, length = 0x7f00_0000_0800, 2 * ramPage
	base := keyOptions{flags: mkcAll, mode: 1, pd: pd, tag: 0x5a, start: start, length: length, shift: 12,
		mtts: []uint64{8 * ramPage, 20 * ramPage, 9 * ramPage}}
	with := func(change func(o *keyOptions)) keyOptions { o := base; change(&o); return o }
	flags := func(f uint32) keyOptions { return with(func(o *keyOptions) { o.flags = f }) }
	none := func(*keyOptions) {}
	for _, tt := range []struct {
		name    string
		key     keyOptions
		who     user
		want    right
		addr, n uint64
		e       keyError
	}{
		{"all of it", base, who, remoteWrite, start, length, keyOK},
		{"its last byte", base, who, remoteRead, start + length - 1, 1, keyOK},
		{"one byte before", base, who, remoteRead, start - 1, 1, keyBounds},
		{"one byte more", base, who, remoteRead, start, length + 1, keyBounds},
		{"the byte behind", base, who, remoteRead, start + length, 1, keyBounds},
		{"a range around the end of addresses", base, who, remoteRead, start, ^uint64(0), keyBounds},
		{"far away", base, who, remoteRead, 0, 8, keyBounds},
		{"nothing, anywhere", base, who, remoteRead, 0, 0, keyOK},
		{"local reading", flags(mkcLocRead), who, localRead, start, 8, keyOK},
		{"no local reading", flags(mkcAll &^ mkcLocRead), who, localRead, start, 8, keyRights},
		{"local writing", flags(mkcLocWrite), who, localWrite, start, 8, keyOK},
		{"no local writing", flags(mkcAll &^ mkcLocWrite), who, localWrite, start, 8, keyRights},
		{"remote reading", flags(mkcRemRead), who, remoteRead, start, 8, keyOK},
		{"no remote reading", flags(mkcAll &^ mkcRemRead), who, remoteRead, start, 8, keyRights},
		{"remote writing", flags(mkcRemWrite), who, remoteWrite, start, 8, keyOK},
		{"no remote writing", flags(mkcAll &^ mkcRemWrite), who, remoteWrite, start, 8, keyRights},
		{"atomics", flags(mkcAtomic), who, remoteAtomic, start, 8, keyOK},
		{"no atomics", flags(mkcAll &^ mkcAtomic), who, remoteAtomic, start, 8, keyRights},
		{"one right of two", flags(mkcLocRead), who, localRead | localWrite, start, 8, keyRights},
		{"rights count for nothing too", flags(mkcLocRead), who, remoteWrite, start, 0, keyRights},
		{"another domain", base, user{pd: other, qpn: 0x40}, remoteRead, start, 8, keyPD},
		{"any queue pair", base, user{pd: pd, qpn: 0x41}, remoteRead, start, 8, keyOK},
		{"the bound queue pair", with(func(o *keyOptions) { o.qpn = 0x40 }), who, remoteRead, start, 8, keyOK},
		{"another queue pair", with(func(o *keyOptions) { o.qpn = 0x41 }), who, remoteRead, start, 8, keyQPN},
		{"a free key", with(func(o *keyOptions) { o.flags |= mkcFree }), who, remoteRead, start, 8, keyFree},
		{"a free key and nothing", with(func(o *keyOptions) { o.flags |= mkcFree }), who, remoteRead, start, 0, keyFree},
		{"a domain that nobody has", with(func(o *keyOptions) { o.pd = 0xabcdef }), user{pd: 0xabcdef, qpn: 0x40}, remoteRead, start, 8, keyPD},
		{"a page less than the length", with(func(o *keyOptions) { o.mtts = o.mtts[:2]; o.room = 8 }), who, remoteRead, start, length, keyNotPresent},
		{"a page less than there is room for", with(func(o *keyOptions) { o.mtts = o.mtts[:2] }), who, remoteRead, start, length, keyBounds},
		{"a length of 2^64", with(func(o *keyOptions) { o.pd |= mkcLength64; o.length = 0 }), who, remoteRead, start + 100, 2 * ramPage, keyOK},
		{"physical addresses", with(func(o *keyOptions) { o.mode = 0; o.mtts = nil }), who, remoteRead, start, length, keyOK},
		{"physical, out of bounds", with(func(o *keyOptions) { o.mode = 0; o.mtts = nil }), who, remoteRead, start, length + 1, keyBounds},
		{"an empty list of keys", with(func(o *keyOptions) { o.mode = 2; o.mtts = nil }), who, remoteRead, start, 8, keyBounds},
		{"unchanged", with(none), who, localWrite, start + 1, 8, keyOK},
	} {
		t.Run(tt.name, func(t *testing.T) {
			key := r.key(tt.key)
			require.Equal(t, tt.e.String(), r.reaches(key, tt.who, tt.want, tt.addr, tt.n).String())
			require.Equal(t, keyNone, r.reaches(key^1, tt.who, tt.want, tt.addr, tt.n), "other low bits")
			r.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, key>>8), MLX5_CMD_STAT_OK)
			require.Equal(t, keyNone, r.reaches(key, tt.who, tt.want, tt.addr, tt.n), "gone")
		})
	}
	require.Equal(t, keyNone, r.reaches(0, who, localRead, 0, 0))
}

func TestKeyErrorStrings(t *testing.T) {
	seen := map[string]bool{}
	for e := keyOK; e <= keyRequest; e++ {
		require.NotEmpty(t, e.String())
		require.False(t, seen[e.String()])
		seen[e.String()] = true
	}
}

// Bytes go where the page list says, over the boundaries of pages, and pages
// that lie side by side are one transfer.
func TestPages(t *testing.T) {
	for _, tt := range []struct {
		name   string
		start  uint64
		shift  uint32
		mtts   []uint64
		off, n int
		want   []ramWrite
	}{
		{"inside of a page", 0x5000, 12, []uint64{0x8000}, 0x10, 8, []ramWrite{{0x8010, 8}}},
		{"to the end of a page", 0x5000, 12, []uint64{0x8000, 0x2000}, 0xff8, 8, []ramWrite{{0x8ff8, 8}}},
		{"over a boundary", 0x5000, 12, []uint64{0x8000, 0x2000}, 0xffc, 8, []ramWrite{{0x8ffc, 4}, {0x2000, 4}}},
		{"a start inside of a page", 0x5800, 12, []uint64{0x8000, 0x2000}, 0, 0x900, []ramWrite{{0x8800, 0x800}, {0x2000, 0x100}}},
		{"zero based", 0, 12, []uint64{0x8000, 0x2000}, 0x1004, 4, []ramWrite{{0x2004, 4}}},
		{"an address that is not the memory's", 0xdead_0000_0ffe, 12, []uint64{0x8000, 0x2000}, 0, 4, []ramWrite{{0x8ffe, 2}, {0x2000, 2}}},
		{"neighbours", 0x5000, 12, []uint64{0x8000, 0x9000, 0xa000, 0x2000}, 0x800, 0x3000,
			[]ramWrite{{0x8800, 0x2800}, {0x2000, 0x800}}},
		{"backwards", 0x5000, 12, []uint64{0x9000, 0x8000}, 0, 0x2000, []ramWrite{{0x9000, 0x1000}, {0x8000, 0x1000}}},
		{"the same page twice", 0x5000, 12, []uint64{0x9000, 0x9000}, 0, 0x2000, []ramWrite{{0x9000, 0x1000}, {0x9000, 0x1000}}},
		{"large pages", 0x31_0000, 16, []uint64{0x8_0000, 0x2_0000}, 0xfffe, 4, []ramWrite{{0x8_fffe, 2}, {0x2_0000, 2}}},
		{"large pages, a start inside", 0x31_8000, 16, []uint64{0x8_0000, 0x2_0000}, 0x7fff, 2, []ramWrite{{0x8_ffff, 1}, {0x2_0000, 1}}},
		{"address bits 11:0 are not of the page", 0x5000, 12, []uint64{0x8fff}, 0, 4, []ramWrite{{0x8000, 4}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, nil)
			o := keyOptions{flags: mkcAll, mode: 1, pd: r.pd(0), start: tt.start, length: uint64(len(tt.mtts))<<tt.shift - tt.start&(1<<tt.shift-1),
				shift: tt.shift, mtts: tt.mtts}
			key, who := r.key(o), user{pd: o.pd}
			p := texture(tt.n, 1)
			require.Equal(t, keyOK, r.store(key, who, tt.start+uint64(tt.off), p))
			require.Equal(t, tt.want, r.mem.writes)
			done := 0
			for _, w := range tt.want {
				if tt.name != "the same page twice" {
					require.Equal(t, p[done:done+w.n], r.mem.get(w.addr, w.n))
				}
				done += w.n
			}
			got, e := r.load(key, who, tt.start+uint64(tt.off), tt.n)
			require.Equal(t, keyOK, e)
			if tt.name != "the same page twice" {
				require.Equal(t, p, got)
			}
			r.mem.bad = map[Addr]bool{tt.want[0].addr / ramPage: true}
			require.Equal(t, keyBus, r.store(key, who, tt.start+uint64(tt.off), p))
			_, e = r.load(key, who, tt.start+uint64(tt.off), tt.n)
			require.Equal(t, keyBus, e)
		})
	}
}

// Pages that are paged in on demand have bits of their own.
func TestAbsentPages(t *testing.T) {
	r := newRig(t, nil)
	o := keyOptions{flags: mkcAll, mode: 1, pd: r.pd(0), length: 4 * ramPage, shift: 12, pgAccess: true,
		mtts: []uint64{0x8000 | 3, 0x9000 | 1, 0, 0xa000 | 3}}
	key, who := r.key(o), user{pd: o.pd}
	for page, want := range []struct{ read, write keyError }{
		{keyOK, keyOK}, {keyOK, keyNotPresent}, {keyNotPresent, keyNotPresent}, {keyOK, keyOK},
	} {
		addr := uint64(page) * ramPage
		require.Equal(t, want.read, r.reaches(key, who, remoteRead, addr, ramPage), page)
		require.Equal(t, want.write, r.reaches(key, who, remoteWrite, addr, ramPage), page)
		require.Equal(t, want.write, r.reaches(key, who, remoteAtomic, addr, 8), page)
	}
	require.Equal(t, keyOK, r.reaches(key, who, localRead, ramPage-1, 2))
	require.Equal(t, keyNotPresent, r.reaches(key, who, localRead, ramPage-1, ramPage+2))
	require.Equal(t, keyNotPresent, r.reaches(key, who, localWrite, ramPage-1, 2))

	o.pgAccess = false
	key = r.key(o)
	require.Equal(t, keyOK, r.reaches(key, who, remoteWrite, 0, 4*ramPage), "without access bits every page is there")
}

func TestQueryMKeyLists(t *testing.T) {
	r := newRig(t, nil)
	query := func(key uint32, access bool) []byte {
		in := named(ifc.MLX5_CMD_OP_QUERY_MKEY, 0, key>>8)
		if access {
			in[12] = 0x80
		}
		out, s := r.exec(in)
		require.Equal(t, MLX5_CMD_STAT_OK, s)
		require.Len(t, out, 304)
		return out
	}
	o := keyOptions{flags: mkcAll, mode: 1, pd: r.pd(0), tag: 0x77, length: 5 * ramPage, shift: 12, pgAccess: true,
		mtts: []uint64{0x8003, 0x9001, 0xa000, 0xb003, 0xc003}}
	key := r.key(o)
	require.Equal(t, o.context(), query(key, true)[16:80])
	require.Equal(t, make([]byte, 192), query(key, true)[80:272])
	require.Equal(t, o.list()[:32], query(key, true)[272:])
	plain := keyOptions{mtts: []uint64{0x8000, 0x9000, 0xa000, 0xb000}}
	require.Equal(t, plain.list(), query(key, false)[272:])

	inner := keyOptions{mode: 2, pd: o.pd, klms: []klmEntry{{1, 0x2345, 3}, {4, 0x5678, 6}, {7, 8, 9}}}
	require.Equal(t, inner.list()[:32], query(r.key(inner), false)[272:])
	short := keyOptions{mode: 3, pd: o.pd, klms: []klmEntry{{1, 0x2345, 3}}}
	require.Equal(t, append(short.list(), make([]byte, 16)...), query(r.key(short), false)[272:])
}

// Atomics see the bytes as they lie in memory and write back what they changed.
func TestAtomicKey(t *testing.T) {
	r := newRig(t, nil)
	o := keyOptions{flags: mkcAll, mode: 1, pd: r.pd(0), length: 2 * ramPage, shift: 12, pgAccess: true, mtts: []uint64{0x8003, 0x2003}}
	key, who := r.key(o), user{pd: o.pd}
	atomic := func(addr uint64, f func(p []byte)) (was []byte, e keyError) {
		r.locked(func() {
			m, err := r.reach(key, who, remoteAtomic, addr, 8)
			require.Equal(t, keyOK, err)
			p := make([]byte, 8)
			e = r.atomicKey(m, addr, p, func(p []byte) { was = append([]byte(nil), p...); f(p) })
		})
		return was, e
	}
	le := binary.LittleEndian
	for _, addr := range []uint64{0x10, ramPage - 4} {
		require.Equal(t, keyOK, r.store(key, who, addr, le.AppendUint64(nil, 41)))
		was, e := atomic(addr, func(p []byte) { le.PutUint64(p, le.Uint64(p)+1) })
		require.Equal(t, keyOK, e)
		require.Equal(t, le.AppendUint64(nil, 41), was)
		now, _ := r.load(key, who, addr, 8)
		require.Equal(t, le.AppendUint64(nil, 42), now)

		r.mem.writes = nil
		_, e = atomic(addr, func([]byte) {})
		require.Equal(t, keyOK, e)
		require.Empty(t, r.mem.writes, "a comparison that failed writes nothing")
	}
	r.mem.bad = map[Addr]bool{8: true}
	_, e := atomic(0x10, func(p []byte) { p[0]++ })
	require.Equal(t, keyBus, e)
}

// A key that somebody still holds leads nowhere once it is gone.
func TestHeldKeyDies(t *testing.T) {
	r := newRig(t, nil)
	o := keyOptions{flags: mkcAll, mode: 1, pd: r.pd(0), length: ramPage, shift: 12, mtts: []uint64{0x8000}}
	key := r.key(o)
	m, e := r.reach(key, user{pd: o.pd}, remoteWrite, 0, 8)
	require.Equal(t, keyOK, e)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, key>>8), MLX5_CMD_STAT_OK)
	require.Equal(t, keyFree, r.writeKey(m, 0, make([]byte, 8)))
	require.Equal(t, keyFree, r.readKey(m, 0, make([]byte, 8)))
	require.Equal(t, keyFree, r.atomicKey(m, 0, make([]byte, 8), func(p []byte) { p[0]++ }))
	require.Empty(t, r.mem.writes)

	n := r.key(o)
	m, e = r.reach(n, user{pd: o.pd}, remoteWrite, 0, 8)
	require.Equal(t, keyOK, e)
	require.Equal(t, keyBounds, r.writeKey(m, ramPage-4, make([]byte, 8)), "and stays inside of it while it lives")
}

// Whose domains and keys a uid may use.
func TestDomains(t *testing.T) {
	r := newRig(t, nil)
	a, b := r.userContext(), r.userContext()
	shared := uint16(ifc.MLX5_SHARED_RESOURCE_UID)
	for _, tt := range []struct {
		name       string
		owner, uid uint16
		serves     bool
	}{
		{"one's own", a, a, true},
		{"another user's", a, b, false},
		{"a user's, by the driver", a, 0, true},
		{"the driver's, by a user", 0, a, false},
		{"a shared one", shared, a, true},
		{"the driver's own", 0, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pd := r.pd(tt.owner)
			inner := r.key(keyOptions{flags: mkcAll, mode: 1, pd: pd, length: ramPage, shift: 12, mtts: []uint64{0x8000}})
			key := r.key(keyOptions{uid: tt.uid, flags: mkcAll, mode: 2, pd: pd, length: ramPage, klms: []klmEntry{{ramPage, inner, 0}}})
			want := keyOK
			if !tt.serves {
				want = keyPD
			}
			require.Equal(t, want, r.reaches(key, user{pd: pd}, remoteRead, 0, 8))

			// The domain stays while keys are of it.
			r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, tt.owner, pd), MLX5_CMD_STAT_BAD_RES_STATE_ERR)
			r.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, inner>>8), MLX5_CMD_STAT_OK)
			if tt.serves {
				r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, tt.owner, pd), MLX5_CMD_STAT_BAD_RES_STATE_ERR)
			}
			r.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, tt.uid, key>>8), MLX5_CMD_STAT_OK)
			r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, tt.owner, pd), MLX5_CMD_STAT_OK)
			r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, tt.owner, pd), MLX5_CMD_STAT_BAD_RES_ERR)
		})
	}

	// A user's key does not lead to bus addresses, and a domain that comes later
	// does not revive one.
	pd := r.pd(a)
	for mode := range uint32(6) {
		key := r.key(keyOptions{uid: a, flags: mkcAll, mode: mode, pd: pd, length: ramPage, shift: 12, mtts: []uint64{0x8000, 0}})
		require.NotEqual(t, keyOK, r.reaches(key, user{pd: pd, uid: a}, localRead, 0, 8), mode)
	}
	key := r.key(keyOptions{flags: mkcAll, mode: 1, pd: pd + 1, length: ramPage, shift: 12, mtts: []uint64{0x8000}})
	require.Equal(t, pd+1, r.pd(a))
	require.Equal(t, keyPD, r.reaches(key, user{pd: pd + 1}, localRead, 0, 8))
}

func TestUMEMKeys(t *testing.T) {
	r := newRig(t, nil)
	uid, other := r.userContext(), r.userContext()
	pd := r.pd(uid)
	umem := func(logPage byte, offset uint32, n uint64, pages ...uint64) []byte {
		be := binary.BigEndian
		in := Input(ifc.MLX5_CMD_OP_CREATE_UMEM, uid, 0, 8*len(pages))
		in[35] = logPage
		be.PutUint32(in[36:], offset)
		be.PutUint64(in[40:], n)
		for i, p := range pages {
			be.PutUint64(in[48+8*i:], p)
		}
		return in
	}
	r.ends(umem(0, 0, 3, 0x8003, 0x9003), MLX5_CMD_STAT_BAD_PARAM_ERR)
	// Pages of 8 KiB; the second may only be read.
	n := r.made(umem(1, 0x1000, 2, 0x10003, 0x40001))
	o := keyOptions{uid: uid, flags: mkcAll, mode: 1, pd: pd, start: 0x7000_0000, length: 3 * ramPage, shift: 12, umem: n, room: 2}
	key, who := r.key(o), user{pd: pd, uid: uid}
	require.Equal(t, keyOK, r.store(key, who, 0x7000_0000, texture(8, 9)))
	require.Equal(t, texture(8, 9), r.mem.get(0x11000, 8))
	r.mem.set(0x40ffe, texture(4, 5))
	got, e := r.load(key, who, 0x7000_1ffe, 4)
	require.Equal(t, keyOK, e)
	require.Equal(t, texture(4, 5), got)
	require.Equal(t, keyNotPresent, r.store(key, who, 0x7000_1000, texture(8, 9)), "not for writing")
	require.Equal(t, keyOK, r.reaches(key, who, localRead, 0x7000_0000, 3*ramPage))

	for _, tt := range []struct {
		name   string
		change func(o *keyOptions)
		want   Status
	}{
		{"another's", func(o *keyOptions) { o.uid, o.pd = other, r.pd(other) }, MLX5_CMD_STAT_BAD_RES_ERR},
		{"larger pages", func(o *keyOptions) { o.shift = 14 }, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"smaller ones than any", func(o *keyOptions) { o.shift = 11 }, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"off a page", func(o *keyOptions) { o.umemOff = 8 }, MLX5_CMD_STAT_BAD_PARAM_ERR},
		{"behind it", func(o *keyOptions) { o.umemOff = 3 * ramPage }, MLX5_CMD_STAT_BAD_PARAM_ERR},
	} {
		bad := o
		tt.change(&bad)
		_, s := r.exec(bad.input())
		require.Equal(t, tt.want, s, tt.name)
	}
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_UMEM, uid, n), MLX5_CMD_STAT_BAD_RES_STATE_ERR)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, uid, key>>8), MLX5_CMD_STAT_OK)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_UMEM, other, n), MLX5_CMD_STAT_BAD_RES_ERR)
	r.ends(named(ifc.MLX5_CMD_OP_DESTROY_UMEM, uid, n), MLX5_CMD_STAT_OK)
}

func TestKeysAllocateNothing(t *testing.T) {
	d, key, who := flatKey(t)
	p := make([]byte, 4096)
	f := func(p []byte) { p[0]++ }
	r := &rig{Device: d, t: t}
	window := r.key(keyOptions{flags: mkcAll, mode: 2, pd: who.pd, start: 0x1000, length: 0x4000,
		klms: []klmEntry{{0x1800, key, 0x7000_0000_0800}, {0x2800, key, 0x7000_0000_5000}}})
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, k := range []struct {
			key  uint32
			addr uint64
		}{{key, 0x7000_0000_0f00}, {window, 0x2000}} {
			m, e := d.reach(k.key, who, remoteWrite|remoteRead, k.addr, 4096)
			if e != keyOK || d.writeKey(m, k.addr, p) != keyOK || d.readKey(m, k.addr, p) != keyOK ||
				d.atomicKey(m, k.addr, p[:8], f) != keyOK {
				t.Fatal(e)
			}
		}
	}))
}
