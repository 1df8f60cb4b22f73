package libmlx5

import (
	"fmt"
	"syscall"

	"uverbsim/verbs"
)

// SendWR is a request for a send queue: struct ibv_send_wr. Of the members at
// its end, those count that its opcode and the queue pair's type have.
type SendWR struct {
	WRID      uint64
	Next      *SendWR
	SGList    []verbs.SGE
	Opcode    verbs.WROpcode
	SendFlags verbs.SendFlags

	ImmData        uint32 // the receiver's WC.Imm
	InvalidateRKey uint32

	RDMA   RDMAWR
	Atomic AtomicWR
	UD     UDWR
	XRC    XRCWR
	BindMW BindMWWR
}

// RDMAWR says where the other side's memory is.
type RDMAWR struct {
	RemoteAddr uint64
	RKey       uint32
}

// AtomicWR says where the other side's 8 bytes are, and what becomes of them.
type AtomicWR struct {
	RemoteAddr uint64
	CompareAdd uint64 // what they are compared with, or what is added
	Swap       uint64
	RKey       uint32
}

// UDWR says which queue pair a datagram goes to.
type UDWR struct {
	AH         *AH
	RemoteQPN  uint32
	RemoteQKey uint32
}

// XRCWR names the shared receive queue of the other side.
type XRCWR struct {
	RemoteSRQN uint32
}

// BindMWWR says what a memory window is bound to and which key it has then.
type BindMWWR struct {
	MW   *verbs.MW
	RKey uint32
	BindInfo
}

// BindInfo is what a memory window is bound to: struct ibv_mw_bind_info. A
// length of 0 binds it to nothing.
type BindInfo struct {
	MR            *verbs.MR
	Addr          uint64
	Length        uint64
	MWAccessFlags uint32 // IBV_ACCESS_*
}

// RecvWR is a request for a receive queue: struct ibv_recv_wr.
type RecvWR struct {
	WRID   uint64
	Next   *RecvWR
	SGList []verbs.SGE
}

// Errors of posting, which come with the request that was refused. Those in
// front of it are posted.
var (
	// ErrOpcode is the error of an opcode that there is not; EINVAL.
	ErrOpcode = fmt.Errorf("libmlx5: there is no such opcode: %w", syscall.EINVAL)
	// ErrSQFull is the error of a send queue with no place left; ENOMEM. A place
	// is free again when the request's completion, or a later one, was polled.
	ErrSQFull = fmt.Errorf("libmlx5: the send queue is full: %w", syscall.ENOMEM)
	// ErrSendSGE is the error of more pieces of memory than a send request can
	// have, which is none before the queue pair is in IBV_QPS_RTS; ENOMEM.
	ErrSendSGE = fmt.Errorf("libmlx5: more pieces than a send request can have in the queue pair's state: %w", syscall.ENOMEM)
	// ErrInline is the error of more inline bytes than a request can have;
	// ENOMEM.
	ErrInline = fmt.Errorf("libmlx5: more inline bytes than a send request can have: %w", syscall.ENOMEM)
	// ErrNoAtomics is the error of an atomic operation on a device that has
	// none; EOPNOTSUPP.
	ErrNoAtomics = fmt.Errorf("libmlx5: the device has no atomic operations: %w", syscall.EOPNOTSUPP)
	// ErrBindLength is the error of a window of more than 2 GiB; EOPNOTSUPP.
	ErrBindLength = fmt.Errorf("libmlx5: a memory window of more than 2 GiB: %w", syscall.EOPNOTSUPP)
	// ErrWRPart is the error of a request without its address handle, window or
	// region, at which the C library would be killed; EINVAL.
	ErrWRPart = fmt.Errorf("libmlx5: the request lacks an object that it is about: %w", syscall.EINVAL)
	// ErrRQFull is the error of a receive queue with no place left; ENOMEM.
	ErrRQFull = fmt.Errorf("libmlx5: the receive queue is full: %w", syscall.ENOMEM)
	// ErrRecvSGE is the error of more pieces of memory than a receive request
	// can have, which is none in IBV_QPS_RESET; EINVAL.
	ErrRecvSGE = fmt.Errorf("libmlx5: more pieces than a receive request can have in the queue pair's state: %w", syscall.EINVAL)
)
