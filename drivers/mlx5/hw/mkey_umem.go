package hw

import "encoding/binary"

// umem is memory of a user that commands name instead of bus addresses: pages of
// one size with the access bits of a page list, and where the memory begins in the
// first.
type umem struct {
	pages []uint64
	shift uint
	start uint64
}

// Where CREATE_UMEM has what: the logarithm of the page size in 4 KiB (5 bits),
// the offset in the first page, how many pages, and their addresses.
const (
	umemLogPageSize = 35
	umemPageOffset  = 36
	umemCount       = 40
	umemPages       = 48
)

func createUMEM(d *Device, c *command) *refusal {
	be := binary.BigEndian
	n := be.Uint64(c.in[umemCount:])
	list := c.in[umemPages:]
	if n > uint64(len(list)/8) {
		return shortUMEM
	}
	u := &umem{
		pages: make([]uint64, n),
		shift: uint(c.in[umemLogPageSize]&0x1f) + adapterPageShift,
		start: uint64(be.Uint32(c.in[umemPageOffset:])),
	}
	for i := range u.pages {
		u.pages[i] = be.Uint64(list[8*i:])
	}
	number, r := d.add(kindUMEM, c.uid, u)
	if r != nil {
		return r
	}
	putNumber(c.out, number)
	return nil
}

// page returns the entry of a page list for the page of that size which begins at
// an offset of the memory: false where it does not lie in one page of it.
func (u *umem) page(off uint64, shift uint) (uint64, bool) {
	off += u.start
	i, in := off>>u.shift, off&(1<<u.shift-1)
	if shift < adapterPageShift || shift > u.shift || in&(1<<shift-1) != 0 || i >= uint64(len(u.pages)) {
		return 0, false
	}
	return u.pages[i] + in, true
}

// Where CREATE_MKEY names the UMEM that its pages are of, and the offset of the
// first in it; include/linux/mlx5/mlx5_ifc.h leaves both unnamed.
const (
	mkeyUMEMNumber = 100
	mkeyUMEMOffset = 104
)

// fillFromUMEM gives a user's key its pages: as many as the UMEM has from the
// offset on and the key has room for.
func (d *Device) fillFromUMEM(m *mkey, c *command) *refusal {
	be := binary.BigEndian
	number := be.Uint32(c.in[mkeyUMEMNumber:]) & bits24
	o, ok := d.find(kindUMEM, number, c.uid, toName)
	if !ok {
		return noSuchUMEM
	}
	u := o.as.(*umem)
	off := be.Uint64(c.in[mkeyUMEMOffset:])
	if _, ok := u.page(off, m.shift); !ok {
		return badUMEMPage
	}
	for i := uint64(0); i < m.room*octo/8; i++ {
		e, ok := u.page(off+i<<m.shift, m.shift)
		if !ok {
			break
		}
		m.mtts = append(m.mtts, e)
	}
	m.thin, m.refs = true, []ref{{kindUMEM, number}}
	return nil
}
