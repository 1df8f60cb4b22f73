package rxe

import (
	"net/netip"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// initAV makes an address vector of what the user said. It models rxe_init_av
// in drivers/infiniband/sw/rxe/rxe_av.c. The addresses of the interface are
// left out of it: they are those of the two GIDs.
func (d *rxeDev) initAV(t *trace.Task, attr *core.AHAttr, av *spec.RxeAV) {
	defer t.Enter(module, "rxe_init_av").Leave()
	d.avFromAttr(t, attr, av)
	d.avFillIPInfo(t, attr, av)
	av.Dmac = attr.DMAC
}

// avFromAttr models rxe_av_from_attr in drivers/infiniband/sw/rxe/rxe_av.c.
func (d *rxeDev) avFromAttr(t *trace.Task, attr *core.AHAttr, av *spec.RxeAV) {
	defer t.Enter(module, "rxe_av_from_attr").Leave()
	*av = spec.RxeAV{PortNum: uint8(attr.PortNum), GRH: spec.RxeGlobalRoute{
		DGID: attr.DGID, FlowLabel: attr.FlowLabel, SGIDIndex: attr.SGIDIndex,
		HopLimit: attr.HopLimit, TrafficClass: attr.TrafficClass,
	}}
}

// avFillIPInfo models rxe_av_fill_ip_info in
// drivers/infiniband/sw/rxe/rxe_av.c.
func (d *rxeDev) avFillIPInfo(t *trace.Task, attr *core.AHAttr, av *spec.RxeAV) {
	defer t.Enter(module, "rxe_av_fill_ip_info").Leave()
	av.NetworkType = d.networkType(attr.SGIDIndex)
}

// avToAttr models rxe_av_to_attr in drivers/infiniband/sw/rxe/rxe_av.c. The
// MAC address is not told.
func avToAttr(t *trace.Task, av *spec.RxeAV) core.AHAttr {
	defer t.Enter(module, "rxe_av_to_attr").Leave()
	return core.AHAttr{
		DGID: av.GRH.DGID, FlowLabel: av.GRH.FlowLabel, SGIDIndex: av.GRH.SGIDIndex,
		HopLimit: av.GRH.HopLimit, TrafficClass: av.GRH.TrafficClass,
		IsGlobal: true, PortNum: uint32(av.PortNum),
	}
}

// avChkAttr models rxe_av_chk_attr in drivers/infiniband/sw/rxe/rxe_av.c, the
// check for a QP.
//
// Errors: those of chkAttr.
func (d *rxeDev) avChkAttr(t *trace.Task, attr *core.AHAttr) error {
	defer t.Enter(module, "rxe_av_chk_attr").Leave()
	return d.chkAttr(t, attr)
}

// ahChkAttr models rxe_ah_chk_attr in drivers/infiniband/sw/rxe/rxe_av.c, the
// check for an address handle.
//
// Errors: those of chkAttr.
func (d *rxeDev) ahChkAttr(t *trace.Task, attr *core.AHAttr) error {
	defer t.Enter(module, "rxe_ah_chk_attr").Leave()
	return d.chkAttr(t, attr)
}

// chkAttr models chk_attr in drivers/infiniband/sw/rxe/rxe_av.c. Its check of
// the index against the length of the table never fails, since an index has 8
// bits.
//
// Errors: rxe/av-network-type.
func (d *rxeDev) chkAttr(t *trace.Task, attr *core.AHAttr) error {
	defer t.Enter(module, "chk_attr").Leave()
	if attr.IsGlobal && d.networkType(attr.SGIDIndex) == 0 {
		return rule.RxeAVNetworkType
	}
	return nil
}

// networkType says by which protocol packets from a GID go, RXE_NETWORK_TYPE_…;
// 0 where the table has no GID.
func (d *rxeDev) networkType(sgidIndex uint8) uint8 {
	if int(sgidIndex) >= len(d.ib.GIDs) {
		return 0
	}
	if netip.AddrFrom16(d.ib.GIDs[sgidIndex].GID).Is4In6() {
		return spec.RXE_NETWORK_TYPE_IPV4
	}
	return spec.RXE_NETWORK_TYPE_IPV6
}
