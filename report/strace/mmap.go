package strace

import (
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
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

// mappedAt returns where an mmap that was not refused has mapped; false if that
// is not known: of a real process, whose kernel chooses the address after the
// machine has agreed.
func mappedAt(c *watch.Call) (at uint64, known bool) {
	switch {
	case c.Ret != 0:
		return uint64(c.Ret), true
	case c.Flags&syscall.MAP_FIXED != 0:
		return c.Addr, true
	}
	return 0, false
}

// mapped writes where an mmap has mapped: "?", as strace writes what it does not
// know, if that is not known.
func (p *printer) mapped(c *watch.Call) {
	if at, known := mappedAt(c); known {
		p.hex(at)
		return
	}
	p.text("? /* mapped, where the kernel chose */")
}
