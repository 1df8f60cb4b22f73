package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// Bits of the flags of TCP that only the last segment of many has.
const (
	tcpFIN = 1 << 0
	tcpPSH = 1 << 3
)

// maxLSO is the logarithm of the most data that one work request is cut up of.
var maxLSO = ifc.Must("per_protocol_networking_offload_caps").Field("max_lso_cap")

// sendSegment carries out the next piece of a work request whose data is more than a
// frame has room for: the inline header goes before each piece, with the lengths, the
// number of the IP packet and the sequence number of TCP counted on. It returns why
// it failed, and whether pieces are left.
func (d *Device) sendSegment(o *context, w *ethWork, who user) (syndrome uint8, more bool) {
	head := layersOf(w.header, 0)
	length, mss := w.list.length(), uint64(w.mss)
	switch {
	case mss == 0 || len(w.header) < etherHeader || len(w.header)+w.mss > maxFrame,
		length == 0, length > 1<<maxLSO.Get(d.caps[ifc.MLX5_CAP_ETHERNET_OFFLOADS]):
		return ifc.MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, false
	case !head.tcp && !head.udp:
		return ifc.MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR, false
	}
	at := uint64(o.pieces) * mss
	if at >= length { // its user has changed it meanwhile
		return 0, false
	}
	w.list.skip(at)
	n := min(length-at, mss)
	frame := d.raw.out[:len(w.header)+int(n)]
	copy(frame, w.header)
	if d.gather(&w.list, who, frame[len(w.header):]) != keyOK {
		return ifc.MLX5_CQE_SYNDROME_LOCAL_PROT_ERR, false
	}
	more = at+n < length
	head.renumber(frame, int(o.pieces), uint32(at), !more)
	d.sendFrame(o, w, frame)
	o.pieces++
	return 0, more
}

// renumber makes the headers of a frame those of the i-th piece, which begins at
// that byte of the data.
func (l *layers) renumber(b []byte, i int, at uint32, last bool) {
	be := binary.BigEndian
	if l.is4() {
		be.PutUint16(b[l.l3+2:], uint16(len(b)-l.l3))
		be.PutUint16(b[l.l3+4:], be.Uint16(b[l.l3+4:])+uint16(i))
	} else {
		be.PutUint16(b[l.l3+4:], uint16(len(b)-l.l3-ipv6Header))
	}
	if l.udp {
		be.PutUint16(b[l.l4+4:], uint16(len(b)-l.l4))
		return
	}
	be.PutUint32(b[l.l4+4:], be.Uint32(b[l.l4+4:])+at)
	if !last {
		b[l.l4+13] &^= tcpFIN | tcpPSH
	}
}
