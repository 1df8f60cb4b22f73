package funcgraph

import (
	"math/bits"
	"strconv"
)

const hexDigits = "0123456789abcdef"

// AppendHex appends v in hexadecimal. Addresses are most of what is printed, and
// strconv takes three times as long for one.
func AppendHex(b []byte, v uint64) []byte {
	var digits [16]byte
	n := (bits.Len64(v|1) + 3) / 4
	for i := range digits[:n] {
		digits[i] = hexDigits[v>>(4*uint(n-1-i))&15]
	}
	return append(b, digits[:n]...)
}

// appendDecimal appends v in decimal.
func appendDecimal(b []byte, v uint64) []byte {
	if v < 10 {
		return append(b, '0'+byte(v))
	}
	return strconv.AppendUint(b, v, 10)
}
