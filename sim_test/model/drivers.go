package model

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"uverbsim/casefile"
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
