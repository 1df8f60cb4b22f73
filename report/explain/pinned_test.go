package explain

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestHole: the first page that is not mapped of those that a buffer touches.
func TestHole(t *testing.T) {
	mapped := [][2]uint64{{0x1000, 0x3000}, {0x4000, 0x6000}}
	tests := []struct {
		at, size uint64
		page, of uint64
		found    bool
	}{
		{0x1000, 0x2000, 0, 2, false},
		{0x1fff, 2, 0, 2, false},
		{0x1000, 0x2001, 3, 3, true},
		{0x2800, 0x1000, 3, 2, true},
		{0x4000, 0x2800, 6, 3, true},
		{0x8000, 0, 8, 1, true}, // its length is not known
		{0x0fff, 1, 0, 1, true},
	}
	for _, tt := range tests {
		b := buffer{at: hexNumber("addr", tt.at), size: tt.size}
		page, of, found := b.hole(mapped)
		require.Equalf(t, tt.found, found, "%#x, %#x", tt.at, tt.size)
		require.Equalf(t, tt.of, of, "%#x, %#x", tt.at, tt.size)
		if found {
			require.Equalf(t, tt.page, page, "%#x, %#x", tt.at, tt.size)
		}
	}
	_, _, found := (&buffer{at: hexNumber("addr", 0x8000)}).hole(nil)
	require.False(t, found, "what is mapped is not known")
}

func TestOrdinal(t *testing.T) {
	for n, want := range map[uint64]string{0: "first", 1: "2nd", 2: "3rd", 3: "4th", 10: "11th", 11: "12th", 20: "21st", 21: "22nd", 111: "112th"} {
		require.Equal(t, want, ordinal(n))
	}
}

// TestRoundUp: roundup_pow_of_two in include/linux/log2.h.
func TestRoundUp(t *testing.T) {
	for n, want := range map[uint64]uint64{1: 1, 2: 2, 3: 4, 17: 32, 0x400000: 0x400000, 0x400001: 0x800000} {
		v := roundUp(num(n))
		require.Equal(t, want, v.n.Uint64(), n)
	}
	require.Equal(t, unknown, roundUp(num(0)).kind, "undefined for 0")
	require.Equal(t, unknown, roundUp(num(1<<63+1)).kind)
}

func TestSayBad(t *testing.T) {
	require.Equal(t, "an address that is not mapped (recorded as bad)", sayBad("0x5ead00000000"))
	require.Equal(t, "an address that is not mapped (recorded as bad)", sayBad("0x5ead00000010"), "some bytes behind")
	require.Equal(t, "32 bytes at an address that is not mapped (recorded as bad)", sayBad("32 bytes at 0x5ead00000000"))
	require.Equal(t, "an address above the user's half (recorded as bad)", sayBad("0xffff800000000000"))
	for _, s := range []string{"0x5ead", "0x5ead000000000", "0x7ffff7ff5000", "0", "UVERBS_ATTR_UHW_IN"} {
		require.Equal(t, s, sayBad(s))
	}
}
