package hw

import (
	"encoding/binary"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// hashed is the hash of a frame and what it was made of (rss_hash_type of a
// completion, include/linux/mlx5/device.h).
type hashed struct {
	value uint32
	typ   uint8
}

// How an interface makes a hash (MLX5_RX_HASH_FN_* in
// include/linux/mlx5/mlx5_ifc.h), and of which fields (struct
// rx_hash_field_select and MLX5_HASH_FIELD_SEL_*).
const (
	hashXOR8     = 1
	hashToeplitz = 2

	selectSrcIP = 1 << 0
	selectDstIP = 1 << 1
	selectSport = 1 << 2
	selectDport = 1 << 3
)

// Where rss_hash_type says of which layers source and destination were taken, and
// what it says there.
const (
	typeSrcIP = 0
	typeDstIP = 2
	typeSport = 4
	typeDport = 6

	typeIPv4 = 1
	typeIPv6 = 2
	typeTCP  = 1
	typeUDP  = 2
)

// The fields of an interface's context about hashing.
var (
	tirHashFn    = ifc.Must("tirc").Field("rx_hash_fn")
	tirSymmetric = ifc.Must("tirc").Field("rx_hash_symmetric")
	tirKey       = ifc.Must("tirc").Field("rx_hash_toeplitz_key")
	tirOuter     = hashSelectIn("rx_hash_field_selector_outer")
	tirInner     = hashSelectIn("rx_hash_field_selector_inner")
)

// hashSelect has where a context says which fields are hashed.
type hashSelect struct{ ipv6, udp, fields ifc.Field }

func hashSelectIn(selector string) hashSelect {
	f := func(name string) ifc.Field { return ifc.Must("tirc").Field(selector + "." + name) }
	return hashSelect{f("l3_prot_type"), f("l4_prot_type"), f("selected_fields")}
}

// hashFor makes the hash that an interface spreads frames by: of the inner headers
// if fields of those are selected, else of the outer ones. A frame that has not the
// selected protocols is hashed by what it has of them; one with none has hash 0.
func hashFor(tir []byte, p *passing) hashed {
	sel, l := &tirOuter, &p.layers
	if tirInner.fields.Get(tir) != 0 {
		t := tunnelOf(p.bytes, l)
		sel, l = &tirInner, &t.inner
	}
	var input [2 * (16 + 2)]byte
	in, typ := sel.gather(input[:0], tir, p.bytes, l)
	if len(in) == 0 {
		return hashed{}
	}
	switch tirHashFn.Get(tir) {
	case hashToeplitz:
		return hashed{toeplitz(tirKey.Bytes(tir), in), typ}
	case hashXOR8:
		var x byte
		for _, b := range in {
			x ^= b
		}
		return hashed{uint32(^x), typ}
	}
	return hashed{}
}

// gather appends the selected fields to in: addresses, then ports, of each the
// source first. Of a symmetric hash the lower one comes first.
func (s *hashSelect) gather(in, tir, b []byte, l *layers) ([]byte, uint8) {
	fields, typ := s.fields.Get(tir), uint8(0)
	if l.version == 0 {
		return in, 0
	}
	symmetric := tirSymmetric.Get(tir) != 0
	pair := func(src, dst []byte, selSrc, selDst uint64) {
		if symmetric && fields&selSrc != 0 && fields&selDst != 0 && string(src) > string(dst) {
			src, dst = dst, src
		}
		if fields&selSrc != 0 {
			in = append(in, src...)
		}
		if fields&selDst != 0 {
			in = append(in, dst...)
		}
	}
	if wants6 := s.ipv6.Get(tir) != 0; wants6 == l.is6() && fields&(selectSrcIP|selectDstIP) != 0 {
		at, size, is := l.l3+12, 4, uint8(typeIPv4)
		if wants6 {
			at, size, is = l.l3+8, 16, typeIPv6
		}
		pair(b[at:at+size], b[at+size:at+2*size], selectSrcIP, selectDstIP)
		typ |= is*uint8(fields>>0&1)<<typeSrcIP | is*uint8(fields>>1&1)<<typeDstIP
	}
	wantsUDP := s.udp.Get(tir) != 0
	if fields&(selectSport|selectDport) != 0 && !l.fragment && (wantsUDP && l.udp || !wantsUDP && l.tcp) {
		is := uint8(typeTCP)
		if wantsUDP {
			is = typeUDP
		}
		pair(b[l.l4:l.l4+2], b[l.l4+2:l.l4+4], selectSport, selectDport)
		typ |= is*uint8(fields>>2&1)<<typeSport | is*uint8(fields>>3&1)<<typeDport
	}
	return in, typ
}

// toeplitz is the hash of that name: for each bit of the input that is set, the 32
// bits of the key from that place on. The key has 32 bits more than the input.
func toeplitz(key, input []byte) (hash uint32) {
	window := binary.BigEndian.Uint32(key)
	for i, b := range input {
		next := key[i+4]
		for bit := range 8 {
			if b>>(7-bit)&1 != 0 {
				hash ^= window
			}
			window = window<<1 | uint32(next>>(7-bit)&1)
		}
	}
	return hash
}
