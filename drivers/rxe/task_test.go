package rxe

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWorkqueue: work is done in order, one after the other, and work that
// comes while the last is done is done too.
func TestWorkqueue(t *testing.T) {
	var w workqueue
	var running, done atomic.Int32
	order := make(chan int32, 1000)
	for i := range int32(1000) {
		w.queue(func() {
			if running.Add(1) != 1 {
				t.Error("two at once")
			}
			order <- i
			running.Add(-1)
			done.Add(1)
		})
	}
	require.Eventually(t, func() bool { return done.Load() == 1000 }, 5*time.Second, time.Millisecond)
	for i := range int32(1000) {
		require.Equal(t, i, <-order)
	}
}

// newTask is a task of a QP that is nothing else.
func newTask(run func(*rxeQP) bool) (k *task, work *[]func()) {
	work = new([]func())
	d := &rxeDev{queueWork: func(f func()) { *work = append(*work, f) }}
	d.qpPool.init(typeQP)
	qp := &rxeQP{dev: d}
	if err := d.qpPool.add(nil, &qp.elem, qp); err != nil {
		panic(err)
	}
	qp.sendTask.init(nil, qp, run)
	return &qp.sendTask, work
}

// TestTask: a task that was asked for is done once, however often it was asked
// for before that; asked for while it runs, it runs once more; it runs as long
// as it says that there is more.
func TestTask(t *testing.T) {
	var k *task
	runs, more, askAgain := 0, 2, true
	k, work := newTask(func(*rxeQP) bool {
		runs++
		if askAgain {
			askAgain = false
			k.sched(nil)
			k.sched(nil)
		}
		more--
		return more > 0
	})
	k.sched(nil)
	require.Equal(t, int32(2), k.qp.refs.Load(), "it holds the QP")
	require.Len(t, *work, 1)
	(*work)[0]()
	require.Equal(t, 3, runs, "two as long as there is more, one since it was asked for")
	require.Len(t, *work, 1)
	require.Equal(t, int32(1), k.qp.refs.Load())
	require.Equal(t, taskIdle, k.state)
}

// TestTaskStopped: a task that is disabled cannot be asked for; what waits is
// finished before.
func TestTaskStopped(t *testing.T) {
	runs := 0
	k, work := newTask(func(*rxeQP) bool { runs++; return false })
	k.disable(nil)
	k.sched(nil)
	require.Empty(t, *work)
	k.enable(nil)
	k.sched(nil)
	require.Len(t, *work, 1)
	go (*work)[0]()
	k.disable(nil)
	require.Equal(t, 1, runs)
	k.cleanup(nil)
	k.enable(nil)
	k.sched(nil)
	require.Len(t, *work, 1, "gone for good")
}

// TestTimers holds the delays against rxe_comp.c and the unit of a timeout
// against InfiniBand's.
func TestTimers(t *testing.T) {
	require.Equal(t, 640*time.Microsecond, rnrNakDelay(12))
	require.Equal(t, 655360*time.Microsecond, rnrNakDelay(0))
	require.Equal(t, 491520*time.Microsecond, rnrNakDelay(31))
	require.Equal(t, rnrNakDelay(1), rnrNakDelay(33), "the timer has 5 bits")
	require.Zero(t, ackTimeout(0))
	require.Equal(t, 4096*time.Nanosecond*16384, ackTimeout(14))
}

// TestPSNCompare: numbers of packets go round after 24 bits.
func TestPSNCompare(t *testing.T) {
	require.Zero(t, psnCompare(5, 5))
	require.Positive(t, psnCompare(6, 5))
	require.Negative(t, psnCompare(5, 6))
	require.Positive(t, psnCompare(0, 0xffffff))
	require.Negative(t, psnCompare(0xffffff, 3))
}
