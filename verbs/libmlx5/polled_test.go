package libmlx5_test

import (
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// unseen is a program whose stores to the device's registers nobody sees: what it
// maps of them is memory.
type unseen struct {
	*process.Process
	dev   *mlx5.Device
	pages map[copyuser.Addr]*polledPage
}

type polledPage struct {
	frame [copyuser.PageSize]byte
	copyuser.Polled
}

func (u *unseen) Mmap(fd int, length uint64, prot, flags int, off uint64) (copyuser.Addr, error) {
	at, err := u.Process.Mmap(fd, length, prot, flags, off)
	if err != nil || fd < 0 || prot&syscall.PROT_WRITE == 0 {
		return at, err
	}
	// The registers were allocated right before, with the next number behind
	// those that there were, which begin at 16.
	p := &polledPage{Polled: u.dev.HW.UARPage(uint32(15 + u.dev.HW.Counts()["uar"])).(copyuser.Polled)}
	p.Poll(&p.frame)
	u.pages[at] = p
	return at, nil
}

func (u *unseen) Store(to copyuser.Addr, src []byte) bool {
	if p := u.pages[to&^(copyuser.PageSize-1)]; p != nil {
		copy(p.frame[to.PageOffset():], src)
		return true
	}
	return u.Process.Store(to, src)
}

// look is what the thread that serves such programs does again and again.
func (u *unseen) look() (busy bool) {
	for _, p := range u.pages {
		busy = p.Poll(&p.frame) || busy
	}
	return u.dev.Turn(nil) || busy
}

func newUnseen(t testing.TB) (*unseen, *machine) {
	m := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(m, mlx5.Config{Profile: hw.ConnectX6Dx})
	require.NoError(t, err)
	u := &unseen{Process: m.NewProcess(process.Options{}), dev: dev, pages: map[copyuser.Addr]*polledPage{}}
	ctx, err := libmlx5.OpenDevice(u, node)
	require.NoError(t, err)
	return u, &machine{t: t, dev: dev, proc: u.Process, ctx: ctx}
}

// TestUnseenProgram: a program with so many queue pairs that they share
// registers sends from all of them, and sleeps for all of its completion queues,
// before the device looks. Nothing is lost, and no event comes that nobody asked
// for.
func TestUnseenProgram(t *testing.T) {
	u, m := newUnseen(t)
	ch, err := m.ctx.CreateCompChannel()
	require.NoError(t, err)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	buf, err := verbs.Alloc(u.Process, 2*copyuser.PageSize)
	require.NoError(t, err)
	mr, err := pd.RegMR(buf, 2*copyuser.PageSize, uint64(buf), verbs.IBV_ACCESS_LOCAL_WRITE)
	require.NoError(t, err)
	quiet := m.create(1, func(a *libmlx5.CQInitAttr) { a.Channel = ch })

	const pairs = 20
	var cqs []*libmlx5.CQ
	var qps []*libmlx5.QP
	for range 2 * pairs {
		cq := m.create(8, func(a *libmlx5.CQInitAttr) { a.Channel = ch })
		cqs = append(cqs, cq)
		qps = append(qps, m.createQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4, MaxSendSGE: 1, MaxRecvSGE: 1}}))
	}
	require.Less(t, 4*len(u.pages), 2*pairs, "registers are shared")
	for i, qp := range qps {
		m.toRTS(qp, qps[i^1].Num)
	}
	for u.look() {
	}
	sge := func(i int) []verbs.SGE {
		return []verbs.SGE{{Addr: buf + copyuser.Addr(64*i), Length: 8, LKey: mr.LKey}}
	}
	for round := range byte(6) {
		for i, qp := range qps {
			require.NoError(t, cqs[i].ReqNotify(false))
			if i%2 == 1 {
				_, err := qp.PostRecv(&libmlx5.RecvWR{SGList: sge(i)})
				require.NoError(t, err)
			}
		}
		for i := 0; i < len(qps); i += 2 {
			require.True(t, u.Store(sge(i)[0].Addr, []byte{round, byte(i)}))
			_, err := qps[i].PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED, SGList: sge(i)})
			require.NoError(t, err)
		}
		require.True(t, u.look())
		told := map[*libmlx5.CQ]bool{}
		for range cqs {
			ready, err := u.Poll(ch.FD, 0)
			require.NoError(t, err)
			require.NotZero(t, ready, "events are missing")
			cq, err := m.ctx.GetCQEvent(ch)
			require.NoError(t, err)
			require.False(t, told[cq])
			told[cq] = true
			wc := make([]libmlx5.WC, 2)
			n, err := cq.Poll(wc)
			require.NoError(t, err)
			require.Equal(t, 1, n)
			require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc[0].Status)
			cq.AckEvents(1)
		}
		require.False(t, told[quiet])
		for i := 1; i < len(qps); i += 2 {
			require.Equal(t, []byte{round, byte(i - 1)}, m.load(sge(i)[0].Addr, 2))
		}
		require.False(t, u.look())
		ready, err := u.Poll(ch.FD, 0)
		require.NoError(t, err)
		require.Zero(t, ready)
	}
	require.NoError(t, quiet.Destroy())
}

// TestTurnAndDue: a receiver that is not ready is asked again when the time has
// come, which Due says.
func TestTurnAndDue(t *testing.T) {
	u, m := newUnseen(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	cq := m.create(8, nil)
	create := func() *libmlx5.QP {
		return m.createQP(&libmlx5.QPInitAttr{PD: pd, SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxSendWR: 4, MaxRecvWR: 4}})
	}
	a, b := create(), create()
	m.toRTS(a, b.Num)
	m.toRTS(b, a.Num)
	_, ok := u.dev.Due()
	require.False(t, ok)
	_, err = a.PostSend(&libmlx5.SendWR{Opcode: verbs.IBV_WR_SEND, SendFlags: verbs.IBV_SEND_SIGNALED})
	require.NoError(t, err)
	u.look()
	_, err = b.PostRecv(&libmlx5.RecvWR{})
	require.NoError(t, err)
	for range 1000 {
		in, ok := u.dev.Due()
		if !ok {
			break
		}
		require.Less(t, in, 10*time.Second)
		time.Sleep(in)
		u.look()
	}
	wc := make([]libmlx5.WC, 3)
	n, err := cq.Poll(wc)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.Equal(t, libmlx5.IBV_WC_SUCCESS, wc[0].Status)
}
