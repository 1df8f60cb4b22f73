package rxe

import (
	"time"

	"uverbsim/spec"
)

// rnrNakUsec is rnrnak_usec of drivers/infiniband/sw/rxe/rxe_comp.c: how long a
// QP waits before it sends again to one that had no receive, by that one's
// min_rnr_timer.
var rnrNakUsec = [32]time.Duration{
	655360, 10, 20, 30, 40, 60, 80, 120, 160, 240, 320, 480, 640, 960, 1280, 1920,
	2560, 3840, 5120, 7680, 10240, 15360, 20480, 30720, 40960, 61410, 81920, 122880, 163840, 245760, 327680, 491520,
}

// rnrNakDelay models rnrnak_jiffies in drivers/infiniband/sw/rxe/rxe_comp.c.
func rnrNakDelay(timer uint8) time.Duration { return rnrNakUsec[timer&31] * time.Microsecond }

// ackTimeout is how long a QP waits for an answer: 4.096 us times two to the
// power of its timeout, for ever if that is 0.
func ackTimeout(timeout uint8) time.Duration {
	if timeout == 0 {
		return 0
	}
	return 4096 * time.Nanosecond << timeout
}

// startRetransTimer starts the timer for a missing answer unless it runs, or
// in any case if restart is set.
func (qp *rxeQP) startRetransTimer(timeout uint8, restart bool) {
	delay := ackTimeout(timeout)
	if delay == 0 {
		return
	}
	qp.timers.Lock()
	defer qp.timers.Unlock()
	switch {
	case qp.retrans == nil:
		qp.retrans = time.AfterFunc(delay, qp.retransmitTimer)
	case restart || !qp.retransRuns:
		qp.retrans.Reset(delay)
	}
	qp.retransRuns = true
}

// retransmitTimer models retransmit_timer in
// drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) retransmitTimer() {
	qp.timers.Lock()
	qp.retransRuns = false
	qp.timers.Unlock()
	qp.fire(func() { qp.comp.timeout = true })
}

// startRNRTimer has the requests sent again after a while. It arms
// rnr_nak_timer of drivers/infiniband/sw/rxe/rxe_req.c.
func (qp *rxeQP) startRNRTimer(timer uint8) {
	qp.timers.Lock()
	defer qp.timers.Unlock()
	if qp.rnr != nil {
		qp.rnr.Stop()
	}
	qp.rnr = time.AfterFunc(rnrNakDelay(timer), func() {
		qp.fire(func() { qp.req.needRetry, qp.req.waitForRNRTimer = true, false })
	})
}

// fire has the send task look at what a timer says, if the QP still lives.
func (qp *rxeQP) fire(say func()) {
	if !qp.getUnlessZero() {
		return
	}
	defer qp.put(nil)
	qp.stateLock.Lock(nil)
	defer qp.stateLock.Unlock(nil)
	if qp.valid {
		say()
		qp.sendTask.sched(nil)
	}
}

// resetRetryTimer starts the timer anew while answers are missing. It models
// reset_retry_timer in drivers/infiniband/sw/rxe/rxe_comp.c.
func (qp *rxeQP) resetRetryTimer() {
	qp.stateLock.Lock(nil)
	waits := qp.ib.Type == spec.IB_QPT_RC && qp.attr.State >= spec.IB_QPS_RTS && psnCompare(qp.req.psn, qp.comp.psn) > 0
	timeout := qp.attr.Timeout
	qp.stateLock.Unlock(nil)
	if waits {
		qp.startRetransTimer(timeout, true)
	}
}

// stopTimers is for a QP that goes.
func (qp *rxeQP) stopTimers() {
	qp.timers.Lock()
	defer qp.timers.Unlock()
	if qp.retrans != nil {
		qp.retrans.Stop()
	}
	if qp.rnr != nil {
		qp.rnr.Stop()
	}
}
