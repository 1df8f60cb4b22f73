package copyuser_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
)

func TestAddrAdd(t *testing.T) {
	const last = ^copyuser.Addr(0)
	for _, c := range []struct {
		a    copyuser.Addr
		n    uint64
		want copyuser.Addr
		ok   bool
	}{
		{0, 0, 0, true},
		{1, 2, 3, true},
		{last, 0, last, true},
		{last - 4, 4, last, true},
		{last, 1, 0, false},
		{1, ^uint64(0), 0, false},
		{last, ^uint64(0), last - 1, false},
	} {
		got, ok := c.a.Add(c.n)
		require.Equal(t, c.ok, ok, "%#x + %#x", c.a, c.n)
		require.Equal(t, c.want, got, "%#x + %#x", c.a, c.n)
	}
}

func TestAccessOK(t *testing.T) {
	const (
		max    = copyuser.TaskSizeMax
		kernel = copyuser.Addr(0xffff800000000000)
	)
	for _, c := range []struct {
		a  copyuser.Addr
		n  uint64
		ok bool
	}{
		{0, 0, true},
		{0, 8, true}, // null is the user's, though nothing is mapped there
		{0x5ead00000000, 1 << 20, true},
		{max - 8, 8, true},
		{max - 8, 9, false},
		{max, 0, true}, // USER_PTR_MAX itself passes
		{max, 1, false},
		{max + 1, 0, false},
		{kernel, 0, false},
		{kernel, 8, false},
		{0x1000, ^uint64(0), false}, // the sum wraps to an address of the user's
		{0x1000, uint64(max), false},
		{0x1000, uint64(max) - 0x1000, true},
	} {
		require.Equal(t, c.ok, copyuser.AccessOK(c.a, c.n), "%#x, %#x bytes", c.a, c.n)
	}
}
