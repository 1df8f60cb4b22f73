package mlx5

import "uverbsim/spec"

// What of a context a step may change without having to (enum mlx5_qp_optpar in
// include/linux/mlx5/qp.h).
const (
	optAltAddrPath     = 1 << 0
	optRRE             = 1 << 1
	optRAE             = 1 << 2
	optRWE             = 1 << 3
	optPkeyIndex       = 1 << 4
	optQKey            = 1 << 5
	optRNRTimeout      = 1 << 6
	optPrimaryAddrPath = 1 << 7
	optSRAMax          = 1 << 8
	optRRAMax          = 1 << 9
	optPMState         = 1 << 10
	optRetryCount      = 1 << 12
	optRNRRetry        = 1 << 13
	optAckTimeout      = 1 << 14
	optPriPort         = 1 << 16

	optAccess = optRRE | optRAE | optRWE
)

// optByAttr are the device's bits for those of the core's attributes. It is
// ib_nr_to_mlx5_nr in drivers/infiniband/hw/mlx5/qp.c.
var optByAttr = [...]struct{ attr, opt uint32 }{
	{spec.IB_QP_ACCESS_FLAGS, optAccess},
	{spec.IB_QP_PKEY_INDEX, optPkeyIndex},
	{spec.IB_QP_PORT, optPriPort},
	{spec.IB_QP_QKEY, optQKey},
	{spec.IB_QP_AV, optPrimaryAddrPath | optPriPort},
	{spec.IB_QP_TIMEOUT, optAckTimeout},
	{spec.IB_QP_RETRY_CNT, optRetryCount},
	{spec.IB_QP_RNR_RETRY, optRNRRetry},
	{spec.IB_QP_MAX_QP_RD_ATOMIC, optSRAMax},
	{spec.IB_QP_ALT_PATH, optAltAddrPath},
	{spec.IB_QP_MIN_RNR_TIMER, optRNRTimeout},
	{spec.IB_QP_MAX_DEST_RD_ATOMIC, optRRAMax | optAccess},
	{spec.IB_QP_PATH_MIG_STATE, optPMState},
}

// optOf are the bits that the device takes in a step of a kind of queue pairs.
type optOf struct{ rc, uc, ud, xrc uint32 }

// optBySteps is opt_mask of drivers/infiniband/hw/mlx5/qp.c, by enum ib_qp_state,
// without what only bonds and the kernel's own queue pairs have.
var optBySteps = map[[2]uint8]optOf{
	{spec.IB_QPS_INIT, spec.IB_QPS_INIT}: {
		rc:  optAccess | optPkeyIndex | optPriPort,
		uc:  optRWE | optPkeyIndex | optPriPort,
		ud:  optPkeyIndex | optQKey | optPriPort,
		xrc: optAccess | optPkeyIndex | optPriPort,
	},
	{spec.IB_QPS_INIT, spec.IB_QPS_RTR}: {
		rc:  optAltAddrPath | optAccess | optPkeyIndex,
		uc:  optAltAddrPath | optRWE | optPkeyIndex,
		ud:  optPkeyIndex | optQKey,
		xrc: optAltAddrPath | optAccess | optPkeyIndex,
	},
	{spec.IB_QPS_RTR, spec.IB_QPS_RTS}: {
		rc:  optAltAddrPath | optAccess | optPMState | optRNRTimeout,
		uc:  optAltAddrPath | optRWE | optPMState,
		ud:  optQKey,
		xrc: optAltAddrPath | optAccess | optPMState | optRNRTimeout,
	},
	{spec.IB_QPS_RTS, spec.IB_QPS_RTS}: {
		rc:  optAccess | optRNRTimeout | optPMState | optAltAddrPath,
		uc:  optRWE | optPMState | optAltAddrPath,
		ud:  optQKey,
		xrc: optAccess | optRNRTimeout | optPMState | optAltAddrPath,
	},
	{spec.IB_QPS_SQE, spec.IB_QPS_RTS}: {rc: optRNRTimeout | optAccess, uc: optRWE, ud: optQKey, xrc: optRNRTimeout | optAccess},
	{spec.IB_QPS_SQD, spec.IB_QPS_RTS}: {rc: optRNRTimeout | optAccess, uc: optRWE, ud: optQKey},
}

// optParams says which optional parts of its context a step's command changes. It
// models ib_mask_to_mlx5_opt in drivers/infiniband/hw/mlx5/qp.c and the use of
// opt_mask.
func optParams(s *qpStep, st uint64) (mask uint32) {
	for _, o := range optByAttr {
		if s.has(o.attr) {
			mask |= o.opt
		}
	}
	of := optBySteps[[2]uint8{s.cur, s.next}]
	switch st {
	case qpSTRC:
		return mask & of.rc
	case qpSTUC:
		return mask & of.uc
	case qpSTUD:
		return mask & of.ud
	case qpSTXRC:
		return mask & of.xrc
	}
	return 0
}
