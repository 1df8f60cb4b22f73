package hw

// ring is a queue that keeps its memory.
type ring[T any] struct {
	buf  []T // as many as a power of two
	head int
	n    int
}

// at returns the i-th oldest entry.
func (r *ring[T]) at(i int) *T { return &r.buf[(r.head+i)&(len(r.buf)-1)] }

// push appends an entry and returns it.
func (r *ring[T]) push(v T) *T {
	if r.n == len(r.buf) {
		r.grow()
	}
	r.n++
	last := r.at(r.n - 1)
	*last = v
	return last
}

func (r *ring[T]) grow() {
	const first = 8
	bigger := make([]T, max(first, 2*len(r.buf)))
	for i := range r.n {
		bigger[i] = *r.at(i)
	}
	r.buf, r.head = bigger, 0
}

// pop removes the oldest entry.
func (r *ring[T]) pop() {
	var zero T
	r.buf[r.head] = zero
	r.head = (r.head + 1) & (len(r.buf) - 1)
	r.n--
}

// clear removes all entries.
func (r *ring[T]) clear() {
	clear(r.buf)
	r.head, r.n = 0, 0
}
