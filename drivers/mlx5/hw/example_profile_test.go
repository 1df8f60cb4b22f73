package hw_test

import (
	"fmt"

	"uverbsim/drivers/mlx5/hw"
)

// Two adapters of one kind in one machine have addresses of their own.
func ExampleProfile_WithMAC() {
	second := hw.ConnectX6Dx.WithMAC([6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x11})
	for _, p := range []*hw.Profile{hw.ConnectX6Dx, second} {
		fmt.Printf("%s %#x: %d queue pairs\n", p.Name(), p.Cap("nic_vport_context.node_guid"), 1<<p.Cap("log_max_qp"))
	}
	// Output:
	// connectx6dx 0x2005e0300005310: 131072 queue pairs
	// connectx6dx 0x2005e0300005311: 131072 queue pairs
}
