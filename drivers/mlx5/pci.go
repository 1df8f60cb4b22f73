package mlx5

// What the device says of itself beside its firmware's answers: the PCI
// configuration space, and the firmware's revision at the beginning of the
// initialization segment. They are those of the recorded device.
const (
	pciDeviceID   = 0x101d // ConnectX-6 Dx
	pciRevision   = 0
	fwRevMajor    = 22
	fwRevMinor    = 35
	fwRevSubminor = 1010
)
