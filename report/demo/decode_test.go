package demo

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/spec"
)

func TestCName(t *testing.T) {
	for name, want := range map[string]string{
		"CQESize": "cqe_size", "BufAddr": "buf_addr", "DBAddr": "db_addr", "UARPageIndex": "uar_page_index",
		"CQECompEn": "cqe_comp_en", "CQN": "cqn", "MaxSQDescSz": "max_sq_desc_sz", "LogUARSize": "log_uar_size",
		"Reserved0": "reserved0", "HcaCoreClockOffset": "hca_core_clock_offset",
	} {
		require.Equal(t, want, cName(name))
	}
}

// TestMembers: what is shorter than the struct, as older libraries send it.
func TestMembers(t *testing.T) {
	cmd := spec.Mlx5CreateCQ{BufAddr: 0x1000, CQESize: 64, Flags: 2}
	require.Equal(t, "buf_addr=0x1000 cqe_size=64 flags=2", members(new(spec.Mlx5CreateCQ), spec.Bytes(&cmd)))
	require.Equal(t, "buf_addr=0x1000", members(new(spec.Mlx5CreateCQ), spec.Bytes(&cmd)[:16]))
	require.Equal(t, "all zero", members(new(spec.Mlx5CreateCQ), make([]byte, 32)))
}
