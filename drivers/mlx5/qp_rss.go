package mlx5

import (
	"uverbsim/drivers/mlx5/hw/ifc"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
)

// How a TIR spreads packets over the queues of a table, and which fields of a
// packet decide (include/linux/mlx5/device.h and mlx5_ifc.h).
const (
	tirDispIndirect = 1 // MLX5_TIRC_DISP_TYPE_INDIRECT
	rxHashToeplitz  = 2 // MLX5_RX_HASH_FN_TOEPLITZ
	rxHashKeySize   = 40
	l3ProtIPv6      = 1 << 31
	l4ProtUDP       = 1 << 30
	hashSelSrcIP    = 1 << 0
	hashSelDstIP    = 1 << 1
	hashSelL4SPort  = 1 << 2
	hashSelL4DPort  = 1 << 3
	hashSelIPsecSPI = 1 << 4
	hashIPv4        = spec.MLX5_RX_HASH_SRC_IPV4 | spec.MLX5_RX_HASH_DST_IPV4
	hashIPv6        = spec.MLX5_RX_HASH_SRC_IPV6 | spec.MLX5_RX_HASH_DST_IPV6
	hashTCP         = spec.MLX5_RX_HASH_SRC_PORT_TCP | spec.MLX5_RX_HASH_DST_PORT_TCP
	hashUDP         = spec.MLX5_RX_HASH_SRC_PORT_UDP | spec.MLX5_RX_HASH_DST_PORT_UDP
	hashSrcIP       = spec.MLX5_RX_HASH_SRC_IPV4 | spec.MLX5_RX_HASH_SRC_IPV6
	hashDstIP       = spec.MLX5_RX_HASH_DST_IPV4 | spec.MLX5_RX_HASH_DST_IPV6
	hashL4SrcPort   = spec.MLX5_RX_HASH_SRC_PORT_TCP | spec.MLX5_RX_HASH_SRC_PORT_UDP
	hashL4DstPort   = spec.MLX5_RX_HASH_DST_PORT_TCP | spec.MLX5_RX_HASH_DST_PORT_UDP
)

// hashFields turns the fields that the user wants hashed into the device's word
// for them (struct rx_hash_field_select).
//
// Errors: mlx5-qp/rss-both-ip, mlx5-qp/rss-many-l4.
func hashFields(mask uint64) (word uint32, err error) {
	has := func(bits uint64) bool { return mask&bits != 0 }
	if has(hashIPv4) && has(hashIPv6) {
		return 0, rule.MLX5QPRSSBothIP
	}
	if bit(has(hashTCP))+bit(has(hashUDP))+bit(has(spec.MLX5_RX_HASH_IPSEC_SPI)) > 1 {
		return 0, rule.MLX5QPRSSManyL4
	}
	for _, f := range [...]struct {
		bits uint64
		to   uint32
	}{
		{hashIPv6, l3ProtIPv6}, {hashUDP, l4ProtUDP}, {hashSrcIP, hashSelSrcIP}, {hashDstIP, hashSelDstIP},
		{hashL4SrcPort, hashSelL4SPort}, {hashL4DstPort, hashSelL4DPort}, {spec.MLX5_RX_HASH_IPSEC_SPI, hashSelIPsecSPI},
	} {
		if has(f.bits) {
			word |= f.to
		}
	}
	return word, nil
}

// createRSSRawQPTIR makes a TIR that spreads packets over a table of receive
// queues. It models create_rss_raw_qp_tir in drivers/infiniband/hw/mlx5/qp.c.
//
// Errors: mlx5-qp/rss-…, mlx5-cmd/….
func (d *Device) createRSSRawQPTIR(t *trace.Task, q *qp, p *createQPParams) error {
	defer t.EnterInlined(moduleIB, "create_rss_raw_qp_tir").Leave()
	ucmd := &p.rss
	inner := ucmd.RxHashFieldsMask&spec.MLX5_RX_HASH_INNER != 0
	if ucmd.CompMask != 0 {
		return rule.MLX5QPRSSCompMask
	}
	if inner && ucmd.Flags&spec.MLX5_QP_FLAG_TUNNEL_OFFLOADS == 0 {
		return rule.MLX5QPRSSInner
	}
	if t.Fail(trace.Alloc, "create_tir_in") {
		return rule.MLX5QPRSSNoMemory
	}
	if ucmd.RxHashFunction != spec.MLX5_RX_HASH_FUNC_TOEPLITZ {
		return rule.MLX5QPRSSFunction
	}
	if ucmd.RxKeyLen != rxHashKeySize {
		return rule.MLX5QPRSSKey
	}
	if ucmd.RxHashFieldsMask == 0 && p.attr.RWQIndTable.LogSize != 0 {
		return rule.MLX5QPRSSNoFields
	}
	word, err := hashFields(ucmd.RxHashFieldsMask)
	if err != nil {
		return err
	}
	q.uid = toPD(q.ib.PD).uid
	m := d.mailbox(ifc.MLX5_CMD_OP_CREATE_TIR, q.uid, 0)
	defer d.giveBack(m)
	tirDispType.Set(m.in, tirDispIndirect)
	num(tirRQT, 3).Set(m.in, uint64(p.attr.RWQIndTable.TblNum))
	tirHashFn.Set(m.in, rxHashToeplitz)
	copy(m.in[tirKey:], ucmd.RxHashKey[:rxHashKeySize])
	selector := tirOuter
	if inner {
		selector = tirInner
	}
	be.PutUint32(m.in[selector:], word)
	q.isRSS = true
	return d.createTIR(t, q, p, m, p.c.devxUID != 0)
}
