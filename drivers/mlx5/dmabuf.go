package mlx5

import (
	"uverbsim/process"
	"uverbsim/rule"
)

// dmabufGet refuses a part of another device's memory: no open file is a dma-buf
// here. It models ib_umem_dmabuf_get_with_dma_device in
// drivers/infiniband/core/umem_dmabuf.c and dma_buf_get in
// drivers/dma-buf/dma-buf.c.
//
// Errors: dmabuf/overflow, dmabuf/bad, dmabuf/foreign.
func dmabufGet(task *process.Task, offset, size uint64, fd int32) error {
	if offset+size < offset {
		return rule.DmabufOverflow
	}
	f := task.Fget(int(fd))
	if f == nil {
		return rule.DmabufBad
	}
	f.Put(task)
	return rule.DmabufForeign
}
