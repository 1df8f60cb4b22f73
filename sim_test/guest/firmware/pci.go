package firmware

import "encoding/binary"

// configSize is the length of the configuration space: the classic one, without
// extended capabilities.
const configSize = 256

// function is what the bridge is told of the PCI function (struct
// bridge_function in ../bridge/uverbsim_bridge.c).
type function struct {
	bar, size        uint64
	config, writable [configSize]byte
}

// Registers of the configuration space and of its capabilities
// (include/uapi/linux/pci_regs.h).
const (
	pciVendorID        = 0x00
	pciDeviceID        = 0x02
	pciCommand         = 0x04
	pciStatus          = 0x06
	pciClass           = 0x08 // and the revision
	pciBAR0            = 0x10 // and its upper half
	pciSubsystemVendor = 0x2c
	pciSubsystemID     = 0x2e
	pciCapabilityList  = 0x34

	pciCommandMemory = 1 << 1
	pciStatusCapList = 1 << 4
	pciBAR64         = 1 << 2
	pciBARPrefetch   = 1 << 3

	pciCapExpress = 0x10
	pciCapMSIX    = 0x11
)

// Where things are in the function: capabilities in the configuration space,
// the table of MSI-X in BAR 0, and what stands before the register pages.
const (
	expressAt = 0x40
	msixAt    = 0x80

	msixTable   = 0x2000
	msixPending = 0x3000

	vectors = 32
)

// register is a register of the configuration space: its content and the bits
// that a driver may change.
type register struct {
	at, size        int
	value, writable uint32
}

// newFunction returns the function of an adapter with BAR 0 at that place: a
// ConnectX-6 Dx at a PCI Express link, with MSI-X and without a legacy interrupt.
func newFunction(bar, size uint64) *function {
	f := &function{bar: bar, size: size}
	mask := -size
	for _, r := range []register{
		{at: pciVendorID, size: 2, value: 0x15b3},
		{at: pciDeviceID, size: 2, value: 0x101d},
		{at: pciCommand, size: 2, value: pciCommandMemory, writable: 0x0546}, // memory, master, parity, SERR, no INTx
		{at: pciStatus, size: 2, value: pciStatusCapList},
		{at: pciClass, size: 4, value: 0x02000000}, // Ethernet controller
		{at: pciBAR0, size: 4, value: uint32(bar) | pciBAR64 | pciBARPrefetch, writable: uint32(mask)},
		{at: pciBAR0 + 4, size: 4, value: uint32(bar >> 32), writable: uint32(mask >> 32)},
		{at: pciSubsystemVendor, size: 2, value: 0x15b3},
		{at: pciSubsystemID, size: 2, value: 0x0016},
		{at: pciCapabilityList, size: 1, value: expressAt},

		{at: expressAt, size: 2, value: pciCapExpress | msixAt<<8},
		{at: expressAt + 0x02, size: 2, value: 0x0002},                      // an endpoint, version 2
		{at: expressAt + 0x04, size: 4, value: 0x00008022},                  // payloads of 512 bytes, extended tags, error reporting by role
		{at: expressAt + 0x08, size: 2, value: 0x2810, writable: 0x7fff},    // device control
		{at: expressAt + 0x0c, size: 4, value: 0x0104},                      // link: 16 lanes of 16 GT/s
		{at: expressAt + 0x10, size: 2, value: 0, writable: 0x00c3},         // link control
		{at: expressAt + 0x12, size: 2, value: 0x0104},                      // link status: as it can be
		{at: expressAt + 0x24, size: 4, value: 0x0000001f},                  // completion timeouts: any, or none
		{at: expressAt + 0x28, size: 2, value: 0, writable: 0xffff},         // device control 2
		{at: expressAt + 0x2c, size: 4, value: 0x0000001e},                  // link speeds up to 16 GT/s
		{at: msixAt, size: 2, value: pciCapMSIX},                            // the last capability
		{at: msixAt + 0x02, size: 2, value: vectors - 1, writable: 3 << 14}, // enabled, all masked
		{at: msixAt + 0x04, size: 4, value: msixTable},                      // in BAR 0
		{at: msixAt + 0x08, size: 4, value: msixPending},                    // the same
	} {
		f.put(r)
	}
	return f
}

func (f *function) put(r register) {
	var value, writable [4]byte
	binary.LittleEndian.PutUint32(value[:], r.value)
	binary.LittleEndian.PutUint32(writable[:], r.writable)
	copy(f.config[r.at:], value[:r.size])
	copy(f.writable[r.at:], writable[:r.size])
}
