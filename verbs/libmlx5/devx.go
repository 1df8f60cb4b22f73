package libmlx5

import (
	"encoding/binary"

	"uverbsim/spec"
)

// opQueryHCACap is MLX5_CMD_OP_QUERY_HCA_CAP, and the types of capabilities are
// MLX5_SET_HCA_CAP_OP_MOD_* (providers/mlx5/mlx5_ifc.h).
const (
	opQueryHCACap = 0x100

	capGeneral  = 0x0
	capQOS      = 0xc
	capCrypto   = 0x1a
	capGeneral2 = 0x20

	opmodGetCurrent = 1 // HCA_CAP_OPMOD_GET_CUR
)

// The lengths of the command: 16 bytes of header, then the capabilities.
const (
	queryHCACapIn  = 16
	queryHCACapHdr = 16
	queryHCACapOut = queryHCACapHdr + 4096
)

// The bits of struct mlx5_ifc_cmd_hca_cap_bits that decide which capabilities
// are asked for next: byte and mask.
type capBit struct {
	at   int
	mask byte
}

var (
	hasGeneral2 = capBit{4, 0x80}   // hca_cap_2
	hasQOS      = capBit{67, 0x10}  // qos
	hasCrypto   = capBit{141, 0x40} // crypto
)

// getHCACaps asks for the capabilities that the library looks at. It models
// get_hca_general_caps, get_hca_general_caps_2, get_qos_caps and
// get_crypto_caps in providers/mlx5/verbs.c.
func (c *Context) getHCACaps() {
	caps, err := c.queryHCACap(capGeneral)
	if err != nil {
		return
	}
	for _, more := range []struct {
		bit capBit
		typ uint16
	}{{hasGeneral2, capGeneral2}, {hasQOS, capQOS}, {hasCrypto, capCrypto}} {
		if caps[more.bit.at]&more.bit.mask != 0 {
			_, _ = c.queryHCACap(more.typ) // they count as absent if it fails
		}
	}
}

// queryHCACap asks the device's firmware for its current capabilities of a
// type. It models mlx5dv_devx_general_cmd in providers/mlx5/verbs.c.
//
// Errors: those of the kernel.
func (c *Context) queryHCACap(typ uint16) ([]byte, error) {
	f := c.Frame()
	defer f.Leave()
	in, out := make([]byte, queryHCACapIn), make([]byte, queryHCACapOut)
	binary.BigEndian.PutUint16(in[0:], opQueryHCACap)
	binary.BigEndian.PutUint16(in[6:], typ<<1|opmodGetCurrent)
	cmd := f.CommandBuffer(spec.MLX5_IB_OBJECT_DEVX, spec.MLX5_IB_METHOD_DEVX_OTHER, 2, nil)
	cmd.FillAttrIn(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_IN, in)
	cmd.FillAttrOut(spec.MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out)
	if err := c.ExecuteIoctl(cmd); err != nil {
		return nil, err
	}
	return out[queryHCACapHdr:], nil
}
