package verbs

import "sync"

// acks counts the events about an object that a program is done with. It is the
// mutex, the condition and the counter that struct ibv_qp and its siblings
// have, of libibverbs/verbs.h.
type acks struct {
	mu        sync.Mutex
	acked     sync.Cond
	completed uint32
}

func (a *acks) init() { a.acked.L = &a.mu }

func (a *acks) add(n uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.completed += n
	a.acked.Signal()
}

// wait returns when as many events as the kernel has reported are acknowledged.
func (a *acks) wait(reported uint32) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.completed != reported {
		a.acked.Wait()
	}
}
