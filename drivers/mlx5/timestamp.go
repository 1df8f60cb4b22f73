package mlx5

import (
	"uverbsim/rule"
	"uverbsim/spec"
)

// Clocks that completions of a queue are stamped with (enum
// MLX5_TIMESTAMP_FORMAT_* in include/linux/mlx5/mlx5_ifc.h).
const (
	tsFreeRunning = 0
	tsDefault     = 1
	tsRealTime    = 2
)

// tsCaps says which clocks a kind of queues can do (enum
// MLX5_TIMESTAMP_FORMAT_CAP_*).
type tsCaps struct{ freeRunning, realTime bool }

func (d *Device) tsCaps(c capability) tsCaps {
	const freeRunning, realTime, both = 0, 1, 2
	v := d.caps.get(c)
	return tsCaps{v == freeRunning || v == both, v == realTime || v == both}
}

// unlessAsked is the clock where the completion queue wants none.
func (c tsCaps) unlessAsked() uint64 {
	if c.freeRunning {
		return tsFreeRunning
	}
	return tsDefault
}

// of returns the clock for a queue that completes into q. It models get_ts_format
// in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-ts/format.
func (c tsCaps) of(q *cq) (uint64, error) {
	switch {
	case q.ucmd.Flags&spec.MLX5_IB_CREATE_CQ_FLAGS_REAL_TIME_TS != 0:
		if !c.realTime {
			return 0, rule.MLX5TimestampFormat
		}
		return tsRealTime, nil
	case q.createFlags&spec.IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION != 0:
		if !c.freeRunning {
			return 0, rule.MLX5TimestampFormat
		}
		return tsFreeRunning, nil
	}
	return c.unlessAsked(), nil
}

// ofQP returns the clock for a queue pair. It models get_qp_ts_format in
// drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-ts/format, mlx5-ts/mismatch.
func (c tsCaps) ofQP(send, recv *cq) (uint64, error) {
	unlessAsked := c.unlessAsked()
	formats := [2]uint64{unlessAsked, unlessAsked}
	for i, q := range [...]*cq{send, recv} {
		if q == nil {
			continue
		}
		var err error
		if formats[i], err = c.of(q); err != nil {
			return 0, err
		}
	}
	s, r := formats[0], formats[1]
	if s != tsDefault && r != tsDefault && s != r {
		return 0, rule.MLX5TimestampMismatch
	}
	if s == unlessAsked {
		return r, nil
	}
	return s, nil
}
