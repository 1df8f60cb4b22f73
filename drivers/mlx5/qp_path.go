package mlx5

import (
	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/trace"
)

// setPath fills in where packets go. It models mlx5_set_path in
// drivers/infiniband/hw/mlx5/qp.c; the core has checked the address before.
//
// Errors: mlx5-ah/rate.
func (d *Device) setPath(t *trace.Task, q *qp, s *qpStep, in []byte, path *adsFields, ah *core.AHAttr, port uint32) error {
	defer t.Enter(moduleIB, "mlx5_set_path").Leave()
	if d.IB.LinkLayer == core.LinkLayerEthernet {
		copy(in[path.rmac:], ah.DMAC[:])
		path.ethPrio.Set(in, uint64(ah.SL))
		if d.gidIsROCEv2(ah.SGIDIndex) {
			const dscpShift = 2
			path.dscp.Set(in, uint64(ah.TrafficClass)>>dscpShift)
			if q.isConnected() && s.has(spec.IB_QP_DEST_QPN) {
				path.udpSport.Set(in, udpSport(ah.FlowLabel, q.qpn, s.attr.DestQPNum))
			}
		}
	} else {
		path.rlid.Set(in, uint64(ah.DLID))
		path.mlid.Set(in, uint64(ah.SrcPathBits))
		path.grh.Set(in, bit(ah.IsGlobal))
		path.sl.Set(in, uint64(ah.SL))
	}
	if ah.IsGlobal {
		path.srcAddrIndex.Set(in, uint64(ah.SGIDIndex))
		path.hopLimit.Set(in, uint64(ah.HopLimit))
		path.tclass.Set(in, uint64(ah.TrafficClass))
		path.flowLabel.Set(in, uint64(ah.FlowLabel))
		copy(in[path.rgid:], ah.DGID[:])
	}
	rate, err := d.ibRate(t, ah.StaticRate)
	if err != nil {
		return err
	}
	path.statRate.Set(in, uint64(rate))
	path.port.Set(in, uint64(port))
	return nil
}

// isConnected says that the queue pair has one other end.
func (q *qp) isConnected() bool {
	switch q.typ {
	case spec.IB_QPT_RC, spec.IB_QPT_UC, spec.IB_QPT_XRC_INI, spec.IB_QPT_XRC_TGT:
		return true
	}
	return false
}

func (d *Device) gidIsROCEv2(index uint8) bool {
	for i := range d.IB.GIDs {
		if g := &d.IB.GIDs[i]; g.Index == uint32(index) {
			return g.Type == gidTypeROCEv2
		}
	}
	return false
}

// udpSport returns the UDP port that packets of a connection come from, so that
// switches spread connections: it is made of the flow label, or else of both
// queue pairs' numbers. It models mlx5_set_path_udp_sport in
// drivers/infiniband/hw/mlx5/qp.c, rdma_calc_flow_label and
// rdma_flow_label_to_udp_sport in include/rdma/ib_verbs.h.
func udpSport(label, local, remote uint32) uint64 {
	const (
		labelMask = 1<<20 - 1
		lowBits   = 14
		firstPort = 0xc000 // IB_ROCE_UDP_ENCAP_VALID_PORT_MIN
	)
	v := uint64(label)
	if v == 0 {
		v = uint64(local) * uint64(remote)
		v ^= v >> 20
		v ^= v >> 40
	}
	v &= labelMask
	return firstPort | (v^v>>lowBits)&(1<<lowBits-1)
}

// toAHAttr is the reverse of setPath, as far as the core tells users. It models
// to_rdma_ah_attr in drivers/infiniband/hw/mlx5/qp.c.
func (d *Device) toAHAttr(ctx []byte, path *adsFields) core.AHAttr {
	port := uint32(path.port.Get(ctx))
	if !d.IB.IsPort(port) {
		return core.AHAttr{}
	}
	ah := core.AHAttr{
		PortNum:     port,
		SL:          uint8(path.sl.Get(ctx)),
		DLID:        uint32(path.rlid.Get(ctx)),
		SrcPathBits: uint8(path.mlid.Get(ctx)),
		StaticRate:  fromHWRate(uint8(path.statRate.Get(ctx))),
	}
	if path.grh.Get(ctx) != 0 || d.IB.LinkLayer == core.LinkLayerEthernet {
		ah.IsGlobal = true
		ah.FlowLabel = uint32(path.flowLabel.Get(ctx))
		ah.SGIDIndex = uint8(path.srcAddrIndex.Get(ctx))
		ah.HopLimit = uint8(path.hopLimit.Get(ctx))
		ah.TrafficClass = uint8(path.tclass.Get(ctx))
		copy(ah.DGID[:], ctx[path.rgid:])
	}
	return ah
}
