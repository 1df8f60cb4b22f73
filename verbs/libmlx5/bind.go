package libmlx5

import (
	"fmt"
	"syscall"

	"uverbsim/verbs"
)

// ErrBindZeroBased is the error of a window of type 1 that is to begin at 0, or
// whose region does. Its errno is EINVAL.
var ErrBindZeroBased = fmt.Errorf("libmlx5: a memory window of type 1 cannot be IBV_ACCESS_ZERO_BASED: %w", syscall.EINVAL)

// MWBind says what a memory window of type 1 is bound to, by which request:
// struct ibv_mw_bind.
type MWBind struct {
	WRID      uint64
	SendFlags verbs.SendFlags
	BindInfo
}

// BindMW binds a memory window of type 1; it has a new key at once. It models
// mlx5_bind_mw in providers/mlx5/qp.c.
//
// Errors: ErrBindZeroBased, and those of PostSend.
func (qp *QP) BindMW(mw *verbs.MW, bind *MWBind) error {
	if bind.MWAccessFlags&verbs.IBV_ACCESS_ZERO_BASED != 0 ||
		bind.MR != nil && bind.MR.Access&verbs.IBV_ACCESS_ZERO_BASED != 0 {
		return ErrBindZeroBased
	}
	wr := SendWR{WRID: bind.WRID, Opcode: verbs.IBV_WR_BIND_MW, SendFlags: bind.SendFlags,
		BindMW: BindMWWR{MW: mw, RKey: verbs.IncRKey(mw.RKey), BindInfo: bind.BindInfo}}
	if _, err := qp.PostSend(&wr); err != nil {
		return err
	}
	mw.RKey = wr.BindMW.RKey
	return nil
}
