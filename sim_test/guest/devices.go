package guest

import "net/netip"

// Device is what kind of RDMA device the guest has.
type Device string

// The devices.
const (
	RXE  Device = "rxe"  // soft RoCE on a dummy interface
	MLX5 Device = "mlx5" // the real mlx5_core and mlx5_ib, with drivers/mlx5/hw as the firmware below them
)

// Devices are the names of all devices.
var Devices = []string{string(RXE), string(MLX5)}

// DevicePath is the device's node, whatever the device is.
const DevicePath = "/dev/infiniband/uverbs0"

// The addresses of the guest's device, which make its GUIDs and GIDs. An mlx5
// device has the same MAC from its firmware.
var (
	DeviceMAC  = [6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, 0x01}
	DeviceAddr = netip.MustParsePrefix("192.0.2.1/24")
)

// devices has what each device takes.
var devices = map[Device]struct {
	modules []string // that are loaded, besides what they depend on and what is built in
	args    string   // of the kernel
}{
	// A network device, uverbs, the soft RoCE driver and the checksum that it asks
	// the crypto layer for by name.
	RXE:  {modules: []string{"crc32_generic", "dummy", "ib_uverbs", "rdma_rxe"}},
	MLX5: {modules: []string{"ib_uverbs", "mlx5_ib"}, args: barArgs},
}

// moduleParams has the parameters of modules. Prof_sel=0 is mlx5_core without a
// cache of memory keys, as it was when the reference cases were recorded.
var moduleParams = map[string]string{"mlx5_core": "prof_sel=0"}
