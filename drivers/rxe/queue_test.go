package rxe

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
)

// TestQueueSizes: room for one element more than asked for, each padded to a
// power of two of at least a cache line (rxe_queue_init), and a header.
func TestQueueSizes(t *testing.T) {
	d := &rxeDev{memory: 1 << 20}
	for _, c := range []struct {
		num, elem    uint32
		got          uint32
		size         uint64
		log2ElemSize uint32
	}{
		{0, 1, 0, 384 + 64, 6},
		{1, 64, 1, 384 + 2*64, 6},
		{2, 65, 3, 384 + 4*128, 7},
		{16, 72, 31, 384 + 32*128, 7},
		{15, 224, 15, 384 + 16*256, 8},
	} {
		q, n := d.newQueue(nil, c.num, c.elem, toClient)
		require.Equal(t, c.got, n)
		require.Equal(t, c.size, q.bufSize)
		require.Equal(t, c.log2ElemSize, q.buf.word(bufLog2ElemSize))
		require.Equal(t, c.got, q.buf.word(bufIndexMask))
		require.Equal(t, c.num, c.num&q.indexMask)
	}
	q, _ := d.newQueue(nil, 1<<15, 64, toClient)
	require.Nil(t, q, "more than there is memory")
}

// TestQueueIndexes: each side owns its index. What the other writes into the
// shared memory cannot lead outside of the queue.
func TestQueueIndexes(t *testing.T) {
	d := &rxeDev{memory: 1 << 20}
	q, _ := d.newQueue(nil, 3, 64, fromClient)
	require.True(t, q.empty(fromClient))
	q.buf.setWord(bufProducerIndex, 3)
	require.True(t, q.full(fromClient))
	for i := range uint32(3) {
		require.Equal(t, bufData+uint64(i)*64, q.at(q.consumer(fromClient)))
		q.advanceConsumer(fromClient)
	}
	require.True(t, q.empty(fromClient))
	require.Equal(t, uint32(3), q.buf.word(bufConsumerIndex), "told to the user")
	q.buf.setWord(bufConsumerIndex, 1)
	require.Equal(t, uint32(3), q.consumer(fromClient), "but its own counts")
	q.advanceConsumer(fromClient)
	require.Equal(t, uint32(0), q.consumer(fromClient), "it went round")

	q.buf.setWord(bufProducerIndex, 0xfffffffe)
	require.LessOrEqual(t, q.count(fromClient), uint32(3))
	require.Less(t, q.at(0xffffffff), q.bufSize)
}

// TestUnusedQueueTakesNoPage: the first page comes when somebody looks, with what a new
// queue begins with, and stays.
func TestUnusedQueueTakesNoPage(t *testing.T) {
	q, _ := (&rxeDev{memory: 1 << 20}).newQueue(nil, 255, 128, toClient)
	for i := range q.buf.pages {
		require.Nil(t, q.buf.pages[i].Load(), i)
	}
	q.buf.setWord(bufProducerIndex, 5)
	require.Equal(t, []uint32{7, 255, 5}, []uint32{q.buf.word(bufLog2ElemSize), q.buf.word(bufIndexMask), q.buf.word(bufProducerIndex)})
	require.Nil(t, q.buf.pages[1].Load())
}

// TestBuffer: loads and stores go over the ends of pages, and clearing leaves
// what lies outside.
func TestBuffer(t *testing.T) {
	b := newBuffer(2*copyuser.PageSize + 1)
	require.Len(t, b.pages, 3)
	b.store(copyuser.PageSize-2, []byte("abcd"))
	got := make([]byte, 6)
	b.load(copyuser.PageSize-3, got)
	require.Equal(t, "\x00abcd\x00", string(got))
	b.clear(copyuser.PageSize-1, copyuser.PageSize+1)
	b.load(copyuser.PageSize-3, got)
	require.Equal(t, "\x00a\x00\x00d\x00", string(got))
}
