package libmlx5_test

import (
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

const node = "/dev/infiniband/uverbs0"

// machine is a booted machine with a program that has opened its device.
type machine struct {
	t    testing.TB
	dev  *mlx5.Device
	proc *process.Process
	ctx  *libmlx5.Context
	recv *libmlx5.QP // see receiver
	mtu  verbs.MTU   // of paths; 1024 bytes if 0
}

func boot(t *testing.T) *machine { return bootWith(t, hw.Recorded) }

// bootWith boots a machine whose device is that of a profile.
func bootWith(t *testing.T, p *hw.Profile) *machine {
	return bootConfig(t, mlx5.Config{Profile: p})
}

func bootConfig(t *testing.T, cfg mlx5.Config) *machine {
	m := kernel.NewMachine(methods.Core())
	dev, err := mlx5.New(m, cfg)
	require.NoError(t, err)
	p := m.NewProcess(process.Options{})
	ctx, err := libmlx5.OpenDevice(p, node)
	require.NoError(t, err)
	return &machine{t: t, dev: dev, proc: p, ctx: ctx}
}

// create makes a queue of at least cqe entries; change may be nil.
func (m *machine) create(cqe uint32, change func(*libmlx5.CQInitAttr)) *libmlx5.CQ {
	attr := libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: cqe}}
	if change != nil {
		change(&attr)
	}
	cq, err := m.ctx.CreateCQ(&attr)
	require.NoError(m.t, err)
	return cq
}

// receiver makes the queue pair whose receive requests complete completes. It is
// the first one, which has the user index 0.
func (m *machine) receiver() *libmlx5.QP {
	if m.recv == nil {
		cq := m.create(1, nil)
		m.recv = m.createQP(&libmlx5.QPInitAttr{SendCQ: cq, RecvCQ: cq, Type: verbs.IBV_QPT_RC,
			Cap: verbs.QPCap{MaxRecvWR: 128, MaxRecvSGE: 1}})
		m.toInit(m.recv)
	}
	return m.recv
}

// complete posts a receive request of id n and has the device complete it, as
// number n of its queue, by a completion queue of the test's choice.
func (m *machine) complete(cq *libmlx5.CQ, n uint16) {
	_, err := m.receiver().PostRecv(&libmlx5.RecvWR{WRID: uint64(n)})
	require.NoError(m.t, err)
	require.NoError(m.t, m.dev.HW.Complete(cq.CQN, hw.Completion{
		Opcode: ifc.MLX5_CQE_RESP_SEND, ByteCount: 100 + uint32(n), QPN: 0x42, WQECounter: n}))
}

// poll takes everything from the queue and returns the requests' numbers.
func (m *machine) poll(cq *libmlx5.CQ) (numbers []uint16) {
	wc := make([]libmlx5.WC, 3)
	for {
		n, err := cq.Poll(wc)
		require.NoError(m.t, err)
		for _, w := range wc[:n] {
			require.Equal(m.t, libmlx5.IBV_WC_SUCCESS, w.Status)
			require.Equal(m.t, libmlx5.IBV_WC_RECV, w.Opcode)
			require.Equal(m.t, 100+uint32(w.WQECounter), w.ByteLen)
			require.Equal(m.t, uint64(w.WQECounter), w.WRID)
			numbers = append(numbers, w.WQECounter)
		}
		if n < len(wc) {
			return numbers
		}
	}
}

// step lets all the device's events through.
func (m *machine) step() {
	for m.dev.Step(nil) {
		continue
	}
}

// TestEventAndCompletion is the way of a program that sleeps: arm, sleep, take
// the event, poll, acknowledge.
func TestEventAndCompletion(t *testing.T) {
	m := boot(t)
	ch, err := m.ctx.CreateCompChannel()
	require.NoError(t, err)
	cq := m.create(200, func(a *libmlx5.CQInitAttr) { a.Channel = ch })
	require.Equal(t, uint32(255), cq.CQE)

	m.complete(cq, 1)
	m.step()
	ready, err := m.proc.Poll(ch.FD, 0)
	require.NoError(t, err)
	require.Zero(t, ready, "nobody asked for an event")

	for round := range uint16(5) { // the sequence number has two bits
		require.NoError(t, cq.ReqNotify(false))
		m.complete(cq, 10+round)
		m.complete(cq, 20+round)
		m.step()
		got, err := m.ctx.GetCQEvent(ch)
		require.NoError(t, err)
		require.Same(t, cq, got)
		ready, err = m.proc.Poll(ch.FD, 0)
		require.NoError(t, err)
		require.Zero(t, ready, "one event for one request")
		want := []uint16{10 + round, 20 + round}
		if round == 0 {
			want = []uint16{1, 10, 20}
		}
		require.Equal(t, want, m.poll(cq))
	}
	require.ErrorIs(t, ch.Destroy(), syscall.EBUSY)
	cq.AckEvents(5)
	require.NoError(t, cq.Destroy(), "the kernel counts as many events as were read")
	require.NoError(t, ch.Destroy())
}

// TestArmedBeforeLastPoll: a completion between the last poll and the request
// brings the event at once.
func TestArmedBeforeLastPoll(t *testing.T) {
	m := boot(t)
	ch, err := m.ctx.CreateCompChannel()
	require.NoError(t, err)
	cq := m.create(8, func(a *libmlx5.CQInitAttr) { a.Channel = ch })
	m.complete(cq, 1)
	require.Equal(t, []uint16{1}, m.poll(cq))
	m.complete(cq, 2)
	require.NoError(t, cq.ReqNotify(false))
	m.step()
	_, err = m.ctx.GetCQEvent(ch)
	require.NoError(t, err)
}

// TestSolicited: with solicitedOnly an ordinary completion brings no event.
func TestSolicited(t *testing.T) {
	m := boot(t)
	ch, err := m.ctx.CreateCompChannel()
	require.NoError(t, err)
	cq := m.create(8, func(a *libmlx5.CQInitAttr) { a.Channel = ch })
	require.NoError(t, cq.ReqNotify(true))
	m.complete(cq, 1)
	m.step()
	ready, err := m.proc.Poll(ch.FD, 0)
	require.NoError(t, err)
	require.Zero(t, ready)
	require.NoError(t, m.dev.HW.Complete(cq.CQN, hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND, Solicited: true}))
	m.step()
	ready, err = m.proc.Poll(ch.FD, 0)
	require.NoError(t, err)
	require.Equal(t, uint16(process.POLLIN), ready&process.POLLIN)
}

// TestRounds: the owner bit changes its meaning with every round of the queue,
// for each form of entry.
func TestRounds(t *testing.T) {
	for name, change := range map[string]func(*libmlx5.CQInitAttr){
		"64 bytes":          nil,
		"128 bytes":         func(a *libmlx5.CQInitAttr) { a.CQESize = 128 },
		"128 bytes, padded": func(a *libmlx5.CQInitAttr) { a.CQESize, a.Pad = 128, true },
	} {
		t.Run(name, func(t *testing.T) {
			m := boot(t)
			cq := m.create(3, change)
			require.Empty(t, m.poll(cq))
			next := uint16(0)
			for _, n := range []int{1, 4, 3, 0, 2, 4, 4, 1} {
				var want []uint16
				for range n {
					m.complete(cq, next)
					want = append(want, next)
					next++
				}
				require.Equal(t, want, m.poll(cq))
			}
		})
	}
}

// TestOverrun: the consumer index in the doorbell record is what the device
// goes by.
func TestOverrun(t *testing.T) {
	m := boot(t)
	cq := m.create(1, nil)
	m.complete(cq, 0)
	m.complete(cq, 1)
	require.Equal(t, []uint16{0, 1}, m.poll(cq))
	m.complete(cq, 2)
	m.complete(cq, 3)
	require.ErrorIs(t, m.dev.HW.Complete(cq.CQN, hw.Completion{}), hw.ErrCQOverrun)
}

// TestResize: what the device has written before moves along, whether the queue
// grows or shrinks, and whatever round it is in.
func TestResize(t *testing.T) {
	for _, tt := range []struct {
		name     string
		from, to uint32
		taken    uint16 // completions taken before
		there    uint16 // and those that are there when it is resized
		wantCQE  uint32
	}{
		{name: "empty", from: 3, to: 7, wantCQE: 7},
		{name: "larger", from: 3, to: 20, taken: 2, there: 3, wantCQE: 31},
		{name: "larger, over the end", from: 7, to: 20, taken: 6, there: 5, wantCQE: 31},
		{name: "smaller", from: 31, to: 7, taken: 40, there: 6, wantCQE: 7},
		{name: "same", from: 7, to: 5, taken: 3, there: 3, wantCQE: 7},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := boot(t)
			cq := m.create(tt.from, nil)
			for n := range tt.taken {
				m.complete(cq, n)
				require.Equal(t, []uint16{n}, m.poll(cq))
			}
			var want []uint16
			for n := range tt.there {
				m.complete(cq, 1000+n)
				want = append(want, 1000+n)
			}
			require.NoError(t, cq.Resize(tt.to))
			require.Equal(t, tt.wantCQE, cq.CQE)
			m.complete(cq, 2000)
			require.Equal(t, append(want, 2000), m.poll(cq))
			for n := range uint16(2 * (tt.wantCQE + 1)) {
				m.complete(cq, n)
				require.Equal(t, []uint16{n}, m.poll(cq))
			}
			require.NoError(t, cq.Destroy())
		})
	}
}

// TestResizeRefused: a queue that cannot be resized goes on as it is.
func TestResizeRefused(t *testing.T) {
	m := boot(t)
	cq := m.create(15, nil)
	for n := range uint16(9) {
		m.complete(cq, n)
	}
	areas := m.proc.Mem.Areas()
	require.ErrorIs(t, cq.Resize(3), syscall.EINVAL, "nine completions do not fit into four entries")
	require.Equal(t, areas, m.proc.Mem.Areas())
	require.ErrorIs(t, cq.Resize(1<<26), syscall.EINVAL)
	require.Equal(t, []uint16{0, 1, 2, 3, 4, 5, 6, 7, 8}, m.poll(cq))
}

// TestCreateCQRefused: what the library finds itself.
func TestCreateCQRefused(t *testing.T) {
	m := boot(t)
	for name, tt := range map[string]struct {
		attr libmlx5.CQInitAttr
		want error
	}{
		"no entries":     {libmlx5.CQInitAttr{}, libmlx5.ErrCQE},
		"too many":       {libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1 << 24}}, libmlx5.ErrCQE},
		"size":           {libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1}, CQESize: 32}, libmlx5.ErrCQESize},
		"pad":            {libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1}, Pad: true}, libmlx5.ErrCQEPad},
		"by the kernel":  {libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1, CompVector: 1}}, syscall.EINVAL},
		"unknown flag":   {libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1, Flags: 1 << 5}}, syscall.EINVAL},
		"not of a queue": {libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 1, Channel: &verbs.CompChannel{FD: 77}}}, syscall.EBADF},
	} {
		t.Run(name, func(t *testing.T) {
			areas := m.proc.Mem.Areas()
			_, err := m.ctx.CreateCQ(&tt.attr)
			require.ErrorIs(t, err, tt.want)
			require.Equal(t, areas, m.proc.Mem.Areas(), "nothing is left of it")
		})
	}
}

// TestRecords: doorbell records share a page, a cache line each, and the lowest
// free one is taken.
func TestRecords(t *testing.T) {
	m := boot(t)
	m.receiver()
	areas := m.proc.Mem.Areas()
	var cqs []*libmlx5.CQ
	for range 65 { // a page has 64 records
		cqs = append(cqs, m.create(1, nil))
	}
	require.NoError(t, cqs[3].Destroy())
	cqs[3] = m.create(1, nil)
	m.complete(cqs[3], 7)
	require.Equal(t, []uint16{7}, m.poll(cqs[3]))
	for _, cq := range cqs {
		require.NoError(t, cq.Destroy())
	}
	require.Equal(t, areas, m.proc.Mem.Areas())
}

// TestPollUnmapped: a program whose queue is gone gets a signal.
func TestPollUnmapped(t *testing.T) {
	m := boot(t)
	cq := m.create(63, nil)
	buf := cq.Buffer()
	require.NoError(t, m.proc.Munmap(buf.Addr, buf.Length))
	_, err := cq.Poll(make([]libmlx5.WC, 1))
	require.ErrorIs(t, err, syscall.EFAULT)
}

// TestMR: registration by way of the library's calls.
func TestMR(t *testing.T) {
	m := boot(t)
	pd, err := m.ctx.AllocPD()
	require.NoError(t, err)
	at, err := verbs.Alloc(m.proc, 8192)
	require.NoError(t, err)
	mr, err := pd.RegMR(at, 8192, uint64(at), 1)
	require.NoError(t, err)
	require.NotZero(t, mr.LKey)
	require.ErrorIs(t, pd.Dealloc(), syscall.EBUSY, "the region still uses the domain")
	require.NoError(t, mr.Dereg())
	_, err = pd.RegMR(at+0x100000000, 8192, 0, 1)
	require.ErrorIs(t, err, syscall.EFAULT)
	require.NoError(t, pd.Dealloc())
}

// TestClose: a context that is closed leaves nothing.
func TestClose(t *testing.T) {
	m := boot(t)
	p := m.proc
	m.ctx.Close()
	require.Zero(t, p.FDCount())
	require.Zero(t, p.Mem.Areas())
	require.Zero(t, m.dev.Uverbs.OpenFiles())
}

func TestQueryPort(t *testing.T) {
	m := boot(t)
	port, err := m.ctx.QueryPort(1)
	require.NoError(t, err)
	require.Equal(t, uint8(4), port.LegacyResp.State, "PORT_ACTIVE")
	require.Equal(t, uint8(2), port.LegacyResp.LinkLayer, "Ethernet")
	_, err = m.ctx.QueryPort(2)
	require.ErrorIs(t, err, syscall.EINVAL)
}

// TestParallel: one context serves several threads.
func TestParallel(t *testing.T) {
	m := boot(t)
	m.receiver()
	ch, err := m.ctx.CreateCompChannel()
	require.NoError(t, err)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 20 {
				cq, err := m.ctx.CreateCQ(&libmlx5.CQInitAttr{CQInitAttr: verbs.CQInitAttr{CQE: 7, Channel: ch}})
				if !assert.NoError(t, err) {
					return
				}
				assert.NoError(t, cq.ReqNotify(false))
				assert.NoError(t, m.dev.HW.Complete(cq.CQN, hw.Completion{Opcode: ifc.MLX5_CQE_RESP_SEND}))
				n, err := cq.Poll(make([]libmlx5.WC, 2))
				assert.NoError(t, err)
				assert.Equal(t, 1, n)
				assert.NoError(t, cq.Destroy())
			}
		})
	}
	wg.Wait()
	require.NoError(t, ch.Destroy(), "no queue uses it any more")
}
