package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// passing is a frame on its way through the device's flow tables.
type passing struct {
	bytes  []byte
	layers layers

	// Of one that the device has sent itself: the transport domain of the sender,
	// and the send queue, while it is on its way out.
	own    bool
	domain uint32
	sqn    uint32

	match    matchParam
	tag      uint32
	visits   int // of tables that are left
	received int // how many interfaces have taken it
}

// maxVisits is how many tables a frame comes to at most, with all its copies.
const maxVisits = 1024

// verdict is what becomes of a frame that is on its way out.
type verdict uint8

const (
	missed  verdict = iota // no rule was for it
	allowed                // a rule lets it out
	taken                  // a rule drops it or sends it elsewhere
)

// steer takes a frame through the tables of a type.
func (d *Device) steer(typ uint8, p *passing) verdict {
	root := d.roots[typ]
	if root == nil {
		return missed
	}
	p.visits = maxVisits
	p.match.describe(p.bytes, &p.layers, p.sqn)
	return d.visit(root, p)
}

// visit takes a frame to a table: the rule with the lowest index that it is for
// says what becomes of it, or the table's way out for what no rule is for.
func (d *Device) visit(t *flowTable, p *passing) verdict {
	for t != nil && p.visits > 0 {
		p.visits--
		if r := t.ruleFor(&p.match); r != nil {
			return d.apply(r, p)
		}
		if ftMissAction.Get(t.ctx) != missForward {
			return missed
		}
		t, _ = d.objects[kindFlowTable].live[uint32(ftMissID.Get(t.ctx))].as.(*flowTable)
	}
	return missed
}

func (t *flowTable) ruleFor(frame *matchParam) *flowRule {
	for _, g := range t.groups {
		for _, r := range g.rules {
			if g.mask.matches(frame, &r.value) {
				return r
			}
		}
	}
	return nil
}

// apply does what a rule says. A table that a rule leads to and where no rule is
// for the frame lets it out as its own way out does.
func (d *Device) apply(r *flowRule, p *passing) verdict {
	if r.actions&actionCount != 0 {
		for _, c := range r.counters {
			c.packets++
			c.octets += uint64(len(p.bytes))
		}
	}
	if r.tag != 0 {
		p.tag = r.tag
	}
	switch {
	case r.actions&actionDrop != 0:
		return taken
	case r.actions&actionForward == 0:
		if r.actions&actionAllow != 0 {
			return allowed
		}
		return taken
	}
	v, tag := taken, p.tag
	for i := range r.dests {
		p.tag = tag
		if to := &r.dests[i]; to.tir != nil {
			d.deliverFrame(to.tir, p)
		} else if d.visit(to.table, p) != taken {
			v = allowed
		}
	}
	return v
}

// tirLoopBack has a bit each for unicast and multicast frames: whether the
// interface takes such ones that come from its own transport domain. The field's
// name says the contrary (drivers/net/ethernet/mellanox/mlx5/core/en_common.c sets
// the bits to test the loop-back).
var tirLoopBack = ifc.Must("tirc").Field("self_lb_block")

const (
	loopUnicast   = 1 << 0
	loopMulticast = 1 << 1
)

// deliverFrame brings a frame to the receive queue behind an interface.
func (d *Device) deliverFrame(tir *context, p *passing) {
	if p.own && d.cap(capLogMaxTD) != 0 && uint32(tir.get(tirDomain)) == p.domain {
		bit := uint64(loopUnicast)
		if isMulticastMAC(p.bytes) {
			bit = loopMulticast
		}
		if tir.get(tirLoopBack)&bit == 0 {
			return
		}
	}
	var h hashed
	rqn := uint32(tir.get(tirRQ))
	if tir.get(tirType) == ifc.MLX5_TIRC_DISP_TYPE_INDIRECT {
		table, _ := d.objects[kindRQT].live[uint32(tir.get(tirTable))].as.(*context)
		if table == nil {
			return
		}
		size := uint32(table.get(rqtSize))
		if size == 0 {
			return
		}
		h = hashFor(tir.bytes, p)
		rqn = number24(rqtList.Bytes(table.bytes), int(h.value%size))
	}
	if rq, _ := d.objects[kindRQ].live[rqn].as.(*context); rq != nil {
		p.received++
		d.receiveRaw(rq, p, h)
	}
}
