package mlx5

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/spec"
)

// The driver brings up an adapter of each kind, says of it what the profile says,
// and leaves nothing behind when it goes.
func TestProfiles(t *testing.T) {
	for _, p := range hw.Profiles() {
		t.Run(p.Name(), func(t *testing.T) {
			r := newRig(t, Config{Profile: p})
			attr := &r.dev.IB.Attr
			require.Equal(t, uint32(1)<<p.Cap("log_max_qp"), attr.MaxQP)
			require.Equal(t, uint32(1)<<p.Cap("log_max_cq_sz")-1, attr.MaxCQE)
			require.Equal(t, p.Cap("imaicl") == 1, attr.DeviceCapFlags&spec.IB_UVERBS_DEVICE_MEM_WINDOW != 0)
			require.Equal(t, p.Cap("atomic") == 1, attr.AtomicCap == spec.IB_ATOMIC_HCA)
			var port core.PortAttr
			require.NoError(t, r.dev.queryPort(r.task, r.dev.IB, 1, &port))
			require.Equal(t, uint8(spec.IB_PORT_ACTIVE), port.State)
			require.Equal(t, uint32(p.Cap("roce_cap.roce_address_table_size")), port.GIDTblLen)
			require.Len(t, r.dev.IB.GIDs, 2)
			r.dev.Remove(r.task)
			require.Empty(t, r.dev.HW.Counts())
		})
	}
}
