//go:build linux

package guest

import (
	"fmt"

	"uverbsim/sim_test/device"
)

// The soft RoCE device and the network device below it.
const (
	rxeDevice = "rxe0"
	rxeNet    = "dummy0"
)

func makeRXE(*command) (end func() error, err error) {
	for _, f := range []func() error{
		loadModules,
		acceptAddrs,
		func() error { return device.SetHardwareAddr(rxeNet, DeviceMAC) },
		func() error { return setUpNet(rxeNet) },
		func() error { return device.NewLink(rxeDevice, "rxe", rxeNet) },
		func() error { return device.AwaitReady(rxeDevice) },
	} {
		if err := f(); err != nil {
			return nil, fmt.Errorf("%s on %s: %w", rxeDevice, rxeNet, err)
		}
	}
	return func() error { return nil }, nil
}
