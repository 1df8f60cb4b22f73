package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/trace"
)

// userDBPage is a struct mlx5_ib_user_db_page: a pinned page with doorbell
// records of a context.
type userDBPage struct {
	umem     umem
	userVirt uint64
	refcnt   int
	mm       copyuser.MM
}

// doorbell is a struct mlx5_db: where an object's doorbell record is.
type doorbell struct {
	dma  uint64 // bus address
	page *userDBPage
}

// mapDBUser pins the page of the doorbell record at virt, unless the context has
// it already; the record may lie anywhere in its page, and the page need not be
// writable. It models mlx5_ib_db_map_user in
// drivers/infiniband/hw/mlx5/doorbell.c.
//
// Errors: mlx5-doorbell/no-memory, and those of the pin.
func (c *ucontext) mapDBUser(task *process.Task, virt uint64, db *doorbell) error {
	t := task.Trace
	defer t.Enter(moduleIB, "mlx5_ib_db_map_user").Leave()
	c.dbPageMutex.Lock(t)
	defer c.dbPageMutex.Unlock(t)
	page := c.dbPage(task.Mem, virt&^pageMask)
	if page == nil {
		if t.Fail(trace.Alloc, "mlx5_ib_user_db_page") {
			return rule.MLX5DoorbellNoMemory
		}
		u, err := c.dev.umemGet(task, virt&^pageMask, copyuser.PageSize, 0)
		if err != nil {
			return err
		}
		page = &userDBPage{umem: u, userVirt: virt &^ pageMask, mm: task.Mem}
		c.dbPages = append(c.dbPages, page)
	}
	db.dma = page.umem.dma + virt&pageMask
	db.page = page
	page.refcnt++
	return nil
}

// dbPage finds a page that the context has. The last pinned comes first.
func (c *ucontext) dbPage(mm copyuser.MM, virt uint64) *userDBPage {
	for i := len(c.dbPages) - 1; i >= 0; i-- {
		if p := c.dbPages[i]; p.mm == mm && p.userVirt == virt {
			return p
		}
	}
	return nil
}

// unmapDBUser gives the record's page back when no other record lies in it. It
// models mlx5_ib_db_unmap_user in drivers/infiniband/hw/mlx5/doorbell.c.
func (c *ucontext) unmapDBUser(t *trace.Task, db *doorbell) {
	defer t.Enter(moduleIB, "mlx5_ib_db_unmap_user").Leave()
	c.dbPageMutex.Lock(t)
	defer c.dbPageMutex.Unlock(t)
	p := db.page
	if p.refcnt--; p.refcnt > 0 {
		return
	}
	for i, q := range c.dbPages {
		if q == p {
			last := len(c.dbPages) - 1
			copy(c.dbPages[i:], c.dbPages[i+1:])
			c.dbPages[last] = nil
			c.dbPages = c.dbPages[:last]
			break
		}
	}
	p.umem.release(t, c.dev)
}
