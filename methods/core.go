package methods

import (
	"maps"

	"uverbsim/kernel"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// object has the functions of one object's declaration: how instances are made
// and destroyed, nil where there are none, and the handlers of its methods by
// method id. A method that only destroys has no handler of its own.
type object struct {
	id      uint16
	typ     *uobject.TypeAttrs
	methods map[uint16]kernel.Handler
}

// objects are those that every device may have.
var objects = []*object{
	&objectDevice, &objectPD, &objectCompChannel, &objectAsyncEvent, &objectCQ, &objectMR, &objectMW, &objectAH,
	&objectQP, &objectSRQ, &objectWQ, &objectRWQIndTbl, &objectXRCD, &objectFlow, &objectFlowAction, &objectDM,
	&objectCounters,
}

// Core returns what every device understands: the declarations of spec.Core
// with the functions that belong to them. It models uverbs_core_api in
// drivers/infiniband/core/uverbs_uapi.c.
func Core() kernel.Definitions {
	defs := kernel.Definitions{
		Spec:    spec.Core(),
		Types:   map[uint16]*uobject.TypeAttrs{},
		Methods: map[kernel.MethodID]kernel.Handler{},
		Writes:  maps.Clone(writes()),
	}
	for _, o := range objects {
		if o.typ != nil {
			defs.Types[o.id] = o.typ
		}
		for id, handler := range o.methods {
			defs.Methods[kernel.MethodID{Object: o.id, Method: id}] = handler
		}
	}
	return defs
}
