package libmlx5

import (
	"encoding/binary"
	"slices"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// The opcodes of send requests, MLX5_OPCODE_* of providers/mlx5/mlx5dv.h.
const (
	opcodeNOP          = 0x00
	opcodeSendInval    = 0x01
	opcodeRDMAWrite    = 0x08
	opcodeRDMAWriteImm = 0x09
	opcodeSend         = 0x0a
	opcodeSendImm      = 0x0b
	opcodeTSO          = 0x0e
	opcodeRDMARead     = 0x10
	opcodeAtomicCS     = 0x11
	opcodeAtomicFA     = 0x12
	opcodeUMR          = 0x25
)

// opcodeOf is mlx5_ib_opcode of providers/mlx5/qp.c.
var opcodeOf = [...]byte{
	verbs.IBV_WR_SEND:                 opcodeSend,
	verbs.IBV_WR_SEND_WITH_INV:        opcodeSendInval,
	verbs.IBV_WR_SEND_WITH_IMM:        opcodeSendImm,
	verbs.IBV_WR_RDMA_WRITE:           opcodeRDMAWrite,
	verbs.IBV_WR_RDMA_WRITE_WITH_IMM:  opcodeRDMAWriteImm,
	verbs.IBV_WR_RDMA_READ:            opcodeRDMARead,
	verbs.IBV_WR_ATOMIC_CMP_AND_SWP:   opcodeAtomicCS,
	verbs.IBV_WR_ATOMIC_FETCH_AND_ADD: opcodeAtomicFA,
	verbs.IBV_WR_BIND_MW:              opcodeUMR,
	verbs.IBV_WR_LOCAL_INV:            opcodeUMR,
	verbs.IBV_WR_TSO:                  opcodeTSO,
	verbs.IBV_WR_DRIVER1:              opcodeUMR,
}

// The bits of the control segment's fm_ce_se, MLX5_WQE_CTRL_* of
// providers/mlx5/mlx5dv.h.
const (
	ctrlCQUpdate            = 2 << 2
	ctrlSolicited           = 1 << 1
	ctrlFence               = 4 << 5
	ctrlInitiatorSmallFence = 1 << 5
)

const (
	inlineSeg    = 1 << 31 // MLX5_INLINE_SEG
	invalidLKey  = 0x100   // MLX5_INVALID_LKEY: it ends the list of a receive request
	extendedUDAV = 1 << 31 // MLX5_EXTENDED_UD_AV
	atomicSize   = 8       // MLX5_ATOMIC_SIZE
)

// Where the control segment has what, in bytes.
const (
	ctrlOpmodIdxOpcode = 0
	ctrlQPNDs          = 4
	ctrlImm            = 12
)

// stage is where requests are built before they are stored to the program's
// memory, so that a store takes several.
type stage []byte

// add makes room for n bytes more and returns it. What is in it is left over.
func (s *stage) add(n int) []byte {
	l := len(*s)
	if l+n > cap(*s) {
		*s = slices.Grow(*s, n)
	}
	*s = (*s)[:l+n]
	return (*s)[l : l+n : l+n]
}

// pad adds zeros up to a multiple of a power of two.
func (s *stage) pad(n int) {
	if over := len(*s) & (n - 1); over != 0 {
		clear(s.add(n - over))
	}
}

// store stores what is staged to a queue of so many places, a power of two, of
// 1<<shift bytes each, from a place on; in two parts where that goes over the
// queue's end.
func (s stage) store(sys verbs.System, queue copyuser.Addr, places, shift, place uint32) error {
	for b := []byte(s); len(b) > 0; {
		at := place & (places - 1)
		n := min(len(b), int(places-at)<<shift)
		if err := verbs.Store(sys, queue+copyuser.Addr(at)<<shift, b[:n]); err != nil {
			return err
		}
		b = b[n:]
		place += uint32(n >> shift)
	}
	return nil
}

// raddr models set_raddr_seg in providers/mlx5/qp.c.
func (s *stage) raddr(addr uint64, rkey uint32) {
	b := s.add(raddrSegSize)
	binary.BigEndian.PutUint64(b[0:], addr)
	binary.BigEndian.PutUint32(b[8:], rkey)
	binary.BigEndian.PutUint32(b[12:], 0)
}

// atomic models _set_atomic_seg in providers/mlx5/qp.c. A fetch-and-add has no
// second operand.
func (s *stage) atomic(op verbs.WROpcode, swap, compareAdd uint64) {
	b := s.add(atomicSegSize)
	if op == verbs.IBV_WR_ATOMIC_FETCH_AND_ADD {
		swap, compareAdd = compareAdd, 0
	}
	binary.BigEndian.PutUint64(b[0:], swap)
	binary.BigEndian.PutUint64(b[8:], compareAdd)
}

// datagram models _set_datagram_seg in providers/mlx5/qp.c: the address vector,
// with the remote queue pair and key.
func (s *stage) datagram(av *[datagramSegSize]byte, qpn, qkey uint32) {
	b := s.add(datagramSegSize)
	copy(b, av[:])
	binary.BigEndian.PutUint32(b[avKey:], qkey)
	binary.BigEndian.PutUint32(b[avDQPDCT:], qpn|extendedUDAV)
}

// xrc adds struct mlx5_wqe_xrc_seg.
func (s *stage) xrc(srqn uint32) {
	b := s.add(xrcSegSize)
	clear(b)
	binary.BigEndian.PutUint32(b, srqn)
}

// data models set_data_ptr_seg in providers/mlx5/qp.c.
func (s *stage) data(length, lkey uint32, addr copyuser.Addr) {
	b := s.add(dataSegSize)
	binary.BigEndian.PutUint32(b[0:], length)
	binary.BigEndian.PutUint32(b[4:], lkey)
	binary.BigEndian.PutUint64(b[8:], uint64(addr))
}

// The bits of struct mlx5_wqe_umr_ctrl_seg, MLX5_WQE_UMR_CTRL_* of
// providers/mlx5/mlx5dv.h.
const (
	umrFlagInline            = 1 << 7
	umrFlagCheckFree         = 1 << 5
	umrFlagTranslationOffset = 1 << 4
	umrFlagCheckQPN          = 1 << 3

	umrMaskLen               = 1 << 0
	umrMaskStartAddr         = 1 << 6
	umrMaskMKey              = 1 << 13
	umrMaskQPN               = 1 << 14
	umrMaskAccessLocalWrite  = 1 << 18
	umrMaskAccessRemoteRead  = 1 << 19
	umrMaskAccessRemoteWrite = 1 << 20
	umrMaskAccessAtomic      = 1 << 21
	umrMaskFree              = 1 << 29
)

// mkeyContextFree is MLX5_WQE_MKEY_CONTEXT_FREE.
const mkeyContextFree = 1 << 6

// mkeyAccess has the bit of struct mlx5_wqe_mkey_context_seg's access_flags for
// each kind of access, MLX5_WQE_MKEY_CONTEXT_ACCESS_FLAGS_*.
var mkeyAccess = [...]struct {
	access uint32
	flag   byte
}{
	{verbs.IBV_ACCESS_LOCAL_WRITE, 1 << 3},
	{verbs.IBV_ACCESS_REMOTE_READ, 1 << 4},
	{verbs.IBV_ACCESS_REMOTE_WRITE, 1 << 5},
	{verbs.IBV_ACCESS_REMOTE_ATOMIC, 1 << 6},
}

// klmOctowords is how many units of 16 bytes, in steps of 4, the list of an UMR
// of one piece has (get_klm_octo in providers/mlx5/qp.c).
const klmOctowords = 4

// bind adds the segments that give a memory window its memory and its key, or
// take them from it if info has no length. It models set_bind_wr and the
// functions that it calls in providers/mlx5/qp.c. Bytes that the library leaves
// as they are in the queue are zeros.
//
// Errors: ErrBindLength, ErrWRPart.
func (s *stage) bind(typ verbs.MWType, rkey uint32, info *BindInfo, qpn uint32) error {
	switch {
	case info.Length > 1<<31:
		return ErrBindLength
	case info.Length > 0 && info.MR == nil:
		return ErrWRPart
	}
	s.umrCtrl(typ, info.Length)
	s.mkeyContext(typ, rkey, info, qpn)
	if info.Length > 0 {
		b := s.add(umrKLMSegSize)
		clear(b)
		binary.BigEndian.PutUint32(b[0:], uint32(info.Length))
		binary.BigEndian.PutUint32(b[4:], info.MR.LKey)
		binary.BigEndian.PutUint64(b[8:], info.Addr)
	}
	return nil
}

// umrCtrl models set_umr_control_seg in providers/mlx5/qp.c.
func (s *stage) umrCtrl(typ verbs.MWType, length uint64) {
	b := s.add(umrCtrlSegSize)
	clear(b)
	flags := byte(umrFlagTranslationOffset | umrFlagInline)
	mask := uint64(umrMaskFree | umrMaskMKey)
	if typ == verbs.IBV_MW_TYPE_2 {
		mask |= umrMaskQPN
	}
	if length > 0 {
		binary.BigEndian.PutUint16(b[4:], klmOctowords)
		if typ == verbs.IBV_MW_TYPE_2 {
			flags |= umrFlagCheckFree
		}
		mask |= umrMaskLen | umrMaskStartAddr | umrMaskAccessLocalWrite |
			umrMaskAccessRemoteRead | umrMaskAccessRemoteWrite | umrMaskAccessAtomic
	} else if typ == verbs.IBV_MW_TYPE_2 {
		flags |= umrFlagCheckQPN
	}
	b[0] = flags
	binary.BigEndian.PutUint64(b[8:], mask)
}

// mkeyContext models set_umr_mkey_seg in providers/mlx5/qp.c. A window of type 2
// that is bound is the queue pair's.
func (s *stage) mkeyContext(typ verbs.MWType, rkey uint32, info *BindInfo, qpn uint32) {
	b := s.add(mkeyContextSegSize)
	clear(b)
	if typ == verbs.IBV_MW_TYPE_1 || info.Length == 0 {
		qpn = 0xffffff
	}
	binary.BigEndian.PutUint32(b[4:], qpn<<8|rkey&0xff)
	if info.Length == 0 {
		b[0] = mkeyContextFree
		return
	}
	for _, a := range mkeyAccess {
		if info.MWAccessFlags&a.access != 0 {
			b[2] |= a.flag
		}
	}
	if info.MWAccessFlags&verbs.IBV_ACCESS_ZERO_BASED == 0 {
		binary.BigEndian.PutUint64(b[16:], info.Addr)
	}
	binary.BigEndian.PutUint64(b[24:], info.Length)
}
