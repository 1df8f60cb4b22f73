package kernel

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/process"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// nodePrefix is where device nodes are.
const nodePrefix = "/dev/infiniband/uverbs"

// maxDevices is IB_UVERBS_MAX_DEVICES.
const maxDevices = 1024

// Machine is a kernel with its RDMA devices. Its methods may be called by
// several goroutines at once.
type Machine struct {
	core   Definitions
	kernel *spec.Kernel

	exclusiveNetNS bool // ib_devices_shared_netns is off
	batch          bool // see ExperimentalBatch

	mu    sync.Mutex
	nodes [maxDevices]*node
}

// node is a device node: a Device and the mode of its inode.
type node struct {
	dev  *Device
	mode atomic.Uint32
}

// An Option says what machine NewMachine makes.
type Option func(*Machine)

// Version has the machine run that version of the kernel. Without it, or if k is
// nil, it runs spec.Linux6_12.
func Version(k *spec.Kernel) Option { return func(m *Machine) { m.kernel = k } }

// ExclusiveNetNS has each device belong to one network namespace
// (core.Device.NetNS), whose processes alone can open it: ib_core's parameter
// netns_mode is 0. Without it all namespaces share the devices.
func ExclusiveNetNS(m *Machine) { m.exclusiveNetNS = true }

// NewMachine returns a machine without devices whose core understands the
// definitions: those of package methods.
func NewMachine(core Definitions, opts ...Option) *Machine {
	m := &Machine{core: core}
	for _, o := range opts {
		o(m)
	}
	if m.kernel == nil {
		m.kernel = spec.Linux6_12
	}
	return m
}

// Kernel returns the version of the kernel that the machine runs. A driver asks
// it for features.
func (m *Machine) Kernel() *spec.Kernel { return m.kernel }

// Register adds a device with its driver's own definitions and makes its node.
// A definition that is wrong is refused with the reason, and the machine goes
// on without the device. It models ib_uverbs_add_one.
func (m *Machine) Register(dev *core.Device, driver Definitions) (*Device, error) {
	if dev.Ops.AllocUcontext == nil {
		return nil, fmt.Errorf("kernel: device %s: the driver has no alloc_ucontext", dev.Name)
	}
	if dev.Kernel == nil {
		dev.Kernel = m.kernel
	}
	if dev.Kernel != m.kernel {
		return nil, fmt.Errorf("kernel: device %s: its driver is that of Linux %s, the machine runs %s",
			dev.Name, dev.Kernel.Name, m.kernel.Name)
	}
	api, err := NewAPI(dev, m.core, driver)
	if err != nil {
		return nil, fmt.Errorf("device %s: %w", dev.Name, err)
	}
	dev.InitLocks()
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, n := range m.nodes {
		if n == nil {
			d := newDevice(m, dev, i, api)
			m.nodes[i] = &node{dev: d}
			m.nodes[i].mode.Store(0o666)
			return d, nil
		}
	}
	return nil, fmt.Errorf("kernel: device %s: all %d device numbers are taken", dev.Name, maxDevices)
}

// Unregister removes a device, as when its driver goes. A driver that can take
// its device from running users (disassociate_ucontext) does, and Unregister
// returns when that is done; otherwise it waits until the last file is closed.
// Then the control groups, those that are in one tree with the task's, forget it.
// A device that was removed before is left alone. It models what
// __ib_unregister_device in drivers/infiniband/core/device.c does with uverbs and
// with control groups.
func (m *Machine) Unregister(task *process.Task, d *Device) {
	dev := d.ibDev.Load()
	if !m.removeNode(task.Trace, d) {
		return
	}
	d.removeOne(task, dev)
	task.Cgroup().UnregisterDevice(dev.Name)
}

// removeOne models ib_uverbs_remove_one.
func (d *Device) removeOne(task *process.Task, dev *core.Device) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_remove_one").Leave()
	if dev.Ops.DisassociateUcontext != nil {
		// What the files' mappings hold may go with them: another file of the device,
		// which cannot be closed before the locks of this one are free.
		task.InCall(func() { d.freeHWResources(task) })
		d.put(t)
		return
	}
	d.put(t)
	t.Flush()
	if t.Scheduled() {
		t.PointAt(&trace.Point{Kind: trace.Ref, Verb: "wait_for_completion", Name: "ib_uverbs_device",
			Access: trace.Access{Effect: trace.Reads, On: &d.refs}, Ready: func() bool { return d.refs.Load() == 0 }})
	}
	<-d.comp
}

// removeNode takes the device's node away and says whether it was there.
func (m *Machine) removeNode(t *trace.Task, d *Device) bool {
	t.Point(trace.Handle, "remove", "device node", trace.Writes, &m.nodes)
	m.mu.Lock()
	defer m.mu.Unlock()
	n := m.nodes[d.Num]
	if n == nil || n.dev != d {
		return false
	}
	m.nodes[d.Num] = nil
	return true
}

// freeHWResources ends all that the device does for its files, in the order in
// which they were opened. It models ib_uverbs_free_hw_resources.
func (d *Device) freeHWResources(task *process.Task) {
	t := task.Trace
	defer t.Enter(trace.Uverbs, "ib_uverbs_free_hw_resources").Leave()
	t.Point(trace.Word, "store", "ib_dev", trace.Writes, &d.ibDev)
	d.ibDev.Store(nil)
	d.API.disassociatePre(t)
	d.srcu.Synchronize(t)
	for {
		f := d.firstFile(t)
		if f == nil {
			break
		}
		f.destroyAll(task, uobject.RemoveDriverRemove)
		(*owner)(f).Put(task)
	}
	d.API.disassociate(t)
}

// firstFile takes the first file off the list, with a reference.
func (d *Device) firstFile(t *trace.Task) *File {
	d.listsMutex.Lock(t)
	defer d.listsMutex.Unlock(t)
	if len(d.files) == 0 {
		return nil
	}
	f := d.files[0]
	d.files = d.files[1:]
	(*owner)(f).Get(t)
	return f
}

// NewProcess returns a process of the machine.
func (m *Machine) NewProcess(opts process.Options) *process.Process {
	return process.New((*vfs)(m), opts)
}

// Device returns the device with that node, or nil.
func (m *Machine) Device(path string) *Device {
	if n := m.node(path); n != nil {
		return n.dev
	}
	return nil
}

// Chmod sets the mode bits of a device node.
//
// Errors: open/no-node.
func (m *Machine) Chmod(path string, mode uint32) error {
	n := m.node(path)
	if n == nil {
		return rule.OpenNoNode
	}
	n.mode.Store(mode)
	return nil
}

func (m *Machine) node(path string) *node {
	num, ok := strings.CutPrefix(path, nodePrefix)
	if !ok {
		return nil
	}
	i, err := strconv.ParseUint(num, 10, 31)
	if err != nil || i >= maxDevices || strconv.FormatUint(i, 10) != num {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.nodes[i]
}

// vfs is a Machine as its processes see it.
type vfs Machine

// Open opens a device node. There is a file before the path is looked at
// (path_openat in fs/namei.c); one that was not opened goes without a release.
//
// Errors: file/no-memory, open/no-node, open/permission, and those of the device's
// open.
func (v *vfs) Open(task *process.Task, path string, flags int) (*process.File, error) {
	m := (*Machine)(v)
	filp, err := process.NewFile(task, nil, nil, flags)
	if err != nil {
		return nil, err
	}
	task.Trace.Point(trace.Handle, "look up", "device node", trace.Reads, &m.nodes)
	n := m.node(path)
	if n == nil {
		return nil, rule.OpenNoNode
	}
	// The node is root's.
	if err := process.GenericPermission(task.Cred(), 0, 0, n.mode.Load(), process.OpenMask(flags)); err != nil {
		return nil, err
	}
	if err := n.dev.open(task, filp); err != nil {
		return nil, err
	}
	return filp, nil
}
