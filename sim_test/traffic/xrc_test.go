package traffic

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// sharedXRCD opens the domain that goes with the inode of the program's device
// node, which other programs on the device open too.
func (p *program) sharedXRCD() *verbs.XRCD {
	p.Helper()
	xrcd, err := p.ctx.OpenXRCD(p.ctx.CmdFD, syscall.O_CREAT)
	require.NoError(p, err)
	p.atEnd(xrcd.Close)
	return xrcd
}

// xrcWorkers are processes of one host that share a domain: the first has made the
// target that a client on another host is connected to, and each has a shared
// queue of its own.
type xrcWorkers struct {
	client  *end
	target  *libmlx5.QP
	workers []*xrcWorker
}

type xrcWorker struct {
	*program
	xrcd *verbs.XRCD
	cq   *libmlx5.CQ
	srq  *libmlx5.SRQ
	mem  *memory
}

func newXRCWorkers(t *testing.T, n int) *xrcWorkers {
	t.Helper()
	m := boot(t, options{devices: 2})
	x := &xrcWorkers{client: m.start(0).newEnd(setup{typ: verbs.IBV_QPT_XRC_SEND})}
	for range n {
		w := &xrcWorker{program: m.start(1)}
		w.xrcd, w.cq, w.mem = w.sharedXRCD(), w.createCQ(16, nil), w.register(4096, everything)
		w.srq = w.createSRQ(&libmlx5.SRQInitAttr{Type: verbs.IBV_SRQT_XRC, XRCD: w.xrcd, CQ: w.cq, Attr: verbs.SRQAttr{MaxWR: 8, MaxSGE: 1}})
		x.workers = append(x.workers, w)
	}
	first, l := x.workers[0], typical()
	x.target = first.createQP(&libmlx5.QPInitAttr{XRCD: first.xrcd, Type: verbs.IBV_QPT_XRC_RECV})
	m.modify(x.target, l.initAttr(), initMask[tgt])
	m.modify(x.target, l.rtrAttr(x.client.qp, x.client.gid, l.clientPSN), rtrMask[tgt])
	m.modify(x.client.qp, l.initAttr(), initMask[ini])
	m.modify(x.client.qp, l.rtrAttr(x.target, first.gid, 0), rtrMask[ini])
	m.modify(x.client.qp, l.rtsAttr(l.clientPSN), rtsMask[ini])
	return x
}

// send sends to a worker and returns how that ended.
func (x *xrcWorkers) send(w *xrcWorker, data string) libmlx5.Status {
	x.client.Helper()
	_, err := w.srq.PostRecv(&libmlx5.RecvWR{WRID: 7, SGList: []verbs.SGE{w.mem.sge(0, 64)}})
	require.NoError(x.client, err)
	x.client.mem.store(0, []byte(data))
	wr := signaled(1, verbs.IBV_WR_SEND, x.client.mem.sge(0, uint64(len(data))))
	wr.XRC.RemoteSRQN = w.srq.SRQN
	_, err = x.client.qp.PostSend(&wr)
	require.NoError(x.client, err)
	x.client.exhaust()
	return x.client.one(x.client.sent()).Status
}

// TestXRCAcrossProcesses: one target serves the shared queues of all processes
// that have its domain; memory is that of the queue's process.
func TestXRCAcrossProcesses(t *testing.T) {
	x := newXRCWorkers(t, 3)
	for range 2 {
		for i, w := range x.workers {
			msg := string(rune('a'+i)) + " message"
			require.Equal(t, good, x.send(w, msg))
			w.succeeded(w.poll(w.cq), 7)
			require.Equal(t, msg, string(w.mem.load(0, uint64(len(msg)))))
			for _, other := range x.workers {
				require.Empty(t, other.poll(other.cq))
				other.events()
			}
		}
	}
	// A key is looked for in the domain of the queue that the request names.
	first, second := x.workers[0], x.workers[1]
	wr := signaled(2, verbs.IBV_WR_RDMA_WRITE, x.client.mem.sge(0, 8))
	wr.RDMA, wr.XRC.RemoteSRQN = second.mem.remote(100), second.srq.SRQN
	_, err := x.client.qp.PostSend(&wr)
	require.NoError(t, err)
	x.client.succeeded(x.client.sent(), 2)
	wr.XRC.RemoteSRQN = first.srq.SRQN
	_, err = x.client.qp.PostSend(&wr)
	require.NoError(t, err)
	require.Equal(t, forbidden, x.client.one(x.client.sent()).Status)
	for _, w := range x.workers {
		w.events()
	}
}

// TestXRCTargetOutlivesItsMaker: a target lives as long as any process has it open.
func TestXRCTargetOutlivesItsMaker(t *testing.T) {
	x := newXRCWorkers(t, 2)
	maker, other := x.workers[0], x.workers[1]
	opened, err := other.ctx.OpenQP(&verbs.QPOpenAttr{QPNum: x.target.Num, XRCD: other.xrcd, Type: verbs.IBV_QPT_XRC_RECV})
	require.NoError(t, err)
	require.Equal(t, x.target.Num, opened.Num)
	require.Equal(t, rtr, other.state(opened))
	maker.exit()
	require.Equal(t, good, x.send(other, "still here"))
	other.succeeded(other.poll(other.cq), 7)
	other.events()
	require.NoError(t, opened.Destroy())
	require.Equal(t, libmlx5.IBV_WC_RETRY_EXC_ERR, x.send(other, "nobody there"))
	_, err = other.ctx.OpenQP(&verbs.QPOpenAttr{QPNum: x.target.Num, XRCD: other.xrcd, Type: verbs.IBV_QPT_XRC_RECV})
	require.Error(t, err)
}
