package hw

import "uverbsim/drivers/mlx5/hw/ifc"

// needing is a command that there is only on a device with a capability of
// cmd_hca_cap.
func needing(capability string, h handler) handler {
	has := ifc.Must("cmd_hca_cap").Field(capability)
	return func(d *Device, c *command) *refusal {
		if d.cap(has) == 0 {
			return noCapability
		}
		return h(d, c)
	}
}
