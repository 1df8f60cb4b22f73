package mlx5

import (
	"sync"

	"uverbsim/rule"
	"uverbsim/trace"
)

// odpKey is a struct mlx5_ib_mkey that page faults may be about: that of a region
// which is paged on demand or of a dma-buf, or one that stands for other keys.
type odpKey struct {
	key     uint32
	mr      *mr // nil for one that stands for other keys
	entries int // of its list then

	table *odpKeyTable
	users int // that find it alive
}

// odpKeyTable is odp_mkeys of struct mlx5_ib_dev: the keys by their number.
type odpKeyTable struct {
	mu     sync.Mutex
	unused sync.Cond
	keys   map[uint32]*odpKey
}

// store models mlx5r_store_odp_mkey in drivers/infiniband/hw/mlx5/mlx5_ib.h.
//
// Errors: mlx5-odp/key-no-memory.
func (s *odpKeyTable) store(t *trace.Task, k odpKey) (*odpKey, error) {
	defer t.EnterInlined(moduleIB, "mlx5r_store_odp_mkey").Leave()
	if t.Fail(trace.Alloc, "odp_mkeys_entry") {
		return nil, rule.MLX5ODPKeyNoMemory
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys, s.unused.L = map[uint32]*odpKey{}, &s.mu
	}
	k.table = s
	s.keys[k.key>>8] = &k
	return &k, nil
}

// get finds a key by its number, and keeps it until put; nil if there is none.
func (s *odpKeyTable) get(key uint32) *odpKey {
	s.mu.Lock()
	defer s.mu.Unlock()
	k := s.keys[key>>8]
	if k != nil {
		k.users++
	}
	return k
}

// len returns how many keys there are.
func (s *odpKeyTable) len() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.keys)
}

// put models mlx5r_deref_odp_mkey in drivers/infiniband/hw/mlx5/mlx5_ib.h.
func (k *odpKey) put() {
	s := k.table
	s.mu.Lock()
	defer s.mu.Unlock()
	if k.users--; k.users == 0 {
		s.unused.Broadcast()
	}
}

// erase takes a key out, and waits until nobody uses it. It models
// mlx5r_deref_wait_odp_mkey in drivers/infiniband/hw/mlx5/mlx5_ib.h. Nil is none.
func (s *odpKeyTable) erase(k *odpKey) {
	if k == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.keys, k.key>>8)
	for k.users > 0 {
		s.unused.Wait()
	}
}
