package core

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

// TestModifyQPIsOK: a step is good with just what it needs and with all that it
// takes, and with nothing less or more. The sets are those of qp_state_table in
// drivers/infiniband/core/verbs.c.
func TestModifyQPIsOK(t *testing.T) {
	const (
		pkey, port, access, qkey, av = spec.IB_QP_PKEY_INDEX, spec.IB_QP_PORT, spec.IB_QP_ACCESS_FLAGS, spec.IB_QP_QKEY, spec.IB_QP_AV
		mtu, dest, rqPSN, sqPSN      = spec.IB_QP_PATH_MTU, spec.IB_QP_DEST_QPN, spec.IB_QP_RQ_PSN, spec.IB_QP_SQ_PSN
		reads, answers, rnrTimer     = spec.IB_QP_MAX_QP_RD_ATOMIC, spec.IB_QP_MAX_DEST_RD_ATOMIC, spec.IB_QP_MIN_RNR_TIMER
		timeout, retry, rnrRetry     = spec.IB_QP_TIMEOUT, spec.IB_QP_RETRY_CNT, spec.IB_QP_RNR_RETRY
		alt, mig, cur, rate          = spec.IB_QP_ALT_PATH, spec.IB_QP_PATH_MIG_STATE, spec.IB_QP_CUR_STATE, spec.IB_QP_RATE_LIMIT
		notify                       = spec.IB_QP_EN_SQD_ASYNC_NOTIFY
		reset, init, rtr, rts        = spec.IB_QPS_RESET, spec.IB_QPS_INIT, spec.IB_QPS_RTR, spec.IB_QPS_RTS
		sqd, sqe, isErr              = spec.IB_QPS_SQD, spec.IB_QPS_SQE, spec.IB_QPS_ERR
		rc, uc, ud, raw              = spec.IB_QPT_RC, spec.IB_QPT_UC, spec.IB_QPT_UD, spec.IB_QPT_RAW_PACKET
		ini, tgt, gsi, driver        = spec.IB_QPT_XRC_INI, spec.IB_QPT_XRC_TGT, spec.IB_QPT_GSI, spec.IB_QPT_DRIVER
	)
	all := uint32(spec.IB_QP_ATTR_STANDARD_BITS | rate)
	for _, c := range []struct {
		from, to, typ uint8
		needs, takes  uint32
	}{
		{reset, reset, rc, 0, 0},
		{reset, init, rc, pkey | port | access, 0},
		{reset, init, uc, pkey | port | access, 0},
		{reset, init, ud, pkey | port | qkey, 0},
		{reset, init, gsi, pkey | qkey, 0},
		{reset, init, raw, port, 0},
		{reset, init, driver, 0, 0},
		{init, init, rc, 0, pkey | port | access},
		{init, init, ud, 0, pkey | port | qkey},
		{init, rtr, rc, av | mtu | dest | rqPSN | answers | rnrTimer, alt | access | pkey},
		{init, rtr, uc, av | mtu | dest | rqPSN, alt | access | pkey},
		{init, rtr, ini, av | mtu | dest | rqPSN, alt | access | pkey},
		{init, rtr, tgt, av | mtu | dest | rqPSN | answers | rnrTimer, alt | access | pkey},
		{init, rtr, ud, 0, pkey | qkey},
		{init, rtr, raw, 0, 0},
		{rtr, rts, rc, timeout | retry | rnrRetry | sqPSN | reads, alt | access | rnrTimer | mig},
		{rtr, rts, uc, sqPSN, alt | access | mig},
		{rtr, rts, ud, sqPSN, qkey},
		{rtr, rts, tgt, timeout | sqPSN, alt | access | rnrTimer | mig},
		{rtr, rts, raw, 0, rate},
		{rts, rts, rc, 0, access | alt | mig | rnrTimer},
		{rts, rts, ini, 0, access | alt | mig},
		{rts, rts, ud, 0, qkey},
		{rts, rts, raw, 0, rate},
		{rts, sqd, rc, 0, notify},
		{rts, sqd, raw, 0, 0},
		{sqd, rts, rc, 0, alt | access | rnrTimer | mig},
		{sqd, rts, ud, 0, qkey},
		{sqd, rts, raw, 0, 0},
		{sqd, sqd, rc, 0, port | av | timeout | retry | rnrRetry | reads | answers | alt | access | pkey | rnrTimer | mig},
		{sqd, sqd, uc, 0, av | alt | access | pkey | mig},
		{sqd, sqd, ini, 0, port | av | timeout | retry | rnrRetry | reads | alt | access | pkey | mig},
		{sqd, sqd, tgt, 0, port | av | timeout | answers | alt | access | pkey | rnrTimer | mig},
		{sqd, sqd, ud, 0, pkey | qkey},
		{sqe, rts, uc, 0, access},
		{sqe, rts, ud, 0, qkey},
		{sqe, rts, rc, 0, 0},
		{rts, isErr, rc, 0, 0},
		{isErr, reset, ud, 0, 0},
	} {
		what := fmt.Sprintf("%d to %d of type %d", c.from, c.to, c.typ)
		ok := func(mask uint32) bool { return ModifyQPIsOK(nil, c.from, c.to, c.typ, mask) }
		require.True(t, ok(c.needs), what)
		require.True(t, ok(c.needs|c.takes|spec.IB_QP_STATE), what)
		for bit := uint32(2); bit != 0; bit <<= 1 {
			switch {
			case bit == cur:
			case c.needs&bit != 0:
				require.False(t, ok(c.needs&^bit), "%s without %#x", what, bit)
			case all&bit != 0 && c.takes&bit == 0:
				require.False(t, ok(c.needs|bit), "%s with %#x", what, bit)
			}
		}
	}
	for from, to := range map[uint8][]uint8{
		reset: {rtr, rts, sqd, sqe, isErr}, init: {rts, sqd, sqe}, rtr: {init, rtr, sqd, sqe}, rts: {init, rtr, sqe},
		sqd: {init, rtr, sqe}, sqe: {init, rtr, sqd, sqe}, isErr: {init, rtr, rts, sqd, sqe},
	} {
		for _, next := range to {
			require.False(t, ModifyQPIsOK(nil, from, next, rc, all), "%d to %d", from, next)
		}
	}
	for from, want := range map[uint8]bool{rtr: true, rts: true, sqd: true, sqe: true, reset: false, init: false, isErr: false} {
		needs := map[uint8]uint32{rtr: sqPSN}[from]
		require.Equal(t, want, ModifyQPIsOK(nil, from, rts, ud, needs|cur), "the present state is named: %d", from)
	}
}

// TestCheckRereg: memory that was pinned for reading cannot become writable,
// unless other memory comes with the new rights.
func TestCheckRereg(t *testing.T) {
	const trans, access = spec.IB_MR_REREG_TRANS, spec.IB_MR_REREG_ACCESS
	for _, c := range []struct {
		u             *Umem
		flags, access uint32
		refused       bool
	}{
		{&Umem{}, access, AccessLocalWrite, true},
		{&Umem{}, access, AccessMWBind, true},
		{&Umem{}, access, AccessRemoteRead, false},
		{&Umem{}, access | trans, AccessLocalWrite, false},
		{&Umem{}, 0, AccessLocalWrite, false},
		{&Umem{Writable: true}, access, AccessLocalWrite, false},
		{nil, access, AccessLocalWrite, false},
	} {
		require.Equal(t, c.refused, c.u.CheckRereg(nil, c.flags, c.access) != nil, "%+v", c)
	}
}
