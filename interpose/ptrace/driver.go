package ptrace

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	"uverbsim/spec"
)

// drivers are the RDMA_DRIVER_ ids by the driver of the PCI function that an RDMA
// device belongs to: what sysfs says of a driver.
var drivers = map[string]uint32{
	"mlx5_core":  spec.RDMA_DRIVER_MLX5,
	"mlx4_core":  spec.RDMA_DRIVER_MLX4,
	"ib_mthca":   spec.RDMA_DRIVER_MTHCA,
	"bnxt_en":    spec.RDMA_DRIVER_BNXT_RE,
	"cxgb4":      spec.RDMA_DRIVER_CXGB4,
	"efa":        spec.RDMA_DRIVER_EFA,
	"hfi1":       spec.RDMA_DRIVER_HFI1,
	"qede":       spec.RDMA_DRIVER_QEDR,
	"be2net":     spec.RDMA_DRIVER_OCRDMA,
	"enic":       spec.RDMA_DRIVER_USNIC,
	"vmw_pvrdma": spec.RDMA_DRIVER_VMW_PVRDMA,
}

// Where sysfs has the device files and the RDMA devices.
const (
	verbsClass  = "/sys/class/infiniband_verbs"
	deviceClass = "/sys/class/infiniband"
)

// driver returns the RDMA_DRIVER_ id of a node's driver, RDMA_DRIVER_UNKNOWN if
// sysfs does not say it.
func (t *tracer) driver(node string) uint32 {
	id, ok := t.drivers[node]
	if !ok {
		id = findDriver(path.Base(node))
		t.drivers[node] = id
	}
	return id
}

func findDriver(name string) uint32 {
	if link, err := os.Readlink(filepath.Join(verbsClass, name, "device", "driver")); err == nil {
		return drivers[path.Base(link)]
	}
	// Soft RoCE has no function, and says which network device it is on.
	ibdev, err := os.ReadFile(filepath.Join(verbsClass, name, "ibdev"))
	if err != nil {
		return spec.RDMA_DRIVER_UNKNOWN
	}
	if _, err := os.Stat(filepath.Join(deviceClass, strings.TrimSpace(string(ibdev)), "parent")); err != nil {
		return spec.RDMA_DRIVER_UNKNOWN
	}
	return spec.RDMA_DRIVER_RXE
}
