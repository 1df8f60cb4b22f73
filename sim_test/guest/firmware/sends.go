package firmware

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/drivers/mlx5/hw/words"
)

// The fields of a send queue's context.
var sqc = struct{ cqn, logSize, logPageSize, pageOffset, pages ifc.Field }{
	cqn:         ifc.Must("create_sq_in").Field("ctx.cqn"),
	logSize:     ifc.Must("create_sq_in").Field("ctx.wq.log_wq_sz"),
	logPageSize: ifc.Must("create_sq_in").Field("ctx.wq.log_wq_pg_sz"),
	pageOffset:  ifc.Must("create_sq_in").Field("ctx.wq.page_offset"),
	pages:       ifc.Must("create_sq_in").Field("ctx.wq.pas"),
}

// A work request (struct mlx5_wqe_ctrl_seg in include/linux/mlx5/qp.h): blocks
// of 64 bytes that begin with a control segment.
const (
	wqeBlock   = 64
	wqeOpcode  = 3
	wqeUnits   = 4  // number of the queue, and in the low 6 bits the length in 16 bytes
	wqeFlags   = 11 // fm_ce_se
	wqeReports = 0x08
	wqeCE      = 0x0c

	// The two buffers of a register page that take the beginning of a request.
	blueFlameBuffer = 256
)

// sends is a send queue of raw Ethernet packets that the network driver has: some
// on any adapter with a port, and one of them carries nothing but NOPs, whose
// completions it waits for. The device refuses packets with an error, which a user
// of a raw packet queue pair gets; to the network driver that would be a fault of
// the adapter, which it reports and tries to mend. So its queues end here. There
// is nobody on the wire: a packet is sent when its turn comes.
type sends struct {
	cqn     uint32
	logSize uint
	shift   uint
	start   uint64
	pages   []byte // be64 each
}

func newSends(in []byte) *sends {
	s := &sends{
		cqn:     uint32(sqc.cqn.Get(in)),
		logSize: uint(sqc.logSize.Get(in)),
		shift:   uint(sqc.logPageSize.Get(in)) + 12,
		pages:   append([]byte(nil), sqc.pages.Bytes(in)...),
	}
	s.start = sqc.pageOffset.Get(in) * 64
	return s
}

// block returns the first block of the request with that index.
func (s *sends) block(ram *memory, index uint16) ([]byte, error) {
	at := s.start + uint64(index)&(1<<s.logSize-1)*wqeBlock
	page := at >> s.shift * 8
	if page+8 > uint64(len(s.pages)) {
		return nil, errNoRAM
	}
	return ram.slice(binary.BigEndian.Uint64(s.pages[page:])+at&(1<<s.shift-1), wqeBlock)
}

// send carries out what was put into a send queue: from the index that was last
// looked at up to the one that the record has now.
func (f *Firmware) send(q *queue, from, to uint16) {
	left := to - from
	if uint32(left) > 1<<q.sends.logSize {
		return // the queue was emptied and begins anew
	}
	for left > 0 {
		b, err := q.sends.block(f.ram, from)
		if err != nil {
			f.log("send queue %#x: %v", q.number, err)
			return
		}
		if pushed := f.pushed(q, from); pushed != nil {
			b = pushed
		}
		if b[wqeFlags]&wqeCE == wqeReports {
			err := f.dev.Complete(q.sends.cqn, hw.Completion{
				Opcode: ifc.MLX5_CQE_REQ, SendOpcode: b[wqeOpcode], QPN: q.number, WQECounter: from,
			})
			if err != nil {
				f.log("send queue %#x: %v", q.number, err)
			}
		}
		units := binary.BigEndian.Uint32(b[wqeUnits:]) & 0x3f
		blocks := uint16(max(1, (units*16+wqeBlock-1)/wqeBlock))
		from += blocks
		left -= min(left, blocks)
	}
}

// pushed returns a request as the driver has pushed it through BlueFlame, nil if
// it is not there, or no more. What is pushed need not be the same as what
// stands in memory: the driver finds out in that way whether its stores are
// combined. A driver that only rings stores the first 8 bytes to the same place.
func (f *Firmware) pushed(q *queue, index uint16) []byte {
	page := f.page(q.uar)
	if page == nil {
		return nil
	}
	for at := ifc.MLX5_BF_OFFSET; at < ifc.MLX5_BF_OFFSET+2*blueFlameBuffer; at += blueFlameBuffer {
		b := page[at : at+wqeBlock]
		if uint16(words.Load32(b, 0)>>8) != index || words.Load32(b, wqeUnits)>>8 != q.number || words.Load32(b, 8) == 0 {
			continue
		}
		request := append([]byte(nil), b...)
		clear(b) // what only rings next time shall not be taken for this
		return request
	}
	return nil
}
