package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// sharers are connections of which the serving ends have one shared receive queue.
type sharers struct {
	server  *program
	srq     *libmlx5.SRQ
	cq      *libmlx5.CQ
	mem     *memory
	clients []*end
	qps     map[uint32]int // number of the client by the server's queue pair
}

// share makes a server with a shared queue for so many requests, and clients.
func share(t *testing.T, wr uint32, clients int) *sharers {
	t.Helper()
	m := boot(t, options{devices: 2})
	s := &sharers{server: m.start(1), qps: map[uint32]int{}}
	p := s.server
	s.cq, s.mem = p.createCQ(256, nil), p.register(1<<16, everything)
	s.srq = p.createSRQ(&libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_BASIC, Attr: verbs.SRQAttr{MaxWR: wr, MaxSGE: 2}})
	for i := range clients {
		client := m.start(0).newEnd(setup{})
		qp := p.createQP(&libmlx5.QPInitAttr{PD: p.pd, SendCQ: s.cq, RecvCQ: s.cq, SRQ: s.srq, Type: verbs.IBV_QPT_RC})
		client.peer = &end{program: p, setup: client.setup, qp: qp, target: qp}
		client.peer.peer = client
		connect(client, client.peer)
		s.clients = append(s.clients, client)
		s.qps[qp.Num] = i
	}
	return s
}

// receive posts a receive of 64 bytes at a place of its own.
func (s *sharers) receive(id uint64) {
	s.server.Helper()
	_, err := s.srq.PostRecv(&libmlx5.RecvWR{WRID: id, SGList: []verbs.SGE{s.mem.sge(64*id, 64)}})
	require.NoError(s.server, err)
}

// TestSharedByManyQueuePairs: receives of a shared queue are used in order, by
// whichever queue pair needs one, and completions name it.
func TestSharedByManyQueuePairs(t *testing.T) {
	s := share(t, 50, 4)
	for id := range uint64(40) {
		s.receive(id)
	}
	turns := []int{0, 1, 2, 3, 3, 2, 1, 0, 0, 0}
	for round := range 12 { // more than the queue has places
		for i, turn := range turns {
			c := s.clients[turn]
			msg := texture(64, byte(round*16+i))
			c.mem.store(0, msg)
			c.post(signaled(1, verbs.IBV_WR_SEND, c.mem.sge(0, 64)))
			c.succeeded(c.sent(), 1)
			wc := s.server.one(s.server.poll(s.cq))
			require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
			require.EqualValues(t, (round*len(turns)+i)%40, wc.WRID, "the oldest")
			require.Equal(t, turn, s.qps[wc.QPNum])
			require.Equal(t, msg, s.mem.load(64*wc.WRID, 64))
			s.receive(wc.WRID)
		}
	}
}

// TestSharedQueueRunsDry: senders wait for a shared queue as for any other.
func TestSharedQueueRunsDry(t *testing.T) {
	s := share(t, 8, 2)
	for i, c := range s.clients {
		c.post(signaled(uint64(i), verbs.IBV_WR_SEND, c.mem.sge(0, 64)))
		require.Empty(t, c.sent())
	}
	s.receive(1)
	s.receive(2)
	s.server.exhaust()
	for i, c := range s.clients {
		c.succeeded(c.sent(), uint64(i))
	}
	s.server.succeeded(s.server.poll(s.cq), 1, 2)
}

// TestSRQLimit: when fewer receives are left than the limit the program is told,
// once, and then there is no limit until it sets another.
func TestSRQLimit(t *testing.T) {
	s := share(t, 20, 1)
	c := s.clients[0]
	limit := func(n uint32) { require.NoError(t, s.srq.Modify(&verbs.SRQAttr{SRQLimit: n}, verbs.IBV_SRQ_LIMIT)) }
	for id := range uint64(10) {
		s.receive(id)
	}
	limit(7)
	attr, err := s.srq.Query()
	require.NoError(t, err)
	require.EqualValues(t, 7, attr.SRQLimit)
	require.GreaterOrEqual(t, attr.MaxWR, uint32(20))
	send := func() {
		c.post(signaled(1, verbs.IBV_WR_SEND))
		c.succeeded(c.sent(), 1)
		s.server.one(s.server.poll(s.cq))
	}
	for range 3 {
		send()
		require.Empty(t, s.server.events(), "7 or more are left")
	}
	send()
	ev := s.server.nextEvent()
	require.Equal(t, verbs.IBV_EVENT_SRQ_LIMIT_REACHED, ev.Type)
	require.Same(t, &s.srq.SRQ, ev.SRQ)
	attr, err = s.srq.Query()
	require.NoError(t, err)
	require.Zero(t, attr.SRQLimit)
	send()
	require.Empty(t, s.server.events())
	limit(5)
	send()
	require.Equal(t, []verbs.EventType{verbs.IBV_EVENT_SRQ_LIMIT_REACHED}, s.server.events())
	require.Empty(t, c.events())
}

// TestBrokenSRQ: a shared queue whose program has spoiled the chain of its requests
// goes into error, which the program is told, and senders are refused.
func TestBrokenSRQ(t *testing.T) {
	s := share(t, 20, 1)
	s.receive(0)
	s.receive(1)
	buf := s.srq.Buffer()
	const nextIndex = 2 // of struct mlx5_wqe_srq_next_seg
	s.server.store(buf.Addr+nextIndex, []byte{0xff, 0xf0})
	c := s.clients[0]
	c.post(signaled(1, verbs.IBV_WR_SEND))
	c.succeeded(c.sent(), 1)
	s.server.one(s.server.poll(s.cq))
	c.post(signaled(2, verbs.IBV_WR_SEND))
	require.Equal(t, libmlx5.IBV_WC_REM_OP_ERR, c.one(c.sent()).Status)
	require.Contains(t, s.server.events(), verbs.IBV_EVENT_SRQ_ERR)
}

// TestSRQModify: the length of the queue stays, and its limit is not above it.
func TestSRQModify(t *testing.T) {
	s := share(t, 20, 0)
	attr, err := s.srq.Query()
	require.NoError(t, err)
	require.ErrorIs(t, s.srq.Modify(&verbs.SRQAttr{MaxWR: 100}, verbs.IBV_SRQ_MAX_WR), syscall.EINVAL)
	require.ErrorIs(t, s.srq.Modify(&verbs.SRQAttr{SRQLimit: attr.MaxWR + 100}, verbs.IBV_SRQ_LIMIT), syscall.EINVAL)
}

// TestXRCChoosesTheQueue: a message on an XRC connection goes to the shared queue
// that it names, all by one pair of queue pairs.
func TestXRCChoosesTheQueue(t *testing.T) {
	client, server := pair(t, setup{typ: verbs.IBV_QPT_XRC_SEND, apart: true})
	const n = 3
	var srqs []*libmlx5.SRQ
	var cqs []*libmlx5.CQ
	for i := range uint64(n) {
		cqs = append(cqs, server.createCQ(8, nil))
		srqs = append(srqs, server.createSRQ(&libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_XRC, XRCD: server.xrcd, CQ: cqs[i],
			Attr: verbs.SRQAttr{MaxWR: 8, MaxSGE: 1}}))
		for id := range uint64(4) {
			_, err := srqs[i].PostRecv(&libmlx5.RecvWR{WRID: 10*i + id, SGList: []verbs.SGE{server.mem.sge(1000*i+100*id, 100)}})
			require.NoError(t, err)
		}
	}
	for id := range uint64(4) {
		for i := range uint64(n) {
			msg := texture(90, byte(10*i+id))
			client.mem.store(0, msg)
			wr := signaled(id, verbs.IBV_WR_SEND, client.mem.sge(0, 90))
			wr.XRC.RemoteSRQN = srqs[i].SRQN
			_, err := client.qp.PostSend(&wr)
			require.NoError(t, err)
			client.succeeded(client.sent(), id)
			server.succeeded(server.poll(cqs[i]), 10*i+id)
			require.Equal(t, msg, server.mem.load(1000*i+100*id, 90))
		}
	}
	wr := signaled(9, verbs.IBV_WR_SEND)
	wr.XRC.RemoteSRQN = srqs[n-1].SRQN + 5
	_, err := client.qp.PostSend(&wr)
	require.NoError(t, err)
	require.Equal(t, libmlx5.IBV_WC_REM_INV_REQ_ERR, client.one(client.sent()).Status)
	require.Contains(t, server.events(), verbs.IBV_EVENT_QP_REQ_ERR)
}

// TestXRCOfAnotherDomain: a target reaches only the shared queues of its domain.
func TestXRCOfAnotherDomain(t *testing.T) {
	client, server := pair(t, setup{typ: verbs.IBV_QPT_XRC_SEND, apart: true})
	other := server.createSRQ(&libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_XRC, XRCD: server.openXRCD(), CQ: server.recvCQ,
		Attr: verbs.SRQAttr{MaxWR: 8, MaxSGE: 1}})
	_, err := other.PostRecv(&libmlx5.RecvWR{})
	require.NoError(t, err)
	wr := signaled(9, verbs.IBV_WR_SEND)
	wr.XRC.RemoteSRQN = other.SRQN
	_, err = client.qp.PostSend(&wr)
	require.NoError(t, err)
	require.Equal(t, libmlx5.IBV_WC_REM_INV_REQ_ERR, client.one(client.sent()).Status)
	require.Empty(t, server.received())
	server.events()
}
