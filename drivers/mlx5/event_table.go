package mlx5

import "sync"

// eventTable has the objects of a kind by the number that events about them have.
// Of queue pairs it is a struct mlx5_qp_table; of shared receive queues, whose
// types share their numbers, a struct mlx5_srq_table.
type eventTable[T any] struct {
	mu   sync.Mutex
	byID map[uint32]*T
}

// set enters an object, or with nil takes it out.
func (s *eventTable[T]) set(n uint32, o *T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o == nil {
		delete(s.byID, n)
		return
	}
	if s.byID == nil {
		s.byID = map[uint32]*T{}
	}
	s.byID[n] = o
}

func (s *eventTable[T]) get(n uint32) *T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.byID[n]
}

func (s *eventTable[T]) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.byID)
}
