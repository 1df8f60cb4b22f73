package stub

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"uverbsim/copyuser"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/spec"
)

// deviceName is the device's name.
const deviceName = "uvstub0"

// mapPages is how many pages an mmap at offset 0 can show.
const mapPages = 4

// Config says how the device differs from the default one. Names are members
// of struct ib_device_ops; mask<N> is bit N of the mask of write() commands;
// uar is the driver's UAR object; refuse_<op> makes the first call of an
// operation that destroys fail with EREMOTEIO, never_<op> every call; udata has
// the log tell what driver's part of a request those operations are handed.
type Config struct {
	Has   []string // beyond the default operations
	Lacks []string // less than them
}

// Driver is the driver, which outlives its device.
type Driver struct {
	machine *kernel.Machine
	conf    layout
	pages   []*copyuser.Page // what mmap shows

	ctl sync.Mutex // over adding and removing
	dev atomic.Pointer[registered]

	trail   trail
	objects lists
	numbers atomic.Uint32 // of QPs, keys and so on
	uarIDs  atomic.Uint32
}

// registered is the device while it is there.
type registered struct {
	ib     *core.Device
	uverbs *kernel.Device
}

// New loads the driver on a machine. The device is there after Add. An error
// names what the configuration has that the driver does not know.
func New(m *kernel.Machine, c Config) (*Driver, error) {
	d := &Driver{machine: m}
	d.trail.init()
	for range mapPages {
		p := copyuser.NewPage()
		p.Store(0, slices.Repeat([]byte{0xc3}, copyuser.PageSize))
		d.pages = append(d.pages, p)
	}
	var err error
	d.conf, err = d.configure(c)
	d.trail.refusals, d.trail.noteUdata = d.conf.refusals, d.conf.noteUdata
	return d, err
}

// Add registers the device.
func (d *Driver) Add() error {
	d.ctl.Lock()
	defer d.ctl.Unlock()
	if d.dev.Load() != nil {
		return syscall.EEXIST
	}
	ib := &core.Device{
		Name: deviceName, Ops: d.conf.ops, DriverID: spec.RDMA_DRIVER_MLX5, UverbsABI: 1,
		NumCompVectors: 2, PhysPorts: 1, NodeType: nodeTypeIBCA, LinkLayer: core.LinkLayerEthernet, RawPacket: true,
		UverbsCmdMask: (spec.DefaultUverbsCmdMask | d.conf.moreMask) &^ d.conf.lessMask,
	}
	d.uarIDs.Store(0)
	u, err := d.machine.Register(ib, d.definitions(d.conf.uar))
	if err != nil {
		return fmt.Errorf("stub: %w", err)
	}
	d.dev.Store(&registered{ib, u})
	return nil
}

const nodeTypeIBCA = 1 // RDMA_NODE_IB_CA

// Remove unregisters the device and returns when it is gone; without a device
// it does nothing.
func (d *Driver) Remove(task *process.Task) {
	d.ctl.Lock()
	defer d.ctl.Unlock()
	r := d.dev.Load()
	if r == nil {
		return
	}
	d.machine.Unregister(task, r.uverbs)
	d.trail.said("unregistered")
	d.dev.Store(nil)
}

// Device returns the device node, nil while there is none.
func (d *Driver) Device() *kernel.Device {
	if r := d.dev.Load(); r != nil {
		return r.uverbs
	}
	return nil
}

// Log returns the names of the operations that were called since the last
// look, in their order.
func (d *Driver) Log() string { return d.trail.take() }

// Counts returns how many there are of each kind of thing that the driver was asked to
// make and has not been asked to destroy, or has refused to.
func (d *Driver) Counts() map[string]int { return d.trail.counts() }

// Hold makes whoever calls that operation wait in it until Release.
func (d *Driver) Hold(op string) { d.trail.hold(op) }

// Release lets them go.
func (d *Driver) Release() { d.trail.hold("") }
