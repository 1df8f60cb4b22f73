package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// CQESize is the length of a completion (struct mlx5_cqe64 in
// include/linux/mlx5/device.h). An entry of 128 bytes has it in its second half.
const CQESize = 64

// Completion is what a completion queue entry says.
type Completion struct {
	Opcode    uint8 // MLX5_CQE_*
	Solicited bool  // the sender asked for the event

	UserIndex   uint32 // 32-bit word at byte 32: user index (CQE version 1) or SRQ number
	Immediate   uint32 // immediate data, invalidated key or P_Key
	ByteCount   uint32
	SendOpcode  uint8  // of the work request, for a requester
	QPN         uint32 // 24 bits
	WQECounter  uint16
	MLPath      uint8
	Checksum    uint16
	SLID        uint16
	FlagsRQPN   uint32 // flags, service level and the remote queue pair
	HDSIPExt    uint8
	L4L3HdrType uint8
	VLANInfo    uint16
	RSSHash     uint32 // of a frame that a table of receive queues was for
	RSSHashType uint8

	Syndrome       uint8 // of MLX5_CQE_REQ_ERR and MLX5_CQE_RESP_ERR
	VendorSyndrome uint8
}

// failed says that the work request did not succeed. Such a completion raises an
// event as a solicited one does.
func (c *Completion) failed() bool {
	return c.Opcode == ifc.MLX5_CQE_REQ_ERR || c.Opcode == ifc.MLX5_CQE_RESP_ERR
}

// Bits of an entry's last byte, below the opcode.
const (
	cqeSolicited = 1 << 1
	cqeOwner     = 1 << 0
)

// encode writes the completion as it stands in the queue. A failed one has
// syndromes where the others have the time stamp.
func (c *Completion) encode(b []byte, stamp uint64, owner uint8) {
	be := binary.BigEndian
	be.PutUint32(b[12:], c.RSSHash)
	b[16], b[17] = c.RSSHashType, c.MLPath
	be.PutUint16(b[20:], c.Checksum)
	be.PutUint16(b[22:], c.SLID)
	be.PutUint32(b[24:], c.FlagsRQPN)
	b[28], b[29] = c.HDSIPExt, c.L4L3HdrType
	be.PutUint16(b[30:], c.VLANInfo)
	be.PutUint32(b[32:], c.UserIndex)
	be.PutUint32(b[36:], c.Immediate)
	be.PutUint32(b[44:], c.ByteCount)
	if c.failed() {
		b[54], b[55] = c.VendorSyndrome, c.Syndrome
	} else {
		be.PutUint64(b[48:], stamp)
	}
	be.PutUint32(b[56:], uint32(c.SendOpcode)<<24|c.QPN&bits24)
	be.PutUint16(b[60:], c.WQECounter)
	b[63] = c.Opcode<<4 | owner&cqeOwner
	if c.Solicited {
		b[63] |= cqeSolicited
	}
}
