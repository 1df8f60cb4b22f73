package kernel

import (
	"uverbsim/spec"
	"uverbsim/uobject"
)

// Handler is the handler of a method or of a write() command.
type Handler func(b *Bundle) error

// MethodID names an ioctl method.
type MethodID struct{ Object, Method uint16 }

// WriteID names a write() command.
type WriteID struct {
	Command uint8
	Ex      bool
}

// Definitions are a list of struct uapi_definition: the declarations, which
// are data of package spec, with the functions that belong to them.
type Definitions struct {
	// Module is the kernel module that declares them, by which the names of
	// its handlers begin (UVERBS_MODULE_NAME); empty is ib_uverbs.
	Module string
	Spec   []spec.Definition

	// Types says how objects are made and destroyed, by object id.
	Types map[uint16]*uobject.TypeAttrs
	// Methods and Writes have the handlers. A method that only destroys
	// (spec.Method.Destroy) needs none.
	Methods map[MethodID]Handler
	Writes  map[WriteID]Handler

	// IsSupported answers the conditions that a declaration names
	// (spec.Object.IsSupported); nil answers yes.
	IsSupported func(name string) bool
}
