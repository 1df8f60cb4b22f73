package libmlx5

import (
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/verbs"
)

// page is a mapped page of the program's, 0 if it is not mapped.
type page copyuser.Addr

// mmapCmdShift is where an offset of mmap has its command, in pages
// (MLX5_IB_MMAP_CMD_SHIFT).
const mmapCmdShift = 8

// mapCommand maps the read-only page of the device file that a command,
// MLX5_IB_MMAP_*, stands for. It models mlx5_map_internal_clock and
// mlx5_map_clock_info in providers/mlx5/mlx5.c; without the page there are no
// time stamps.
func (c *Context) mapCommand(command uint64) page {
	at, err := c.sys.Mmap(c.CmdFD, pageSize, syscall.PROT_READ, syscall.MAP_SHARED, command<<mmapCmdShift*pageSize)
	if err != nil {
		return 0
	}
	return page(at)
}

// unmap unmaps the page if it is mapped. A program can have unmapped it itself,
// which is no one else's matter.
func (p *page) unmap(sys verbs.System) {
	if *p != 0 {
		_ = sys.Munmap(copyuser.Addr(*p), pageSize)
		*p = 0
	}
}

func (c *Context) unmapClock() {
	c.clock.unmap(c.sys)
	c.clockInfo.unmap(c.sys)
}
