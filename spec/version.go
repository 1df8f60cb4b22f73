package spec

import "slices"

// Kernel is what the model knows of one version of the kernel.
type Kernel struct {
	Name    string // "6.12"
	Release string // the release whose sources and answers were read

	// ABIVersion is what /sys/class/infiniband_verbs/abi_version says.
	ABIVersion int

	// WriteExSizes: the sizes that a definition states for an extended
	// write() command are enforced before its handler runs.
	WriteExSizes bool

	core    func() []Definition
	drivers map[uint32]func() []Definition
}

// Linux6_12 is the kernel that all tables of this package describe.
var Linux6_12 = Kernel{
	Name:       "6.12",
	Release:    "Debian 6.12.117-1~deb12u1",
	ABIVersion: IB_USER_VERBS_ABI_VERSION,
	// uapi_create_write copies the sizes of the other commands only.
	WriteExSizes: false,
	core:         Core,
	drivers: map[uint32]func() []Definition{
		RDMA_DRIVER_MLX5:    MLX5,
		RDMA_DRIVER_EFA:     EFA,
		RDMA_DRIVER_BNXT_RE: BNXT,
	},
}

var kernels = []Kernel{Linux6_12}

// KernelByName returns the kernel of that name, "6.12" for one, and whether
// there is one.
func KernelByName(name string) (Kernel, bool) {
	i := slices.IndexFunc(kernels, func(k Kernel) bool { return k.Name == name })
	if i < 0 {
		return Kernel{}, false
	}
	return kernels[i], true
}

// Kernels returns all kernels that the model knows.
func Kernels() []Kernel { return slices.Clone(kernels) }

// Definitions returns what a device has whose driver's id is driver, a
// RDMA_DRIVER_ constant: the core's definitions, then the driver's. A driver
// that adds none has the core's alone.
func (k Kernel) Definitions(driver uint32) []Definition {
	defs := k.core()
	if f := k.drivers[driver]; f != nil {
		defs = append(defs, f()...)
	}
	return defs
}
