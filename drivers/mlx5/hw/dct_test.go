package hw

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDCT(t *testing.T) {
	r := newObjectRig(t)
	srq := r.made(srqTests[2].input(r))
	numbers := []at{
		{21, 3, 0x1234}, {25, 3, uint64(r.cqn)}, {29, 1, 0x3e}, // user_index, cqn, rre to rlky
		{37, 3, uint64(srq)}, {41, 3, uint64(r.pd)}, {44, 1, 0x20}, // srqn_xrqn, pd, tclass
		{48, 8, 0x1122334455667788}, {61, 1, 9}, {63, 1, 64}, // key, my_addr_index, hop_limit
	}
	input := func(more ...at) []byte { return cmd(0x710, 0, 0, 0, append(numbers, more...)...) }
	n := r.made(input())
	r.answers(query(0x713, n), numbers...)
	r.refused(query(0x711, n), notDrained)
	r.refused(query(0x90e, srq), objectBusy)
	r.refused(query(0x401, r.cqn), objectBusy)

	r.answers(query(0x712, n))
	r.answers(query(0x713, n), append(numbers, at{16, 1, 2})...)
	r.refused(query(0x712, n), notInState)
	r.answers(query(0x711, n))
	require.Equal(t, []EQE{event(0x1c, 0, at{24, 4, uint64(n)})}, r.happened(), "also for one that is gone")
	r.refused(query(0x713, n), noSuchObject)
	r.answers(query(0x90e, srq))

	r.refused(query(0x712, n), noSuchObject)
	r.refused(query(0x711, n), noSuchObject)
	r.refused(input(at{41, 3, noObject}), noSuchPD)
	r.refused(input(at{25, 3, noObject}), noSuchCQ)
	r.refused(input(), noSuchSRQ)
}
