package libmlx5

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"uverbsim/spec"
	"uverbsim/verbs"
)

// Where struct mlx5_wqe_av of providers/mlx5/mlx5dv.h has what, in bytes.
const (
	avKey        = 0
	avDQPDCT     = 8
	avStatRateSL = 12
	avFlMLID     = 13
	avRLID       = 14
	avRMAC       = 20
	avTClass     = 26
	avHopLimit   = 27
	avGRHGIDFl   = 28
	avRGID       = 32
)

// The range of source ports of RoCE v2: IB_ROCE_UDP_ENCAP_VALID_PORT_MIN and _MAX
// of libibverbs/verbs.h. Flow labels have 20 bits (IB_GRH_FLOWLABEL_MASK).
const (
	roceUDPPortMin = 0xc000
	roceUDPPorts   = 0x10000 - roceUDPPortMin
	flowLabelMask  = 0xfffff
)

// Errors of CreateAH that the library finds itself; their errno is EINVAL.
var (
	ErrAHPort   = fmt.Errorf("libmlx5: the device has no port of that number: %w", syscall.EINVAL)
	ErrAHGlobal = fmt.Errorf("libmlx5: a path on Ethernet has a global route: %w", syscall.EINVAL)
)

// AH is an address handle: struct mlx5_ah.
type AH struct {
	kernel *verbs.AH // nil if the kernel knows nothing of it
	av     [datagramSegSize]byte
}

// ahRates is ib_to_mlx5_rate_table of providers/mlx5/verbs.c, by enum ibv_rate.
var ahRates = [...]uint8{
	2: 7, 3: 8, 4: 9, 5: 10, 6: 11, 7: 12, 8: 13, 9: 14, 10: 15, 11: 11, 12: 13, 13: 15, 15: 9, 16: 15, 19: 9, 20: 13,
}

// CreateAH makes an address handle. On Ethernet it asks the kernel for the
// receiver's MAC address. It models mlx5_create_ah in providers/mlx5/verbs.c.
//
// Errors: ErrAHPort, ErrAHGlobal, and those of the kernel.
func (pd *PD) CreateAH(attr *verbs.AHAttr) (*AH, error) {
	c := pd.ctx
	if attr.PortNum < 1 || int(attr.PortNum) > int(c.Resp.NumPorts) {
		return nil, ErrAHPort
	}
	isEth, grhRequired, err := c.linkLayer(attr.PortNum)
	if err != nil {
		return nil, err
	}
	if !attr.IsGlobal && (isEth || grhRequired) {
		return nil, ErrAHGlobal
	}
	ah := new(AH)
	var rate uint8
	if int(attr.StaticRate) < len(ahRates) {
		rate = ahRates[attr.StaticRate]
	}
	be := binary.BigEndian
	grh := uint32(0)
	if isEth {
		v2, err := c.isRoCEv2(attr)
		if err != nil {
			return nil, err
		}
		if v2 {
			be.PutUint16(ah.av[avRLID:], c.udpSPort(attr))
		}
		ah.av[avStatRateSL] = rate<<4 | attr.SL&7<<1
	} else {
		ah.av[avFlMLID] = attr.SrcPathBits & 0x7f
		be.PutUint16(ah.av[avRLID:], attr.DLID)
		ah.av[avStatRateSL] = rate<<4 | attr.SL&0xf
		grh = 1
	}
	if attr.IsGlobal {
		g := &attr.GRH
		ah.av[avTClass], ah.av[avHopLimit] = g.TrafficClass, g.HopLimit
		be.PutUint32(ah.av[avGRHGIDFl:], grh<<30|uint32(g.SGIDIndex)<<20|g.FlowLabel&flowLabelMask)
		copy(ah.av[avRGID:], g.DGID[:])
	}
	if isEth {
		var resp spec.Mlx5CreateAHResp
		if ah.kernel, err = pd.CmdCreateAH(attr, verbs.UHW{Out: spec.Bytes(&resp)}); err != nil {
			return nil, err
		}
		copy(ah.av[avRMAC:], resp.Dmac[:])
	}
	return ah, nil
}

// isRoCEv2 says of which type the source GID is. It models ibv_query_gid_type in
// libibverbs/verbs.c: an empty entry counts as RoCE v1.
func (c *Context) isRoCEv2(attr *verbs.AHAttr) (bool, error) {
	e, err := c.QueryGIDEntry(uint32(attr.PortNum), uint32(attr.GRH.SGIDIndex))
	if errors.Is(err, syscall.ENODATA) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return e.GIDType == verbs.IBV_GID_TYPE_ROCE_V2, nil
}

// udpSPort is the source port of a path: the flow label's, or any. It models
// mlx5_ah_set_udp_sport in providers/mlx5/verbs.c, which takes a random number;
// here the ports are taken in turn, so that a program does the same each time.
func (c *Context) udpSPort(attr *verbs.AHAttr) uint16 {
	fl := attr.GRH.FlowLabel & flowLabelMask
	if fl == 0 {
		return uint16(roceUDPPortMin + (c.sports.Add(1)-1)%roceUDPPorts)
	}
	return uint16(roceUDPPortMin | (fl&0x3fff ^ fl>>14))
}

// Destroy models mlx5_destroy_ah in providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (ah *AH) Destroy() error {
	if ah.kernel == nil {
		return nil
	}
	return ah.kernel.CmdDestroyAH()
}
