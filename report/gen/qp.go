package gen

// The states of a QP (enum ib_qp_state, include/rdma/ib_verbs.h).
const (
	qpsReset = 0
	qpsInit  = 1
	qpsRTR   = 2
	qpsRTS   = 3
	qpsError = 6
)

// The bits of attr_mask (enum ib_qp_attr_mask, include/rdma/ib_verbs.h).
const (
	maskState         = 1 << 0
	maskCurState      = 1 << 1
	maskAccess        = 1 << 3
	maskPkey          = 1 << 4
	maskPort          = 1 << 5
	maskQkey          = 1 << 6
	maskAV            = 1 << 7
	maskPathMtu       = 1 << 8
	maskTimeout       = 1 << 9
	maskRetry         = 1 << 10
	maskRnr           = 1 << 11
	maskRQPSN         = 1 << 12
	maskMaxRdAtomic   = 1 << 13
	maskMinRnr        = 1 << 15
	maskSQPSN         = 1 << 16
	maskMaxDestAtomic = 1 << 17
	maskDestQPN       = 1 << 20
	maskBits          = 26
)

// transition is a change of state with what it needs.
type transition struct {
	typ, from, to uint64
	mask          uint64
}

// transitions are those on a QP's way, by qp_state_table of
// drivers/infiniband/core/verbs.c.
var transitions = []transition{
	{qpRC, qpsReset, qpsInit, maskState | maskPkey | maskPort | maskAccess},
	{qpUC, qpsReset, qpsInit, maskState | maskPkey | maskPort | maskAccess},
	{qpUD, qpsReset, qpsInit, maskState | maskPkey | maskPort | maskQkey},
	{qpRC, qpsInit, qpsRTR, maskState | maskAV | maskPathMtu | maskDestQPN | maskRQPSN | maskMaxDestAtomic | maskMinRnr},
	{qpUC, qpsInit, qpsRTR, maskState | maskAV | maskPathMtu | maskDestQPN | maskRQPSN},
	{qpUD, qpsInit, qpsRTR, maskState},
	{qpRC, qpsRTR, qpsRTS, maskState | maskTimeout | maskRetry | maskRnr | maskSQPSN | maskMaxRdAtomic},
	{qpUC, qpsRTR, qpsRTS, maskState | maskSQPSN},
	{qpUD, qpsRTR, qpsRTS, maskState | maskSQPSN},
}

// qpMembers chooses the members of calls on QPs that have to fit each other.
func (m *maker) qpMembers(c *call, q *request, fields []field) {
	switch c.deed {
	case create:
		if q.made != nil {
			q.made.qpType = numberAt(q.core, fields, "QPType")
			if numberAt(q.core, fields, "IsSRQ") != 0 && len(q.made.uses) < 4 {
				q.valid = false
			}
		}
	case modify:
		state, mask := m.transition(q.moved)
		q.state = state
		putAt(q.core, fields, "QPState", state)
		putAt(q.core, fields, "AttrMask", mask)
	case query:
		putAt(q.core, fields, "AttrMask", pick(m, []uint64{1, 0xffff, 0, 1 << 20}))
	}
}

// transition is where a QP goes: on its way, or to an end, seldom with bits
// too many or too few.
func (m *maker) transition(o *object) (state, mask uint64) {
	state, mask = pick(m, []uint64{qpsReset, qpsError}), maskState
	if o != nil && !m.chance(0.15) {
		for _, t := range transitions {
			if t.typ == o.qpType && t.from == o.state {
				state, mask = t.to, t.mask
			}
		}
	}
	if m.chance(0.15) {
		mask ^= 1 << m.r.IntN(maskBits)
	}
	if m.chance(0.05) {
		mask |= maskCurState
	}
	return state, mask
}
