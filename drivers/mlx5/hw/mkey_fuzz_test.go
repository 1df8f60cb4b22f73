package hw

import (
	"encoding/binary"
	"math/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/sim_test/watchdog"
)

// tape is bytes to decide by; zeros follow.
type tape []byte

func (t *tape) byte() byte {
	if len(*t) == 0 {
		return 0
	}
	b := (*t)[0]
	*t = (*t)[1:]
	return b
}

// below returns a number from 0 to n-1.
func (t *tape) below(n int) int { return (int(t.byte()) | int(t.byte())<<8) % n }

// keyFuzz is a life of keys under a guard.
type keyFuzz struct {
	*rig
	g    *guard
	tape tape
	pds  []uint32
	uids []uint16
	keys []uint32 // numbers, of dead ones too
}

const keyFuzzMemory = 0x40_0000 // of which 64 pages can be reached

func newKeyFuzz(t testing.TB, in []byte) *keyFuzz {
	p, err := Recorded.With(map[string]uint64{"umr_modify_entity_size_disabled": 0})
	require.NoError(t, err)
	mem := newRAM()
	g := newGuard(mem)
	f := &keyFuzz{g: g, tape: in, rig: &rig{t: t, mem: mem}}
	f.Device = New(Config{Bus: g, Profile: p})
	require.NoError(t, Boot(nil, f.Device, somePages))
	f.uids = []uint16{0, f.userContext(), f.userContext()}
	for i := range 64 {
		mem.set(keyFuzzMemory+Addr(i)*ramPage, texture(ramPage, byte(i)))
	}
	for _, uid := range f.uids {
		f.pds = append(f.pds, binary.BigEndian.Uint32(f.tell(Input(ifc.MLX5_CMD_OP_ALLOC_PD, uid, 0, 0))[8:]))
	}
	return f
}

// tell runs a command under the guard's eyes.
func (f *keyFuzz) tell(in []byte) []byte {
	out := make([]byte, 16)
	require.NoError(f.t, f.Exec(nil, in, out))
	f.g.told(in, out)
	return out
}

func (f *keyFuzz) pick(s []uint32) uint32 {
	if len(s) == 0 {
		return 0x100
	}
	return s[f.tape.below(len(s))]
}

// rarely is true about once in n times.
func (t *tape) rarely(n int) bool { return t.below(n) == n-1 }

// key names a key, mostly one that is there and as it is called.
func (f *keyFuzz) key() uint32 {
	n := f.pick(f.keys)
	tag := f.tape.byte() & 1
	if k := f.g.keys[n]; k != nil && !f.tape.rarely(32) {
		tag = k.ctx[7]
	}
	return n<<8 | uint32(tag)
}

// domain and uid are mostly the first.
func (f *keyFuzz) domain() uint32 {
	if !f.tape.rarely(16) {
		return f.pds[0]
	}
	return f.pick(f.pds)
}

func (f *keyFuzz) uid() uint16 {
	if !f.tape.rarely(16) {
		return 0
	}
	return f.uids[f.tape.below(3)]
}

// bus is a bus address with access bits.
func (f *keyFuzz) bus() uint64 {
	return keyFuzzMemory + uint64(f.tape.below(64))*ramPage | uint64(f.tape.byte()&7)
}

func (f *keyFuzz) context() keyOptions {
	t := &f.tape
	o := keyOptions{uid: f.uid(), flags: uint32(t.byte()) << 8 & (mkcAll | mkcUMREn), mode: uint32("\x00\x01\x01\x01\x02\x02\x02\x03\x03\x04\x05"[t.below(11)]),
		pd: f.domain(), tag: uint32(t.byte() & 1), room: t.below(12), shift: 12, pgAccess: t.byte()&1 != 0}
	if !t.rarely(4) {
		o.flags |= mkcAll | mkcUMREn
	}
	if t.rarely(8) {
		o.flags |= mkcFree
	}
	if t.rarely(16) {
		o.pd |= mkcLength64
	}
	if t.rarely(16) {
		o.qpn = 0x40 + uint32(t.byte()&1)
	}
	switch t.byte() % 8 {
	case 0:
		o.shift = uint32(t.byte() % 64)
	case 1:
		o.shift = 13
	case 2, 3:
		o.shift = 8 // pieces shorter than a page
	}
	o.start, o.length = uint64(t.below(3*ramPage)), uint64(t.below(4*ramPage))
	if o.mode == 0 {
		o.start += keyFuzzMemory
	}
	return o
}

func (f *keyFuzz) klms() (ks []klmEntry) {
	t := &f.tape
	for range t.below(5) {
		e := klmEntry{uint32(t.below(600)), f.key(), uint64(t.below(4 * ramPage))}
		if k := f.g.keys[e.key>>8]; k != nil && k.length() > 0 && !t.rarely(8) {
			e.addr = k.start() + e.addr%k.length()
			e.count = uint32(min(uint64(e.count), k.start()+k.length()-e.addr))
		}
		ks = append(ks, e)
	}
	if len(ks) > 1 && t.rarely(4) {
		ks[0].count, ks[0].key, ks[0].addr = 0, 0x400, uint64(t.byte())<<32|uint64(t.byte()&3)
		for i := range ks[1:] {
			ks[0].count += ks[1+i].count & 0xffff
			ks[1+i].count |= uint32(t.byte()) << 16
		}
		ks[0].count -= ks[0].count / 2 * uint32(t.byte()>>7)
	}
	return ks
}

func (f *keyFuzz) list(o *keyOptions) {
	if o.mode == 2 || o.mode == 3 {
		o.klms = f.klms()
		return
	}
	for range f.tape.below(6) {
		o.mtts = append(o.mtts, f.bus())
	}
}

// fit makes the length mostly what the list has.
func (f *keyFuzz) fit(o *keyOptions, mode uint32, list *keyOptions) {
	n := uint64(0)
	switch size := uint64(1) << o.shift; mode {
	case 1:
		n = uint64(len(list.mtts))*size - o.start%size
	case 2:
		for _, k := range list.klms {
			n += uint64(k.count)
		}
		if n > 0 && list.klms[0].key == 0x400 {
			n = uint64(list.klms[0].count) * (list.klms[0].addr >> 32)
		}
	case 3:
		n = uint64(len(list.klms))*size - o.start%size
	default:
		return
	}
	if !f.tape.rarely(4) {
		o.length = n
	}
}

func (f *keyFuzz) user() user {
	t := &f.tape
	return user{pd: f.domain(), qpn: 0x40 + uint32(t.byte()&1)}
}

func (f *keyFuzz) step() {
	switch t := &f.tape; t.byte() % 16 {
	case 0, 1, 2:
		o := f.context()
		f.list(&o)
		f.fit(&o, o.mode, &o)
		if out := f.tell(o.input()); out[0] == 0 {
			f.keys = append(f.keys, binary.BigEndian.Uint32(out[8:]))
		}
	case 3:
		f.destroy()
	case 4, 5, 6:
		f.umrStep()
	case 7:
		key, who, remote := f.key(), f.user(), t.byte()&1 != 0
		if f.invalidates(key, who, remote) == keyOK {
			f.g.freed(key)
		}
	default:
		f.access()
	}
	f.g.mu.Lock()
	defer f.g.mu.Unlock()
	require.Empty(f.t, f.g.wrong)
}

func (f *keyFuzz) destroy() {
	if len(f.keys) == 0 {
		return
	}
	i := f.tape.below(len(f.keys))
	if f.tell(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, f.uid(), f.keys[i]))[0] == 0 && !f.tape.rarely(8) {
		f.keys = append(f.keys[:i], f.keys[i+1:]...)
	}
}

func (f *keyFuzz) umrStep() {
	t := &f.tape
	u := umrWQE{key: f.key(), flags: t.byte(), ctx: f.context(), offset: uint64(t.byte() % 8), octos: -1,
		mask: binary.LittleEndian.Uint64([]byte{t.byte(), t.byte(), t.byte(), t.byte(), 0, t.byte() & 4, 0, 0})}
	o := keyOptions{mode: uint32(t.byte() % 4)}
	if k := f.g.keys[u.key>>8]; k != nil && !t.rarely(8) {
		o.mode = uint32(k.mode())
	}
	f.list(&o)
	f.fit(&u.ctx, o.mode, &o)
	u.inline = o.list()
	who := f.user()
	who.privileged = t.byte()&3 == 0
	if !t.rarely(8) { // mostly harmless
		u.flags &= flagInline | flagOffset
		u.mask &= umrLen | umrStart | umrTag | umrQPN | umrLR | umrLW | umrRR | umrRW | umrA | umrFree
		if u.flags&flagOffset == 0 {
			u.offset = 0
		}
	}
	if u.flags&flagInline == 0 && len(u.inline) > 0 {
		u.octos, u.length, u.lkey = len(u.inline)/16, uint32(len(u.inline)), f.key()
		if k := f.g.keys[u.lkey>>8]; k != nil {
			u.addr = k.start()
			for i, b := range u.inline { // where the list lies, if it can be found
				if a, e := f.g.byteAt(u.lkey, who.pd, who.qpn, guardLR, u.addr+uint64(i), 0, false); e == keyOK {
					f.mem.set(a, []byte{b})
				}
			}
		}
		u.inline = nil
	}
	w := u.bytes()
	before := f.g.keys[u.key>>8]
	e := f.change(u, who)
	if e != keyOK {
		return
	}
	require.True(f.t, before != nil && !before.dead && before.ctx[2]&0x80 != 0, "a key that may be changed")
	require.True(f.t, who.privileged || before.pd() == who.pd && (before.mode() == 2 || before.mode() == 3), "by him")
	f.g.changed(w)
}

// access uses a key and compares with what the guard finds byte by byte.
func (f *keyFuzz) access() {
	t := &f.tape
	uses := []struct {
		want right
		ctx  byte
	}{{localRead, guardLR}, {localWrite, guardLW}, {remoteRead, guardRR}, {remoteWrite, guardRW}, {remoteAtomic, guardA}}
	use := uses[t.byte()%5]
	key, who, n := f.key(), f.user(), 1+t.below(1<<(3+t.below(8)))
	addr := uint64(t.below(4 * ramPage))
	if k := f.g.keys[key>>8]; k != nil {
		if k.mode() > 3 {
			return // not on the bus
		}
		if t.byte()&3 != 0 && k.length() > 0 {
			addr = k.start() + uint64(t.below(4*ramPage))%k.length()
			n = int(min(uint64(n), k.start()+k.length()-addr))
		}
	}
	if use.want == remoteAtomic {
		n = 8
	}
	var want []Addr
	ok := true
	for i := range uint64(n) {
		a, e := f.g.byteAt(key, who.pd, who.qpn, use.ctx, addr+i, 0, false)
		if ok = e == keyOK; !ok {
			break
		}
		want = append(want, a)
	}
	f.g.take()
	f.locked(func() {
		m, e := f.reach(key, who, use.want, addr, uint64(n))
		require.Equal(f.t, ok, e == keyOK, "%s of %d bytes at %#x", e, n, addr)
		if e != keyOK {
			return
		}
		p := make([]byte, n)
		switch use.want {
		case remoteAtomic:
			require.Equal(f.t, keyOK, f.atomicKey(m, addr, p, func(p []byte) { p[0]++ }))
			require.Equal(f.t, append(append([]Addr(nil), want...), want...), f.g.take())
		case localWrite, remoteWrite:
			require.Equal(f.t, keyOK, f.writeKey(m, addr, texture(n, 77)))
			require.Equal(f.t, want, f.g.take())
		default:
			require.Equal(f.t, keyOK, f.readKey(m, addr, p))
			require.Equal(f.t, want, f.g.take())
			for i, a := range want {
				require.Equal(f.t, f.mem.get(a, 1)[0], p[i])
			}
		}
	})
}

func (f *keyFuzz) run() {
	for len(f.tape) > 0 {
		f.step()
	}
	for _, uid := range f.uids {
		for _, n := range f.keys {
			f.tell(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, uid, n))
		}
	}
	require.Zero(f.t, f.Counts()["mkey"])
	for i, uid := range f.uids {
		require.Zero(f.t, f.tell(named(ifc.MLX5_CMD_OP_DEALLOC_PD, uid, f.pds[i]))[0])
	}
}

// FuzzKeys lives through keys of all kinds, work requests that change them, and
// uses of them. No DMA goes where no live key allows it, and each use does what
// a second reckoning, byte by byte, says.
func FuzzKeys(f *testing.F) {
	rng := rand.New(rand.NewSource(3))
	for range 8 {
		b := make([]byte, 2000)
		rng.Read(b)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		watchdog.On(t)
		if len(in) > 1<<16 {
			return
		}
		newKeyFuzz(t, in).run()
	})
}

func TestRandomKeys(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 60 {
		b := make([]byte, 30000)
		rng.Read(b)
		newKeyFuzz(t, b).run()
	}
}

// The guard itself says no where it must.
func TestGuard(t *testing.T) {
	f := newKeyFuzz(t, nil)
	o := keyOptions{flags: mkcLocRead, mode: 1, pd: f.pds[0], start: 0x800, length: 0x1000, shift: 12, mtts: []uint64{0x8000, 0x2000}}
	out := f.tell(o.input())
	for _, tt := range []struct {
		at, n uint64
		write bool
		want  bool
	}{
		{0x8800, 0x800, false, true}, {0x2000, 0x800, false, true}, {0x8800, 1, true, false}, {0x87ff, 1, false, false},
		{0x8800, 0x801, false, false}, {0x2800, 1, false, false}, {0x2000, 0, true, true},
	} {
		require.Equal(t, tt.want, f.g.check(tt.at, tt.n, tt.write), tt)
	}
	f.tell(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, binary.BigEndian.Uint32(out[8:])))
	require.False(t, f.g.check(0x8800, 1, false))

	eqn := f.createEQ(eqOptions{})
	cq := cqOptions{log: 4, eqn: eqn, buffer: []Addr{0x30000}, record: 0x31008}
	cqn := binary.BigEndian.Uint32(f.tell(cq.input(ifc.MLX5_CMD_OP_CREATE_CQ, 0))[8:])
	require.True(t, f.g.check(0x30000, 4096, true))
	require.True(t, f.g.check(0x31008, 8, false))
	require.NoError(t, f.Complete(cqn, Completion{}))
	require.Empty(t, f.g.wrong)
	f.tell(named(ifc.MLX5_CMD_OP_DESTROY_CQ, 0, cqn))
	require.False(t, f.g.check(0x30000, 1, true))
	_ = f.g.WriteAt([]byte{1}, 0x30000)
	require.Len(t, f.g.wrong, 1)
}
