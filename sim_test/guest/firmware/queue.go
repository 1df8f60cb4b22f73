package firmware

import (
	"encoding/binary"
	"fmt"

	"uverbsim/drivers/mlx5/hw/words"
)

// The command queue that the device offers: 32 slots of 64 bytes in one page.
const (
	queueLogSlots  = 5
	queueLogStride = 6
	queueSlots     = 1 << queueLogSlots
	slotSize       = 1 << queueLogStride
	queuePage      = 4096
)

// A slot (struct mlx5_cmd_layout in include/linux/mlx5/device.h). The first
// bytes of input and output stand in it, the rest in chains of mailboxes.
const (
	slotInLength   = 4
	slotInMailbox  = 8
	slotIn         = 16
	slotOut        = 32
	slotOutMailbox = 48
	slotOutLength  = 56
	slotLast       = 60 // token, signature, a reserved byte, status and owner
	slotInline     = 16

	slotOwnedByDevice = 1 << 0
	slotDelivery      = 0xfe // why a command was not delivered; 0: it was
)

// A mailbox (struct mlx5_cmd_prot_block in
// drivers/net/ethernet/mellanox/mlx5/core/mlx5_core.h).
const (
	mailboxData  = 512
	mailboxNext  = 560
	mailboxSize  = 576
	mailboxAlign = 1 << 10
)

// maxCommand is the longest input or output that is taken for one: with its
// list of pages a queue's buffer of a GiB stays far below.
const maxCommand = 4 << 20

// slot is one command that the driver has handed over.
type slot struct {
	ram    *memory
	bytes  []byte
	in     []byte
	out    []byte // at least what stands in the slot, so that it has a status
	outLen int    // as much of it as the driver has asked for
	outBox uint64
}

// ownedByDevice says whether the driver has handed the slot over.
func ownedByDevice(b []byte) bool { return words.Load32(b, slotLast)&slotOwnedByDevice != 0 }

// open reads a slot's command. The error is that of a slot that leads out of
// memory or is absurdly long.
func (s *slot) open() error {
	in := binary.BigEndian.Uint32(s.bytes[slotInLength:])
	out := binary.BigEndian.Uint32(s.bytes[slotOutLength:])
	if in > maxCommand || out > maxCommand {
		return fmt.Errorf("firmware: a command with %d bytes of input and %d of output", in, out)
	}
	s.in = make([]byte, in)
	s.outLen = int(out)
	s.out = make([]byte, max(s.outLen, slotInline))
	s.outBox = binary.BigEndian.Uint64(s.bytes[slotOutMailbox:])
	rest := s.in[copy(s.in, s.bytes[slotIn:slotIn+slotInline]):]
	return s.ram.chain(binary.BigEndian.Uint64(s.bytes[slotInMailbox:]), rest, func(box, part []byte) { copy(part, box) })
}

// answer writes the output back.
func (s *slot) answer() error {
	out := s.out[:s.outLen]
	n := copy(s.bytes[slotOut:slotOut+slotInline], out)
	return s.ram.chain(s.outBox, out[n:], func(box, part []byte) { copy(box, part) })
}

// handBack gives the slot to the driver, with the command delivered. Nothing of
// it may be touched afterwards.
func (s *slot) handBack() {
	words.Store32(s.bytes, slotLast, words.Load32(s.bytes, slotLast)&^(slotDelivery|slotOwnedByDevice))
}

// chain calls move for each mailbox of a chain and the part of b that it has.
func (m *memory) chain(box uint64, b []byte, move func(box, part []byte)) error {
	for len(b) > 0 {
		mailbox, err := m.slice(box&^(mailboxAlign-1), mailboxSize)
		if err != nil {
			return err
		}
		n := min(len(b), mailboxData)
		move(mailbox[:n], b[:n])
		b = b[n:]
		box = binary.BigEndian.Uint64(mailbox[mailboxNext:])
	}
	return nil
}
