package hw

import (
	"encoding/binary"
	"fmt"
	"sync"
)

// guard stands between a device and its memory and works out on its own, from the
// bytes of the commands that succeeded, what may be touched: the pages of queues
// and of UMEMs, doorbell records, and what a live key's list of pages or its
// bus addresses give it. Everything else is a violation. What it is told with told
// must be what the device was told.
//
// It is coarse about queues: any part of their pages, for reading and writing.
// Of keys for other keys it knows for byteAt.
type guard struct {
	Memory
	mu    sync.Mutex
	pds   map[uint32]uint16 // owners
	keys  map[uint32]*guardKey
	queue map[guardObject][]guardPages
	fixed []guardPages // may be touched always
	log   []ramWrite   // DMA of payload since clear, in order
	wrong []string
	all   []guardPages // of what lives; nil when that has changed
}

// guardObject is an object by the command that ends it and its number.
type guardObject struct {
	end uint16
	n   uint32
}

// guardPages is a range of bus addresses.
type guardPages struct {
	at, n       uint64
	read, write bool
}

// guardKey is a key as its commands left it.
type guardKey struct {
	ctx   [64]byte
	list  []byte
	exact bool // entries of pages have their access bits
	dead  bool
}

func newGuard(m Memory) *guard {
	return &guard{Memory: m, pds: map[uint32]uint16{}, keys: map[uint32]*guardKey{}, queue: map[guardObject][]guardPages{}}
}

// guardQueues has, of each command that makes a queue, the one that ends it, and
// where in its input the page list, the logarithm of the page size over 4 KiB and
// its mask, and the doorbell record's address are; 0 is none.
var guardQueues = map[uint16]struct {
	end              uint16
	pas, shift, mask int
	record           int
}{
	0x301: {0x302, 272, 40, 0x1f, 0},
	0x400: {0x401, 272, 40, 0x1f, 72},
	0x403: {0x401, 272, 40, 0x1f, 0}, // MODIFY_CQ gives a queue that is there new pages
	0x500: {0x501, 272, 44, 0x1f, 184},
	0x700: {0x701, 272, 32, 0x3f, 56},
	0x705: {0x706, 272, 32, 0x3f, 56},
	0x717: {0x718, 336, 178, 0x1f, 160},
	0x904: {0x906, 272, 114, 0x1f, 96},
	0x908: {0x90a, 272, 114, 0x1f, 96},
	0x90c: {0x90e, 272, 114, 0x1f, 96},
}

// told takes note of a command and its answer.
func (g *guard) told(in, out []byte) {
	if len(in) < 16 || len(out) < 16 || out[0] != 0 {
		return
	}
	be := binary.BigEndian
	op, n := be.Uint16(in), be.Uint32(out[8:])
	in = append(append([]byte(nil), in...), make([]byte, max(0, 512-len(in)))...) // zeros follow
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = nil
	switch op {
	case 0x800:
		g.pds[n] = be.Uint16(in[2:])
	case 0x801:
		delete(g.pds, be.Uint32(in[8:])&0xffffff)
	case 0x200:
		g.createKey(n, in)
	case 0x202:
		delete(g.keys, be.Uint32(in[8:])&0xffffff)
	case 0xa08:
		u := guardObject{0xa0a, n}
		size := uint64(4096) << (in[35] & 0x1f)
		for i := range be.Uint64(in[40:]) {
			e := be.Uint64(in[48+8*i:])
			g.queue[u] = append(g.queue[u], guardPages{e &^ 0xfff, size, e&1 != 0, e&2 != 0})
		}
	case 0x103, 0x105: // TEARDOWN_HCA, DISABLE_HCA
		clear(g.pds)
		clear(g.keys)
		clear(g.queue)
	}
	if q, ok := guardQueues[op]; ok {
		if op == 0x403 {
			if be.Uint16(in[6:]) != 1 {
				return
			}
			n = be.Uint32(in[8:]) & 0xffffff
		}
		o := guardObject{q.end, n}
		size := uint64(4096) << (int(in[q.shift]) & q.mask)
		for list := in[q.pas:]; len(list) >= 8; list = list[8:] {
			if a := be.Uint64(list) &^ 0xfff; a != 0 {
				g.queue[o] = append(g.queue[o], guardPages{a, size, true, true})
			}
		}
		if q.record != 0 {
			g.queue[o] = append(g.queue[o], guardPages{be.Uint64(in[q.record:]), 8, true, true})
		}
	}
	delete(g.queue, guardObject{op, be.Uint32(in[8:]) & 0xffffff})
}

func (g *guard) createKey(n uint32, in []byte) {
	be := binary.BigEndian
	k := &guardKey{exact: in[12]&0x80 != 0}
	copy(k.ctx[:], in[16:])
	k.list = append(k.list, in[272:][:min(uint64(be.Uint32(in[96:]))*16, uint64(len(in)-272))]...)
	uid := be.Uint16(in[2:])
	owner, ok := g.pds[k.pd()]
	k.dead = !ok || uid != 0 && uid != owner && owner != 0xffff
	if user := uid != 0 && uid != 0xffff; user && k.mode() != 2 && k.mode() != 3 {
		k.dead = true // pages of a UMEM stand among the UMEM's own
	}
	g.keys[n] = k
}

func (k *guardKey) mode() byte     { return k.ctx[2]&3 | k.ctx[0]>>2&7<<2 }
func (k *guardKey) pd() uint32     { return binary.BigEndian.Uint32(k.ctx[12:]) & 0xffffff }
func (k *guardKey) qpn() uint32    { return binary.BigEndian.Uint32(k.ctx[4:]) >> 8 }
func (k *guardKey) start() uint64  { return binary.BigEndian.Uint64(k.ctx[16:]) }
func (k *guardKey) length() uint64 { return binary.BigEndian.Uint64(k.ctx[24:]) }
func (k *guardKey) size() uint64   { return 1 << (k.ctx[59] & 0x3f) }
func (k *guardKey) whole() bool    { return k.ctx[12]&0x80 != 0 }

// changed takes note of a work request that changed a key. What it points to is
// read from the memory as it is now.
func (g *guard) changed(w []byte) {
	be := binary.BigEndian
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = nil
	k := g.keys[be.Uint32(w[12:])>>8]
	if k == nil {
		return
	}
	flags, n, mask, ctx := w[16], int(be.Uint16(w[20:]))*16, be.Uint64(w[24:]), w[64:128]
	at := 0
	if flags&0x10 != 0 {
		at = int(uint64(be.Uint32(w[32:]))<<16|uint64(be.Uint16(w[22:]))) * 16
	}
	list := make([]byte, n)
	if flags&0x80 != 0 {
		copy(list, w[128:])
	} else if n > 0 {
		addr := be.Uint64(w[136:])
		for i := range list {
			if a, e := g.byteAt(be.Uint32(w[132:]), 0, 0xffffff, 0, addr+uint64(i), 0, true); e == keyOK {
				_ = g.Memory.ReadAt(list[i:i+1], a)
			}
		}
	}
	if n > 0 {
		for i := 7; i < len(k.list) && !k.exact && k.mode() == 1; i += 8 {
			k.list[i] |= 3 // what came without access bits has them all
		}
		k.exact = true
		k.list = append(k.list, make([]byte, max(0, at+n-len(k.list)))...)
		copy(k.list[at:], list)
	}
	for _, f := range []struct {
		bit      uint64
		at, n    int
		bitsHere byte
	}{
		{1 << 0, 24, 8, 0xff}, {1 << 0, 12, 1, 0x80}, {1 << 1, 59, 1, 0x1f}, {1 << 42, 59, 1, 0x20}, {1 << 6, 16, 8, 0xff},
		{1 << 7, 13, 3, 0xff}, {1 << 13, 7, 1, 0xff}, {1 << 14, 4, 3, 0xff}, {1 << 17, 2, 1, 0x04}, {1 << 18, 2, 1, 0x08},
		{1 << 19, 2, 1, 0x10}, {1 << 20, 2, 1, 0x20}, {1 << 21, 2, 1, 0x40}, {1 << 29, 0, 1, 0x40},
	} {
		if mask&f.bit != 0 {
			for i := f.at; i < f.at+f.n; i++ {
				k.ctx[i] = k.ctx[i]&^f.bitsHere | ctx[i]&f.bitsHere
			}
		}
	}
}

// freed takes note of a key that was invalidated.
func (g *guard) freed(key uint32) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = nil
	if k := g.keys[key>>8]; k != nil {
		k.ctx[0] |= 0x40
	}
}

// The rights of a key's context as they lie in its third byte.
const (
	guardLR = 1 << (2 + iota)
	guardLW
	guardRR
	guardRW
	guardA
)

// byteAt finds the bus address of one byte behind a key, for a use with those
// rights. The driver may use keys of any domain. An error is only said to be one,
// but for absent pages.
func (g *guard) byteAt(key, pd, qpn uint32, want byte, addr uint64, depth int, driver bool) (Addr, keyError) {
	be := binary.BigEndian
	k := g.keys[key>>8]
	if k == nil || k.dead || k.ctx[0]&0x40 != 0 || k.ctx[7] != byte(key) || !driver && k.pd() != pd ||
		!driver && k.qpn() != 0xffffff && k.qpn() != qpn || k.ctx[2]&want != want {
		return 0, keyNone
	}
	off := addr - k.start()
	if !k.whole() && (addr < k.start() || off >= k.length()) {
		return 0, keyBounds
	}
	read, write := want&(guardLR|guardRR|guardA) != 0, want&(guardLW|guardRW|guardA) != 0
	inner := byte(0)
	if read {
		inner |= guardLR
	}
	if write {
		inner |= guardLW
	}
	next := func(e []byte, in uint64) (Addr, keyError) {
		if depth == 4 {
			return 0, keyNesting
		}
		return g.byteAt(be.Uint32(e[4:]), k.pd(), 0xffffff, inner, be.Uint64(e[8:])+in, depth+1, false)
	}
	pos := off + k.start()%k.size()
	i, in := pos/k.size(), pos%k.size()
	switch k.mode() {
	case 0:
		return addr, keyOK
	case 1:
		if i >= uint64(len(k.list)/8) {
			return 0, keyNotPresent
		}
		e := be.Uint64(k.list[8*i:])
		if k.exact && (read && e&1 == 0 || write && e&2 == 0) {
			return 0, keyNotPresent
		}
		return e&^0xfff + in, keyOK
	case 2:
		if depth == 4 {
			return 0, keyNesting
		}
		if len(k.list) >= 16 && be.Uint32(k.list[4:]) == 0x400 {
			round := uint64(be.Uint32(k.list))
			if round == 0 || off/round >= uint64(be.Uint32(k.list[8:])) {
				return 0, keyBounds
			}
			left := off % round
			for j := 1; j <= int(be.Uint16(k.list[14:])) && 16*j < len(k.list); j++ {
				e := k.list[16*j:]
				if n := uint64(be.Uint16(e[2:])); left >= n {
					left -= n
					continue
				}
				return next(e, off/round*uint64(be.Uint16(e))+left)
			}
			return 0, keyBounds
		}
		for e := k.list; len(e) >= 16; e = e[16:] {
			if n := uint64(be.Uint32(e)); off >= n {
				off -= n
				continue
			}
			return next(e, off)
		}
		return 0, keyBounds
	case 3:
		if i >= uint64(len(k.list)/16) {
			return 0, keyBounds
		}
		return next(k.list[16*i:], in)
	}
	return 0, keyNone
}

// allowed are the ranges that a key lets the device touch.
func (k *guardKey) allowed() (rs []guardPages) {
	if k.dead || k.ctx[0]&0x40 != 0 {
		return nil
	}
	read, write := k.ctx[2]&(guardLR|guardRR|guardA) != 0, k.ctx[2]&(guardLW|guardRW|guardA) != 0
	switch k.mode() {
	case 0:
		if k.whole() {
			return []guardPages{{0, ^uint64(0), read, write}}
		}
		return []guardPages{{k.start(), k.length(), read, write}}
	case 1:
		lead := k.start() % k.size()
		left := k.length() + lead
		if k.whole() { // it goes on from the end of addresses to the start
			lead = 0
		}
		if k.whole() || left < lead {
			left = ^uint64(0)
		}
		for list := k.list; len(list) >= 8 && left > 0; list = list[8:] {
			e := binary.BigEndian.Uint64(list)
			n := min(left, k.size())
			rs = append(rs, guardPages{e&^0xfff + lead, n - min(n, lead), read && (!k.exact || e&1 != 0), write && (!k.exact || e&2 != 0)})
			left -= n
			lead = 0
		}
	}
	return rs
}

// check says whether n bytes at a bus address may be touched, by whatever lives.
func (g *guard) check(at, n uint64, write bool) bool {
	if g.all == nil {
		g.all = append(g.all, g.fixed...)
		for _, q := range g.queue {
			g.all = append(g.all, q...)
		}
		for _, k := range g.keys {
			g.all = append(g.all, k.allowed()...)
		}
	}
next:
	for n > 0 {
		for _, r := range g.all {
			if (write && r.write || !write && r.read) && at >= r.at && at-r.at < r.n {
				step := min(n, r.n-(at-r.at))
				at, n = at+step, n-step
				continue next
			}
		}
		return false
	}
	return true
}

func (g *guard) touch(p []byte, at Addr, write bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.check(at, uint64(len(p)), write) {
		g.wrong = append(g.wrong, fmt.Sprintf("write %t of %d bytes at %#x", write, len(p), at))
	}
	g.log = append(g.log, ramWrite{at, len(p)})
}

func (g *guard) ReadAt(p []byte, addr Addr) error {
	g.touch(p, addr, false)
	return g.Memory.ReadAt(p, addr)
}

func (g *guard) WriteAt(p []byte, addr Addr) error {
	g.touch(p, addr, true)
	return g.Memory.WriteAt(p, addr)
}

// take returns the addresses of all bytes touched since it was asked before.
func (g *guard) take() (bytes []Addr) {
	for _, w := range g.log {
		for i := range w.n {
			bytes = append(bytes, w.addr+Addr(i))
		}
	}
	g.log = nil
	return bytes
}
