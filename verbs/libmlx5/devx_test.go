package libmlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5/hw/ifc"
)

// TestCapBits holds the bits that the library looks at to the layout of the
// capabilities.
func TestCapBits(t *testing.T) {
	for name, bit := range map[string]capBit{"hca_cap_2": hasGeneral2, "qos": hasQOS, "crypto": hasCrypto} {
		caps := make([]byte, queryHCACapOut-queryHCACapHdr)
		ifc.Must("cmd_hca_cap").Field(name).Set(caps, 1)
		want := make([]byte, len(caps))
		want[bit.at] = bit.mask
		require.Equal(t, want, caps, name)
	}
}
