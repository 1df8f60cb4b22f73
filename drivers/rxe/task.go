package rxe

import (
	"sync"

	"uverbsim/trace"
)

// taskState says what a task is doing: the enumerators TASK_STATE_… of
// drivers/infiniband/sw/rxe/rxe_task.h.
type taskState uint8

const (
	taskIdle     taskState = iota
	taskBusy               // in the work queue, or running
	taskArmed              // the same, and to run once more
	taskDraining           // the same, and nobody may ask for more
	taskDrained
	taskInvalid
)

// task is a struct rxe_task: a part of a QP's work that is done by a thread of
// the kernel's own. That thread reports to no trace.
type task struct {
	qp  *rxeQP
	run func(qp *rxeQP) (again bool)

	lock  sync.Mutex
	idle  sync.Cond // it is idle or drained
	state taskState
}

// init models rxe_init_task in drivers/infiniband/sw/rxe/rxe_task.c.
func (k *task) init(t *trace.Task, qp *rxeQP, run func(*rxeQP) bool) {
	defer t.Enter(module, "rxe_init_task").Leave()
	k.qp, k.run, k.state = qp, run, taskIdle
	k.idle.L = &k.lock
}

// sched has the work done, soon and by another thread. It models
// rxe_sched_task in drivers/infiniband/sw/rxe/rxe_task.c. The caller may hold
// the QP's state lock.
func (k *task) sched(t *trace.Task) {
	defer t.Enter(module, "rxe_sched_task").Leave()
	k.lock.Lock()
	defer k.lock.Unlock()
	switch k.state {
	case taskIdle:
		k.qp.get(t)
		k.state = taskBusy
		k.qp.dev.queueWork(k.do)
	case taskBusy:
		k.state = taskArmed
	}
}

// do models do_task in drivers/infiniband/sw/rxe/rxe_task.c.
func (k *task) do() {
	defer k.qp.put(nil)
	for again := k.mayRun(); again; again = k.end() {
		for k.run(k.qp) {
		}
	}
}

// mayRun says whether the task was not stopped before it came to run.
func (k *task) mayRun() bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	return k.state < taskDrained
}

// end says whether the task was asked for once more while it ran.
func (k *task) end() bool {
	k.lock.Lock()
	defer k.lock.Unlock()
	switch k.state {
	case taskArmed:
		k.state = taskBusy
		return true
	case taskDraining:
		k.state = taskDrained
	default:
		k.state = taskIdle
	}
	k.idle.Broadcast()
	return false
}

// stop waits until the task is done and keeps it from being asked for.
func (k *task) stop(state taskState) {
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.state == taskBusy || k.state == taskArmed {
		k.state = taskDraining
	}
	for k.state == taskDraining {
		k.idle.Wait()
	}
	k.state = state
}

// cleanup ends the task for good. It models rxe_cleanup_task in
// drivers/infiniband/sw/rxe/rxe_task.c.
func (k *task) cleanup(t *trace.Task) {
	defer t.Enter(module, "rxe_cleanup_task").Leave()
	k.stop(taskInvalid)
}

// disable holds the task still. It models rxe_disable_task in
// drivers/infiniband/sw/rxe/rxe_task.c.
func (k *task) disable(t *trace.Task) {
	defer t.Enter(module, "rxe_disable_task").Leave()
	k.stop(taskDrained)
}

// enable undoes disable. It models rxe_enable_task in
// drivers/infiniband/sw/rxe/rxe_task.c.
func (k *task) enable(t *trace.Task) {
	defer t.Enter(module, "rxe_enable_task").Leave()
	k.lock.Lock()
	defer k.lock.Unlock()
	if k.state != taskInvalid {
		k.state = taskIdle
	}
}
