package hw

import (
	"encoding/binary"
	"errors"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Sizes of the queues' entries.
const (
	wqeBlock    = 64   // a send queue is cut into blocks of this size
	wqeSegment  = 16   // a work request counts its length in these
	maxSendWQE  = 1024 // the longest work request of a send queue: 6 bits of segments
	maxRecvWQE  = 2048 // the longest of a receive queue: 3 bits of stride
	segmentMask = 0x3f // of the second word of a work request: its length
)

// sendQueue is where a queue pair's work requests to send are. Counters are of
// blocks and run on modulo 2^16.
type sendQueue struct {
	start  uint64 // in the buffer
	blocks uint32 // a power of two; 0 is no queue
	pi     uint16 // as the doorbell record said
	ci     uint16 // the next to be fetched
}

// recvQueue is where a queue pair's receives are. Counters are of entries.
type recvQueue struct {
	entries uint32 // a power of two; 0 is no queue
	stride  uint32
	pi, ci  uint16
}

func (s *sendQueue) reset() { s.pi, s.ci = 0, 0 }
func (r *recvQueue) reset() { r.pi, r.ci = 0, 0 }

// layOut finds the queues in the buffer: the receive queue at its beginning,
// behind it the send queue.
func (q *qp) layOut() *refusal {
	if !carried[q.service&0xf] {
		return nil
	}
	if q.ownRQ() {
		q.rq.entries = 1 << qpc.logRQSize.Get(q.ctx)
		q.rq.stride = wqeSegment << qpc.logRQStride.Get(q.ctx)
	}
	q.sq.start = uint64(q.rq.entries) * uint64(q.rq.stride)
	if q.hasSQ() {
		q.sq.blocks = 1 << qpc.logSQSize.Get(q.ctx)
	}
	if !q.buf.reaches(q.sq.start + uint64(q.sq.blocks)*wqeBlock) {
		return shortQPPages
	}
	return nil
}

// Where a queue pair's doorbell record has its producer counters: 4 bytes each,
// of which 16 bits count.
const (
	recordRecv = 0
	recordSend = 4
)

// counter reads a producer counter of a doorbell record.
func (d *Device) counter(record Addr) (uint16, error) {
	word := d.entry[:4]
	if err := d.read("qp doorbell record", word, record); err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint16(word[2:]), nil
}

// errOverfilled is a doorbell record that tells of more than the queue holds.
var errOverfilled = errors.New("hw: more is posted than the queue has room for")

// posted says whether a work request waits in the send queue. The record is
// read when all that were known of are fetched.
func (d *Device) posted(q *qp) (bool, error) {
	if q.sq.pi != q.sq.ci {
		return true, nil
	}
	pi, err := d.counter(q.record + recordSend)
	if err != nil {
		return false, err
	}
	if uint32(pi-q.sq.ci) > q.sq.blocks {
		return false, errOverfilled
	}
	q.sq.pi = pi
	return q.sq.pi != q.sq.ci, nil
}

// receivable is the same for the receive queue.
func (d *Device) receivable(q *qp) (bool, error) {
	if q.rq.pi != q.rq.ci {
		return true, nil
	}
	pi, err := d.counter(q.record + recordRecv)
	if err != nil {
		return false, err
	}
	if uint32(pi-q.rq.ci) > q.rq.entries {
		return false, errOverfilled
	}
	q.rq.pi = pi
	return q.rq.pi != q.rq.ci, nil
}

// fetchSend reads the work request at a block into b, which has room for the
// longest. It may lie around the end of the queue. One read is enough for most: it
// takes what is posted behind the first block too, if that lies at hand.
func (d *Device) fetchSend(q *qp, block uint16, b *[maxSendWQE]byte) ([]byte, error) {
	first := q.atHand(block)
	if err := d.fetchBlocks(q, block, b[:first]); err != nil {
		return nil, err
	}
	n := int(binary.BigEndian.Uint32(b[4:])&segmentMask) * wqeSegment
	if n > first {
		if err := d.fetchBlocks(q, block+uint16(first/wqeBlock), b[first:n]); err != nil {
			return nil, err
		}
	}
	return b[:n], nil
}

// mostAtHand is how many blocks are read before the length of a work request is
// known.
const mostAtHand = 3

// atHand is how many bytes are read at first for the work request at a block: of
// blocks that are posted, and neither around the end of the queue nor on another
// page than the first one.
func (q *qp) atHand(block uint16) int {
	at := uint32(block) & (q.sq.blocks - 1)
	page := uint64(1)<<q.buf.shift - 1
	left := (page + 1 - (q.buf.start+q.sq.start+uint64(at)*wqeBlock)&page) / wqeBlock
	n := min(uint32(q.sq.pi-block), q.sq.blocks-at, uint32(min(left, mostAtHand)))
	return int(max(n, 1)) * wqeBlock
}

func (d *Device) fetchBlocks(q *qp, block uint16, p []byte) error {
	at := uint64(uint32(block)&(q.sq.blocks-1)) * wqeBlock
	n := min(uint64(len(p)), uint64(q.sq.blocks)*wqeBlock-at)
	if err := d.get("send wqe", &q.buf, q.sq.start+at, p[:n]); err != nil || n == uint64(len(p)) {
		return err
	}
	return d.get("send wqe", &q.buf, q.sq.start, p[n:])
}

// fetchRecv reads the receive at a counter.
func (d *Device) fetchRecv(q *qp, index uint16, b *[maxRecvWQE]byte) ([]byte, error) {
	p := b[:q.rq.stride]
	return p, d.get("receive wqe", &q.buf, uint64(uint32(index)&(q.rq.entries-1))*uint64(q.rq.stride), p)
}

// blocksOf is how many blocks a work request takes.
func blocksOf(wqe []byte) uint16 { return uint16((len(wqe) + wqeBlock - 1) / wqeBlock) }

// pass goes on behind a work request, at most to where what is posted ends.
func (s *sendQueue) pass(wqe []byte) { s.ci += min(max(blocksOf(wqe), 1), s.pi-s.ci) }

// sgl walks through the data of a work request: what is left of its data
// segments, and how much of the first of them is done.
type sgl struct {
	segs []byte
	done uint64
}

// piece is a run of bytes of one data segment: of the work request itself, or
// of the memory behind a key.
type piece struct {
	inline []byte
	key    uint32
	addr   uint64
	n      uint64
}

// Where a data segment has what.
const (
	segCount = 0
	segKey   = 4
	segAddr  = 8

	inlineMask  = 0x3ff   // of a count that says that the data follows
	wholeRegion = 1 << 31 // bytes that a count of 0 stands for
)

// segment returns the first segment, how long it is as it stands, and false at
// the end of the list.
func (l *sgl) segment() (p piece, size int, ok bool) {
	be := binary.BigEndian
	if len(l.segs) < wqeSegment {
		return piece{}, 0, false
	}
	count := be.Uint32(l.segs[segCount:])
	if count&ifc.MLX5_INLINE_SEG != 0 {
		n := int(count & inlineMask)
		size = (segKey + n + wqeSegment - 1) &^ (wqeSegment - 1)
		if size > len(l.segs) {
			return piece{}, 0, false
		}
		return piece{inline: l.segs[segKey : segKey+n], n: uint64(n)}, size, true
	}
	p = piece{key: be.Uint32(l.segs[segKey:]), addr: be.Uint64(l.segs[segAddr:]), n: uint64(count)}
	if p.key == ifc.MLX5_INVALID_LKEY {
		return piece{}, 0, false
	}
	if count == 0 {
		p.n = wholeRegion
	}
	return p, wqeSegment, true
}

// next takes at most most bytes of the first segment that has any left.
func (l *sgl) next(most uint64) (piece, bool) {
	for {
		p, size, ok := l.segment()
		if !ok {
			return piece{}, false
		}
		if left := p.n - l.done; left > 0 {
			n := min(left, most)
			if p.inline != nil {
				p.inline = p.inline[l.done : l.done+n]
			}
			p.addr += l.done
			p.n = n
			l.done += n
			return p, true
		}
		l.segs, l.done = l.segs[size:], 0
	}
}

// skip passes over n bytes.
func (l *sgl) skip(n uint64) {
	for n > 0 {
		p, ok := l.next(n)
		if !ok {
			return
		}
		n -= p.n
	}
}

// length is how many bytes the segments have.
func (l sgl) length() (n uint64) {
	for {
		p, size, ok := l.segment()
		if !ok {
			return n
		}
		n += p.n
		l.segs = l.segs[size:]
	}
}

// gather reads len(p) bytes of the list.
func (d *Device) gather(l *sgl, who user, p []byte) keyError {
	for len(p) > 0 {
		s, ok := l.next(uint64(len(p)))
		if !ok {
			return keyBounds
		}
		if s.inline != nil {
			copy(p, s.inline)
		} else {
			m, e := d.reach(s.key, who, localRead, s.addr, s.n)
			if e == keyOK {
				e = d.readKey(m, s.addr, p[:s.n])
			}
			if e != keyOK {
				return e
			}
		}
		p = p[s.n:]
	}
	return keyOK
}

// scatter writes p to the list. It is keyBounds when the list ends before.
func (d *Device) scatter(l *sgl, who user, p []byte) keyError {
	for len(p) > 0 {
		s, ok := l.next(uint64(len(p)))
		if !ok {
			return keyBounds
		}
		if s.inline != nil {
			return keyRights
		}
		m, e := d.reach(s.key, who, localWrite, s.addr, s.n)
		if e == keyOK {
			e = d.writeKey(m, s.addr, p[:s.n])
		}
		if e != keyOK {
			return e
		}
		p = p[s.n:]
	}
	return keyOK
}
