package sysfs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDeviceNumber: the first devices have the numbers that are uverbs' own, those
// after them others.
func TestDeviceNumber(t *testing.T) {
	for num, want := range map[int][2]uint32{0: {231, 192}, 31: {231, 223}, 32: {511, 0}, 33: {511, 1}} {
		major, minor := deviceNumber(num)
		require.Equal(t, want, [2]uint32{major, minor}, "uverbs%d", num)
	}
}
