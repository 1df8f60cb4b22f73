package kernel

import (
	"cmp"
	"strings"

	"uverbsim/core"
	"uverbsim/rule"
	"uverbsim/spec"
	"uverbsim/trace"
	"uverbsim/uobject"
)

// merge adds a list of definitions to the tree, in its order. It models
// uapi_merge_def.
func (api *API) merge(dev *core.Device, defs *Definitions, isDriver bool) error {
	for i := range defs.Spec {
		d := &defs.Spec[i]
		if err := api.mergeObject(dev, defs, &d.Object, isDriver); err != nil {
			return err
		}
		for j := range d.Writes {
			if err := api.createWrite(dev, defs, &d.Writes[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// addObject returns the element of an object, which it makes if need be.
func (api *API) addObject(o *spec.Object) (*ObjectElm, error) {
	key := spec.KeyObj(o.ID)
	if key == spec.KeyErr {
		return nil, badDefinition("object %s: id %#x is out of range", o.Name, o.ID)
	}
	if elm := api.radix.Lookup(key); elm != nil {
		return elm.Object, nil
	}
	obj := &ObjectElm{Name: o.Name}
	api.insert(key, Elm{Object: obj})
	return obj, nil
}

func (api *API) insert(key uint32, elm Elm) {
	if err := api.radix.Insert(key, &elm); err != nil {
		panic("kernel: " + spec.FormatKey(key) + ": " + err.Error())
	}
}

// mergeObject models uapi_merge_obj_tree and the conditions that follow an
// object in a list of definitions.
func (api *API) mergeObject(dev *core.Device, defs *Definitions, o *spec.Object, isDriver bool) error {
	obj, err := api.addObject(o)
	if err != nil {
		return err
	}
	if o.Class != spec.ClassNone {
		if obj.Type != nil {
			return badDefinition("object %s: its class is declared twice", o.Name)
		}
		attrs := defs.Types[o.ID]
		if attrs == nil {
			return badDefinition("object %s: nothing says how to destroy it", o.Name)
		}
		obj.Type = uobject.NewType(o.ID, o.Name, o.Class, attrs)
	}
	for i := range o.Methods {
		if err := api.mergeMethod(defs, o, &o.Methods[i], isDriver); err != nil {
			return err
		}
	}
	if !hasAll(dev, o.Needs) || o.IsSupported != "" && defs.IsSupported != nil && !defs.IsSupported(o.IsSupported) {
		obj.disabled = true
	}
	return nil
}

func hasAll(dev *core.Device, ops []spec.Op) bool {
	for _, op := range ops {
		if !dev.Ops.Has(op) {
			return false
		}
	}
	return true
}

// mergeMethod models uapi_merge_method.
func (api *API) mergeMethod(defs *Definitions, o *spec.Object, m *spec.Method, isDriver bool) error {
	methodKey := spec.KeyIoctlMethod(m.ID)
	if methodKey == spec.KeyErr {
		return badDefinition("%s: method %s: id %#x is out of range", o.Name, m.Name, m.ID)
	}
	key := spec.KeyObj(o.ID) | methodKey
	elm := api.radix.Lookup(key)
	if (elm != nil) != m.Extends {
		if m.Extends {
			return badDefinition("%s: method %s is extended but nobody declares it", o.Name, m.Name)
		}
		return badDefinition("%s: method %s is declared twice", o.Name, m.Name)
	}
	if elm == nil {
		module := cmp.Or(defs.Module, trace.Uverbs)
		method := &IoctlMethod{Name: m.Name, module: module, symbol: module + "_handler_" + m.Name}
		handler := defs.Methods[MethodID{o.ID, m.ID}]
		switch {
		case m.Destroy:
			handler, method.module, method.symbol = destroyDefHandler, trace.Uverbs, "uverbs_destroy_def_handler"
		case handler == nil:
			return badDefinition("%s: method %s has no handler", o.Name, m.Name)
		}
		method.handler.Store(&handler)
		method.DriverMethod = isDriver && !m.Destroy
		api.insert(key, Elm{Method: method})
		elm = api.radix.Lookup(key)
	}
	for i := range m.Attrs {
		if err := api.mergeAttr(elm.Method, key, o, m, &m.Attrs[i], isDriver); err != nil {
			return err
		}
	}
	return nil
}

// mergeAttr adds one attribute to its method.
func (api *API) mergeAttr(method *IoctlMethod, methodKey uint32, o *spec.Object, m *spec.Method, a *spec.Attr, isDriver bool) error {
	attrKey := spec.KeyAttr(a.ID)
	if attrKey == spec.KeyErr {
		return badDefinition("%s: %s: attribute %s: id %#x is out of range", o.Name, m.Name, a.Name, a.ID)
	}
	// The members of an enum lie in the driver's memory, so they go with it.
	if a.Type == spec.TypeEnumIn {
		method.DriverMethod = method.DriverMethod || isDriver
	}
	if a.Type == spec.TypeIDRsArray && (a.Access == spec.AccessNew || a.Access == spec.AccessDestroy) {
		return badDefinition("%s: %s: attribute %s: an array of handles cannot be made or destroyed", o.Name, m.Name, a.Name)
	}
	if api.radix.Lookup(methodKey|attrKey) != nil {
		return badDefinition("%s: %s: attribute %s: id %#x is declared twice", o.Name, m.Name, a.Name, a.ID)
	}
	api.insert(methodKey|attrKey, Elm{Attr: a})
	return nil
}

// createWrite models uapi_create_write and the conditions that follow a
// command in a list of definitions.
func (api *API) createWrite(dev *core.Device, defs *Definitions, w *spec.Write) error {
	methodKey := spec.KeyWriteMethod(uint32(w.Command))
	if w.Ex {
		methodKey = spec.KeyWriteExMethod(uint32(w.Command))
	}
	if methodKey == spec.KeyErr {
		return badDefinition("command %s: number %d is out of range", w.Name, w.Command)
	}
	key := spec.KeyObj(w.Object) | methodKey
	if api.radix.Lookup(key) != nil {
		return badDefinition("command %s is declared twice", w.Name)
	}
	handler := defs.Writes[WriteID{w.Command, w.Ex}]
	if handler == nil {
		return badDefinition("command %s has no handler", w.Name)
	}
	method := &WriteMethod{Name: w.Name, IsEx: w.Ex, handler: handler, symbol: writeSymbol(w)}
	if !w.Ex {
		// The kernel leaves these unset for an extended command, whose
		// handler checks for itself.
		method.HasUdata, method.HasResp = w.HasUdata, w.HasResp
		method.ReqSize, method.RespSize = w.ReqSize, w.RespSize
		method.disabled = dev.UverbsCmdMask>>w.Command&1 == 0
	}
	if !hasAll(dev, w.Needs) {
		method.disabled = true
	}
	api.insert(key, Elm{Write: method})
	return nil
}

// writeSymbol returns the name of the function that handles a command.
func writeSymbol(w *spec.Write) string {
	name, ex := strings.CutPrefix(w.Name, "IB_USER_VERBS_EX_CMD_")
	if !ex {
		return "ib_uverbs_" + strings.ToLower(strings.TrimPrefix(name, "IB_USER_VERBS_CMD_"))
	}
	return "ib_uverbs_ex_" + strings.Replace(strings.ToLower(name), "ind_tbl", "ind_table", 1)
}

// destroyDefHandler models uverbs_destroy_def_handler in
// uverbs_std_types.c: the object was destroyed before.
func destroyDefHandler(*Bundle) error { return nil }

// notsuppHandler models ib_uverbs_notsupp: what a hole in a table of write()
// commands does.
func notsuppHandler(*Bundle) error { return rule.WriteNotSupported }
