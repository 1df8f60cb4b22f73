package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// The fields of the context of a dynamically connected target.
var (
	dctPD  = ifc.Must("dctc").Field("pd")
	dctCQN = ifc.Must("dctc").Field("cqn")
	dctSRQ = ifc.Must("dctc").Field("srqn_xrqn")
)

var dctKind = &contextKind{
	kind: kindDCT, in: ifc.Must("create_dct_in").Field("dct_context_entry"), out: ifc.Must("query_dct_out").Field("dct_context_entry"),
	state: ifc.Must("dctc").Field("state"),
	read: func(d *Device, o *context, c *command) *refusal {
		o.refs = []ref{{kindPD, uint32(o.get(dctPD))}, {kindCQ, uint32(o.get(dctCQN))}, {kindSRQ, uint32(o.get(dctSRQ))}}
		o.of.state.Set(o.bytes, ifc.MLX5_DCTC_STATE_ACTIVE)
		return nil
	},
}

// drainDCT lets a target take nothing new. What it has under way ends, and then
// comes an event. This device has nothing under way.
func drainDCT(d *Device, c *command) *refusal {
	o := c.context(d, dctKind, toChange)
	switch {
	case o == nil:
		return noSuchObject
	case o.get(dctKind.state) != ifc.MLX5_DCTC_STATE_ACTIVE:
		return notInState
	}
	dctKind.state.Set(o.bytes, ifc.MLX5_DCTC_STATE_DRAINED)
	d.raise(dctDrainedEQE(o.n), nil)
	return nil
}

// destroyDCT ends a target that has been drained. The event that says so comes
// all the same.
func destroyDCT(d *Device, c *command) *refusal {
	o := c.context(d, dctKind, toChange)
	switch {
	case o == nil:
		return noSuchObject
	case o.get(dctKind.state) != ifc.MLX5_DCTC_STATE_DRAINED:
		return notDrained
	}
	return d.removeWith(kindDCT, o.n, o.refs)
}

// dctDrainedEQE is the event of a target that has been drained (struct
// mlx5_eqe_dct).
func dctDrainedEQE(n uint32) (e EQE) {
	e.Type = ifc.MLX5_EVENT_TYPE_DCT_DRAINED
	binary.BigEndian.PutUint32(e.Data[24:], n)
	return e
}
