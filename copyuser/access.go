package copyuser

import "encoding/binary"

// lockPage returns the page at a, locked, if an access that needs those bits
// is allowed; nil is a fault.
func (m *AddressSpace) lockPage(a Addr, need uint32) *Page {
	if p := m.walk(a, need); p != nil {
		return p
	}
	for m.fault(a, need == pteWrite) {
		if p := m.walk(a, need); p != nil {
			return p
		}
	}
	return nil
}

// walk does what the processor does: it looks the page up and checks the
// access against its entry. It returns the page locked, or nil.
func (m *AddressSpace) walk(a Addr, need uint32) *Page {
	e := m.pgd.find(a)
	if e == nil {
		return nil
	}
	p := e.page.Load()
	if p == nil {
		return nil
	}
	p.mu.Lock()
	if e.page.Load() == p && e.bits.Load()&need != 0 {
		return p
	}
	p.mu.Unlock()
	return nil
}

// CopyIn models copy_from_user; see Memory.
func (m *AddressSpace) CopyIn(dst []byte, from Addr) int {
	if !AccessOK(from, uint64(len(dst))) {
		return 0
	}
	// Most of what is copied lies in one page, which is there.
	if off := from.PageOffset(); len(dst) > 0 && len(dst) <= PageSize-off {
		if p := m.walk(from, pteRead); p != nil {
			p.loadUnlock(off, dst)
			return len(dst)
		}
	}
	n := 0
	for n < len(dst) {
		p := m.lockPage(from, pteRead)
		if p == nil {
			break
		}
		off := from.PageOffset()
		c := min(len(dst)-n, PageSize-off)
		p.loadUnlock(off, dst[n:n+c])
		n += c
		from += Addr(c)
	}
	return n
}

// CopyOut models copy_to_user; see Memory.
func (m *AddressSpace) CopyOut(to Addr, src []byte) int {
	if !AccessOK(to, uint64(len(src))) {
		return 0
	}
	n := 0
	for n < len(src) {
		p := m.lockPage(to, pteWrite)
		if p == nil {
			break
		}
		off := to.PageOffset()
		c := min(len(src)-n, PageSize-off)
		p.storeUnlock(off, src[n:n+c])
		n += c
		to += Addr(c)
	}
	return n
}

// Clear models clear_user; see Memory.
func (m *AddressSpace) Clear(to Addr, n uint64) uint64 {
	if !AccessOK(to, n) {
		return 0
	}
	done := uint64(0)
	for done < n {
		p := m.lockPage(to, pteWrite)
		if p == nil {
			break
		}
		off := to.PageOffset()
		c := min(n-done, uint64(PageSize-off))
		p.clearUnlock(off, int(c))
		done += c
		to += Addr(c)
	}
	return done
}

// plain reports whether a number of that width at a lies in one page.
func plain(a Addr, width int) bool { return a.PageOffset() <= PageSize-width }

// GetUint64 models get_user; see Memory.
func (m *AddressSpace) GetUint64(from Addr) (uint64, bool) {
	if !AccessOK(from, 8) {
		return 0, false
	}
	if plain(from, 8) {
		p := m.lockPage(from, pteRead)
		if p == nil {
			return 0, false
		}
		if p.io == nil {
			v := binary.LittleEndian.Uint64(p.data[from.PageOffset():])
			p.mu.Unlock()
			return v, true
		}
		p.mu.Unlock()
	}
	return m.getSlow(from)
}

// getSlow is GetUint64 for device memory and across two pages.
func (m *AddressSpace) getSlow(from Addr) (uint64, bool) {
	var b [8]byte
	if m.CopyIn(b[:], from) < len(b) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(b[:]), true
}

// PutUint16 models put_user; see Memory.
func (m *AddressSpace) PutUint16(to Addr, v uint16) bool { return m.put(to, uint64(v), 2) }

// PutUint32 models put_user; see Memory.
func (m *AddressSpace) PutUint32(to Addr, v uint32) bool { return m.put(to, uint64(v), 4) }

// PutUint64 models put_user; see Memory.
func (m *AddressSpace) PutUint64(to Addr, v uint64) bool { return m.put(to, v, 8) }

func (m *AddressSpace) put(to Addr, v uint64, width int) bool {
	if !AccessOK(to, uint64(width)) {
		return false
	}
	if plain(to, width) {
		p := m.lockPage(to, pteWrite)
		if p == nil {
			return false
		}
		if p.isPlain() {
			b := p.data[to.PageOffset():]
			switch width {
			case 2:
				binary.LittleEndian.PutUint16(b, uint16(v))
			case 4:
				binary.LittleEndian.PutUint32(b, uint32(v))
			default:
				binary.LittleEndian.PutUint64(b, v)
			}
			p.mu.Unlock()
			return true
		}
		p.mu.Unlock()
	}
	return m.putSlow(to, v, width)
}

// putSlow is put for device memory, for pages with several frames, and across two
// pages. One instruction stores all of its bytes or none.
func (m *AddressSpace) putSlow(to Addr, v uint64, width int) bool {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	if last := to + Addr(width-1); !m.touch(last) {
		return false
	}
	return m.CopyOut(to, b[:width]) == width
}

// touch reports whether the byte at a can be written.
func (m *AddressSpace) touch(a Addr) bool {
	p := m.lockPage(a, pteWrite)
	if p == nil {
		return false
	}
	p.mu.Unlock()
	return true
}

// Load is what the process itself does when it reads its memory, byte by byte
// upwards. It returns false if the process gets a signal (SIGSEGV or SIGBUS)
// for it.
func (m *AddressSpace) Load(from Addr, dst []byte) bool {
	return m.CopyIn(dst, from) == len(dst)
}

// Store is what the process itself does when it writes its memory, byte by
// byte upwards; what lies before a fault is written. It returns false if the
// process gets a signal (SIGSEGV or SIGBUS) for it.
func (m *AddressSpace) Store(to Addr, src []byte) bool {
	return m.CopyOut(to, src) == len(src)
}
