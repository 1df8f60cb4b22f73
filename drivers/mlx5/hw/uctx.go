package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// The fields of the user contexts' commands and their capability.
var (
	uctxCapWanted = ifc.Must("create_uctx_in").Field("uctx.cap")
	uctxNumber    = ifc.Must("create_uctx_out").Field("uid")
	capUctx       = ifc.Must("cmd_hca_cap").Field("uctx_cap")
)

// createUCTX makes the uid of a user. What is made under it nobody else sees.
func createUCTX(d *Device, c *command) *refusal {
	if uctxCapWanted.Get(c.in)&^d.cap(capUctx) != 0 {
		return badUctxCap
	}
	n, r := d.add(kindUCTX, 0, nil)
	if r != nil {
		return r
	}
	uctxNumber.Set(c.out, uint64(n))
	return nil
}

// destroyUCTX ends a uid that owns nothing any more.
func destroyUCTX(d *Device, c *command) *refusal {
	n := c.number(kindUCTX, 8)
	if _, ok := d.find(kindUCTX, n, c.uid, toChange); !ok {
		return noSuchObject
	}
	if d.owned[uint16(n)] > 0 {
		return uctxBusy
	}
	d.remove(kindUCTX, n)
	return nil
}
