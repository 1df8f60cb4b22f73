package strace

import (
	"uverbsim/copyuser"
	"uverbsim/spec"
)

// offsetNames say by driver what a page offset of mmap asks for.
var offsetNames = map[uint32]func(page uint64) string{
	spec.RDMA_DRIVER_MLX5: mlx5Command,
}

// mlx5Command returns the command in a page offset: get_command,
// drivers/infiniband/hw/mlx5/main.c. Other values are offsets that the kernel
// gave out.
func mlx5Command(page uint64) string {
	const shift, mask = 8, 0xff // MLX5_IB_MMAP_CMD_SHIFT and _MASK
	return spec.EnumeratorName("enum mlx5_ib_mmap_cmd", page>>shift&mask)
}

// offset writes the offset of an mmap.
func (p *printer) offset(driver uint32, n uint64) {
	p.hex(n)
	f := offsetNames[driver]
	if f == nil {
		return
	}
	if name := f(n >> copyuser.PageShift); name != "" {
		p.text(" /* " + name + " */")
	}
}
