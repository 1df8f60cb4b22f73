package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Bits of the mask of a work request that changes a key, and its flags, as the
// kernel and libmlx5 know them.
const (
	umrLen   = 1 << 0
	umrStart = 1 << 6
	umrPD    = 1 << 7
	umrTag   = 1 << 13
	umrQPN   = 1 << 14
	umrLR    = 1 << 17
	umrLW    = 1 << 18
	umrRR    = 1 << 19
	umrRW    = 1 << 20
	umrA     = 1 << 21
	umrFree  = 1 << 29

	flagCheckQPN = 0x08 // libmlx5
	flagOffset   = 0x10
	flagMustFree = 0x20 // MLX5_UMR_CHECK_NOT_FREE; libmlx5 calls it CHECK_FREE
	flagMustUsed = 0x40 // MLX5_UMR_CHECK_FREE
	flagInline   = 0x80
)

// umrWQE is a work request that changes a key.
type umrWQE struct {
	key    uint32
	flags  byte
	mask   uint64
	ctx    keyOptions // the new values
	offset uint64     // octowords
	octos  int        // of the list; -1 is as many as are inline
	inline []byte
	length uint32 // of the list at lkey and addr, where it is not inline
	lkey   uint32
	addr   uint64
}

func (u *umrWQE) bytes() []byte {
	be := binary.BigEndian
	w := make([]byte, 128)
	be.PutUint32(w, 0x25)
	be.PutUint32(w[12:], u.key)
	w[16] = u.flags
	octos := u.octos
	if octos == -1 {
		octos = len(u.inline) / 16
	}
	be.PutUint16(w[20:], uint16(octos))
	be.PutUint16(w[22:], uint16(u.offset))
	be.PutUint64(w[24:], u.mask)
	be.PutUint32(w[32:], uint32(u.offset>>16))
	copy(w[64:], u.ctx.context())
	if u.flags&flagInline == 0 && octos > 0 {
		w = be.AppendUint32(w, u.length)
		w = be.AppendUint32(w, u.lkey)
		w = be.AppendUint64(w, u.addr)
	}
	w = append(w, u.inline...)
	be.PutUint32(w[4:], uint32(len(w)/16))
	return w
}

func (r *rig) change(u umrWQE, who user) (e keyError) {
	r.locked(func() { e = r.umr(u.bytes(), who) })
	return e
}

// bind is how libmlx5 binds a window: key is what it is called so far, tag its
// new low bits. A length of 0 takes the memory away.
func bind(type2 bool, key, tag uint32, who user, lkey uint32, addr uint64, length uint32, access uint32) umrWQE {
	u := umrWQE{key: key, flags: flagOffset | flagInline, mask: umrFree | umrTag, ctx: keyOptions{tag: tag}}
	if type2 {
		u.mask |= umrQPN
	}
	if length == 0 {
		u.ctx.flags = mkcFree
		if type2 {
			u.flags |= flagCheckQPN
		}
		return u
	}
	if type2 {
		u.flags |= flagMustFree
		u.ctx.qpn = who.qpn
	}
	u.mask |= umrLen | umrStart | umrLW | umrRR | umrRW | umrA
	u.ctx.flags, u.ctx.start, u.ctx.length = access, addr, uint64(length)
	u.octos = 4
	u.inline = append(klmBytes(klmEntry{length, lkey, addr}), make([]byte, 48)...)
	return u
}

// windowRig is memory with a key to it, and a window of each type as the
// kernel makes them.
type windowRig struct {
	*rig
	pd           uint32
	who          user
	lkey         uint32
	type1, type2 uint32
}

const memoryAt = 0x7f00_0000_1000

func newWindowRig(t testing.TB) *windowRig {
	w := &windowRig{rig: newRig(t, nil)}
	w.pd = w.rig.pd(0)
	w.who = user{pd: w.pd, qpn: 0x40}
	w.lkey = w.key(keyOptions{flags: mkcUMREn | mkcLocRead | mkcLocWrite, mode: 1, pd: w.pd, tag: 3, start: memoryAt, length: 2 * ramPage,
		shift: 12, mtts: []uint64{0x8000, 0x2000}})
	window := keyOptions{flags: mkcFree | mkcUMREn | mkcLocRead, mode: 2, pd: w.pd, room: 4, tag: 0x10}
	w.type1 = w.key(window)
	window.pd |= mkcRemoteInv
	w.type2 = w.key(window)
	return w
}

const windowAccess = mkcRemWrite | mkcRemRead | mkcLocWrite

func TestWindowType1(t *testing.T) {
	w := newWindowRig(t)
	key := w.type1
	require.Equal(t, keyFree, w.reaches(key, w.who, remoteWrite, memoryAt, 8))
	require.Equal(t, keyOK, w.change(bind(false, key, 0x11, w.who, w.lkey, memoryAt+0xff0, 0x20, windowAccess), w.who))
	require.Equal(t, keyNone, w.reaches(key, w.who, remoteWrite, memoryAt+0xff0, 8), "it is called otherwise now")
	key = key&^0xff | 0x11
	require.Equal(t, keyOK, w.store(key, w.who, memoryAt+0xffc, []byte{1, 2, 3, 4, 5, 6, 7, 8}))
	require.Equal(t, []byte{1, 2, 3, 4}, w.mem.get(0x8ffc, 4))
	require.Equal(t, []byte{5, 6, 7, 8}, w.mem.get(0x2000, 4))
	other := user{pd: w.pd, qpn: 0x41}
	for _, tt := range []struct {
		who     user
		want    right
		addr, n uint64
		e       keyError
	}{
		{w.who, remoteWrite, memoryAt + 0xff0, 0x20, keyOK},
		{other, remoteWrite, memoryAt + 0xff0, 0x20, keyOK}, // any queue pair of the domain
		{w.who, remoteAtomic, memoryAt + 0xff0, 8, keyRights},
		{w.who, remoteWrite, memoryAt + 0xfef, 8, keyBounds},
		{w.who, remoteRead, memoryAt + 0xff0, 0x21, keyBounds},
		{user{pd: w.pd + 1}, remoteRead, memoryAt + 0xff0, 8, keyPD},
	} {
		require.Equal(t, tt.e, w.reaches(key, tt.who, tt.want, tt.addr, tt.n))
	}
	// It may be bound again while it is bound, and again from another queue pair.
	require.Equal(t, keyOK, w.change(bind(false, key, 0x12, other, w.lkey, memoryAt, 8, windowAccess), other))
	key++
	require.Equal(t, keyBounds, w.reaches(key, w.who, remoteWrite, memoryAt+0xff0, 8))
	require.Equal(t, keyOK, w.reaches(key, w.who, remoteWrite, memoryAt, 8))
	require.Equal(t, keyRights, w.invalidates(key, w.who, true), "the other end cannot take it away")
	require.Equal(t, keyOK, w.change(bind(false, key, 0x13, w.who, 0, 0, 0, 0), w.who))
	require.Equal(t, keyNone, w.reaches(key, w.who, remoteWrite, memoryAt, 8))
	require.Equal(t, keyFree, w.reaches(key+1, w.who, remoteWrite, memoryAt, 8))
}

func (r *rig) invalidates(key uint32, who user, remote bool) (e keyError) {
	r.locked(func() { e = r.invalidate(key, who, remote) })
	return e
}

func TestWindowType2(t *testing.T) {
	w := newWindowRig(t)
	other := user{pd: w.pd, qpn: 0x41}
	key := w.type2&^0xff | 0x21
	make2 := func(key uint32, who user) keyError {
		return w.change(bind(true, w.type2, key&0xff, who, w.lkey, memoryAt, 0x100, windowAccess), who)
	}
	require.Equal(t, keyOK, make2(key, w.who))
	require.Equal(t, keyOK, w.reaches(key, w.who, remoteWrite, memoryAt, 0x100))
	require.Equal(t, keyQPN, w.reaches(key, other, remoteWrite, memoryAt, 0x100))
	require.Equal(t, keyNotFree, make2(key+1, w.who), "it must be invalidated first")
	require.Equal(t, keyQPN, make2(key+1, other))

	// By its own user. The low bits of the key go with it.
	require.Equal(t, keyQPN, w.change(bind(true, key, 0, other, 0, 0, 0, 0), other), "from the wrong queue pair")
	require.Equal(t, keyOK, w.change(bind(true, key, 0, w.who, 0, 0, 0, 0), w.who))
	require.Equal(t, keyNone, w.reaches(key, w.who, remoteWrite, memoryAt, 8))
	require.Equal(t, keyFree, w.reaches(key&^0xff, w.who, remoteWrite, memoryAt, 8))

	// By the other end of its queue pair, once.
	require.Equal(t, keyOK, make2(key+1, w.who))
	key++
	require.Equal(t, keyNone, w.invalidates(key+1, w.who, true))
	require.Equal(t, keyQPN, w.invalidates(key, other, true))
	require.Equal(t, keyPD, w.invalidates(key, user{pd: w.pd + 1, qpn: w.who.qpn}, true))
	require.Equal(t, keyOK, w.invalidates(key, w.who, true))
	require.Equal(t, keyFree, w.reaches(key, w.who, remoteWrite, memoryAt, 8))
	require.Equal(t, keyFree, w.invalidates(key, w.who, true))

	// Free, it may go to another queue pair.
	require.Equal(t, keyOK, make2(key+1, other))
	require.Equal(t, keyOK, w.reaches(key+1, other, remoteWrite, memoryAt, 8))
	require.Equal(t, keyOK, w.invalidates(key+1, other, false))
	require.Equal(t, keyFree, w.invalidates(key+1, other, false))

	// What it stood for going leaves it without memory.
	require.Equal(t, keyOK, make2(key+2, w.who))
	w.ends(named(ifc.MLX5_CMD_OP_DESTROY_MKEY, 0, w.lkey>>8), MLX5_CMD_STAT_OK)
	require.Equal(t, keyNone, w.reaches(key+2, w.who, remoteWrite, memoryAt, 8))
}

// A window gives what the memory's own key gives locally at most.
func TestWindowOnReadOnlyMemory(t *testing.T) {
	w := newWindowRig(t)
	lkey := w.key(keyOptions{flags: mkcLocRead, mode: 1, pd: w.pd, start: memoryAt, length: ramPage, shift: 12, mtts: []uint64{0x8000}})
	require.Equal(t, keyOK, w.change(bind(false, w.type1, 0x11, w.who, lkey, memoryAt, 8, windowAccess|mkcAtomic), w.who))
	key := w.type1 + 1
	require.Equal(t, keyOK, w.reaches(key, w.who, remoteRead, memoryAt, 8))
	require.Equal(t, keyRights, w.reaches(key, w.who, remoteWrite, memoryAt, 8))
	require.Equal(t, keyRights, w.reaches(key, w.who, remoteAtomic, memoryAt, 8))
}

// What a work request must not do, each the one fault of a bind that is right.
func TestUMRErrors(t *testing.T) {
	privileged := user{qpn: 0x50, privileged: true}
	for _, tt := range []struct {
		name   string
		change func(w *windowRig, u *umrWQE, who *user)
		want   keyError
	}{
		{"right", func(*windowRig, *umrWQE, *user) {}, keyOK},
		{"no such key", func(w *windowRig, u *umrWQE, who *user) { u.key += 0x10000 }, keyNone},
		{"a special key", func(w *windowRig, u *umrWQE, who *user) { u.key = 0x600 }, keyNone},
		{"the key's old low bits do not matter", func(w *windowRig, u *umrWQE, who *user) { u.key ^= 0xff }, keyOK},
		{"another domain", func(w *windowRig, u *umrWQE, who *user) { who.pd++ }, keyPD},
		{"another domain, for the driver", func(w *windowRig, u *umrWQE, who *user) { *who = privileged }, keyOK},
		{"a flag without a meaning", func(w *windowRig, u *umrWQE, who *user) { u.flags |= 1 }, keyRequest},
		{"a mask without a meaning", func(w *windowRig, u *umrWQE, who *user) { u.mask |= 1 << 63 }, keyRequest},
		{"free wanted", func(w *windowRig, u *umrWQE, who *user) { u.flags |= flagMustFree }, keyOK},
		{"used wanted", func(w *windowRig, u *umrWQE, who *user) { u.flags |= flagMustUsed }, keyFree},
		{"both wanted", func(w *windowRig, u *umrWQE, who *user) { u.flags |= flagMustFree | flagMustUsed }, keyRequest},
		{"a longer list than there is room", func(w *windowRig, u *umrWQE, who *user) { u.octos = 5; u.inline = make([]byte, 128) }, keyBounds},
		{"a list behind the room", func(w *windowRig, u *umrWQE, who *user) { u.offset = 1 }, keyBounds},
		{"far behind", func(w *windowRig, u *umrWQE, who *user) { u.offset = 1<<48 - 1 }, keyBounds},
		{"a signature", func(w *windowRig, u *umrWQE, who *user) { u.flags &^= flagOffset; u.offset = 4 }, keyRequest},
		{"less of the list than it says", func(w *windowRig, u *umrWQE, who *user) { u.inline = u.inline[:48] }, keyRequest},
		{"by a pointer, without one", func(w *windowRig, u *umrWQE, who *user) { u.flags &^= flagInline; u.inline = nil; u.lkey = 1 }, keyRequest},
		{"by a pointer to nothing", func(w *windowRig, u *umrWQE, who *user) { u.flags &^= flagInline; u.length = 64; u.lkey = 1 }, keyNone},
		{"by a pointer behind the memory", func(w *windowRig, u *umrWQE, who *user) {
			u.flags &^= flagInline
			u.length, u.lkey, u.addr = 64, w.lkey, memoryAt+2*ramPage-63
		}, keyBounds},
		{"by a pointer", func(w *windowRig, u *umrWQE, who *user) {
			u.flags &^= flagInline
			w.mem.set(0x8ff0, u.inline[:16])
			u.length, u.lkey, u.addr = 64, w.lkey, memoryAt+0xff0
		}, keyOK},
		{"another domain given", func(w *windowRig, u *umrWQE, who *user) { u.mask |= umrPD; u.ctx.pd = w.rig.pd(0) }, keyPD},
		{"the same domain given", func(w *windowRig, u *umrWQE, who *user) { u.mask |= umrPD; u.ctx.pd = w.pd }, keyOK},
		{"no domain given", func(w *windowRig, u *umrWQE, who *user) { *who = privileged; u.mask |= umrPD; u.ctx.pd = 0x777 }, keyPD},
		{"another queue pair given", func(w *windowRig, u *umrWQE, who *user) { u.mask |= umrQPN; u.ctx.qpn = 0x41 }, keyQPN},
		{"the own queue pair given", func(w *windowRig, u *umrWQE, who *user) { u.mask |= umrQPN; u.ctx.qpn = 0x40 }, keyOK},
		{"a page size", func(w *windowRig, u *umrWQE, who *user) { u.mask |= 1 << 1 }, keyRights}, // umr_modify_entity_size_disabled
		{"signatures", func(w *windowRig, u *umrWQE, who *user) { u.mask |= 1 << 12; u.ctx.pd = 1 << 30 }, keyRights},
		{"no signatures", func(w *windowRig, u *umrWQE, who *user) { u.mask |= 1 << 12 }, keyOK},
		{"a region's key", func(w *windowRig, u *umrWQE, who *user) { u.key = w.lkey }, keyRights},
		{"a key that is not to be changed", func(w *windowRig, u *umrWQE, who *user) {
			u.key = w.rig.key(keyOptions{flags: mkcFree, mode: 2, pd: w.pd, room: 4})
		}, keyRights},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWindowRig(t)
			u := bind(false, w.type1, 0x11, w.who, w.lkey, memoryAt, 8, windowAccess)
			who := w.who
			tt.change(w, &u, &who)
			before, _ := w.exec(named(ifc.MLX5_CMD_OP_QUERY_MKEY, 0, w.type1>>8))
			require.Equal(t, tt.want.String(), w.change(u, who).String())
			after, _ := w.exec(named(ifc.MLX5_CMD_OP_QUERY_MKEY, 0, w.type1>>8))
			if tt.want != keyOK {
				require.Equal(t, before, after, "what fails changes nothing")
			} else {
				require.Equal(t, keyOK, w.reaches(w.type1+1, w.who, remoteWrite, memoryAt, 8))
			}
		})
	}
	w := newWindowRig(t)
	u := bind(false, w.type1, 0x11, w.who, w.lkey, memoryAt, 8, windowAccess)
	for n := range 128 {
		require.Equal(t, keyRequest, w.umr(u.bytes()[:n], w.who))
	}
}

// The kernel's own requests: a key of its cache gets its pages in pieces, becomes
// a region, changes its domain and access, and is revoked.
func TestUMRPageLists(t *testing.T) {
	p, err := Recorded.With(map[string]uint64{"umr_modify_entity_size_disabled": 0})
	require.NoError(t, err)
	r := newRig(t, p)
	own, pd, next := r.pd(0), r.pd(0), r.pd(0)
	driver := user{qpn: 0x50, privileged: true, lists: true}
	all := r.key(keyOptions{flags: mkcAll, mode: 0, pd: own | mkcLength64})
	key := r.key(keyOptions{flags: mkcFree | mkcUMREn, mode: 1, pd: own, room: 3000, shift: 12})

	const pages = 5000 // 2500 octowords: more than a chunk each time
	list := func(bits uint64) {
		for i := range uint64(pages) {
			r.mem.set(0x100_0000+8*i, binary.BigEndian.AppendUint64(nil, 0x1000_0000+i<<13|bits))
		}
	}
	list(3)
	piece := umrWQE{key: key, flags: flagMustFree, octos: 2000, length: 32000, lkey: all, addr: 0x100_0000}
	require.Equal(t, keyOK, r.change(piece, driver))
	require.Equal(t, keyFree, r.reaches(key, user{pd: pd}, remoteRead, 0, 8))
	const access = umrLR | umrLW | umrRR | umrRW | umrA
	last := umrWQE{key: key, flags: flagMustFree | flagOffset, offset: 2000, octos: 500, length: 8000, lkey: all, addr: 0x100_0000 + 32000,
		mask: umrTag | umrFree | access | umrPD | umrLen | 1<<1 | umrStart,
		ctx:  keyOptions{flags: mkcAll, pd: pd, tag: 0x99, start: 0x4000_0234, length: pages*ramPage - 0x234, shift: 12}}
	require.Equal(t, keyOK, r.change(last, driver))
	key |= 0x99
	who := user{pd: pd}
	for _, i := range []uint64{1, 511, 512, 3999, 4000, 4999} {
		require.Equal(t, keyOK, r.store(key, who, 0x4000_0000+i<<12, texture(16, byte(i))))
		require.Equal(t, texture(16, byte(i)), r.mem.get(0x1000_0000+i<<13, 16))
	}
	require.Equal(t, keyOK, r.reaches(key, who, remoteWrite, 0x4000_0234, pages*ramPage-0x234))
	require.Equal(t, keyNotFree, r.change(piece, driver), "pages are put into a free key")

	rereg := umrWQE{key: key, flags: flagMustUsed | flagInline, mask: access | umrPD, ctx: keyOptions{flags: mkcLocRead | mkcRemRead, pd: next}}
	require.Equal(t, keyOK, r.change(rereg, driver))
	require.Equal(t, keyPD, r.reaches(key, who, remoteRead, 0x4000_1000, 8))
	who.pd = next
	require.Equal(t, keyOK, r.reaches(key, who, remoteRead, 0x4000_1000, 8))
	require.Equal(t, keyRights, r.reaches(key, who, remoteWrite, 0x4000_1000, 8))
	r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, 0, pd), MLX5_CMD_STAT_OK)
	r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, 0, next), MLX5_CMD_STAT_BAD_RES_STATE_ERR)

	// Paging: entries come and go while the key is used.
	list(1)
	zap := umrWQE{key: key, flags: flagMustUsed | flagOffset, offset: 4, octos: 4, length: 64, lkey: all, addr: 0x200_0000}
	require.Equal(t, keyOK, r.change(zap, driver))
	require.Equal(t, keyOK, r.reaches(key, who, remoteRead, 0x4000_7000, 0x1000))
	require.Equal(t, keyNotPresent, r.reaches(key, who, remoteRead, 0x4000_8000, 8))
	require.Equal(t, keyNotPresent, r.reaches(key, who, remoteRead, 0x4000_7000, 0x1001))
	require.Equal(t, keyOK, r.reaches(key, who, remoteRead, 0x4001_0000, 8))
	back := zap
	back.addr = 0x100_0000 + 64
	require.Equal(t, keyOK, r.change(back, driver))
	require.Equal(t, keyOK, r.reaches(key, who, remoteRead, 0x4000_8000, 8))

	// The list's memory goes away half-way: nobody may use what is there now.
	r.mem.bad = map[Addr]bool{0x100_2000 / ramPage: true}
	require.Equal(t, keyBus, r.change(umrWQE{key: key, flags: flagMustUsed, octos: 1000, length: 16000, lkey: all, addr: 0x100_0000}, driver))
	require.Equal(t, keyFree, r.reaches(key, who, remoteRead, 0x4001_0000, 8))
	r.mem.bad = nil

	revoke := umrWQE{key: key, flags: flagInline, mask: umrPD | umrFree, ctx: keyOptions{flags: mkcFree, pd: own}}
	require.Equal(t, keyOK, r.change(revoke, driver))
	require.Equal(t, keyFree, r.reaches(key, who, remoteRead, 0x4001_0000, 8))
	r.ends(named(ifc.MLX5_CMD_OP_DEALLOC_PD, 0, next), MLX5_CMD_STAT_OK)
}

// mlx5dv's keys: a list of pieces, and pieces that repeat with a stride.
func TestUMRLayouts(t *testing.T) {
	w := newWindowRig(t)
	uid := w.userContext()
	key := w.key(keyOptions{uid: uid, flags: mkcFree | mkcUMREn | mkcLocRead, mode: 2, pd: w.pd, room: 4})
	require.Equal(t, keyPD, w.change(umrWQE{key: key, flags: flagInline, mask: umrFree}, w.who), "the domain is the driver's")
	key = w.key(keyOptions{flags: mkcFree | mkcUMREn | mkcLocRead, mode: 2, pd: w.pd, room: 4})
	pattern := texture(2*ramPage, 7)
	w.mem.set(0x8000, pattern[:ramPage])
	w.mem.set(0x2000, pattern[ramPage:])
	configure := func(length uint64, list []byte) keyError {
		return w.change(umrWQE{key: key, flags: flagInline, mask: umrFree | umrTag | umrLen | umrLW | umrRR | umrRW | umrA, octos: 4,
			ctx: keyOptions{flags: mkcLocWrite, length: length}, inline: append(list, make([]byte, 64-len(list))...)}, w.who)
	}
	cat := func(parts ...[]byte) (b []byte) {
		for _, p := range parts {
			b = append(b, p...)
		}
		return b
	}
	for _, tt := range []struct {
		name   string
		length uint64
		list   []klmEntry
		want   []byte
	}{
		{"one piece", 8, []klmEntry{{8, w.lkey, memoryAt}}, pattern[:8]},
		{"two pieces", 16, []klmEntry{{8, w.lkey, memoryAt}, {8, w.lkey, memoryAt + 64}}, cat(pattern[:8], pattern[64:72])},
		{"an empty one between", 16, []klmEntry{{8, w.lkey, memoryAt}, {0, 0, 0}, {8, w.lkey, memoryAt + 64}}, cat(pattern[:8], pattern[64:72])},
		{"backwards, over pages", 0x104, []klmEntry{{0x100, w.lkey, memoryAt + 0xf80}, {4, w.lkey, memoryAt}},
			cat(pattern[0xf80:0x1080], pattern[:4])},
		{"interleaved", 48, []klmEntry{{16, strideOp, 3<<32 | 2}, {10<<16 | 8, w.lkey, memoryAt}, {10<<16 | 8, w.lkey, memoryAt + 64}},
			cat(pattern[:8], pattern[64:72], pattern[10:18], pattern[74:82], pattern[20:28], pattern[84:92])},
		{"the same byte", 4, []klmEntry{{1, strideOp, 4<<32 | 1}, {1, w.lkey, memoryAt + 5}}, []byte{pattern[5], pattern[5], pattern[5], pattern[5]}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, keyOK, configure(tt.length, klmBytes(tt.list...)))
			got, e := w.load(key, w.who, 0, int(tt.length))
			require.Equal(t, keyOK, e)
			require.Equal(t, tt.want, got)
			for off := range int(tt.length) {
				got, e := w.load(key, w.who, uint64(off), int(tt.length)-off)
				require.Equal(t, keyOK, e)
				require.Equal(t, tt.want[off:], got)
			}
			require.Equal(t, keyBounds, w.reaches(key, w.who, localRead, 0, tt.length+1))
			require.Equal(t, keyRights, w.reaches(key, w.who, remoteRead, 0, 1))
		})
	}
	for _, tt := range []struct {
		name string
		list []klmEntry
		want keyError
	}{
		{"a length beyond the pieces", []klmEntry{{8, w.lkey, memoryAt}}, keyBounds},
		{"a key that is none", []klmEntry{{64, 0x123456, memoryAt}}, keyNone},
		{"outside of the memory", []klmEntry{{64, w.lkey, memoryAt - 1}}, keyBounds},
		{"the second one outside", []klmEntry{{8, w.lkey, memoryAt}, {64, w.lkey, memoryAt + 2*ramPage - 8}}, keyBounds},
		{"itself", []klmEntry{{64, key, 0}}, keyNesting},
		{"the reserved local key", []klmEntry{{64, 0x400, 0x8000}}, keyBounds}, // that is a stride of 0 rounds
		{"the reserved local key, second", []klmEntry{{8, w.lkey, memoryAt}, {64, 0x400, 0x8000}}, keyNone},
		{"a stride without bytes", []klmEntry{{0, strideOp, 3<<32 | 1}, {8, w.lkey, memoryAt}}, keyBounds},
		{"a stride without entries", []klmEntry{{8, strideOp, 100 << 32}, {8, w.lkey, memoryAt}}, keyBounds},
		{"a stride with more entries than the list", []klmEntry{{100, strideOp, 100<<32 | 0xffff}, {8, w.lkey, memoryAt}}, keyBounds},
		{"a stride out of the memory", []klmEntry{{8, strideOp, 100<<32 | 1}, {0xffff<<16 | 8, w.lkey, memoryAt}}, keyBounds},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, keyOK, configure(64, klmBytes(tt.list...)))
			require.Equal(t, tt.want.String(), w.reaches(key, w.who, localRead, 0, 64).String())
		})
	}
	// However many rounds there are, they are one piece if what lies between them can
	// be reached as well. Where it cannot, each is one, up to a bound.
	const gib, dumpFill = 1 << 30, 0x600
	holed := w.key(keyOptions{flags: mkcAll, mode: 2, pd: w.pd, length: gib,
		klms: []klmEntry{{1, w.lkey, memoryAt}, {1, 0x123456, 0}, {gib - 2, dumpFill, 0}}})
	for _, tt := range []struct {
		name   string
		length uint64
		list   []klmEntry
		want   keyError
	}{
		{"one byte of the memory", gib, []klmEntry{{1, strideOp, gib<<32 | 1}, {1, w.lkey, memoryAt}}, keyOK},
		{"one byte too far on", gib, []klmEntry{{1, strideOp, gib<<32 | 1}, {1, w.lkey, memoryAt + 2*ramPage}}, keyBounds},
		{"each byte of the memory", 2 * ramPage, []klmEntry{{1, strideOp, gib<<32 | 1}, {1<<16 | 1, w.lkey, memoryAt}}, keyOK},
		{"and one more", 2*ramPage + 1, []klmEntry{{1, strideOp, gib<<32 | 1}, {1<<16 | 1, w.lkey, memoryAt}}, keyBounds},
		{"the second entry's too", 4 * ramPage, []klmEntry{{2, strideOp, gib<<32 | 2}, {1, dumpFill, 0}, {1<<16 | 1, w.lkey, memoryAt}}, keyOK},
		{"the second entry's not", 4*ramPage + 2, []klmEntry{{2, strideOp, gib<<32 | 2}, {1, dumpFill, 0}, {1<<16 | 1, w.lkey, memoryAt}}, keyBounds},
		{"the last round ends before", 3, []klmEntry{{2, strideOp, 2<<32 | 2}, {1, w.lkey, memoryAt}, {1<<16 | 1, w.lkey, memoryAt + 2*ramPage - 1}}, keyOK},
		{"a hole between the rounds", maxPieces / 4, []klmEntry{{1, strideOp, gib<<32 | 1}, {2<<16 | 1, holed, 0}}, keyOK},
		{"and too many rounds", maxPieces, []klmEntry{{1, strideOp, gib<<32 | 1}, {2<<16 | 1, holed, 0}}, keyPieces},
		{"an entry behind the round's end", gib, []klmEntry{{1, strideOp, gib<<32 | 2}, {1, w.lkey, memoryAt}, {0xffff<<16 | 1, 0x123456, 0}}, keyOK},
		{"an entry without bytes", gib, []klmEntry{{1, strideOp, gib<<32 | 2}, {0xffff << 16, 0x123456, 0}, {1, w.lkey, memoryAt}}, keyOK},
		{"far on in the first entry, a hole in the second", 1 << 17,
			[]klmEntry{{2, strideOp, 1<<16<<32 | 2}, {60000<<16 | 1, dumpFill, 0}, {2<<16 | 1, holed, 0}}, keyOK},
		{"a page's distance", 16 << 20, []klmEntry{{8, strideOp, 2<<20<<32 | 1}, {4096<<16 | 8, dumpFill, 0}}, keyOK},
		{"a hole in the rounds", gib, []klmEntry{{1, strideOp, gib<<32 | 1}, {1<<16 | 1, holed, 0}}, keyNone},
	} {
		t.Run(tt.name, func(t *testing.T) {
			require.Equal(t, keyOK, configure(tt.length, klmBytes(tt.list...)))
			require.Equal(t, tt.want.String(), w.reaches(key, w.who, localRead, 0, tt.length).String())
		})
	}
	// The range of a key without bounds that wraps around has no rounds.
	wide := w.key(keyOptions{flags: mkcAll, mode: 2, pd: w.pd | mkcLength64, start: 0x1000,
		klms: []klmEntry{{8, strideOp, 100<<32 | 1}, {8, w.lkey, memoryAt}}})
	require.Equal(t, keyOK, w.reaches(wide, w.who, localRead, 0x1000, 64))
	require.Equal(t, keyBounds, w.reaches(wide, w.who, localRead, 0x1000-5, 64))
	// libmlx5 invalidates such a key as it does a window, from any queue pair.
	require.Equal(t, keyOK, w.change(bind(true, key, 0, w.who, 0, 0, 0, 0), w.who))
	require.Equal(t, keyFree, w.reaches(key, w.who, localRead, 0, 8))
}

// Keys that stand for keys, down to the depth of max_indirection.
func TestNesting(t *testing.T) {
	w := newWindowRig(t)
	other := w.rig.pd(0)
	depth := int(Recorded.Cap("max_indirection"))
	require.Equal(t, 4, depth)
	key := w.lkey
	addr := uint64(memoryAt)
	for level := 1; level <= depth+1; level++ {
		o := keyOptions{flags: mkcAll, pd: w.pd, start: uint64(level) << 32, length: 0x1800, shift: 12}
		if level%2 == 0 {
			o.mode, o.klms = 2, []klmEntry{{0x800, key, addr}, {0x1000, key, addr + 0x800}}
		} else {
			o.mode, o.klms = 3, []klmEntry{{0, key, addr}, {0, key, addr + 0x1000}}
		}
		key, addr = w.key(o), o.start
		want := keyOK
		if level > depth {
			want = keyNesting
		}
		require.Equal(t, want.String(), w.reaches(key, w.who, remoteWrite, addr, 0x1800).String(), level)
		if want != keyOK {
			break
		}
		p := texture(0x1800, byte(level))
		require.Equal(t, keyOK, w.store(key, w.who, addr, p))
		require.Equal(t, p[:0x1000], w.mem.get(0x8000, 0x1000))
		require.Equal(t, p[0x1000:], w.mem.get(0x2000, 0x800))
		got, e := w.load(key, w.who, addr+0x7ff, 0x900)
		require.Equal(t, keyOK, e)
		require.Equal(t, p[0x7ff:0x7ff+0x900], got)
	}
	for _, tt := range []struct {
		name  string
		inner keyOptions
		want  keyError
	}{
		{"local rights serve remote ones", keyOptions{flags: mkcLocRead | mkcLocWrite, pd: w.pd}, keyOK},
		{"no local writing", keyOptions{flags: mkcAll &^ mkcLocWrite, pd: w.pd}, keyRights},
		{"another domain", keyOptions{flags: mkcAll, pd: other}, keyPD},
		{"a bound key", keyOptions{flags: mkcAll, pd: w.pd, qpn: w.who.qpn}, keyQPN},
		{"a free key", keyOptions{flags: mkcAll | mkcFree, pd: w.pd}, keyFree},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.inner.mode, tt.inner.length, tt.inner.shift, tt.inner.mtts = 1, ramPage, 12, []uint64{0x8000}
			outer := keyOptions{flags: mkcRemWrite, mode: 2, pd: w.pd, length: 8, klms: []klmEntry{{8, w.key(tt.inner), 0}}}
			require.Equal(t, tt.want, w.reaches(w.key(outer), w.who, remoteWrite, 0, 8))
		})
	}
}

// A list of pieces of one length begins where the key's address lies in its piece.
func TestPiecesOfOneLength(t *testing.T) {
	w := newWindowRig(t)
	key := w.key(keyOptions{flags: mkcAll, mode: 3, pd: w.pd, start: 0x9_0ff0, length: 0x20, shift: 12,
		klms: []klmEntry{{0, w.lkey, memoryAt}, {0, w.lkey, memoryAt + 0x100}}})
	require.Equal(t, keyOK, w.store(key, w.who, 0x9_0ff8, texture(16, 1)))
	require.Equal(t, texture(16, 1)[:8], w.mem.get(0x8ff8, 8))
	require.Equal(t, texture(16, 1)[8:], w.mem.get(0x8100, 8))
	short := w.key(keyOptions{flags: mkcAll, mode: 3, pd: w.pd, length: 0x2000, shift: 12, klms: []klmEntry{{0, w.lkey, memoryAt}}})
	require.Equal(t, keyBounds, w.reaches(short, w.who, localRead, 0, 0x1001))
}

func TestSpecialKeys(t *testing.T) {
	const dumpFill, reserved, null, terminate = 0x600, 0x400, 0x500, 0x700
	w := newWindowRig(t)
	anyone, driver := user{pd: 0x999, qpn: 1}, user{privileged: true}

	require.Equal(t, keyOK, w.store(dumpFill, anyone, ^uint64(0)-3, []byte{1, 2, 3, 4}))
	require.Equal(t, keyOK, w.store(dumpFill, anyone, 12, []byte{1, 2, 3, 4}))
	got, e := w.load(dumpFill, anyone, 12, 4)
	require.Equal(t, keyOK, e)
	require.Equal(t, make([]byte, 4), got)
	require.Equal(t, keyRights, w.reaches(dumpFill, anyone, remoteWrite, 0, 4))

	require.Equal(t, keyNotPresent, w.reaches(null, anyone, localRead, 0, 4))
	require.Equal(t, keyNotPresent, w.reaches(null, anyone, localWrite, 1<<40, 4))
	require.Equal(t, keyNone, w.reaches(terminate, driver, localRead, 0, 4))

	require.Equal(t, keyNone, w.reaches(reserved, anyone, localWrite, 0x8000, 4))
	require.Empty(t, w.mem.writes)
	require.Equal(t, keyOK, w.store(reserved, driver, 0x8765, []byte{1, 2, 3, 4}))
	require.Equal(t, []byte{1, 2, 3, 4}, w.mem.get(0x8765, 4))
	require.Equal(t, keyRights, w.reaches(reserved, driver, remoteWrite, 0x8765, 4))

	// The driver's keys for memory that is paged in on demand stand for both.
	key := w.key(keyOptions{flags: mkcAll, mode: 3, pd: w.pd, length: 3 * ramPage, shift: 12,
		klms: []klmEntry{{0, w.lkey, memoryAt}, {0, null, 0}, {0, dumpFill, 0}}})
	require.Equal(t, keyOK, w.reaches(key, w.who, remoteWrite, 0, ramPage))
	require.Equal(t, keyNotPresent, w.reaches(key, w.who, remoteWrite, 1, ramPage))
	require.Equal(t, keyOK, w.reaches(key, w.who, remoteRead, 2*ramPage, ramPage))
}

func TestBindsAllocateNothing(t *testing.T) {
	w := newWindowRig(t)
	on := bind(true, w.type2, 5, w.who, w.lkey, memoryAt, 64, windowAccess)
	off := bind(true, w.type2, 0, w.who, 0, 0, 0, 0)
	bound, freed := on.bytes(), off.bytes()
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if e := w.umr(bound, w.who); e != keyOK {
			t.Fatal(e)
		}
		if e := w.umr(freed, w.who); e != keyOK {
			t.Fatal(e)
		}
	}))
}

func BenchmarkBind(b *testing.B) {
	w := newWindowRig(b)
	on := bind(false, w.type1, 5, w.who, w.lkey, memoryAt, 64, windowAccess)
	bound := on.bytes()
	b.ReportAllocs()
	for b.Loop() {
		_ = w.umr(bound, w.who)
	}
}
