package traffic

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// services are the types of queue pairs that programs send with.
var services = map[string]verbs.QPType{
	"RC": verbs.IBV_QPT_RC, "UC": verbs.IBV_QPT_UC, "UD": verbs.IBV_QPT_UD, "XRC": verbs.IBV_QPT_XRC_SEND,
}

// eachService runs a test with each type of queue pair, within a device and
// between two.
func eachService(t *testing.T, f func(t *testing.T, s setup)) {
	for name, typ := range services {
		for place, apart := range map[string]bool{"one device": false, "two devices": true} {
			t.Run(name+"/"+place, func(t *testing.T) { f(t, setup{typ: typ, apart: apart}) })
		}
	}
}

// TestPingPong: both ends send by turns, more often than any of their queues is
// long, and poll.
func TestPingPong(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		s.cap = verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}
		s.cqe = 4
		client, server := pair(t, s)
		const size, in = 600, 0x1000
		for n := range uint64(40) {
			from, to := client, server
			if n%2 == 1 {
				from, to = server, client
			}
			msg := texture(size, byte(n))
			from.mem.store(0, msg)
			to.receive(to.into(100+n, in, size))
			from.post(signaled(n, verbs.IBV_WR_SEND, from.mem.sge(0, size)))
			wc := from.one(from.sent())
			require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
			require.Equal(t, n, wc.WRID)
			require.Equal(t, libmlx5.IBV_WC_SEND, wc.Opcode)
			require.Equal(t, from.qp.Num, wc.QPNum)
			wc = to.one(to.received())
			require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
			require.Equal(t, 100+n, wc.WRID)
			require.Equal(t, libmlx5.IBV_WC_RECV, wc.Opcode)
			require.EqualValues(t, size+to.header(), wc.ByteLen)
			require.Equal(t, to.target.Num, wc.QPNum)
			require.Equal(t, msg, to.mem.load(in+to.header(), size))
		}
	})
}

// TestDatagramTellsItsSender: a datagram's completion names the queue pair that
// it came from, and its header the addresses.
func TestDatagramTellsItsSender(t *testing.T) {
	client, server := pair(t, setup{typ: verbs.IBV_QPT_UD, apart: true})
	server.receive(server.into(1, 0, 8))
	client.mem.store(0, []byte("datagram"))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.succeeded(client.sent(), 1)
	wc := server.one(server.received())
	require.Equal(t, client.qp.Num, wc.SrcQP)
	require.EqualValues(t, libmlx5.IBV_WC_GRH, wc.Flags)
	const ipv4Header = 2 // MLX5_CQE_ROCE_L3_HEADER_TYPE_IPV4, which the library takes for a service level
	require.EqualValues(t, ipv4Header, wc.SL)
	header := server.mem.load(0, 40)
	require.Equal(t, make([]byte, 20), header[:20], "an IPv4 header takes the last 20 bytes of the room")
	require.Equal(t, byte(0x45), header[20], "version 4, 5 words")
	require.Equal(t, byte(64), header[28], "hop limit")
	require.Equal(t, client.gid[12:], header[32:36])
	require.Equal(t, server.gid[12:], header[36:40])
	// An answer finds its way by what the message said.
	ah := server.createAH(client.gid)
	client.receive(client.into(2, 0, 8))
	_, err := server.qp.PostSend(&libmlx5.SendWR{WRID: 3, Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED,
		SGList: []verbs.SGE{server.mem.sge(40, 8)}, UD: libmlx5.UDWR{AH: ah, RemoteQPN: wc.SrcQP, RemoteQKey: server.qkey()}})
	require.NoError(t, err)
	server.succeeded(server.sent(), 3)
	client.succeeded(client.received(), 2)
	require.Equal(t, "datagram", string(client.mem.load(40, 8)))
}

// TestBatch: a list of requests is carried out in order, and one completion at its
// end stands for all of it.
func TestBatch(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		client, server := pair(t, s)
		const n, size = 10, 100
		stride := size + server.header()
		var recvs []libmlx5.RecvWR
		var sends []libmlx5.SendWR
		for i := range uint64(n) {
			client.mem.store(i*size, texture(size, byte(i)))
			recvs = append(recvs, server.into(i, i*stride, size))
			sends = append(sends, libmlx5.SendWR{WRID: i, Opcode: verbs.IBV_WR_SEND, SGList: []verbs.SGE{client.mem.sge(i*size, size)}})
		}
		sends[n-1].SendFlags = verbs.IBV_SEND_SIGNALED
		for range 5 { // around the ends of the queues
			server.receive(recvs...)
			client.post(sends...)
			client.succeeded(client.sent(), n-1)
			server.succeeded(server.received(), 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
			for i := range uint64(n) {
				require.Equal(t, texture(size, byte(i)), server.mem.load(i*stride+server.header(), size))
			}
		}
	})
}

// TestSignalAll: with sq_sig_all every request has a completion, whatever its
// flags say.
func TestSignalAll(t *testing.T) {
	client, server := pair(t, setup{sigAll: true})
	for i := range uint64(3) {
		server.receive(server.into(i, 0, 1))
	}
	client.post(libmlx5.SendWR{WRID: 1, Opcode: verbs.IBV_WR_SEND}, libmlx5.SendWR{WRID: 2, Opcode: verbs.IBV_WR_SEND},
		libmlx5.SendWR{WRID: 3, Opcode: verbs.IBV_WR_SEND})
	client.succeeded(client.sent(), 1, 2, 3)
	server.succeeded(server.received(), 0, 1, 2)
	_, sigAll, err := client.qp.Query(verbs.IBV_QP_STATE)
	require.NoError(t, err)
	require.True(t, sigAll)
}

// TestLongMessages: messages longer than a packet arrive whole with every MTU, at
// lengths around the multiples of it.
func TestLongMessages(t *testing.T) {
	for name, typ := range map[string]verbs.QPType{"RC": verbs.IBV_QPT_RC, "UC": verbs.IBV_QPT_UC, "XRC": verbs.IBV_QPT_XRC_SEND} {
		for mtu := verbs.IBV_MTU_256; mtu <= verbs.IBV_MTU_4096; mtu++ {
			t.Run(fmt.Sprintf("%s/%d", name, 128<<mtu), func(t *testing.T) {
				client, server := pair(t, setup{typ: typ, apart: true, size: 1 << 19, link: func(l *link) { l.mtu = mtu }})
				packet := uint64(128) << mtu
				for _, n := range []uint64{1, packet - 1, packet, packet + 1, 2 * packet, 7*packet - 3, 64*packet + 5} {
					msg := texture(n, byte(n))
					client.mem.store(3, msg)
					server.receive(server.into(n, 7, n))
					client.post(signaled(n, verbs.IBV_WR_SEND, client.mem.sge(3, n)))
					client.succeeded(client.sent(), n)
					wc := server.one(server.received())
					require.EqualValues(t, n, wc.ByteLen)
					require.Equal(t, msg, server.mem.load(7, n))
				}
			})
		}
	}
}

// TestDatagramsAreOnePacket: the longest datagram has 4096 bytes.
func TestDatagramsAreOnePacket(t *testing.T) {
	client, server := pair(t, setup{typ: verbs.IBV_QPT_UD})
	msg := texture(4096, 1)
	client.mem.store(0, msg)
	server.receive(server.into(1, 0, 4096))
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 4096)))
	client.succeeded(client.sent(), 1)
	server.succeeded(server.received(), 1)
	require.Equal(t, msg, server.mem.load(40, 4096))
	client.post(signaled(2, verbs.IBV_WR_SEND, client.mem.sge(0, 4097)))
	require.Equal(t, libmlx5.IBV_WC_LOC_LEN_ERR, client.one(client.sent()).Status)
}

// TestPieces: what a list of pieces has is one message, however the other side's
// list cuts it.
func TestPieces(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		s.cap = verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 16, MaxRecvSGE: 16}
		client, server := pair(t, s)
		var want []byte
		var from, to []verbs.SGE
		for i := range uint64(16) {
			part := texture(i*5, byte(i)) // the first one is empty
			client.mem.store(i*0x100+i, part)
			want = append(want, part...)
			from = append(from, client.mem.sge(i*0x100+i, i*5))
		}
		left := uint64(len(want)) + server.header()
		for i := range uint64(16) {
			n := min(left, 64-3*i)
			to = append(to, server.mem.sge(i*0x200+i, n))
			left -= n
		}
		require.Zero(t, left)
		server.receive(libmlx5.RecvWR{WRID: 1, SGList: to})
		client.post(signaled(2, verbs.IBV_WR_SEND, from...))
		client.succeeded(client.sent(), 2)
		server.succeeded(server.received(), 1)
		var got []byte
		for i, sge := range to {
			got = append(got, server.mem.load(uint64(i*0x200+i), uint64(sge.Length))...)
		}
		require.Equal(t, want, got[server.header():])
	})
}

// TestEmptyMessages: a message of no bytes takes a receive, which needs no memory
// then but for a datagram's header.
func TestEmptyMessages(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		client, server := pair(t, s)
		server.receive(server.into(1, 0, 0))
		client.post(signaled(2, verbs.IBV_WR_SEND))
		client.succeeded(client.sent(), 2)
		wc := server.one(server.received())
		require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
		require.EqualValues(t, server.header(), wc.ByteLen)
	})
}

// TestInline: inline data is that of the moment of posting, and needs no key.
func TestInline(t *testing.T) {
	eachService(t, func(t *testing.T, s setup) {
		s.cap = verbs.QPCap{MaxSendWR: 8, MaxRecvWR: 8, MaxSendSGE: 4, MaxRecvSGE: 1, MaxInlineData: 200}
		client, server := pair(t, s)
		at := client.alloc(4096)
		for _, n := range []uint64{0, 1, 12, 28, 60, 61, 199, 200} {
			msg := texture(n, 9)
			client.store(at+5, msg)
			server.receive(server.into(1, 0, 200))
			half := copyuser.Addr(n / 2)
			wr := signaled(2, verbs.IBV_WR_SEND, verbs.SGE{Addr: at + 5, Length: uint32(half)}, verbs.SGE{Addr: at},
				verbs.SGE{Addr: at + 5 + half, Length: uint32(n) - uint32(half)})
			wr.SendFlags |= verbs.IBV_SEND_INLINE
			client.post(wr)
			client.store(at, make([]byte, 4096))
			client.succeeded(client.sent(), 2)
			wc := server.one(server.received())
			require.EqualValues(t, n+server.header(), wc.ByteLen)
			require.Equal(t, msg, server.mem.load(server.header(), n))
		}
	})
}
