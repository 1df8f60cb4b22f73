package traffic

import (
	"fmt"
	"maps"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/kernel"
	"uverbsim/methods"
	"uverbsim/process"
	"uverbsim/verbs/libmlx5"
)

// machine is a machine with one device or two, which a link joins.
type machine struct {
	*testing.T
	kernel   *kernel.Machine
	fabric   *hw.Fabric
	devices  []*mlx5.Device
	probed   []map[string]int
	programs []*program
}

// options are what a machine is made with; the zero value is one device for
// programs.
type options struct {
	devices int         // 1 if zero
	profile *hw.Profile // hw.ConnectX6Dx if nil
	link    hw.Link
	vectors int
	clock   func() uint64
}

// address is the IPv4 address of a device, whose GID stands at gidIndex of the
// table.
func address(device int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(device + 1)}) }

const (
	jumbo    = 9000 // an Ethernet MTU that a path MTU of 4096 fits into
	events   = 128  // that a device may hold back, so that its queues are soon made
	gidIndex = 1
	port     = 1
)

// boot makes a machine. When the test ends, its programs end as well-behaved
// programs do, and the books must balance.
func boot(t *testing.T, o options) *machine {
	t.Helper()
	m := &machine{T: t, kernel: kernel.NewMachine(methods.Core()), fabric: hw.NewFabric(o.link)}
	if o.profile == nil {
		o.profile = hw.ConnectX6Dx
	}
	for n := range max(o.devices, 1) {
		dev, err := mlx5.New(m.kernel, mlx5.Config{
			Name:        fmt.Sprintf("mlx5_%d", n),
			Profile:     o.profile.WithMAC([6]byte{0x02, 0x00, 0x5e, 0x00, 0x53, byte(n + 1)}),
			Addrs:       []netip.Addr{address(n)},
			MTU:         jumbo,
			Fabric:      m.fabric,
			CompVectors: o.vectors,
			IOEQSize:    events,
			EventEQSize: events,
			Clock:       o.clock,
		})
		require.NoError(t, err)
		m.devices = append(m.devices, dev)
		m.probed = append(m.probed, booksOf(dev))
	}
	t.Cleanup(m.shutdown)
	return m
}

// booksOf reads a device's books, objects by kind and pages that are mapped for it,
// without what its driver keeps for itself.
func booksOf(dev *mlx5.Device) map[string]int {
	b := dev.Counts()
	for kind, n := range dev.OwnCounts() {
		if b[kind] -= n; b[kind] == 0 {
			delete(b, kind)
		}
	}
	return b
}

func (m *machine) shutdown() {
	if m.Failed() {
		return // what is left over says nothing then
	}
	for _, p := range m.programs {
		p.end()
	}
	m.balance()
}

// balance holds the books against what they were after the probe.
func (m *machine) balance() {
	m.Helper()
	m.settle()
	for n, dev := range m.devices {
		is := booksOf(dev)
		require.Truef(m, maps.Equal(m.probed[n], is), "device %d had %v and has %v", n, m.probed[n], is)
	}
}

// within makes a subtest the one that the machine's helpers speak for.
func (m *machine) within(t *testing.T) {
	outer := m.T
	m.T = t
	t.Cleanup(func() { m.T = outer })
}

// settle lets the devices do all that they have to do now.
func (m *machine) settle() {
	for busy := true; busy; {
		busy = false
		for _, dev := range m.devices {
			for dev.Step(nil) {
				busy = true
			}
		}
	}
}

// await lets time pass until the condition holds.
func (m *machine) await(what string, done func() bool) {
	m.Helper()
	for range 100_000 {
		m.settle()
		if done() {
			return
		}
		next, waits := m.deadline()
		require.Truef(m, waits, "%s never happens: nothing is left to do", what)
		m.fabric.Advance(max(next-m.fabric.Now(), 0))
	}
	require.Failf(m, "it goes on for ever", "%s never happens", what)
}

// exhaust lets time pass until nothing is left to do.
func (m *machine) exhaust() {
	m.Helper()
	for range 100_000 {
		m.settle()
		next, waits := m.deadline()
		if !waits {
			return
		}
		m.fabric.Advance(max(next-m.fabric.Now(), 0))
	}
	require.Fail(m, "the devices never come to rest")
}

// deadline is when time brings about the next thing.
func (m *machine) deadline() (next time.Duration, waits bool) {
	for _, dev := range m.devices {
		if at, ok := dev.HW.NextDeadline(); ok && (!waits || at < next) {
			next, waits = at, true
		}
	}
	return next, waits
}

// start starts a program that opens a device.
func (m *machine) start(device int) *program {
	m.Helper()
	return m.open(m.kernel.NewProcess(process.Options{}), device)
}

// open opens a device in a process.
func (m *machine) open(proc *process.Process, device int) *program {
	m.Helper()
	p := &program{machine: m, dev: m.devices[device], proc: proc}
	var err error
	p.ctx, err = libmlx5.OpenDevice(proc, fmt.Sprintf("/dev/infiniband/uverbs%d", device))
	require.NoError(m, err)
	p.gid, err = p.ctx.QueryGID(port, gidIndex)
	require.NoError(m, err)
	p.pd = p.allocPD()
	m.programs = append(m.programs, p)
	return p
}
