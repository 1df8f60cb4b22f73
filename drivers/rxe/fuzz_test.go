package rxe

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/sim_test/watchdog"
	"uverbsim/spec"
)

// FuzzSharedMemory has a user write what it likes into the memory of its
// queues, at any place, and ring the doorbell. Whatever it is, the driver's
// threads stay alive, the objects can be destroyed, and nothing is left.
func FuzzSharedMemory(f *testing.F) {
	send := spec.RxeSendWQE{WR: spec.RxeSendWR{Opcode: spec.IB_UVERBS_WR_SEND}, DMA: spec.RxeDMAInfo{NumSGE: 99, Length: 1 << 31, Resid: 1 << 31}}
	f.Add(uint16(bufData), []byte{}, uint16(bufProducerIndex), []byte{1})
	f.Add(uint16(bufData), spec.Bytes(&send), uint16(bufProducerIndex), []byte{1})
	f.Add(uint16(bufData+sendWQEState), []byte{wqePending}, uint16(bufProducerIndex), []byte{0xff, 0xff, 0xff, 0xff})
	f.Add(uint16(0), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, uint16(bufConsumerIndex), []byte{9})
	f.Fuzz(func(t *testing.T, at1 uint16, what1 []byte, at2 uint16, what2 []byte) {
		watchdog.On(t)
		r := newRig(t, Config{})
		cq := r.newCQ(16)
		qp := r.newQP(r.rcInit(cq))
		r.connect(qp, qp.QPNum)
		q := toRqp(qp)
		for _, queue := range []*queue{q.sq.queue, q.rq.queue, toRcq(cq).queue} {
			for at, what := range map[uint16][]byte{at1: what1, at2: what2} {
				off := uint64(at) % queue.bufSize
				queue.buf.store(off, what[:min(len(what), int(queue.bufSize-off))])
			}
		}
		if _, err := r.dev.Ops.PostSend(r.task, qp, nil); err != nil {
			t.Fatal(err)
		}
		_ = r.dev.Ops.ResizeCQ(cq, 20, r.udata(nil, 16)) // may find too many completions in it
		if at1%2 == 0 {
			require.NoError(t, r.modify(qp, spec.IB_QP_STATE, core.QPAttr{State: spec.IB_QPS_ERR}))
		}
		done := make(chan error, 2)
		go func() {
			done <- r.dev.Ops.DestroyQP(qp, r.udata(nil, 0))
			done <- r.dev.Ops.DestroyCQ(cq, r.udata(nil, 0))
		}()
		for range 2 {
			select {
			case err := <-done:
				require.NoError(t, err)
			case <-time.After(10 * time.Second):
				t.Fatal("a destruction hangs")
			}
		}
		require.Equal(t, map[string]int{"uc": 1, "pd": 1}, r.counts())
	})
}
