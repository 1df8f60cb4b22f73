package hw

import "encoding/binary"

// allocMemic gives out memory on the device: the driver chooses it itself, so
// the answer is the range that was asked for.
func allocMemic(_ *Device, c *command) *refusal {
	copy(c.out[8:16], c.in[16:24])
	return nil
}

// memicOpOffset is how far behind memory the addresses are at which writes do an
// operation on it.
const memicOpOffset = 0x100000

// modifyMemic answers with the address at which writes do the operation.
func modifyMemic(_ *Device, c *command) *refusal {
	binary.BigEndian.PutUint64(c.out[16:], binary.BigEndian.Uint64(c.in[16:])+memicOpOffset)
	return nil
}
