package spec

import "slices"

// Core returns the definitions that every device has, in the order in which
// the kernel merges them (uverbs_core_api, drivers/infiniband/core/uverbs_uapi.c).
// The caller may change what it gets.
func Core() []Definition {
	defs := trees(coreNames, []Object{
		objectAsyncEvent, objectCounters, objectCQ, objectDevice, objectDM, objectFlowAction,
	}, objectsIntf, []Object{objectMR, objectQP, objectSRQ, objectWQ})
	for _, d := range writeIntf {
		d = d.Clone()
		d.Object.Name = ObjectName(d.Object.ID)
		defs = append(defs, d)
	}
	return defs
}

// MLX5 returns what mlx5 adds to Core, in its order (mlx5_ib_defs,
// drivers/infiniband/hw/mlx5/main.c). The caller may change what it gets.
func MLX5() []Definition {
	return trees(mlx5Names, mlx5Devx, mlx5Flow, mlx5QoS, mlx5StdTypes, mlx5DM, mlx5CreateCQ, mlx5Main)
}

// EFA returns what efa adds to Core (efa_uapi_defs,
// drivers/infiniband/hw/efa/efa_verbs.c). The caller may change what it gets.
func EFA() []Definition { return trees(efaNames, efaObjects) }

// BNXT returns what bnxt_re adds to Core (bnxt_re_uapi_defs,
// drivers/infiniband/hw/bnxt_re/ib_verbs.c). The caller may change what it
// gets.
func BNXT() []Definition { return trees(bnxtReNames, bnxtReObjects) }

// trees makes a definition of each object, with the names that the source of
// its table gives to the ids.
func trees(names map[nameKey]string, lists ...[]Object) []Definition {
	var defs []Definition
	for _, list := range lists {
		for _, o := range list {
			o = o.Clone()
			o.name(names)
			defs = append(defs, Definition{Object: o})
		}
	}
	return defs
}

// nameKey is the place of a name: an object, a method of it, an attribute of
// that. none stands for what is not meant.
type nameKey struct{ object, method, attr int }

const none = -1

func (o *Object) name(names map[nameKey]string) {
	obj := int(o.ID)
	o.Name = names[nameKey{obj, none, none}]
	for i := range o.Methods {
		m := &o.Methods[i]
		m.Name = names[nameKey{obj, int(m.ID), none}]
		for j := range m.Attrs {
			a := &m.Attrs[j]
			a.Name = names[nameKey{obj, int(m.ID), int(a.ID)}]
			if a.Udata {
				a.Name = uhwNames[a.ID]
			}
		}
	}
}

var uhwNames = map[uint16]string{
	UVERBS_ATTR_UHW_IN:  "UVERBS_ATTR_UHW_IN",
	UVERBS_ATTR_UHW_OUT: "UVERBS_ATTR_UHW_OUT",
}

// Clone returns a copy that shares nothing with d.
func (d Definition) Clone() Definition {
	d.Object = d.Object.Clone()
	d.Writes = slices.Clone(d.Writes)
	for i := range d.Writes {
		d.Writes[i].Needs = slices.Clone(d.Writes[i].Needs)
	}
	return d
}

// Clone returns a copy that shares nothing with o.
func (o Object) Clone() Object {
	o.Needs = slices.Clone(o.Needs)
	o.Methods = slices.Clone(o.Methods)
	for i := range o.Methods {
		m := &o.Methods[i]
		m.Attrs = slices.Clone(m.Attrs)
		for j := range m.Attrs {
			m.Attrs[j].Enum = slices.Clone(m.Attrs[j].Enum)
		}
	}
	return o
}

// ObjectName returns the name of a core object's id, "" if there is none. A
// driver's ids mean what its own definitions say.
func ObjectName(id uint16) string { return coreNames[nameKey{int(id), none, none}] }

// WriteName returns the name of a write() command, of an extended one if ex,
// "" if the kernel has none of that number.
func WriteName(command uint8, ex bool) string {
	if ex {
		return writeExNames[command]
	}
	return writeNames[command]
}
