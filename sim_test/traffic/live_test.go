package traffic

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/verbs"
	"uverbsim/verbs/libmlx5"
)

// run lets the devices work by themselves until the test ends.
func (m *machine) run() {
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, dev := range m.devices {
		running.Go(func() { dev.Run(stop) })
	}
	m.Cleanup(func() { close(stop); running.Wait() }) // before the programs end
}

// TestLive: two programs that wait for events exchange messages on devices that
// run by themselves.
func TestLive(t *testing.T) {
	client, server := pair(t, setup{apart: true, channel: true})
	client.run()
	const rounds, size = 200, 1500
	type outcome struct {
		what string
		err  error
	}
	done := make(chan outcome, 2)
	play := func(e *end, first bool) {
		in, out := e.mem.sge(0, size), e.mem.sge(0x1000, size)
		wait := func(cq *libmlx5.CQ) (wc libmlx5.WC, err error) {
			for {
				var wcs [1]libmlx5.WC
				n, err := cq.Poll(wcs[:])
				if n > 0 || err != nil {
					return wcs[0], err
				}
				if err := cq.ReqNotify(false); err != nil {
					return wc, err
				}
				if n, err = cq.Poll(wcs[:]); n > 0 || err != nil {
					return wcs[0], err
				}
				got, err := e.ctx.GetCQEvent(e.channel)
				if err != nil {
					return wc, err
				}
				got.AckEvents(1)
			}
		}
		for n := range rounds {
			if _, err := e.qp.PostRecv(&libmlx5.RecvWR{WRID: uint64(n), SGList: []verbs.SGE{in}}); err != nil {
				done <- outcome{"receive", err}
				return
			}
			send := func() error {
				if err := verbs.Store(e.proc, e.mem.at+0x1000, texture(size, byte(n))); err != nil {
					return err
				}
				wr := signaled(uint64(n), verbs.IBV_WR_SEND, out)
				if _, err := e.qp.PostSend(&wr); err != nil {
					return err
				}
				_, err := wait(e.sendCQ)
				return err
			}
			if first {
				if err := send(); err != nil {
					done <- outcome{"send", err}
					return
				}
			}
			if wc, err := wait(e.recvCQ); err != nil || wc.Status != good || wc.WRID != uint64(n) {
				done <- outcome{"message", err}
				return
			}
			got := make([]byte, size)
			if err := verbs.Load(e.proc, e.mem.at, got); err != nil || string(got) != string(texture(size, byte(n))) {
				done <- outcome{"content", err}
				return
			}
			if !first {
				if err := send(); err != nil {
					done <- outcome{"answer", err}
					return
				}
			}
		}
		done <- outcome{}
	}
	go play(client, true)
	go play(server, false)
	for range 2 {
		require.Equal(t, outcome{}, <-done)
	}
}

// TestManyThreads: threads of a program post to one queue pair and poll one queue
// at the same time; every request is done once.
func TestManyThreads(t *testing.T) {
	client, server := pair(t, setup{apart: true, cqe: 256, size: 1 << 16,
		cap: verbs.QPCap{MaxSendWR: 64, MaxRecvWR: 1, MaxSendSGE: 1, MaxRecvSGE: 1}})
	client.run()
	const threads, each = 4, 100
	var mu sync.Mutex
	seen := map[uint64]int{}
	var wg sync.WaitGroup
	for thread := range uint64(threads) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for i := range uint64(each) {
				wr := signaled(thread*each+i, verbs.IBV_WR_ATOMIC_FETCH_AND_ADD, client.mem.sge(0x1000+8*thread, 8))
				wr.Atomic = libmlx5.AtomicWR{RemoteAddr: server.mem.iova + number, RKey: server.mem.RKey, CompareAdd: 1}
				for {
					if _, err := client.qp.PostSend(&wr); err == nil {
						break
					}
				}
				for tries := 0; tries < 1_000_000; tries++ {
					var wcs [1]libmlx5.WC
					n, err := client.sendCQ.Poll(wcs[:])
					if err != nil || n > 0 && wcs[0].Status != good {
						t.Errorf("completion %+v: %v", wcs[0], err)
						return
					}
					if n > 0 {
						mu.Lock()
						seen[wcs[0].WRID]++
						mu.Unlock()
						break
					}
				}
			}
		}()
	}
	wg.Wait()
	for id := range uint64(threads * each) {
		require.Equal(t, 1, seen[id], "request %d", id)
	}
	require.EqualValues(t, threads*each, server.mem.word(number))
}
