package mlx5

import (
	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// ahRespSize is where dmac ends in struct mlx5_ib_create_ah_resp.
const ahRespSize = 10

// createUserAH checks an address and tells the user the MAC that packets to it
// go to. It models mlx5_ib_create_ah in drivers/infiniband/hw/mlx5/ah.c; the
// address vector for the kernel's own packets is left out, since a user writes its
// own into its work requests.
//
// Errors: mlx5-ah/….
func (d *Device) createUserAH(ah *core.AH, attr *core.AHAttr, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_create_ah").Leave()
	if d.IB.LinkLayer == core.LinkLayerEthernet {
		if !attr.IsGlobal {
			return rule.MLX5AHNotGlobal
		}
		if udata.OutLen < ahRespSize {
			return rule.MLX5AHResponseSize
		}
		resp := spec.Mlx5CreateAHResp{ResponseLength: ahRespSize, Dmac: attr.DMAC}
		if !udata.CopyTo(spec.Bytes(&resp)[:ahRespSize]) {
			return rule.MLX5AHResponseFault
		}
	}
	_, err := d.ibRate(t, attr.StaticRate)
	return err
}

// destroyAH has nothing to end.
func destroyAH(*process.Task, *core.AH, uint32) error { return nil }

// Static rates (enum ib_rate in include/rdma/ib_verbs.h).
const (
	rate2_5Gbps = 2
	rate25Gbps  = 15
	rate50Gbps  = 20
	rate56Gbps  = 12
	rate100Gbps = 16
	rate200Gbps = 17
	rate400Gbps = 21
	rate800Gbps = 23
)

// hwRates are the rates whose numbers are others to the device; all else are 5
// higher there. It models ib_to_mlx5_rate_map in drivers/infiniband/hw/mlx5/qp.c.
var hwRates = map[uint8]uint8{0: 0, rate56Gbps: 1, rate25Gbps: 2, rate100Gbps: 3, rate200Gbps: 4, rate50Gbps: 5, rate400Gbps: 6}

func hwRate(rate uint8) uint8 {
	if r, ok := hwRates[rate]; ok {
		return r
	}
	return rate + statRateOffset
}

// fromHWRate models mlx5_to_ib_rate_map in drivers/infiniband/hw/mlx5/qp.c.
func fromHWRate(hw uint8) uint8 {
	for rate, h := range hwRates {
		if h == hw {
			return rate
		}
	}
	return hw - statRateOffset
}

// statRateOffset is MLX5_STAT_RATE_OFFSET.
const statRateOffset = 5

var capStatRate = gen("stat_rate_support")

// ibRate returns the device's number of a static rate, or of the next lower one
// that it can do. It models mlx5r_ib_rate in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-ah/rate.
func (d *Device) ibRate(t *trace.Task, rate uint8) (uint8, error) {
	defer t.Enter(moduleIB, "mlx5r_ib_rate").Leave()
	if rate == 0 || rate == rate800Gbps {
		return 0, nil
	}
	if rate < rate2_5Gbps || rate > rate800Gbps {
		return 0, rule.MLX5Rate
	}
	for rate != 0 && d.caps.get(capStatRate)>>hwRate(rate)&1 == 0 {
		rate--
	}
	return hwRate(rate), nil
}
