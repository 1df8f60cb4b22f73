package schema

import (
	"reflect"
	"strings"

	"uverbsim/core"
	"uverbsim/kernel"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// API returns what the kernel makes of the definitions for a device of the
// driver: merged, pruned and finalized by the code that does it for a device
// that runs. Its handlers do nothing.
func (d Driver) API(k *spec.Kernel) (*kernel.API, error) {
	coreDefs, own := d.definitions(k)
	dev := &core.Device{
		Name: d.Name, DriverID: d.ID, Kernel: k, Ops: d.ops(k),
		UverbsCmdMask: spec.DefaultUverbsCmdMask | d.mask,
	}
	return kernel.NewAPI(dev, described(coreDefs), described(own))
}

// described are definitions whose handlers do nothing.
func described(defs []spec.Definition) kernel.Definitions {
	kd := kernel.Definitions{
		Spec:    defs,
		Types:   map[uint16]*uobject.TypeAttrs{},
		Methods: map[kernel.MethodID]kernel.Handler{},
		Writes:  map[kernel.WriteID]kernel.Handler{},
	}
	nothing := func(*kernel.Bundle) error { return nil }
	for _, def := range defs {
		kd.Types[def.Object.ID] = &uobject.TypeAttrs{}
		for _, m := range def.Object.Methods {
			kd.Methods[kernel.MethodID{Object: def.Object.ID, Method: m.ID}] = nothing
		}
		for _, w := range def.Writes {
			kd.Writes[kernel.WriteID{Command: w.Command, Ex: w.Ex}] = nothing
		}
	}
	return kd
}

// ops are operations that are there and do nothing. The field of each is the one
// that has its name.
func (d Driver) ops(k *spec.Kernel) core.DeviceOps {
	var ops core.DeviceOps
	v := reflect.ValueOf(&ops).Elem()
	for op := range spec.NumOps {
		if !d.has(k, op) {
			continue
		}
		name := strings.ReplaceAll(op.String(), "_", "")
		f := v.FieldByNameFunc(func(field string) bool { return strings.EqualFold(field, name) })
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { panic("schema: a described device does nothing") }))
	}
	return ops
}
