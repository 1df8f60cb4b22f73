package kernel

import (
	"fmt"
	"sync/atomic"

	"uverbsim/core"
	"uverbsim/radixtree"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// API is what one device understands (struct uverbs_api in rdma_core.h): the
// radix tree of its objects, methods and attributes, and the tables of its
// write() commands.
type API struct {
	DriverID uint32

	radix          radixtree.Tree[Elm]
	writeMethods   []*WriteMethod
	writeExMethods []*WriteMethod
	notsupp        WriteMethod
}

// Elm is what a slot of the tree points at. Exactly one member is set; which,
// the key tells.
type Elm struct {
	Object *ObjectElm
	Method *IoctlMethod
	Write  *WriteMethod
	Attr   *spec.Attr
}

// ObjectElm is a struct uverbs_api_object.
type ObjectElm struct {
	Type     *uobject.Type // nil until a declaration says how instances are made
	Name     string
	disabled bool
}

// IoctlMethod is a struct uverbs_api_ioctl_method. Bitmaps are by bkey.
type IoctlMethod struct {
	Name         string
	Mandatory    uint64 // attributes that a call must have
	KeyBitmapLen uint8  // highest bkey + 1
	NumAttrs     uint8
	DestroyBkey  uint8 // of the attribute that is destroyed before the handler, else spec.BkeyLen
	HasUdata     bool
	UseStack     bool   // the kernel's bundle fits on its stack
	BundleSize   uint16 // bytes of the kernel's bundle, where it does not
	DriverMethod bool   // the handler is the driver's, and goes with it

	handler  atomic.Pointer[Handler]
	module   string // the handler's module and name in a trace
	symbol   string
	disabled bool
}

// WriteMethod is a struct uverbs_api_write_method. Sizes are in bytes, without
// the command's header.
type WriteMethod struct {
	Name              string
	IsEx              bool
	HasUdata, HasResp bool
	ReqSize, RespSize uint8

	handler  Handler
	symbol   string
	disabled bool
}

// Run calls the command's handler.
func (m *WriteMethod) Run(b *Bundle) error {
	defer b.Trace().Enter(trace.Uverbs, m.symbol).Leave()
	return m.handler(b)
}

// NewAPI merges the core's and the driver's definitions, prunes what the
// device cannot do, and finalizes the rest. What the device's kernel does not
// declare is left out. The error says what in the definitions is wrong. It
// models uverbs_alloc_api.
func NewAPI(dev *core.Device, coreDefs, driverDefs Definitions) (*API, error) {
	api := &API{DriverID: dev.DriverID}
	coreDefs.Spec = dev.Kernel.Declared(spec.RDMA_DRIVER_UNKNOWN, coreDefs.Spec)
	driverDefs.Spec = dev.Kernel.Declared(dev.DriverID, driverDefs.Spec)
	if err := api.merge(dev, &coreDefs, false); err != nil {
		return nil, err
	}
	if err := api.merge(dev, &driverDefs, true); err != nil {
		return nil, err
	}
	api.prune()
	if err := api.finalize(); err != nil {
		return nil, err
	}
	return api, nil
}

// object returns the type with that id, nil if the device lacks it. It models
// uapi_get_object without its case of UVERBS_IDR_ANY_OBJECT.
func (api *API) object(id uint16) *uobject.Type {
	elm := api.radix.Lookup(spec.KeyObj(id))
	if elm == nil {
		return nil
	}
	return elm.Object.Type
}

// Lookup returns what the tree has under a key, or nil.
func (api *API) Lookup(key uint32) *Elm { return api.radix.Lookup(key) }

// Tree returns the radix tree, to be read only.
func (api *API) Tree() *radixtree.Tree[Elm] { return &api.radix }

// Writes returns the tables of write() commands and of extended ones. Holes
// have no name.
func (api *API) Writes() (writes, exWrites []*WriteMethod) {
	return api.writeMethods, api.writeExMethods
}

// Write returns the write() command with that command word: the number in the
// low byte, IB_USER_VERBS_CMD_FLAG_EXTENDED above. It models uapi_get_method.
//
// Errors: write/command-flags, write/command-range.
func (api *API) Write(command uint32) (*WriteMethod, error) {
	const mask, extended = 0xff, 0x80000000
	if command&^(mask|extended) != 0 {
		return nil, rule.WriteCommandFlags
	}
	table := api.writeMethods
	if command&extended != 0 {
		table = api.writeExMethods
	}
	i := command & mask
	if i >= uint32(len(table)) {
		return nil, rule.WriteCommandRange
	}
	return table[i], nil
}

// badDefinition is an error in a definition, for whoever wrote it.
func badDefinition(format string, args ...any) error {
	return fmt.Errorf("kernel: bad definition: "+format, args...)
}
