package mlx5

import (
	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/trace"
)

// devResources is a struct mlx5_ib_resources: objects of the driver's own that
// queues of users name where the user has none. They are made when the first is
// needed, and stay until the device goes.
type devResources struct {
	cqLock, srqLock trace.Mutex
	p0              uint32 // a protection domain
	c0              *kernelCQ
	s0, s1          *kernelSRQ // an XRC one and a basic one
}

// kernelMemory is a page of the kernel that a queue of its own lies in: the buffer
// at its beginning, the doorbell record at its end.
type kernelMemory struct {
	umem
	page *copyuser.Page
}

// kernelDoorbell is where the doorbell record is in the page.
const kernelDoorbell = copyuser.PageSize - 64

func (d *Device) newKernelMemory(size uint64) kernelMemory {
	page := copyuser.NewPage()
	return kernelMemory{umem{Umem: &core.Umem{Length: size}, dma: d.Bus.Map([]*copyuser.Page{page})}, page}
}

func (k *kernelMemory) doorbell() uint64 { return k.dma + kernelDoorbell }

func (k *kernelMemory) free(d *Device) { d.Bus.Unmap(k.dma, 1) }

// kernelCQ is a completion queue of the kernel.
type kernelCQ struct {
	coreCQ
	memory kernelMemory
}

// comp and event do nothing: nobody waits for anything in the queue.
func (*kernelCQ) comp(*trace.Task)         {}
func (*kernelCQ) event(*trace.Task, uint8) {}

// devResCQInit makes the driver's protection domain and completion queue. It
// models mlx5_ib_dev_res_cq_init in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-eq/no-memory, mlx5-cmd/….
func (d *Device) devResCQInit(t *trace.Task) error {
	defer t.Enter(moduleIB, "mlx5_ib_dev_res_cq_init").Leave()
	r := &d.devr
	r.cqLock.Lock(t)
	defer r.cqLock.Unlock(t)
	if r.c0 != nil {
		return nil
	}
	p0, err := d.create(t, ifc.MLX5_CMD_OP_ALLOC_PD, 0)
	if err != nil {
		return err
	}
	c0, err := d.createKernelCQ(t, 2)
	if err != nil {
		d.cmdDeallocPD(t, p0, 0) // as the kernel does
		return err
	}
	r.p0, r.c0 = p0, c0
	return nil
}

// createKernelCQ makes a completion queue of that many entries, none of which is
// valid.
func (d *Device) createKernelCQ(t *trace.Task, entries uint64) (*kernelCQ, error) {
	const cqeSize = 64
	eq, err := d.compEQN(t, 0)
	if err != nil {
		return nil, err
	}
	c := &kernelCQ{memory: d.newKernelMemory(entries * cqeSize)}
	c.owner = c
	for i := range entries {
		c.memory.page.Store(int(i*cqeSize+cqeSize-1), []byte{ifc.MLX5_CQE_INVALID << 4})
	}
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_CQ, 0, 8)
	defer d.giveBack(m)
	c.memory.populatePas(copyuser.PageSize, 1, m.in[cqcPas:], 0)
	ctx := cqcIn.Bytes(m.in)
	cqc.cqeSize.Set(ctx, cqeStride(cqeSize, false))
	cqc.logSize.Set(ctx, log2(entries))
	cqc.uarPage.Set(ctx, uint64(d.bfreg.index))
	cqc.eqn.Set(ctx, uint64(eq.eqn))
	cqc.dbrAddr.Set(ctx, c.memory.doorbell())
	cqc.ignoreOverrun.Set(ctx, 1)
	if err := d.coreCreateCQ(t, &c.coreCQ, m.in, m.out); err != nil {
		c.memory.free(d)
		return nil, err
	}
	return c, nil
}

// kernelSRQ is a shared receive queue of the kernel.
type kernelSRQ struct {
	coreSRQ
	memory kernelMemory
}

// devResSRQInit makes the driver's shared receive queues. It models
// mlx5_ib_dev_res_srq_init in drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-srq/no-memory, mlx5-eq/no-memory, mlx5-cmd/….
func (d *Device) devResSRQInit(t *trace.Task) error {
	defer t.Enter(moduleIB, "mlx5_ib_dev_res_srq_init").Leave()
	r := &d.devr
	r.srqLock.Lock(t)
	defer r.srqLock.Unlock(t)
	if r.s1 != nil {
		return nil
	}
	if err := d.devResCQInit(t); err != nil {
		return err
	}
	s0, err := d.createKernelSRQ(t, srqtXRC)
	if err != nil {
		return err
	}
	s1, err := d.createKernelSRQ(t, srqtBasic)
	if err != nil {
		d.destroyKernelSRQ(t, s0)
		return err
	}
	r.s0, r.s1 = s0, s1
	return nil
}

// createKernelSRQ makes a shared receive queue of two entries.
func (d *Device) createKernelSRQ(t *trace.Task, typ uint8) (*kernelSRQ, error) {
	const entries = 2
	s := &kernelSRQ{memory: d.newKernelMemory(entries * minSRQWQESize)}
	in := &srqAttr{typ: typ, umem: &s.memory.umem, logSize: log2(entries), logStride: log2(minSRQWQESize),
		pd: d.devr.p0, cqn: d.devr.c0.cqn, xrcd: d.xrcdn[0], dbr: s.memory.doorbell()}
	if d.caps.get(capCQEVersion) == cqeVersionV1 && typ != srqtBasic {
		in.userIndex = defaultUserIndex
	}
	if err := d.cmdCreateSRQ(t, &s.coreSRQ, in); err != nil {
		s.memory.free(d)
		return nil, err
	}
	return s, nil
}

func (d *Device) destroyKernelSRQ(t *trace.Task, s *kernelSRQ) {
	d.cmdDestroySRQ(t, &s.coreSRQ) // as the kernel does
	s.memory.free(d)
}

// devResCleanup models mlx5_ib_dev_res_cleanup in
// drivers/infiniband/hw/mlx5/main.c.
func (d *Device) devResCleanup(t *trace.Task) {
	defer t.Enter(moduleIB, "mlx5_ib_dev_res_cleanup").Leave()
	r := &d.devr
	if r.s1 != nil {
		d.destroyKernelSRQ(t, r.s1)
		d.destroyKernelSRQ(t, r.s0)
	}
	for _, n := range d.xrcdn {
		d.destroy(t, ifc.MLX5_CMD_OP_DEALLOC_XRCD, 0, n) // as the kernel does
	}
	if r.c0 != nil {
		d.coreDestroyCQ(t, &r.c0.coreCQ) // as the kernel does
		r.c0.memory.free(d)
		d.cmdDeallocPD(t, r.p0, 0) // as the kernel does
	}
}
