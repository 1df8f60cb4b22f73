package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// groups are multicast GIDs: of IPv6, and of IPv4 as RoCE has them.
var groups = map[string][16]byte{
	"IPv6": {0: 0xff, 1: 0x0e, 15: 0x42},
	"IPv4": {10: 0xff, 11: 0xff, 12: 239, 13: 1, 14: 2, 15: 3},
}

// toGroup is a datagram to a group.
func (e *end) toGroup(ah *libmlx5.AH, data string) libmlx5.SendWR {
	e.mem.store(outgoing, []byte(data))
	wr := signaled(1, verbs.IBV_WR_SEND, e.mem.sge(outgoing, uint64(len(data))))
	const everyQP = 0xffffff
	wr.UD = libmlx5.UDWR{AH: ah, RemoteQPN: everyQP, RemoteQKey: e.qkey()}
	return wr
}

func (e *end) sendToGroup(ah *libmlx5.AH, data string) {
	e.Helper()
	wr := e.toGroup(ah, data)
	_, err := e.qp.PostSend(&wr)
	require.NoError(e, err)
	e.succeeded(e.sent(), 1)
}

// datagrams makes ends of which nobody is the peer.
func datagrams(m *machine, devices ...int) (ends []*end) {
	l := typical()
	for _, device := range devices {
		e := m.start(device).newEnd(setup{typ: verbs.IBV_QPT_UD})
		m.modify(e.qp, l.initAttr(), initMask[e.typ])
		m.modify(e.qp, l.rtrAttr(e.qp, e.gid, 0), rtrMask[e.typ])
		m.modify(e.qp, l.rtsAttr(0), rtsMask[e.typ])
		ends = append(ends, e)
	}
	return ends
}

func (m *machine) modify(qp *libmlx5.QP, attr verbs.QPAttr, mask uint32) {
	m.Helper()
	require.NoError(m, qp.Modify(&attr, mask))
}

// TestMulticast: each member of a group has one copy of a message, on whichever
// device it is, the sender too if it is one; others have none.
func TestMulticast(t *testing.T) {
	for name, gid := range groups {
		t.Run(name, func(t *testing.T) {
			m := boot(t, options{devices: 2})
			ends := datagrams(m, 0, 0, 0, 1, 1)
			members := ends[1:4]
			for _, e := range ends {
				for id := range uint64(4) {
					e.receive(e.into(id, incoming+0x100*id, 16))
				}
			}
			for _, e := range members {
				require.NoError(t, e.qp.AttachMcast(gid, 0))
			}
			for round, from := range []*end{ends[0], ends[1], ends[3]} {
				from.sendToGroup(from.createAH(gid), "to all of you")
				for i, e := range ends {
					if i < 1 || i > 3 {
						require.Empty(t, e.received(), "end %d is no member", i)
						continue
					}
					wc := e.one(e.received())
					require.Equal(t, good, wc.Status)
					require.EqualValues(t, round, wc.WRID)
					require.EqualValues(t, 40+13, wc.ByteLen)
					require.Equal(t, from.qp.Num, wc.SrcQP)
					require.Equal(t, "to all of you", string(e.mem.load(incoming+0x100*uint64(round)+40, 13)))
				}
			}
			require.NoError(t, members[0].qp.DetachMcast(gid, 0))
			ends[0].sendToGroup(ends[0].createAH(gid), "to two of you")
			require.Empty(t, members[0].received())
			for _, e := range members[1:] {
				e.one(e.received())
				require.NoError(t, e.qp.DetachMcast(gid, 0))
			}
		})
	}
}

// TestBlockLoopback: a queue pair that was made so does not hear itself, but others
// of its device do.
func TestBlockLoopback(t *testing.T) {
	m := boot(t, options{})
	gid := groups["IPv6"]
	l := typical()
	var ends []*end
	for _, flags := range []uint32{verbs.IBV_QP_CREATE_BLOCK_SELF_MCAST_LB, 0} {
		e := m.start(0).newEnd(setup{typ: verbs.IBV_QPT_UD, flags: flags})
		m.modify(e.qp, l.initAttr(), initMask[e.typ])
		m.modify(e.qp, l.rtrAttr(e.qp, e.gid, 0), rtrMask[e.typ])
		m.modify(e.qp, l.rtsAttr(0), rtsMask[e.typ])
		require.NoError(t, e.qp.AttachMcast(gid, 0))
		e.receive(e.into(1, incoming, 16), e.into(2, incoming, 16))
		ends = append(ends, e)
	}
	for round, from := range ends {
		from.sendToGroup(from.createAH(gid), "hear")
		blocked, open := ends[0].received(), ends[1].received()
		require.Len(t, blocked, round, "it hears the other one only")
		require.Len(t, open, 1)
	}
	for _, e := range ends {
		require.NoError(t, e.qp.DetachMcast(gid, 0))
	}
}

// TestMulticastFilters: a message with another Q_Key, or to a member without a
// receive, is dropped there, and the others have it.
func TestMulticastFilters(t *testing.T) {
	m := boot(t, options{devices: 2})
	gid := groups["IPv4"]
	ends := datagrams(m, 0, 0, 1)
	for _, e := range ends[1:] {
		require.NoError(t, e.qp.AttachMcast(gid, 0))
	}
	ends[2].receive(ends[2].into(1, incoming, 16))
	ah := ends[0].createAH(gid)
	wr := ends[0].toGroup(ah, "wrong key")
	wr.UD.RemoteQKey++
	_, err := ends[0].qp.PostSend(&wr)
	require.NoError(t, err)
	ends[0].succeeded(ends[0].sent(), 1)
	require.Empty(t, ends[2].received())
	ends[0].sendToGroup(ah, "right key")
	require.Empty(t, ends[1].received())
	ends[2].one(ends[2].received())
	for _, e := range ends[1:] {
		require.NoError(t, e.qp.DetachMcast(gid, 0))
	}
}

// TestAttachRules: only datagram queue pairs are in groups, and only of multicast
// GIDs; to attach twice changes nothing, and a queue pair in a group is not
// destroyed.
func TestAttachRules(t *testing.T) {
	client, _ := pair(t, setup{typ: verbs.IBV_QPT_UD})
	gid := groups["IPv6"]
	connected := client.newEnd(setup{})
	require.ErrorIs(t, connected.qp.AttachMcast(gid, 0), syscall.EINVAL)
	require.ErrorIs(t, client.qp.AttachMcast(client.gid, 0), syscall.EINVAL)
	require.ErrorIs(t, client.qp.DetachMcast(gid, 0), syscall.EINVAL)
	require.NoError(t, client.qp.AttachMcast(gid, 0))
	require.NoError(t, client.qp.AttachMcast(gid, 0))
	client.receive(client.into(1, incoming, 8), client.into(2, incoming, 8))
	client.sendToGroup(client.createAH(gid), "once")
	client.succeeded(client.received(), 1)
	require.ErrorIs(t, client.qp.CmdDestroyQP(), syscall.EBUSY)
	require.NoError(t, client.qp.DetachMcast(gid, 0))
	require.Error(t, client.qp.DetachMcast(gid, 0))
}
