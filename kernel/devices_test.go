package kernel

import (
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/process"
)

// TestDevices: those that are registered, in the order of their nodes and not of
// their coming.
func TestDevices(t *testing.T) {
	m := NewMachine(Definitions{})
	require.Empty(t, m.Devices())
	register := func(name string) *Device {
		d, err := m.Register(&core.Device{Name: name, Ops: core.DeviceOps{
			AllocUcontext: func(*core.Ucontext, *core.Udata) error { return nil },
		}}, Definitions{})
		require.NoError(t, err)
		return d
	}
	a, b := register("a"), register("b")
	require.Equal(t, []*Device{a, b}, m.Devices())
	m.Unregister(m.NewProcess(process.Options{}).MainTask(), a)
	require.Equal(t, []*Device{b}, m.Devices())
	c := register("c")
	require.Equal(t, []*Device{c, b}, m.Devices())
}
