package libmlx5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"
)

// ErrNoEntry is the error of StartPoll and NextPoll when there is no completion.
// Its errno is ENOENT.
var ErrNoEntry = fmt.Errorf("libmlx5: the completion queue has no completion: %w", syscall.ENOENT)

// cqPoll is what lies between StartPoll and EndPoll: the members of struct
// ibv_cq_ex and struct mlx5_cq that they fill.
type cqPoll struct {
	cur *resource
	wc  WC
	cqe [cqe64Size]byte
}

// StartPoll takes the first completion of a series. The methods WRID, Status and
// Read… tell of it, NextPoll takes the next one, and EndPoll ends the series;
// all other use of the queue waits until then. After an error there is nothing
// to be ended. It models mlx5_start_poll in providers/mlx5/cq.c.
//
// Errors: ErrNoEntry, ErrPoll, and faults of the program's memory.
func (cq *CQ) StartPoll() error {
	cq.mu.Lock()
	cq.poll.cur, cq.window = nil, window{}
	err := cq.NextPoll()
	if err != nil {
		cq.mu.Unlock()
	}
	return err
}

// NextPoll takes the next completion of a series. It models mlx5_next_poll in
// providers/mlx5/cq.c.
//
// Errors: ErrNoEntry, ErrPoll, and faults of the program's memory.
func (cq *CQ) NextPoll() error {
	p := &cq.poll
	found, err := cq.pollOne(&p.cur, &p.wc, maxAhead)
	if err == nil && !found {
		return ErrNoEntry
	}
	if err == nil {
		i := cq.consIndex - 1 - cq.window.at
		copy(p.cqe[:], cq.entries[i*cqe64Size:])
	}
	return err
}

// EndPoll ends a series. It models mlx5_end_poll_lock in providers/mlx5/cq.c.
//
// Errors: faults of the program's memory.
func (cq *CQ) EndPoll() error {
	defer cq.mu.Unlock()
	return cq.updateConsIndex()
}

// PollEx takes all completions that there are and calls f after each of them; f
// may call the methods WRID, Status and Read…. A program would write the loop of
// StartPoll, NextPoll and EndPoll.
//
// Errors: ErrPoll, and faults of the program's memory.
func (cq *CQ) PollEx(f func()) error {
	err := cq.StartPoll()
	if err != nil {
		return empty(err)
	}
	for ; err == nil; err = cq.NextPoll() {
		f()
	}
	return errors.Join(empty(err), cq.EndPoll())
}

// empty is no error if err is that of an empty queue.
func empty(err error) error {
	if errors.Is(err, ErrNoEntry) {
		return nil
	}
	return err
}

// WRID and Status are wr_id and status of struct ibv_cq_ex.
func (cq *CQ) WRID() uint64 { return cq.poll.wc.WRID }

// Status is described with WRID.
func (cq *CQ) Status() Status { return cq.poll.wc.Status }

// ReadOpcode models ibv_wc_read_opcode.
func (cq *CQ) ReadOpcode() Opcode { return cq.poll.wc.Opcode }

// ReadVendorErr models ibv_wc_read_vendor_err.
func (cq *CQ) ReadVendorErr() uint8 { return cq.poll.cqe[cqeVendorErrSynd] }

// ReadByteLen models ibv_wc_read_byte_len: what the entry says, also for
// requests of which Poll does not tell the length.
func (cq *CQ) ReadByteLen() uint32 { return byteCnt(cq.poll.cqe[:]) }

// ReadImm models ibv_wc_read_imm_data and ibv_wc_read_invalidated_rkey.
func (cq *CQ) ReadImm() uint32 { return binary.BigEndian.Uint32(cq.poll.cqe[cqeImmInvalPKey:]) }

// ReadQPNum models ibv_wc_read_qp_num.
func (cq *CQ) ReadQPNum() uint32 { return qpnOf(cq.poll.cqe[:]) }

// ReadSrcQP models ibv_wc_read_src_qp.
func (cq *CQ) ReadSrcQP() uint32 {
	return binary.BigEndian.Uint32(cq.poll.cqe[cqeFlagsRQPN:]) & 0xffffff
}

// ReadWCFlags models ibv_wc_read_wc_flags: IBV_WC_*. It tells of a receiver's
// flags only.
func (cq *CQ) ReadWCFlags() (flags uint8) {
	switch cq.poll.cqe[cqeOpOwn] >> 4 {
	case cqeRespWRImm, cqeRespSendImm:
		flags = IBV_WC_WITH_IMM
	case cqeRespSendInv:
		flags = IBV_WC_WITH_INV
	}
	if binary.BigEndian.Uint32(cq.poll.cqe[cqeFlagsRQPN:])>>28&3 != 0 {
		flags |= IBV_WC_GRH
	}
	return flags
}

// ReadSLID models ibv_wc_read_slid.
func (cq *CQ) ReadSLID() uint16 { return binary.BigEndian.Uint16(cq.poll.cqe[cqeSLID:]) }

// ReadSL models ibv_wc_read_sl.
func (cq *CQ) ReadSL() uint8 { return cq.poll.cqe[cqeFlagsRQPN] & 0xf }

// ReadDLIDPathBits models ibv_wc_read_dlid_path_bits.
func (cq *CQ) ReadDLIDPathBits() uint8 { return cq.poll.cqe[cqeMLPath] & 0x7f }

// ReadCompletionTS models ibv_wc_read_completion_ts: by the device's clock.
func (cq *CQ) ReadCompletionTS() uint64 {
	return binary.BigEndian.Uint64(cq.poll.cqe[cqeTimestamp:])
}

// ReadCVLAN models ibv_wc_read_cvlan.
func (cq *CQ) ReadCVLAN() uint16 { return binary.BigEndian.Uint16(cq.poll.cqe[cqeVLANInfo:]) }

// ReadFlowTag models ibv_wc_read_flow_tag.
func (cq *CQ) ReadFlowTag() uint32 { return qpnOf(cq.poll.cqe[:]) }
