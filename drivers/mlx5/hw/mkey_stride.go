package hw

// strideOp stands where a list of pieces has its first key if the list repeats:
// the count is then the bytes of a round, the upper half of the address how many
// rounds there are, and its lower 16 bits how many entries follow. Each of these
// has its stride and its bytes in the halves of the count: a round takes so many
// bytes from each, and the next begins a stride further on.
const strideOp = 0x400

func (m *mkey) repeats() bool {
	return m.mode == modeKLM && len(m.klms) > 0 && m.klms[0].key == strideOp
}

func (k klm) bytes() uint64   { return uint64(k.count & 0xffff) }
func (k klm) stride() uint64  { return uint64(k.count >> 16) }
func (k klm) rounds() uint64  { return k.addr >> 32 }
func (k klm) entries() uint64 { return k.addr & 0xffff }

// stride is piece for a list that repeats.
func (m *mkey) stride(off uint64) (k klm, left uint64, ok bool) {
	head := m.klms[0]
	round := uint64(head.count)
	if round == 0 || off/round >= head.rounds() {
		return klm{}, 0, false
	}
	in := off % round
	i := m.entry(in)
	if i == len(m.ends) || uint64(i) > head.entries() {
		return klm{}, 0, false
	}
	k = m.klms[i]
	left = m.ends[i] - in
	k.addr += off/round*k.stride() + k.bytes() - left
	return k, min(left, round-in), true
}

// spans says whether n bytes of a list that repeats can be reached with all that
// lies between them: for each entry from its first round to its last. Then each
// piece can be, however many there are. It looks at no more than they are.
func (d *Device) spans(m *mkey, moves right, off, n, depth uint64) bool {
	head := m.klms[0]
	round := uint64(head.count)
	if round == 0 {
		return false
	}
	first, last := off/round, (off+n-1)/round
	if first >= last || last >= head.rounds() { // the range of a key without bounds may wrap around
		return false
	}
	most := min(d.pieces, last-first)
	rest := d.pieces - most
	d.pieces = most
	defer func() { d.pieces += rest }()
	for _, k := range m.klms[1:min(1+head.entries(), uint64(len(m.klms)))] {
		if !d.takePieces(1) {
			return false
		}
		size := min(k.bytes(), round)
		if size == 0 {
			continue
		}
		inner, e := d.inner(k.key, m.pd, moves)
		if e != keyOK || d.walk(inner, moves, k.addr+first*k.stride(), (last-first)*k.stride()+size, nil, depth) != keyOK {
			return false
		}
		if round -= size; round == 0 {
			return true
		}
	}
	return false
}
