package mlx5

import "uverbsim/trace"

// wcSupport says whether registers can be mapped write-combining. It models
// mlx5_wc_support_get in drivers/net/ethernet/mellanox/mlx5/core/wc.c, which
// tries it out with a send queue once; here Config tells the outcome.
func (d *Device) wcSupport(t *trace.Task) bool {
	defer t.Enter(moduleCore, "mlx5_wc_support_get").Leave()
	return d.caps.has(capBF) && d.caps.has(capLogMaxSQ) && !d.cfg.NoWriteCombining
}
