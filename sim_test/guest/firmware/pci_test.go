package firmware

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

var le = binary.LittleEndian

// TestFunction reads the configuration space as a kernel does that looks for
// devices.
func TestFunction(t *testing.T) {
	const bar, size = 0x1_30000000, 32 << 20
	f := newFunction(bar, size)
	require.Equal(t, []byte{0xb3, 0x15, 0x1d, 0x10}, f.config[:4], "a ConnectX-6 Dx")
	require.EqualValues(t, 0x02, f.config[11], "a network controller")
	require.Zero(t, f.config[14], "one function, an ordinary header")

	require.EqualValues(t, bar, uint64(le.Uint32(f.config[0x14:]))<<32|uint64(le.Uint32(f.config[0x10:])&^0xf))
	require.EqualValues(t, 0xc, le.Uint32(f.config[0x10:])&0xf, "64 bits, prefetchable")
	writable := uint64(le.Uint32(f.writable[0x14:]))<<32 | uint64(le.Uint32(f.writable[0x10:]))
	require.EqualValues(t, size, -writable, "its length is what cannot be written")
	require.Equal(t, make([]byte, 16), f.config[0x18:0x28], "no other BARs")
	require.Zero(t, f.config[0x3d], "no interrupt pin")

	require.NotZero(t, f.config[0x06]&0x10, "there are capabilities")
	at := map[byte]int{}
	for next := f.config[0x34]; next != 0; next = f.config[next+1] {
		require.NotContains(t, at, f.config[next])
		require.Zero(t, next%4)
		at[f.config[next]] = int(next)
	}
	require.Len(t, at, 2)
	express, msix := at[0x10], at[0x11]
	require.EqualValues(t, 0x02, le.Uint16(f.config[express+2:]), "an endpoint, version 2")
	require.EqualValues(t, vectors-1, le.Uint16(f.config[msix+2:]))
	require.EqualValues(t, 0xc000, le.Uint16(f.writable[msix+2:]))
	table, pending := le.Uint32(f.config[msix+4:]), le.Uint32(f.config[msix+8:])
	require.Zero(t, table&7|pending&7, "both are in BAR 0")
	require.GreaterOrEqual(t, int(table), segmentSize, "behind the segment")
	require.GreaterOrEqual(t, int(pending), int(table)+vectors*16)
	require.Less(t, int(pending), 0x10*uarPage, "before the first register page")
}
