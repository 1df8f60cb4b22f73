package hw

import (
	"encoding/binary"
	"errors"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// adapterPageShift is the device's smallest page (MLX5_ADAPTER_PAGE_SHIFT).
const adapterPageShift = 12

// errOutside is a place of a queue that its page list does not reach.
var errOutside = errors.New("hw: the page list does not reach this far")

// buffer is a queue's memory: a list of pages of one size, and where in the
// first of them the queue begins.
type buffer struct {
	pages []Addr
	shift uint // of a page
	start uint64
}

// newBuffer reads a buffer from a command: logPageSize in units of 4 KiB,
// pageOffset in 64ths of a page, and a list of be64 page addresses, whose low 12
// bits are not part of the address.
func newBuffer(logPageSize, pageOffset uint64, list []byte) buffer {
	b := buffer{shift: uint(logPageSize) + adapterPageShift}
	b.start = pageOffset << b.shift / 64
	for ; len(list) >= 8; list = list[8:] {
		b.pages = append(b.pages, binary.BigEndian.Uint64(list)&^(1<<adapterPageShift-1))
	}
	return b
}

// reaches says whether the pages cover the queue's first n bytes.
func (b *buffer) reaches(n uint64) bool {
	return (b.start+n+1<<b.shift-1)>>b.shift <= uint64(len(b.pages))
}

// put writes p at an offset of the queue by DMA, in one write for each page that
// it touches. Of an entry the last byte says whose it is; Memory sees to it that
// who sees that byte sees the whole entry.
func (d *Device) put(what string, b *buffer, off uint64, p []byte) error {
	if !b.reaches(off + uint64(len(p))) {
		return errOutside
	}
	for off += b.start; len(p) > 0; {
		in := off & (1<<b.shift - 1)
		n := min(uint64(len(p)), 1<<b.shift-in)
		if err := d.write(what, p[:n], b.pages[off>>b.shift]+in); err != nil {
			return err
		}
		p, off = p[n:], off+n
	}
	return nil
}

// get reads a part of the queue by DMA, in one read for each page.
func (d *Device) get(what string, b *buffer, off uint64, p []byte) error {
	if !b.reaches(off + uint64(len(p))) {
		return errOutside
	}
	for off += b.start; len(p) > 0; {
		in := off & (1<<b.shift - 1)
		n := min(uint64(len(p)), 1<<b.shift-in)
		if err := d.read(what, p[:n], b.pages[off>>b.shift]+in); err != nil {
			return err
		}
		p, off = p[n:], off+n
	}
	return nil
}

// pas is where the page addresses begin in the commands that make queues.
var pas = ifc.Must("create_cq_in").Field("pas").Byte()
