package model

import (
	"fmt"
	"sync"
	"syscall"
	"time"

	"uverbsim/casefile"
	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/sim_test/player"
	"uverbsim/spec"
	"uverbsim/trace"
)

// Model is the modelled kernel, with any of its drivers. The zero value is
// ready; one Model may boot machines for several goroutines at once.
type Model struct {
	// Kernel is the version that machines run. Nil is that of the case's
	// recording, or spec.Linux6_12 where it has none that is modelled.
	Kernel *spec.Kernel
	// Trace, when set, returns the sink of a machine's events.
	Trace func(c *casefile.Case) trace.Sink
}

var _ player.Target = (*Model)(nil)

// Boot implements player.Target.
func (md *Model) Boot(c *casefile.Case) (player.Machine, error) {
	load := drivers[c.Driver]
	if load == nil {
		return nil, fmt.Errorf("no driver %q: there are %s", c.Driver, DriverNames())
	}
	m := &Machine{Kernel: kernel.NewMachine(methods.Core(), kernel.Version(md.version(c)))}
	if md.Trace != nil {
		m.sink = md.Trace(c)
	}
	m.cgroups = process.NewCgroup(nil)
	if err := m.start(); err != nil {
		return nil, err
	}
	d := c.Device
	if d == nil {
		d = new(casefile.Device)
	}
	var err error
	if m.Driver, err = load(m.Kernel, d); err != nil {
		return nil, err
	}
	if a, ok := m.Driver.(adapter); ok && m.sink != nil {
		a.TraceDMA(trace.NewTask(0, m.sink))
	}
	if err := m.Add(); err != nil {
		return nil, err
	}
	return m, nil
}

// version returns the kernel that a case's machine runs.
func (md *Model) version(c *casefile.Case) *spec.Kernel {
	if md.Kernel != nil {
		return md.Kernel
	}
	if k, ok := spec.KernelByRelease(c.Kernel); ok {
		return k
	}
	return spec.Linux6_12
}

// recordedLimits are those of the processes that the cases were recorded with:
// Go raises the soft limit of descriptors to the hard one.
func recordedLimits() *process.Limits {
	l := process.DefaultLimits()
	l.NOFILE.Cur = l.NOFILE.Max
	return &l
}

// standardFiles opens descriptors 0 to 2, which are no RDMA files.
func standardFiles(t *process.Task) error {
	for range 3 {
		fd, err := t.GetUnusedFD(false)
		if err != nil {
			return err
		}
		f, err := process.NewFile(t, &nullFops, nil, syscall.O_RDWR)
		if err != nil {
			return err
		}
		t.FDInstall(fd, f)
	}
	return nil
}

// nullFops are those of a file that does nothing.
var nullFops process.FileOps

// Machine is one kernel with one device.
type Machine struct {
	Kernel *kernel.Machine
	Driver Driver

	sink    trace.Sink
	cgroups *process.Cgroup // the root group
	first   *Task

	mu      sync.Mutex
	devices []device // the one that there is, and those before it of which something is left
	procs   []*process.Process
	groups  map[*process.Process]*process.Cgroup // the last that each entered, though it may have left
	tasks   int
}

var _ player.Machine = (*Machine)(nil)

// newTrace returns the seam of one more thread; nil when nothing is traced.
func (m *Machine) newTrace() *trace.Task {
	if m.sink == nil {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tasks++
	return trace.NewTask(m.tasks, m.sink)
}

func (m *Machine) admit(p *process.Process) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.procs = append(m.procs, p)
}

func (m *Machine) entered(p *process.Process, g *process.Cgroup) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.groups == nil {
		m.groups = map[*process.Process]*process.Cgroup{}
	}
	m.groups[p] = g
}

// group is the control group that a process has entered last, the root group if
// none.
func (m *Machine) group(p *process.Process) *process.Cgroup {
	m.mu.Lock()
	defer m.mu.Unlock()
	if g := m.groups[p]; g != nil {
		return g
	}
	return m.cgroups
}

// Process implements player.Machine.
func (m *Machine) Process() player.Task { return m.first }

// node is the path of the device's node, "" while there is none.
func (m *Machine) node() string {
	if d := m.Driver.Device(); d != nil {
		return fmt.Sprintf("/dev/infiniband/uverbs%d", d.Num)
	}
	return ""
}

// Remove implements player.Machine.
func (m *Machine) Remove(by player.Task) error {
	m.Driver.Remove(by.(*Task).t)
	return nil
}

// Add implements player.Machine.
func (m *Machine) Add() error {
	if err := m.Driver.Add(); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	var devices []device
	for _, d := range m.devices {
		if d.FileRefs() != 0 || d.Left() != 0 || d.Abandoned() != 0 || d.XRCDInodes() != 0 || d.ib.Umems() != 0 {
			devices = append(devices, d)
		}
	}
	d := m.Driver.Device()
	m.devices = append(devices, device{d, d.IBDevice()})
	return nil
}

// device is a device of a machine, with the driver's, which it has no way to any more
// when it was removed.
type device struct {
	*kernel.Device
	ib *core.Device
}

// Chmod implements player.Machine.
func (m *Machine) Chmod(mode uint32) error { return m.Kernel.Chmod(m.node(), mode) }

// Netdev implements player.Machine.
func (m *Machine) Netdev(up bool) error {
	if n, ok := m.Driver.(interface{ Netdev(up bool) error }); ok {
		return n.Netdev(up)
	}
	return m.lacks("netdev")
}

// puppet is a driver that a case can lead by the hand.
type puppet interface {
	Event(t *trace.Task, object string, index int, typ string) error
	Hold(op string)
	Release()
	Log() string
}

// Event implements player.Machine.
func (m *Machine) Event(object string, index int, typ string) error {
	if d, ok := m.Driver.(puppet); ok {
		return d.Event(m.newTrace(), object, index, typ)
	}
	return m.lacks("event")
}

// Hold implements player.Machine.
func (m *Machine) Hold(op string) error {
	if d, ok := m.Driver.(puppet); ok {
		d.Hold(op)
		return nil
	}
	return m.lacks("hold")
}

// Release implements player.Machine.
func (m *Machine) Release() error {
	if d, ok := m.Driver.(puppet); ok {
		d.Release()
		return nil
	}
	return m.lacks("release")
}

// DriverLog implements player.Machine.
func (m *Machine) DriverLog() (string, error) {
	if d, ok := m.Driver.(puppet); ok {
		return d.Log(), nil
	}
	return "", m.lacks("driver_log")
}

func (m *Machine) lacks(op string) error {
	return &player.Unplayable{Op: op, Reason: "this driver does not do that"}
}

// patience is how long a modelled call may take before it counts as blocked.
// Nothing in the model but a wait takes that long.
const patience = 200 * time.Millisecond

// Patience implements player.Machine.
func (m *Machine) Patience() time.Duration { return patience }

// Shutdown implements player.Machine: all processes exit, the first one last.
func (m *Machine) Shutdown() {
	if d, ok := m.Driver.(puppet); ok {
		d.Release()
	}
	m.mu.Lock()
	procs := m.procs
	m.mu.Unlock()
	for i := len(procs) - 1; i >= 0; i-- {
		procs[i].Exit()
	}
}
