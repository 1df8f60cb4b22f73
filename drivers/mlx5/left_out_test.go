package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/spec"
)

// TestNumbersOfTheSecond: a program that does what another did before it gets the
// numbers that the client of ibv_rc_pingpong got on the recorded machine, where the
// server had been before.
func TestNumbersOfTheSecond(t *testing.T) {
	r := newRig(t, Config{})
	r.context(request())
	type numbers struct{ pdn, lkey, cqn, qpn uint32 }
	var got numbers
	for range 2 {
		pd := r.allocPD()
		pdn := r.out(spec.MLX5_IB_ATTR_QUERY_PD_RESP_PDN, 4)
		require.NoError(t, r.call(r.fd, spec.UVERBS_OBJECT_PD, spec.MLX5_IB_METHOD_PD_QUERY, handleAttr(spec.MLX5_IB_ATTR_QUERY_PD_HANDLE, pd), pdn))
		lkey := r.regMR(pd)
		cq, err := r.createCQ(r.cqArgs())
		require.NoError(t, err)
		_, qpn, _, err := r.createNumberedQP(&qpArgs{pd: pd, cq: cq.handle, typ: spec.IB_QPT_RC, maxSend: 16, maxRecv: 16, ucmd: spec.Mlx5CreateQP{
			BufAddr: uint64(r.take(2 * copyuser.PageSize)), DBAddr: uint64(r.take(8)), SQWQECount: 16, RQWQECount: 16, RQWQEShift: 6}})
		require.NoError(t, err)
		got = numbers{r.u32(addrOf(pdn)), lkey, cq.cqn, qpn}
	}
	require.Equal(t, numbers{pdn: 6, lkey: 0x10505, cqn: 0xc, qpn: 0x43}, got)
}

// regMR registers a page, by the write() command, and returns its key.
func (r *rig) regMR(pd uint32) uint32 {
	r.Helper()
	resp, page := r.take(12), uint64(r.take(copyuser.PageSize))
	req := spec.RegMR{Response: uint64(resp), Start: page, Length: copyuser.PageSize, HcaVA: page, PDHandle: pd, AccessFlags: spec.IB_UVERBS_ACCESS_LOCAL_WRITE}
	body := spec.Bytes(&req)
	cmd := le.AppendUint32(nil, spec.IB_USER_VERBS_CMD_REG_MR)
	cmd = le.AppendUint16(cmd, uint16(8+len(body))/4)
	cmd = append(le.AppendUint16(cmd, 12/4), body...)
	at := r.take(len(cmd))
	require.True(r, r.task.Mem.Store(at, cmd))
	_, err := r.task.Write(r.fd, at, uint64(len(cmd)))
	require.NoError(r, err)
	return r.u32(resp + 4)
}
