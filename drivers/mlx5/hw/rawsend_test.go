package hw

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// rawCQE is what matters of a completion of a raw queue.
type rawCQE struct {
	op, send uint8
	qpn      uint32
	index    uint16
	syndrome uint8
}

// completed returns the first n completions of the rig's queue.
func (r *rawRig) completed(n int) (list []rawCQE) {
	for r.work() {
	}
	for i := range n {
		b := r.mem.get(cqBuffer+Addr(i*CQESize), CQESize)
		be := binary.BigEndian
		require.Equal(r.t, uint8(0), b[63]&1, "entry %d", i)
		c := rawCQE{op: b[63] >> 4, send: b[56], qpn: be.Uint32(b[56:]) & bits24, index: be.Uint16(b[60:])}
		if c.op >= 13 {
			c.syndrome = b[55]
		}
		list = append(list, c)
	}
	require.Equal(r.t, uint32(n), r.objects[kindCQ].live[r.cqn].as.(*cq).pi)
	return list
}

// send writes a work request of one block.
func (r *rawRig) send(block uint64, opcode, flags uint8) {
	b := make([]byte, 64)
	b[3], b[7], b[11] = opcode, 1, flags
	r.mem.set(sqBuffer+Addr(block)*64, b)
}

// ring posts up to a counter, as a user library does.
func (r *rawRig) ring(posted uint32) {
	r.mem.put32(srqRecord+4, posted)
	b := binary.BigEndian.AppendUint32(nil, 0)
	r.UARPage(r.uar).Store(0x800, binary.BigEndian.AppendUint32(b, r.sq<<8))
}

func newSendRig(t *testing.T) *rawRig {
	r := newRawRig(t)
	r.sq = r.made(r.sqInput(at{93, 3, uint64(r.uar)}))
	r.mem.set(cqBuffer, make([]byte, 16*CQESize))
	return r
}

func (r *rawRig) moveSQ(from, to uint64) {
	r.answers(cmd(0x905, 0, 0, 0, at{8, 4, from<<28 | uint64(r.sq)}, at{33, 1, to << 4}))
}

// What a raw send queue is given either is done, since it does nothing, or ends
// in an error.
func TestRawSend(t *testing.T) {
	const signalled = 8
	r := newSendRig(t)
	r.send(0, 0x00, 0)
	r.send(1, 0x00, signalled)
	r.ring(2)
	require.Empty(t, r.completed(0), "the queue is not ready")
	r.moveSQ(0, 1)
	r.ring(2)
	done := rawCQE{op: 0, qpn: r.sq, index: 1}
	require.Equal(t, []rawCQE{done}, r.completed(1))

	r.send(2, 0x0a, 0) // a packet
	r.send(3, 0x00, 0)
	r.ring(4)
	failed := rawCQE{op: 13, send: 0x0a, qpn: r.sq, index: 2, syndrome: 0x02}
	flushed := rawCQE{op: 13, qpn: r.sq, index: 3, syndrome: 0x05}
	require.Equal(t, []rawCQE{done, failed, flushed}, r.completed(3))
	out, _ := r.exec(query(0x907, r.sq))
	require.Equal(t, uint8(3<<4), out[33], "the queue is in error")
	require.Equal(t, uint32(4), binary.BigEndian.Uint32(out[104:]), "hw_counter")

	r.ring(5)
	flushed.index = 4
	require.Equal(t, flushed, r.completed(4)[3])
	r.moveSQ(3, 0)
	r.moveSQ(0, 1)
	r.ring(0)
	r.completed(4)
}

// A work request takes as many blocks as its length says.
func TestRawSendLength(t *testing.T) {
	r := newSendRig(t)
	r.moveSQ(0, 1)
	r.send(0, 0x00, 8)
	r.mem.set(sqBuffer+7, []byte{5}) // 80 bytes
	r.send(2, 0x00, 8)
	r.ring(3)
	require.Equal(t, []rawCQE{{qpn: r.sq, index: 0}, {qpn: r.sq, index: 2}}, r.completed(2))
}

func TestRawSendElsewhere(t *testing.T) {
	r := newSendRig(t)
	r.moveSQ(0, 1)
	r.send(0, 0x00, 8)
	other := r.made(Input(0x802, 0, 0, 0))
	r.mem.put32(srqRecord+4, 1)
	r.UARPage(other).Store(0x800, []byte{0, 0, 0, 0, byte(r.sq >> 16), byte(r.sq >> 8), byte(r.sq), 0})
	r.completed(0) // not the page that its context names
	r.Scan()
	require.Equal(t, []rawCQE{{qpn: r.sq}}, r.completed(1))

	r.mem.bad[sqBuffer/ramPage] = true
	r.ring(2)
	require.Equal(t, rawCQE{op: 13, qpn: r.sq, index: 1, syndrome: 0x04}, r.completed(2)[1])
}

// A completion queue that is full breaks, and the send queue goes no further.
func TestRawSendIntoAFullQueue(t *testing.T) {
	r := newSendRig(t)
	r.moveSQ(0, 1)
	for n := uint32(1); n <= 17; n++ {
		r.send(uint64(n-1)%4, 0x00, 8)
		r.ring(n)
	}
	r.completed(16)
	require.Equal(t, uint8(ifc.MLX5_EVENT_TYPE_CQ_ERROR), r.happened()[0].Type)
	out, _ := r.exec(query(0x907, r.sq))
	require.Equal(t, uint32(16), binary.BigEndian.Uint32(out[104:]), "hw_counter")

	// Nor does one whose doorbell record cannot be read.
	r.mem.bad[srqRecord/ramPage] = true
	r.UARPage(r.uar).Store(0x800, []byte{0, 0, 0, 0, byte(r.sq >> 16), byte(r.sq >> 8), byte(r.sq), 0})
	r.completed(16)
}

// Receives that are posted are flushed when their queue comes into error.
func TestRawReceivesAreFlushed(t *testing.T) {
	r := newSendRig(t)
	move := func(from, to uint64) {
		r.answers(cmd(0x909, 0, 0, 0, at{8, 4, from<<28 | uint64(r.rq)}, at{33, 1, to << 4}))
	}
	r.mem.put32(srqRecord, 3)
	move(0, 1)
	r.completed(0)
	move(1, 3)
	flushed := func(i uint16) rawCQE { return rawCQE{op: 14, qpn: r.rq, index: i, syndrome: 0x05} }
	require.Equal(t, []rawCQE{flushed(0), flushed(1), flushed(2)}, r.completed(3))
}
