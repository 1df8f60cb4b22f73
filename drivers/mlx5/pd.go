package mlx5

import (
	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/kernel"
	"uverbsim/rule"
	"uverbsim/spec"
)

// pd is a struct mlx5_ib_pd.
type pd struct {
	resp spec.Mlx5AllocPDResp // its number
	uid  uint16
}

// toPD models to_mpd.
func toPD(p *core.PD) *pd { return p.Driver.(*pd) }

func (p *pd) pdn() uint32 { return p.resp.PDN }

// allocPD makes a protection domain. Its 4-byte number goes to the user whatever
// the length of the response. It models mlx5_ib_alloc_pd in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-cmd/…, mlx5-pd/response-fault.
func (d *Device) allocPD(ib *core.PD, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_alloc_pd").Leave()
	p := new(pd)
	if ctx := udata.Attrs.Ucontext(); ctx != nil {
		p.uid = toUcontext(ctx).devxUID
	}
	var err error
	if p.resp.PDN, err = d.create(t, ifc.MLX5_CMD_OP_ALLOC_PD, p.uid); err != nil {
		return err
	}
	if !udata.CopyTo(spec.Bytes(&p.resp)) {
		d.cmdDeallocPD(t, p.pdn(), p.uid) // as the kernel does
		return rule.MLX5PDResponseFault
	}
	ib.Driver = p
	return nil
}

// deallocPD ends a protection domain. It models mlx5_ib_dealloc_pd in
// drivers/infiniband/hw/mlx5/main.c.
//
// Errors: mlx5-cmd/….
func (d *Device) deallocPD(ib *core.PD, udata *core.Udata) error {
	t := udata.Trace()
	defer t.Enter(moduleIB, "mlx5_ib_dealloc_pd").Leave()
	p := toPD(ib)
	return d.cmdDeallocPD(t, p.pdn(), p.uid)
}

// pdQuery is the handler of MLX5_IB_METHOD_PD_QUERY: the domain's number. It
// models UVERBS_HANDLER(MLX5_IB_METHOD_PD_QUERY) in
// drivers/infiniband/hw/mlx5/std_types.c.
//
// Errors: attr/….
func pdQuery(b *kernel.Bundle) error {
	o, err := b.Object(spec.MLX5_IB_ATTR_QUERY_PD_HANDLE)
	if err != nil {
		return err
	}
	return b.CopyToUint32(spec.MLX5_IB_ATTR_QUERY_PD_RESP_PDN, toPD(o.HW.(*core.PD)).pdn())
}
