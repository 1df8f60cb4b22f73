package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/trace"
)

// rateLimitSize is the length of struct set_pp_rate_limit_context.
const rateLimitSize = 48

// rateLimit is how fast queues that use it may send: a struct
// set_pp_rate_limit_context.
type rateLimit [rateLimitSize]byte

// rate returns the limit itself, in kbit/s.
func (r *rateLimit) rate() uint32 { return be.Uint32(r[:]) }

// rlEntry is a struct mlx5_rl_entry: one place of the device's table of rates.
type rlEntry struct {
	limit     rateLimit
	uid       uint16
	refs      uint64
	dedicated bool // to one user, who does not share it
}

// rlTable is a struct mlx5_rl_table: the rates that the device has been told.
// Place 0 of the device's table is "no limit", so entries begins with place 1.
type rlTable struct {
	lock    trace.Mutex
	entries []rlEntry // nil while no rate is in use
	refs    int
}

var capRateTableSize = qos("packet_pacing_rate_table_size")

// rlTableSize models mlx5_init_rl_table in
// drivers/net/ethernet/mellanox/mlx5/core/rl.c, where max_size is a u16: a table
// of no entries is one of 65535.
func (d *Device) rlTableSize() uint16 {
	if !d.caps.has(capQoS) || !d.caps.has(capPacketPacing) {
		return 0
	}
	return uint16(d.caps.get(capRateTableSize) - 1)
}

// find returns the place of a rate: the one where it is, or a free one; nil if
// there is none. It models find_rl_entry in
// drivers/net/ethernet/mellanox/mlx5/core/rl.c.
func (r *rlTable) find(limit *rateLimit, uid uint16, dedicated bool) (index uint16, found *rlEntry) {
	for i := range r.entries {
		e := &r.entries[i]
		switch {
		case e.refs == 0:
			if found == nil {
				index, found = uint16(i+1), e
			}
			if dedicated {
				return index, found
			}
		case !dedicated && !e.dedicated && e.limit == *limit && e.uid == uid:
			return uint16(i + 1), e
		}
	}
	return index, found
}

// rlAddRateRaw puts a rate into the device's table and returns its place. It
// models mlx5_rl_add_rate_raw in drivers/net/ethernet/mellanox/mlx5/core/rl.c.
//
// Errors: mlx5-rl/…, mlx5-cmd/….
func (d *Device) rlAddRateRaw(t *trace.Task, limit *rateLimit, uid uint16, dedicated bool) (uint16, error) {
	defer t.Enter(moduleCore, "mlx5_rl_add_rate_raw").Leave()
	size := d.rlTableSize()
	if size == 0 {
		return 0, rule.MLX5RLUnsupported
	}
	if r := uint64(limit.rate()); r == 0 || r > d.caps.get(capPPMaxRate) || r < d.caps.get(capPPMinRate) {
		return 0, rule.MLX5RLRange
	}
	r := &d.rl
	r.lock.Lock(t)
	defer r.lock.Unlock(t)
	if r.entries == nil {
		if t.Fail(trace.Alloc, "rl_entry") {
			return 0, rule.MLX5RLNoMemory
		}
		r.entries = make([]rlEntry, size)
	}
	r.refs++
	index, e := r.find(limit, uid, dedicated)
	if e == nil {
		r.put()
		return 0, rule.MLX5RLFull
	}
	if e.refs == 0 {
		*e = rlEntry{limit: *limit, uid: uid}
		if err := d.setPPRateLimit(t, index, uid, limit); err != nil {
			r.put()
			return 0, err
		}
		e.dedicated = dedicated
	}
	e.refs++
	return index, nil
}

// put models mlx5_rl_table_put in drivers/net/ethernet/mellanox/mlx5/core/rl.c.
func (r *rlTable) put() {
	if r.refs--; r.refs == 0 {
		r.entries = nil
	}
}

// rlRemoveRateRaw lets go of a rate. It models mlx5_rl_remove_rate_raw in
// drivers/net/ethernet/mellanox/mlx5/core/rl.c.
func (d *Device) rlRemoveRateRaw(t *trace.Task, index uint16) {
	defer t.Enter(moduleCore, "mlx5_rl_remove_rate_raw").Leave()
	r := &d.rl
	r.lock.Lock(t)
	defer r.lock.Unlock(t)
	e := &r.entries[index-1]
	if e.refs--; e.refs == 0 {
		d.setPPRateLimit(t, index, e.uid, &rateLimit{}) // as the kernel does
	}
	r.put()
}

// pacing is a struct mlx5_rate_limit: how fast a send queue may be, and how much
// it sends at once.
type pacing struct {
	rate, maxBurst uint32
	typicalPkt     uint16
}

// rlAddRate is rlAddRateRaw for a send queue of the driver's. It models
// mlx5_rl_add_rate in drivers/net/ethernet/mellanox/mlx5/core/rl.c.
//
// Errors: mlx5-rl/…, mlx5-cmd/….
func (d *Device) rlAddRate(t *trace.Task, p *pacing) (uint16, error) {
	defer t.Enter(moduleCore, "mlx5_rl_add_rate").Leave()
	var limit rateLimit
	be.PutUint32(limit[:], p.rate)
	be.PutUint32(limit[4:], p.maxBurst)
	be.PutUint16(limit[10:], p.typicalPkt)
	var uid uint16
	if d.caps.has(capPacketPacingUID) {
		uid = ifc.MLX5_SHARED_RESOURCE_UID
	}
	return d.rlAddRateRaw(t, &limit, uid, false)
}

// Where SET_PP_RATE_LIMIT has the place and the rate.
const (
	ppIndexAt = 10
	ppLimitAt = 16
)

// setPPRateLimit models mlx5_set_pp_rate_limit_cmd in
// drivers/net/ethernet/mellanox/mlx5/core/rl.c. A place is freed by a rate of
// zeros.
//
// Errors: mlx5-cmd/….
func (d *Device) setPPRateLimit(t *trace.Task, index, uid uint16, limit *rateLimit) error {
	m := d.mailbox(ifc.MLX5_CMD_OP_SET_PP_RATE_LIMIT, uid, 0)
	defer d.giveBack(m)
	be.PutUint16(m.in[ppIndexAt:], index)
	copy(m.in[ppLimitAt:], limit[:])
	return d.exec(t, m.in, m.out)
}
