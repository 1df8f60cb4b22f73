package hw

import "encoding/binary"

// EQESize is the length of an event queue entry (struct mlx5_eqe in
// include/linux/mlx5/device.h).
const EQESize = 64

// EQE is what an event queue entry says.
type EQE struct {
	Type    uint8 // MLX5_EVENT_TYPE_*
	Subtype uint8
	Data    [28]byte // union ev_data
}

// Where the parts of an entry lie.
const (
	eqeType    = 1
	eqeSubtype = 3
	eqeData    = 32
	eqeOwner   = 63
)

// DecodeEQE reads an entry of EQESize bytes from an event queue's buffer. The
// entry is the driver's when owner is the parity of its round through the queue.
func DecodeEQE(b []byte) (e EQE, owner uint8) {
	e = EQE{Type: b[eqeType], Subtype: b[eqeSubtype]}
	copy(e.Data[:], b[eqeData:])
	return e, b[eqeOwner] & 1
}

// encode writes the entry as it stands in the queue.
func (e *EQE) encode(b []byte, owner uint8) {
	clear(b)
	b[eqeType], b[eqeSubtype] = e.Type, e.Subtype
	copy(b[eqeData:], e.Data[:])
	b[eqeOwner] = owner
}

// CompCQN returns the completion queue of a MLX5_EVENT_TYPE_COMP (struct
// mlx5_eqe_comp).
func (e *EQE) CompCQN() uint32 { return binary.BigEndian.Uint32(e.Data[24:]) & bits24 }

// CQError returns the completion queue of a MLX5_EVENT_TYPE_CQ_ERROR and why it
// broke (struct mlx5_eqe_cq_err).
func (e *EQE) CQError() (cqn uint32, syndrome uint8) {
	return binary.BigEndian.Uint32(e.Data[:]) & bits24, e.Data[11]
}

func compEQE(cqn uint32) (e EQE) {
	e.Type = eventComp
	binary.BigEndian.PutUint32(e.Data[24:], cqn)
	return e
}

// Why a completion queue breaks, in the event that says so.
const (
	CQErrorOverrun = 1 // an entry had no room
	CQErrorAccess  = 2 // the queue's memory could not be reached
)

func cqErrorEQE(cqn uint32, syndrome uint8) (e EQE) {
	e.Type = eventCQError
	binary.BigEndian.PutUint32(e.Data[:], cqn)
	e.Data[11] = syndrome
	return e
}

// QP returns the queue pair of an event about one (struct mlx5_eqe_qp_srq), and
// what kind of queue it is: 0 for a queue pair.
func (e *EQE) QP() (qpn uint32, typ uint8) {
	return binary.BigEndian.Uint32(e.Data[24:]) & bits24, e.Data[20]
}

func qpEQE(typ uint8, qpn uint32) (e EQE) {
	e.Type = typ
	binary.BigEndian.PutUint32(e.Data[24:], qpn)
	return e
}
