package mlx5

import (
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
)

// devxOther is the handler of MLX5_IB_METHOD_DEVX_OTHER: commands that need no
// object. It models UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OTHER) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: mlx5-devx/…, mlx5-cmd/status, mlx5-cmd/down, bundle/no-memory, attr/….
func devxOther(b *kernel.Bundle) error {
	in, err := commandIn(b, spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_IN)
	if err != nil {
		return err
	}
	ctx, err := b.File().Ucontext(b.Trace())
	if err != nil {
		return err
	}
	c := toUcontext(ctx)
	uid, err := in.uid(c)
	if err != nil {
		return err
	}
	if !in.isGeneral(c.dev) {
		return rule.MLX5DevxNotGeneral
	}
	return in.run(b, c.dev, uid, spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, false)
}

// devxQueryEQN is the handler of MLX5_IB_METHOD_DEVX_QUERY_EQN: the number of the
// event queue of a completion vector. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_QUERY_EQN) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: attr/…, mlx5-cq/vector, mlx5-eq/no-memory, mlx5-cmd/….
func devxQueryEQN(b *kernel.Bundle) error {
	t := b.Trace()
	vector, err := b.Uint32(spec.MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC)
	if err != nil {
		return err
	}
	ctx, err := b.File().Ucontext(t)
	if err != nil {
		return err
	}
	e, err := toUcontext(ctx).dev.compEQN(t, uint16(vector)) // the kernel looks at no more of it
	if err != nil {
		return err
	}
	return b.CopyToUint32(spec.MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, e.eqn)
}

// devxQueryUAR is the handler of MLX5_IB_METHOD_DEVX_QUERY_UAR: the number of the
// page that a dynamic register is on. It models
// UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_QUERY_UAR) in
// drivers/infiniband/hw/mlx5/devx.c.
//
// Errors: attr/…, mlx5-bfreg/index.
func devxQueryUAR(b *kernel.Bundle) error {
	t := b.Trace()
	ctx, err := b.File().Ucontext(t)
	if err != nil {
		return err
	}
	c := toUcontext(ctx)
	index, err := b.Uint32(spec.MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX)
	if err != nil {
		return err
	}
	n, err := c.bfregnToUARIndex(t, index, true)
	if err != nil {
		return err
	}
	return b.CopyToUint32(spec.MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, n)
}
