package firmware

import (
	"errors"
	"fmt"

	"uverbsim/drivers/mlx5/hw"
)

// errNoRAM is a DMA to an address where the machine has no memory.
var errNoRAM = errors.New("firmware: no memory at this address")

// span is a range of physical addresses, the end not in it.
type span struct{ from, to uint64 }

// memory is the machine's memory as the device reaches it: bus addresses are
// physical ones.
type memory struct {
	bytes []byte // from address 0 on
	ram   []span // where it is memory
}

var _ hw.Memory = (*memory)(nil)

// slice returns the bytes at an address themselves.
func (m *memory) slice(addr hw.Addr, n int) ([]byte, error) {
	for _, s := range m.ram {
		if addr >= s.from && addr < s.to && uint64(n) <= s.to-addr {
			return m.bytes[addr : addr+uint64(n) : addr+uint64(n)], nil
		}
	}
	return nil, fmt.Errorf("%w: %d bytes at %#x", errNoRAM, n, addr)
}

// ReadAt implements hw.Memory.
func (m *memory) ReadAt(p []byte, addr hw.Addr) error {
	b, err := m.slice(addr, len(p))
	copy(p, b)
	return err
}

// WriteAt implements hw.Memory: the last byte, which the driver may wait for, is
// written last.
func (m *memory) WriteAt(p []byte, addr hw.Addr) error {
	b, err := m.slice(addr, len(p))
	if err != nil || len(p) == 0 {
		return err
	}
	last := len(p) - 1
	copy(b, p[:last])
	copy(b[last:], p[last:])
	return nil
}

// barMemory is BAR 0 as the device's own memory, by offset.
type barMemory []byte

var _ hw.Memory = barMemory(nil)

func (m barMemory) slice(off uint64, n int) ([]byte, error) {
	if size := uint64(len(m)); off > size || uint64(n) > size-off {
		return nil, fmt.Errorf("%w: %d bytes at %#x of BAR 0", errNoRAM, n, off)
	}
	return m[off : off+uint64(n)], nil
}

// ReadAt implements hw.Memory.
func (m barMemory) ReadAt(p []byte, off hw.Addr) error {
	b, err := m.slice(off, len(p))
	copy(p, b)
	return err
}

// WriteAt implements hw.Memory.
func (m barMemory) WriteAt(p []byte, off hw.Addr) error {
	b, err := m.slice(off, len(p))
	copy(b, p)
	return err
}
