package copyuser_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
)

// TestMapped: areas that touch are one range, and a hole splits it.
func TestMapped(t *testing.T) {
	m := copyuser.NewAddressSpace()
	require.Empty(t, m.Mapped())
	a := mapAnon(t, m, 4)
	end := a + 4*copyuser.PageSize
	require.NoError(t, m.Mprotect(nil, a+copyuser.PageSize, copyuser.PageSize, syscall.PROT_READ))
	require.Equal(t, 3, m.Areas())
	require.Equal(t, [][2]uint64{{uint64(a), uint64(end)}}, m.Mapped())
	require.NoError(t, m.Munmap(nil, a+2*copyuser.PageSize, copyuser.PageSize))
	require.Equal(t, [][2]uint64{
		{uint64(a), uint64(a + 2*copyuser.PageSize)}, {uint64(end - copyuser.PageSize), uint64(end)},
	}, m.Mapped())
}
