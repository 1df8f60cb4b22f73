package model

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"uverbsim/casefile"
	"uverbsim/core"
	"uverbsim/drivers/mlx5"
	"uverbsim/drivers/mlx5/hw"
	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/sim_test/stub"
	"uverbsim/trace"
)

// Driver is a driver that is loaded on a machine. It has one device at most.
type Driver interface {
	// Add registers the device.
	Add() error
	// Remove takes it away and returns when it is gone.
	Remove(task *process.Task)
	// Device returns it, nil while there is none.
	Device() *kernel.Device
}

// Stepper is a driver whose device does its own work only when it is asked to:
// Step lets it do some and says whether there was any.
type Stepper interface{ Step(t *trace.Task) bool }

// adapter is a driver whose device does DMA that can be traced.
type adapter interface{ TraceDMA(t *trace.Task) }

// drivers loads each driver with what a case asks of its device.
var drivers = map[string]func(*kernel.Machine, *casefile.Device) (Driver, error){
	"mlx5": loadMLX5,
	"rxe":  loadRXE,
	"stub": loadStub,
}

// DriverNames are the drivers that there are, in one line.
func DriverNames() string { return strings.Join(slices.Sorted(maps.Keys(drivers)), ", ") }

func loadStub(m *kernel.Machine, d *casefile.Device) (Driver, error) {
	if len(d.Caps) > 0 {
		return nil, errors.New("the stub has no firmware capabilities")
	}
	return stub.New(m, stub.Config{Has: d.Has, Lacks: d.Lacks})
}

func loadRXE(m *kernel.Machine, d *casefile.Device) (Driver, error) {
	if len(d.Has)+len(d.Lacks)+len(d.Caps) > 0 {
		return nil, errors.New("rxe's operations and capabilities cannot be chosen")
	}
	return &rxeDriver{machine: m}, nil
}

// rxeDriver is rxe with a link.
type rxeDriver struct {
	machine *kernel.Machine

	mu  sync.Mutex
	dev *kernel.Device
	ib  *core.Device   // the last one, whose objects count on when it is removed
	own map[string]int // the objects that the kernel made in it for itself
}

var _ Counter = (*rxeDriver)(nil)

func (p *rxeDriver) Add() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ib, defs := rxe.New(rxe.Config{Kernel: p.machine.Kernel()})
	dev, err := p.machine.Register(ib, defs)
	if err != nil {
		return err
	}
	p.dev, p.ib, p.own = dev, ib, rxe.Counts(ib)
	return nil
}

func (p *rxeDriver) Remove(task *process.Task) {
	dev := p.Device()
	if dev == nil {
		return
	}
	p.machine.Unregister(task, dev)
	p.mu.Lock()
	p.dev = nil
	p.mu.Unlock()
}

func (p *rxeDriver) Device() *kernel.Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dev
}

// Counts implements Counter: of each type, the objects that are users'.
func (p *rxeDriver) Counts() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := rxe.Counts(p.ib)
	for name := range counts {
		if counts[name] -= p.own[name]; counts[name] == 0 {
			delete(counts, name)
		}
	}
	return counts
}

// Netdev takes the interface below the link up or down.
func (p *rxeDriver) Netdev(up bool) error {
	if p.Device() != nil {
		rxe.SetLink(nil, p.ib, up)
	}
	return nil
}

func loadMLX5(m *kernel.Machine, d *casefile.Device) (Driver, error) {
	if len(d.Has)+len(d.Lacks) > 0 {
		return nil, errors.New("mlx5's operations cannot be chosen")
	}
	profile := hw.Recorded
	if d.Profile != "" {
		if profile = hw.ProfileByName(d.Profile); profile == nil {
			return nil, fmt.Errorf("mlx5 has no profile %q", d.Profile)
		}
	}
	profile, err := profile.With(d.Caps)
	if err != nil {
		return nil, err
	}
	return &mlx5Driver{machine: m, profile: profile}, nil
}

// mlx5Driver is mlx5 with an adapter.
type mlx5Driver struct {
	machine *kernel.Machine
	profile *hw.Profile
	dma     *trace.Task

	mu   sync.Mutex
	dev  *mlx5.Device
	last *mlx5.Device // whose adapter stays when it is removed
}

var (
	_ Stepper = (*mlx5Driver)(nil)
	_ Counter = (*mlx5Driver)(nil)
)

func (d *mlx5Driver) Add() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	dev, err := mlx5.New(d.machine, mlx5.Config{Profile: d.profile, DMA: d.dma})
	if err != nil {
		return err
	}
	d.dev, d.last = dev, dev
	return nil
}

// TraceDMA implements adapter.
func (d *mlx5Driver) TraceDMA(t *trace.Task) { d.dma = t }

func (d *mlx5Driver) device() *mlx5.Device {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dev
}

func (d *mlx5Driver) Remove(task *process.Task) {
	dev := d.device()
	if dev == nil {
		return
	}
	dev.Remove(task) // nothing is registered any more in any case
	d.mu.Lock()
	d.dev = nil
	d.mu.Unlock()
}

func (d *mlx5Driver) Device() *kernel.Device {
	if dev := d.device(); dev != nil {
		return dev.Uverbs
	}
	return nil
}

// Step implements Stepper.
func (d *mlx5Driver) Step(t *trace.Task) bool {
	dev := d.device()
	return dev != nil && dev.Step(t)
}

// Counts implements Counter. While the device is there they are without what the
// driver makes for itself when it is first needed and keeps: its event queues,
// one for each completion vector, and queues that stand in for users', with the
// pages that these are in.
func (d *mlx5Driver) Counts() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil {
		return nil
	}
	counts := d.last.Counts()
	for name, n := range d.last.TableCounts() {
		if n != 0 {
			counts[name] = n
		}
	}
	if d.dev == nil {
		return counts
	}
	for kind, n := range d.dev.OwnCounts() {
		if counts[kind] -= n; counts[kind] == 0 {
			delete(counts, kind)
		}
	}
	return counts
}
