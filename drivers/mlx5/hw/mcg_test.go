package hw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

func TestMulticastGroups(t *testing.T) {
	p, err := ConnectX6Dx.With(map[string]uint64{"log_max_mcg": 1, "max_qp_mcg": 2})
	require.NoError(t, err)
	r := newRig(t, p)
	pd := r.made(Input(ifc.MLX5_CMD_OP_ALLOC_PD, 0, 0, 0))
	cqn := r.createCQ(cqOptions{log: 4, eqn: r.createEQ(eqOptions{})})
	qp := func() uint32 { // UD, without queues of its own
		return r.made(cmd(0x500, 0, 0, 8, at{25, 1, ifc.MLX5_QP_ST_UD}, at{29, 3, uint64(pd)}, at{33, 1, 0}, at{149, 3, uint64(cqn)},
			at{181, 3, uint64(cqn)}, at{272, 8, srqBuffer}))
	}
	a, b, c := qp(), qp(), qp()
	group := func(op uint16, qpn uint32, last uint64) []byte {
		return cmd(op, 0, 0, 0, at{8, 4, uint64(qpn)}, at{16, 8, 0xff12401bffff0000}, at{24, 8, last})
	}
	members := func(last byte) (qpns []uint32) {
		gid := [16]byte{0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 15: last}
		r.mcgQPs(gid, func(qpn uint32) { qpns = append(qpns, qpn) })
		return qpns
	}
	const attach, detach = 0x806, 0x807
	r.answers(group(attach, a, 1))
	r.answers(group(attach, b, 1))
	r.answers(group(attach, a, 1))
	require.Equal(t, []uint32{a, b}, members(1))
	require.Empty(t, members(2))
	r.refused(group(attach, c, 1), groupFull)
	r.answers(group(attach, c, 2))
	r.refused(group(attach, c, 3), tooManyGroups)
	r.refused(group(attach, noObject, 1), noSuchQP)
	r.refused(group(detach, noObject, 1), noSuchQP)
	r.refused(group(detach, c, 1), notAttached)
	r.refused(group(detach, c, 3), notAttached)
	r.answers(group(detach, a, 1))
	require.Equal(t, []uint32{b}, members(1))
	r.answers(group(detach, c, 2))
	require.Empty(t, members(2))
	r.answers(group(attach, c, 3))

	// A queue pair that ends is in no group any more.
	r.answers(query(0x501, b))
	require.Empty(t, members(1))
	require.Equal(t, []uint32{c}, members(3))
}
