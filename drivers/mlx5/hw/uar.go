package hw

import (
	"encoding/binary"
	"sync/atomic"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// uar is a register page: the bytes of its doorbells as they come in.
type uar struct {
	latch [ifc.MLX5_EQ_DOORBELL_CI + 4]byte
	sends [numSendDoorbells][sendDoorbellSize]byte
}

// The send queues' doorbells of a page: one at the beginning of each BlueFlame
// buffer, from MLX5_BF_OFFSET on.
const (
	sendDoorbellStep = 0x100
	sendDoorbellSize = 8
	numSendDoorbells = (uarPageSize - ifc.MLX5_BF_OFFSET) / sendDoorbellStep
	uarPageSize      = 4096
)

// doorbells has the registers of a page that this device answers to. A register
// is rung by the store that reaches its last byte, so that a 64-bit one may be
// written in two halves.
var doorbells = []struct {
	at, size int
	ring     func(d *Device, page uint32, b []byte)
}{
	{ifc.MLX5_CQ_DOORBELL, 8, func(d *Device, page uint32, b []byte) {
		d.armCQ(page, binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])&bits24)
	}},
	{ifc.MLX5_EQ_DOORBELL, 4, func(d *Device, page uint32, b []byte) {
		d.moveEQ(page, binary.BigEndian.Uint32(b), true)
	}},
	{ifc.MLX5_EQ_DOORBELL_CI, 4, func(d *Device, page uint32, b []byte) {
		d.moveEQ(page, binary.BigEndian.Uint32(b), false)
	}},
}

// allocUAR makes a register page. Its number is its place in the device's
// address range, in pages of 4 KiB.
func allocUAR(d *Device, c *command) *refusal {
	n, r := d.add(kindUAR, c.uid, &uar{})
	if r != nil {
		return r
	}
	putNumber(c.out, n)
	return nil
}

// uarPage is what a mapping of a register page leads to.
type uarPage struct {
	d      *Device
	index  uint32
	polled atomic.Bool // the device knows that it is
}

// UARPage returns the register page with that number, as it stands behind a
// mapping. Doorbells: arm a completion queue at 0x20 (8 bytes: command word and
// queue number), move an event queue's consumer index at 0x40 with and at 0x48
// without arming it (4 bytes), all big-endian; a queue answers only on the page
// that its context names. Send queues have theirs at 0x800 and every 0x100 bytes
// on (8 bytes: the first of the work request; a whole one may follow). The rest of
// the page is dropped. Loads read zeros. While no
// UAR of that number exists, stores are lost. What is returned also has Poll.
func (d *Device) UARPage(index uint32) IO { return &uarPage{d: d, index: index} }

// Load reads zeros: doorbells cannot be read back.
func (p *uarPage) Load(off int, dst []byte) { clear(dst) }

// Store rings the doorbells that src completes.
func (p *uarPage) Store(off int, src []byte) {
	d := p.d
	d.mu.Lock()
	defer d.mu.Unlock()
	o, ok := d.objects[kindUAR].live[p.index]
	if !ok || d.broken || off < 0 {
		return
	}
	u := o.as.(*uar)
	if off >= ifc.MLX5_BF_OFFSET {
		d.storeSend(u, p.index, off-ifc.MLX5_BF_OFFSET, src)
		return
	}
	latch := &u.latch
	if off < len(latch) {
		copy(latch[off:], src)
	}
	for _, b := range doorbells {
		if last := b.at + b.size - 1; off <= last && last < off+len(src) {
			b.ring(d, p.index, latch[b.at:b.at+b.size])
		}
	}
}

// storeSend rings the send queue's doorbell that src completes. What follows it
// is the rest of a work request, which the device reads from the queue.
func (d *Device) storeSend(u *uar, page uint32, off int, src []byte) {
	n, in := off/sendDoorbellStep, off%sendDoorbellStep
	if n >= numSendDoorbells || in >= sendDoorbellSize {
		return
	}
	latch := &u.sends[n]
	if in+copy(latch[in:], src) == sendDoorbellSize {
		d.ringSQ(page, binary.BigEndian.Uint32(latch[4:]))
	}
}
