package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// What the low bits of an entry of a page list say: the page is there for
// reading, and for writing (MLX5_IB_MTT_* in drivers/infiniband/hw/mlx5/mlx5_ib.h).
const (
	mttRead    = 1 << 0
	mttWrite   = 1 << 1
	mttPresent = mttRead | mttWrite
	mttLow     = 1<<adapterPageShift - 1 // not part of the address
)

// pageBits are the bits that a page must have for a use. The rights that move
// something have the same bits as the entries of a page list.
func pageBits(moves right) uint64 { return uint64(moves) & mttPresent }

var _ = [1]struct{}{}[(localRead^mttRead)|(localWrite^mttWrite)]

// klm is an entry of a list of pieces of other keys. In a list of pieces of one
// length the count means nothing.
type klm struct {
	count uint32
	key   uint32
	addr  uint64
}

func (k *klm) get(b []byte) {
	k.count, k.key, k.addr = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint64(b[8:])
}

func (k klm) put(b []byte) {
	binary.BigEndian.PutUint32(b, k.count)
	binary.BigEndian.PutUint32(b[4:], k.key)
	binary.BigEndian.PutUint64(b[8:], k.addr)
}

// putList writes entries of the key's list from an octoword on. They are within
// its room.
func (m *mkey) putList(at uint64, list []byte) {
	switch m.mode {
	case modeMTT:
		m.putMTTs(at, list)
	case modeKLM, modeKSM:
		m.putKLMs(at, list)
	}
}

func (m *mkey) putMTTs(at uint64, list []byte) {
	first := at * octo / 8
	if want := first + uint64(len(list)/8); want > uint64(len(m.mtts)) {
		m.mtts = append(m.mtts, make([]uint64, want-uint64(len(m.mtts)))...)
	}
	for i := range m.mtts[first:][:len(list)/8] {
		m.mtts[first+uint64(i)] = binary.BigEndian.Uint64(list[8*i:])
	}
	m.thin = true
}

func (m *mkey) putKLMs(at uint64, list []byte) {
	if want := at + uint64(len(list)/octo); want > uint64(len(m.klms)) {
		m.klms = append(m.klms, make([]klm, want-uint64(len(m.klms)))...)
	}
	for i := range m.klms[at:][:len(list)/octo] {
		m.klms[at+uint64(i)].get(list[octo*i:])
	}
	if m.mode != modeKLM {
		return
	}
	end := uint64(0)
	if at > 0 && at <= uint64(len(m.ends)) {
		m.ends = m.ends[:at]
		end = m.ends[at-1]
	} else {
		at, m.ends = 0, m.ends[:0]
	}
	repeats := m.repeats()
	for i, k := range m.klms[at:] {
		switch {
		case !repeats:
			end += uint64(k.count)
		case at+uint64(i) > 0:
			end += k.bytes()
		}
		m.ends = append(m.ends, end)
	}
}

// inside says whether n bytes at addr lie in the key's range.
func (m *mkey) inside(addr, n uint64) bool {
	off := addr - m.base
	return m.everything || off <= m.length && n <= m.length-off
}

// onePage returns the bus address of n bytes at addr where they lie in one page
// that is present: what a use of a key nearly always is.
func (m *mkey) onePage(addr, n uint64, moves right) (Addr, bool) {
	if m.mode != modeMTT || m.free || n == 0 || !m.inside(addr, n) {
		return 0, false
	}
	off := addr - m.base + m.lead
	i, in := off>>(m.shift&63), off&m.mask
	if i >= uint64(len(m.mtts)) || n-1 > m.mask-in || pageBits(moves)&^m.mtts[i] != 0 {
		return 0, false
	}
	return m.mtts[i]&^mttLow + in, true
}

var capIndirection = ifc.Must("cmd_hca_cap").Field("max_indirection")

// walk goes through n bytes at addr of a key. With memory p it moves them: it
// reads where the rights moves are localRead, and writes else. Without it looks
// whether it could. Depth is how many keys have led here.
func (d *Device) walk(m *mkey, moves right, addr, n uint64, p []byte, depth uint64) keyError {
	if m.free {
		return keyFree
	}
	if !m.inside(addr, n) {
		return keyBounds
	}
	if depth == 0 {
		d.pieces = maxPieces
	}
	switch m.mode {
	case modePA:
		return d.move(moves, addr, p)
	case modeMTT:
		e := d.walkPages(m, moves, addr-m.base+m.lead, n, p)
		d.pageable = e == keyNotPresent && m.onDemand
		return e
	case modeKLM, modeKSM:
		if depth > 0 && depth >= d.cap(capIndirection) { // one level there is always
			return keyNesting
		}
		return d.walkPieces(m, moves, addr-m.base, n, p, depth+1)
	case modeMemic, modeSWICM:
		return d.moveInside(m.mode, moves, m.start+addr, n, p)
	case modeDrop:
		if moves == localRead {
			clear(p)
		}
		return keyOK
	}
	d.pageable = depth > 0 // where other keys have a piece that is to be paged in
	return keyNotPresent
}

// move is DMA of p at a bus address, if there is any.
func (d *Device) move(moves right, at Addr, p []byte) keyError {
	if p == nil {
		return keyOK
	}
	var err error
	if moves == localRead {
		err = d.read("payload", p, at)
	} else {
		err = d.write("payload", p, at)
	}
	if err != nil {
		return keyBus
	}
	return keyOK
}

// walkPages is walk for a list of pages. Pages that lie one behind the other are
// one DMA.
func (d *Device) walkPages(m *mkey, moves right, off, n uint64, p []byte) keyError {
	bits := pageBits(moves)
	size := m.mask + 1
	i, in := off>>m.shift, off&m.mask
	pages := uint64(len(m.mtts))
	if p == nil && !m.thin {
		if last := (off + n - 1) >> m.shift; last >= i && last < pages {
			return keyOK
		}
	}
	if p == nil && !d.takePieces(min((in+n-1)>>m.shift+1, pages)) {
		return keyPieces
	}
	for n > 0 {
		if i >= pages {
			return m.beyond(i)
		}
		if m.mtts[i]&bits != bits {
			return keyNotPresent
		}
		page := m.mtts[i] &^ mttLow
		at, run := page+in, min(n, size-in)
		for i++; run < n && i < pages && m.mtts[i]&bits == bits && m.mtts[i]&^mttLow == page+size; i++ {
			page += size
			run += min(n-run, size)
		}
		if p != nil {
			if e := d.move(moves, at, p[:run]); e != keyOK {
				return e
			}
			p = p[run:]
		}
		n, in = n-run, 0
	}
	return keyOK
}

// beyond is the error for a page that is not in the list: absent, or where there
// is no room for it, out of bounds.
func (m *mkey) beyond(i uint64) keyError {
	if i < m.room*octo/8 {
		return keyNotPresent
	}
	return keyBounds
}

// maxPieces bounds the pieces and pages of other keys that the device looks at for
// one use, before the first byte moves: others wait meanwhile. It is the model's own.
const maxPieces = 1 << 20

// takePieces says whether n more may be looked at.
func (d *Device) takePieces(n uint64) bool {
	if n > d.pieces {
		return false
	}
	d.pieces -= n
	return true
}

// walkPieces is walk for a list of pieces of other keys.
func (d *Device) walkPieces(m *mkey, moves right, off, n uint64, p []byte, depth uint64) keyError {
	if p == nil && m.repeats() && d.spans(m, moves, off, n, depth) {
		return keyOK
	}
	for n > 0 {
		if !d.takePieces(1) {
			return keyPieces
		}
		k, left, ok := m.piece(off)
		if !ok {
			return keyBounds
		}
		run := min(n, left)
		inner, e := d.inner(k.key, m.pd, moves)
		if e != keyOK {
			return e
		}
		var part []byte
		if p != nil {
			part, p = p[:run], p[run:]
		}
		if e := d.walk(inner, moves, k.addr, run, part, depth); e != keyOK {
			return e
		}
		off, n = off+run, n-run
	}
	return keyOK
}

// inner finds a key that another stands for. It must be of the same domain, for
// every queue pair, and is asked for local rights, whatever the other allows
// remotely: who put it into the list has the memory.
func (d *Device) inner(key, pd uint32, moves right) (*mkey, keyError) {
	m := d.mkey(key)
	if m == nil {
		if m = d.special(key, false); m == nil {
			return nil, keyNone
		}
		return m, keyOK
	}
	if e := m.serves(user{pd: pd, qpn: anyQPN}); e != keyOK {
		return nil, e
	}
	if moves&^m.rights != 0 {
		return nil, keyRights
	}
	return m, keyOK
}

// piece returns where the byte at an offset of a key's range is, and how many
// bytes from there on are in the same piece.
func (m *mkey) piece(off uint64) (k klm, left uint64, ok bool) {
	if m.mode == modeKSM {
		off += m.lead
		i, in := off>>m.shift, off&m.mask
		if i >= uint64(len(m.klms)) {
			return klm{}, 0, false
		}
		k = m.klms[i]
		k.addr += in
		return k, m.mask + 1 - in, true
	}
	if m.repeats() {
		return m.stride(off)
	}
	i := m.entry(off)
	if i == len(m.ends) {
		return klm{}, 0, false
	}
	k = m.klms[i]
	left = m.ends[i] - off
	k.addr += uint64(k.count) - left
	return k, left, true
}

// entry is the index of the entry that ends behind off, their number if none does.
func (m *mkey) entry(off uint64) int {
	lo, hi := 0, len(m.ends)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); m.ends[mid] <= off {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}
