package rxe

import "sync"

// workqueue runs functions one after the other, in the order they came, and
// not by whoever brings them: rxe_wq of drivers/infiniband/sw/rxe/rxe_task.c on
// a machine with one processor.
type workqueue struct {
	mu      sync.Mutex
	pending []func()
	running bool
}

func (w *workqueue) queue(work func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, work)
	if !w.running {
		w.running = true
		go w.run()
	}
}

// run works until nothing is left.
func (w *workqueue) run() {
	for work := w.next(); work != nil; work = w.next() {
		work()
	}
}

func (w *workqueue) next() func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 {
		w.running = false
		return nil
	}
	work := w.pending[0]
	w.pending = w.pending[1:]
	return work
}
