package hw

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Queues of the driver's own name no domain: the send queue with which it tests
// write combining, the receive queue of packets that it drops, the queue pair that
// changes keys. A user's queue has to have one.
func TestQueuesWithoutDomain(t *testing.T) {
	r := newRawRig(t)
	e := &end{rig: r.rig, base: 0x1000_0000, uar: r.uar, cqn: r.cqn}
	inputs := map[string][]byte{
		"SQ": r.sqInput(at{89, 3, 0}),
		"RQ": r.rqInput(at{89, 3, 0}),
		"QP": e.qpInput(endOptions{service: ifc.MLX5_QP_ST_REG_UMR, base: e.base}),
	}
	uid := r.userContext()
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			r.made(in)
			users := append([]byte(nil), in...)
			users[2], users[3] = byte(uid>>8), byte(uid)
			r.refused(users, noSuchPD)
		})
	}
}

// Only the driver's queue pair for it reads lists through keys of any domain.
func TestListsOfAnyDomain(t *testing.T) {
	r := newRig(t, ConnectX6Dx)
	key := r.key(keyOptions{flags: mkcAll, mode: 0, pd: r.pd(0) | mkcLength64})
	uid := r.userContext()
	for name, tt := range map[string]struct {
		uid     uint16
		service uint64
		rlky    uint64
		want    keyError
	}{
		"the driver's": {0, ifc.MLX5_QP_ST_REG_UMR, 1, keyOK},
		"of packets":   {0, ifc.MLX5_QP_ST_RC, 1, keyPD},
		"not trusted":  {0, ifc.MLX5_QP_ST_REG_UMR, 0, keyPD},
		"a user's":     {uid, ifc.MLX5_QP_ST_REG_UMR, 1, keyPD},
	} {
		t.Run(name, func(t *testing.T) {
			in := Input(ifc.MLX5_CMD_OP_CREATE_QP, tt.uid, 0, 8)
			qpc.st.Set(qpContextIn.Bytes(in), tt.service)
			qpc.rlky.Set(qpContextIn.Bytes(in), tt.rlky)
			q := newQP(&command{in: in, uid: tt.uid})
			require.Equal(t, tt.want, r.reaches(key, q.who, localRead, 0x1000, 8))
		})
	}
}

// The recorded device makes more send queues than it says, others do not.
func TestMoreSendQueuesThanSaid(t *testing.T) {
	for p, want := range map[*Profile]*refusal{Recorded: nil, ConnectX6Dx: limitReached} {
		p, err := p.With(map[string]uint64{"log_max_sq": 0})
		require.NoError(t, err)
		d := New(Config{Profile: p, Bus: newRAM()})
		_, r := d.add(kindSQ, 0, nil)
		require.Nil(t, r)
		_, r = d.add(kindSQ, 0, nil)
		require.Equal(t, want, r, p.Name())
	}
}
