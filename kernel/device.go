package kernel

import (
	"sync"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/trace"
)

// Device is a struct ib_uverbs_device: a device node and what stands behind it
// until the last file that was opened through it is gone.
type Device struct {
	// API is what the device understands.
	API *API
	// NumCompVectors is the number of completion vectors.
	NumCompVectors uint32
	// Num is the N of /dev/infiniband/uverbsN.
	Num int

	// XRCDTree has the shared XRC domains of the device by their inode;
	// XRCDTreeMutex guards it.
	XRCDTreeMutex trace.Mutex
	XRCDTree      map[any]*core.XRCD

	machine *Machine
	ibDev   atomic.Pointer[core.Device] // nil once the device was removed
	fops    *process.FileOps
	srcu    srcu // disassociate_srcu

	listsMutex trace.Mutex
	files      []*File // uverbs_file_list, in the order of their opening

	refs atomic.Int64
	comp chan struct{} // closed with the last reference

	leftMutex sync.Mutex
	left      []*File // that are gone and have objects; see leave
}

// newDevice models ib_uverbs_add_one up to the device node.
func newDevice(m *Machine, dev *core.Device, num int, api *API) *Device {
	d := &Device{API: api, NumCompVectors: dev.NumCompVectors, Num: num, machine: m,
		XRCDTree: map[any]*core.XRCD{}, comp: make(chan struct{}), fops: &uverbsFops}
	d.XRCDTreeMutex.Name = "xrcd_tree_mutex"
	d.listsMutex.Name = "lists_mutex"
	d.srcu.init("disassociate_srcu")
	if dev.Ops.Mmap != nil {
		d.fops = &uverbsMmapFops
	}
	d.refs.Store(1)
	d.ibDev.Store(dev)
	return d
}

// IBDevice returns the driver's device, nil once it was removed.
func (d *Device) IBDevice() *core.Device { return d.ibDev.Load() }

// SRCUDereference is IBDevice for a call, which is in the device's SRCU (srcu_dereference
// of ib_dev).
func (d *Device) SRCUDereference(t *trace.Task) *core.Device {
	t.Point(trace.Word, "load", "ib_dev", trace.Reads, &d.ibDev)
	return d.ibDev.Load()
}

// OpenFiles returns how many files were opened through the node and are not
// closed.
func (d *Device) OpenFiles() int {
	d.listsMutex.Lock(nil)
	defer d.listsMutex.Unlock(nil)
	return len(d.files)
}

// getNotZero takes a reference unless the last one is gone.
func (d *Device) getNotZero(t *trace.Task) bool {
	t.Point(trace.Ref, "get_unless_zero", "ib_uverbs_device", trace.Reads, &d.refs)
	for {
		n := d.refs.Load()
		if n == 0 {
			return false
		}
		if d.refs.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// put drops a reference; the last one lets a removal go on.
func (d *Device) put(t *trace.Task) {
	t.Point(trace.Ref, "put", "ib_uverbs_device", trace.Drops, &d.refs)
	if d.refs.Add(-1) == 0 {
		t.Turned(trace.Writes)
		close(d.comp)
	}
}
