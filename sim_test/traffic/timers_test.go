package traffic

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// TestRNRTimers: a sender waits for a receiver that is not ready for as long as
// that says (table "Encoding for RNR NAK Timer Field" of the InfiniBand
// specification), as often as it may, and then gives up.
func TestRNRTimers(t *testing.T) {
	for timer, wait := range map[uint8]time.Duration{
		0: 655360 * time.Microsecond, 1: 10 * time.Microsecond, 2: 20 * time.Microsecond, 12: 640 * time.Microsecond,
		18: 5120 * time.Microsecond, 31: 491520 * time.Microsecond,
	} {
		for _, retries := range []uint8{0, 3} {
			t.Run(fmt.Sprintf("timer %d, %d retries", timer, retries), func(t *testing.T) {
				client, server := pair(t, setup{apart: true, link: func(l *link) { l.rnrTimer, l.rnrRetries = timer, retries }})
				client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
				start := server.fabric.Now()
				client.exhaust()
				require.Equal(t, libmlx5.IBV_WC_RNR_RETRY_EXC_ERR, client.one(client.sent()).Status)
				require.Equal(t, time.Duration(retries)*wait, client.fabric.Now()-start)
			})
		}
	}
}

// TestRNRSucceedsLate: a receive that is posted while the sender waits is used
// when it tries again; 7 retries are without end.
func TestRNRSucceedsLate(t *testing.T) {
	for _, typ := range reliable {
		client, server := pair(t, setup{typ: typ, apart: true})
		client.mem.store(0, []byte("late"))
		client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 4)), signaled(2, verbs.IBV_WR_SEND, client.mem.sge(0, 4)))
		for range 50 {
			client.settle()
			client.fabric.Advance(640 * time.Microsecond)
		}
		require.Empty(t, client.sent())
		server.receive(server.into(1, 0, 4), server.into(2, 8, 4))
		require.Empty(t, client.sent(), "it waits until its time")
		client.fabric.Advance(640 * time.Microsecond)
		client.succeeded(client.sent(), 1, 2)
		server.succeeded(server.received(), 1, 2)
		require.Equal(t, "late", string(server.mem.load(8, 4)))
	}
}

// TestWriteNeedsNoReceive: a write goes on while there is no receive; one with
// immediate data waits for one, and its data can be there before.
func TestWriteNeedsNoReceive(t *testing.T) {
	client, server := pair(t, setup{apart: true})
	client.mem.store(0, texture(3000, 1))
	write := signaled(1, verbs.IBV_WR_RDMA_WRITE_WITH_IMM, client.mem.sge(0, 3000))
	write.RDMA = server.mem.remote(target)
	client.post(write)
	require.Empty(t, client.sent())
	server.receive(libmlx5.RecvWR{WRID: 5}) // without memory
	client.await("the write", func() bool { return len(client.poll(client.sendCQ)) > 0 })
	require.EqualValues(t, 3000, server.one(server.received()).ByteLen)
	require.Equal(t, texture(3000, 1), server.mem.load(target, 3000))
}

// TestRetryTimeout: a request that nobody acknowledges is sent again after the
// time-out, 4.096 us times a power of two, as often as the retry count says. The
// time-out may last up to four times that (C9-141 of the specification).
func TestRetryTimeout(t *testing.T) {
	for _, timeout := range []uint8{1, 8, 14} {
		for _, retries := range []uint8{0, 1, 7} {
			t.Run(fmt.Sprintf("timeout %d, %d retries", timeout, retries), func(t *testing.T) {
				client, server := pair(t, setup{apart: true, link: func(l *link) { l.timeout, l.retries = timeout, retries }})
				server.toState(server.qp, verbs.IBV_QPS_RESET)
				client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
				client.exhaust()
				require.Equal(t, libmlx5.IBV_WC_RETRY_EXC_ERR, client.one(client.sent()).Status)
				least := 4096 * time.Nanosecond << timeout * time.Duration(retries+1)
				require.GreaterOrEqual(t, client.fabric.Now(), least)
				require.LessOrEqual(t, client.fabric.Now(), 4*least)
			})
		}
	}
}

// TestNoTimeout: a time-out of 0 lets the sender wait for ever.
func TestNoTimeout(t *testing.T) {
	client, server := pair(t, setup{apart: true, link: func(l *link) { l.timeout = 0 }})
	client.fabric.SetLink(hw.Link{Loss: 1})
	client.post(signaled(1, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
	client.settle()
	client.fabric.Advance(time.Hour)
	require.Empty(t, client.sent())
	_, waits := client.deadline()
	require.False(t, waits)
	require.Empty(t, server.received())
}

// TestRetryCountsAnew: each message has all its retries.
func TestRetryCountsAnew(t *testing.T) {
	client, server := pair(t, setup{apart: true, link: func(l *link) { l.timeout, l.retries = 8, 2 }})
	for n := range uint64(5) {
		server.receive(server.into(n, 0, 8))
		client.fabric.SetLink(hw.Link{Loss: 1})
		client.post(signaled(n, verbs.IBV_WR_SEND, client.mem.sge(0, 8)))
		client.settle()
		client.fabric.Advance(4096 * time.Nanosecond << 8) // once more in vain
		require.Empty(t, client.sent())
		client.fabric.SetLink(hw.Link{})
		client.fabric.Advance(4096 * time.Nanosecond << 8)
		client.succeeded(client.sent(), n)
		server.succeeded(server.received(), n)
	}
}

// TestLossyLink: whatever the link loses, delays and reorders, reliable messages
// come once, in order and whole, and atomic operations are done once.
func TestLossyLink(t *testing.T) {
	links := map[string]hw.Link{
		"loss":    {Loss: 0.15, Delay: 5 * time.Microsecond, Seed: 11},
		"reorder": {Reorder: 0.2, Delay: 5 * time.Microsecond, Jitter: 30 * time.Microsecond, Seed: 12},
		"both":    {Loss: 0.1, Reorder: 0.1, Delay: 5 * time.Microsecond, Seed: 13},
	}
	for name, typ := range map[string]verbs.QPType{"RC": verbs.IBV_QPT_RC, "XRC": verbs.IBV_QPT_XRC_SEND} {
		for how, link1 := range links {
			t.Run(name+"/"+how, func(t *testing.T) {
				s := setup{typ: typ, apart: true, link: func(l *link) { l.mtu, l.timeout = verbs.IBV_MTU_256, 5 }}
				s.options.link = link1
				client, server := pair(t, s)
				for n := range uint64(25) {
					msg := texture(1500, byte(n))
					client.mem.store(outgoing, msg)
					server.mem.setWord(number, 7*n)
					server.receive(server.into(n, incoming, 1500))
					write := libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_WRITE, SGList: []verbs.SGE{client.mem.sge(outgoing, 1500)},
						RDMA: server.mem.remote(0x4000)}
					read := libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_READ, SGList: []verbs.SGE{client.mem.sge(0x5000, 1500)},
						RDMA: server.mem.remote(0x4000)}
					add := libmlx5.SendWR{Opcode: verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, SGList: []verbs.SGE{client.mem.sge(0x6000, 8)},
						Atomic: libmlx5.AtomicWR{RemoteAddr: server.mem.iova + number, RKey: server.mem.RKey, CompareAdd: 3}}
					client.post(write, read, add, signaled(n, verbs.IBV_WR_SEND, client.mem.sge(outgoing, 1500)))
					var wcs []libmlx5.WC
					client.await("the completion", func() bool { wcs = append(wcs, client.poll(client.sendCQ)...); return len(wcs) > 0 })
					client.succeeded(wcs, n)
					server.succeeded(server.received(), n)
					require.Equal(t, msg, server.mem.load(incoming, 1500))
					require.Equal(t, msg, client.mem.load(0x5000, 1500))
					require.Equal(t, 7*n, client.mem.word(0x6000))
					require.Equal(t, 7*n+3, server.mem.word(number))
				}
				require.Equal(t, link1.Loss > 0, client.fabric.Lost() > 0)
			})
		}
	}
}

// TestUnreliableLoss: of messages on an unreliable connection some are lost, but
// none comes twice, mixed up, or in part.
func TestUnreliableLoss(t *testing.T) {
	for name, typ := range map[string]verbs.QPType{"UC": verbs.IBV_QPT_UC, "UD": verbs.IBV_QPT_UD} {
		t.Run(name, func(t *testing.T) {
			s := setup{typ: typ, apart: true, link: func(l *link) { l.mtu = verbs.IBV_MTU_256 },
				cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 64, MaxSendSGE: 1, MaxRecvSGE: 1}}
			s.options.link = hw.Link{Loss: 0.2, Seed: 5}
			client, server := pair(t, s)
			const size = 600
			for i := range uint64(40) {
				server.receive(server.into(i, 1000*i, size))
			}
			for n := range uint64(40) {
				client.mem.store(0, texture(size, byte(n)))
				client.post(signaled(n, verbs.IBV_WR_SEND, client.mem.sge(0, size)))
				client.succeeded(client.sent(), n)
			}
			wcs := server.received()
			require.NotEmpty(t, wcs)
			require.Less(t, len(wcs), 40)
			n := 0 // a message came at the latest as this one
			for i, wc := range wcs {
				require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc.Status)
				require.EqualValues(t, size+server.header(), wc.ByteLen)
				got := server.mem.load(1000*uint64(i)+server.header(), size)
				for string(got) != string(texture(size, byte(n))) {
					n++
					require.Less(t, n, 40, "receive %d has a message that was not sent, or not in that order", i)
				}
				n++
			}
		})
	}
}

// TestFence: a request with a fence waits for what the reads before it bring.
func TestFence(t *testing.T) {
	for _, fenced := range []bool{false, true} {
		t.Run(fmt.Sprint(fenced), func(t *testing.T) {
			s := setup{apart: true}
			s.options.link = hw.Link{Delay: time.Millisecond}
			client, server := pair(t, s)
			server.mem.store(target, []byte("new!"))
			client.mem.store(0, []byte("old!"))
			read := libmlx5.SendWR{Opcode: verbs.IBV_WR_RDMA_READ, SGList: []verbs.SGE{client.mem.sge(0, 4)}, RDMA: server.mem.remote(target)}
			write := signaled(1, verbs.IBV_WR_RDMA_WRITE, client.mem.sge(0, 4))
			write.RDMA = server.mem.remote(number)
			want := "old!"
			if fenced {
				write.SendFlags |= verbs.IBV_SEND_FENCE
				want = "new!"
			}
			client.post(read, write)
			client.await("the write", func() bool { return len(client.poll(client.sendCQ)) > 0 })
			require.Equal(t, want, string(server.mem.load(number, 4)))
			require.Equal(t, "new!", string(client.mem.load(0, 4)))
		})
	}
}
