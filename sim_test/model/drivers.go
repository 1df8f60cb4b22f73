package model

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"

	"uverbsim/casefile"
	"uverbsim/core"
	"uverbsim/drivers/rxe"
	"uverbsim/kernel"
	"uverbsim/process"
	"uverbsim/sim_test/stub"
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

// drivers loads each driver with what a case asks of its device.
var drivers = map[string]func(*kernel.Machine, *casefile.Device) (Driver, error){
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
	return &plain{machine: m, create: func() (*core.Device, kernel.Definitions) { return rxe.New(rxe.Config{}) }}, nil
}

// plain is a driver that does nothing but make a device.
type plain struct {
	machine *kernel.Machine
	create  func() (*core.Device, kernel.Definitions)

	mu  sync.Mutex
	dev *kernel.Device
}

func (p *plain) Add() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	ib, defs := p.create()
	dev, err := p.machine.Register(ib, defs)
	if err != nil {
		return err
	}
	p.dev = dev
	return nil
}

func (p *plain) Remove(task *process.Task) {
	dev := p.Device()
	if dev == nil {
		return
	}
	p.machine.Unregister(task, dev)
	p.mu.Lock()
	p.dev = nil
	p.mu.Unlock()
}

func (p *plain) Device() *kernel.Device {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dev
}
