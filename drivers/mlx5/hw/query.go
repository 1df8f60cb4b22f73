package hw

import (
	"runtime"
	"sync"
	"sync/atomic"

	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// QuerySlots is how many queries the device answers side by side, each in a slot
// of the command queue of its own.
const QuerySlots = 16

// stateLock is over the device's state. While nothing but queries comes, they go
// on side by side and write to nothing that they share.
//
// Side by side, a query claims its slot and then looks whether side still holds;
// who takes the lock ends that and then waits until no slot is claimed. So a query
// that goes on is seen by who takes the lock.
type stateLock struct {
	mu      sync.Mutex
	queries int // in a row, each by itself; under mu
	side    atomic.Bool
	_       [128]byte
	slots   [QuerySlots]querySlot
}

// querySlot is a slot that queries are answered in.
type querySlot struct {
	busy    atomic.Bool
	command command
	_       [128]byte
}

// manyQueries is how many queries in a row are taken for nothing but queries. To
// end their going side by side costs a look at each slot, so it has to be rare.
const manyQueries = 32

// Lock takes the lock.
func (l *stateLock) Lock() {
	l.mu.Lock()
	l.queries = 0
	if l.side.Load() {
		l.endSide()
	}
}

func (l *stateLock) endSide() {
	l.side.Store(false)
	for i := range l.slots {
		for l.slots[i].busy.Load() {
			runtime.Gosched()
		}
	}
}

// Unlock gives it back.
func (l *stateLock) Unlock() { l.mu.Unlock() }

// lockQuery takes the lock for a query that could not go beside others.
func (l *stateLock) lockQuery() {
	l.mu.Lock()
	if l.queries++; l.queries >= manyQueries {
		l.side.Store(true)
	}
}

// beside claims a slot and returns it if queries go side by side, and nil
// otherwise.
func (l *stateLock) beside(slot int) *querySlot {
	if !l.side.Load() {
		return nil
	}
	s := &l.slots[slot]
	if !s.busy.CompareAndSwap(false, true) {
		return nil
	}
	if !l.side.Load() {
		s.busy.Store(false)
		return nil
	}
	return s
}

func (s *querySlot) done() {
	s.command = command{}
	s.busy.Store(false)
}

// onlyReads says whether the command reads the device's state and changes none.
func (c *command) onlyReads() bool {
	switch c.opcode {
	case ifc.MLX5_CMD_OP_QUERY_ISSI, ifc.MLX5_CMD_OP_QUERY_HCA_CAP, ifc.MLX5_CMD_OP_QUERY_ADAPTER,
		ifc.MLX5_CMD_OP_QUERY_SPECIAL_CONTEXTS, ifc.MLX5_CMD_OP_QUERY_NIC_VPORT_CONTEXT,
		ifc.MLX5_CMD_OP_QUERY_VPORT_STATE, ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_CONTEXT, ifc.MLX5_CMD_OP_QUERY_HCA_VPORT_PKEY:
		return true
	case ifc.MLX5_CMD_OP_ACCESS_REG:
		return c.opMod != registerWrite
	}
	return false
}

// ExecIn is Exec in one of the QuerySlots slots of the command queue. Queries of
// what the device and its port are go on side by side when they are in different
// slots; other commands are carried out one at a time, in whatever slot.
func (d *Device) ExecIn(t *trace.Task, slot int, in, out []byte) error {
	return d.exec(t, slot, in, out)
}

// run carries out a command under the lock, or beside others if it is a query.
func (d *Device) run(c *command, slot int, fail bool) (*refusal, error) {
	query := c.onlyReads()
	if query {
		if s := d.mu.beside(slot); s != nil {
			s.command = *c
			r, err := d.outcome(&s.command, fail)
			s.done()
			return r, err
		}
		d.mu.lockQuery()
	} else {
		d.mu.Lock()
	}
	d.current = *c
	r, err := d.outcome(&d.current, fail)
	d.current = command{}
	d.mu.Unlock()
	return r, err
}
