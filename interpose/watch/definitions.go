package watch

import (
	"sync"

	"uverbsim/spec"
)

// method is what the definitions say of a method.
type method struct {
	object string
	method *spec.Method
}

// drivers is one more than the highest RDMA_DRIVER_ id that tables are kept
// for; a higher one has the core's.
const drivers = 64

// table has the methods of a driver and the core, by object and method.
type table struct {
	once    sync.Once
	defs    []spec.Definition
	objects map[uint16]string
	methods map[[2]uint16]method
}

// tables are the drivers' tables, each made when first asked for.
var tables [drivers]table

func of(driver uint32) *table {
	if driver >= drivers {
		driver = spec.RDMA_DRIVER_UNKNOWN
	}
	t := &tables[driver]
	t.once.Do(func() { t.fill(spec.Linux6_12.Definitions(driver)) })
	return t
}

func (t *table) fill(defs []spec.Definition) {
	t.defs, t.objects, t.methods = defs, map[uint16]string{}, map[[2]uint16]method{}
	for d := range defs {
		o := &defs[d].Object
		if t.objects[o.ID] == "" {
			t.objects[o.ID] = o.Name
		}
		for m := range o.Methods {
			name, found := spec.FindMethod(defs, o.ID, o.Methods[m].ID)
			t.methods[[2]uint16{o.ID, o.Methods[m].ID}] = method{name, found}
		}
	}
}

// lookup returns what the newest kernel knows of a method; the object's name
// may be known where the method is not.
func lookup(driver uint32, object, id uint16) method {
	t := of(driver)
	if m, ok := t.methods[[2]uint16{object, id}]; ok {
		return m
	}
	return method{object: t.objects[object]}
}

// inline is the most bytes of input that lie in the attribute itself:
// uverbs_attr_ptr_is_inline, include/rdma/uverbs_ioctl.h.
const inline = 8

// pointers says by its type when an attribute's data is an address: always,
// never, or when it has no room for the data.
var pointers = map[spec.AttrType]func(n uint16) bool{
	spec.TypePtrIn:     beyond,
	spec.TypeEnumIn:    beyond,
	spec.TypeIDRsArray: beyond,
	spec.TypePtrOut:    func(uint16) bool { return true },
	spec.TypeIDR:       func(uint16) bool { return false },
	spec.TypeFD:        func(uint16) bool { return false },
	spec.TypeRawFD:     func(uint16) bool { return false },
}

func beyond(n uint16) bool { return n > inline }

// isPointer says whether the data of an attribute with that length is an
// address; a is nil if nothing is known of it.
func isPointer(a *spec.Attr, n uint16) bool {
	if a != nil {
		if is := pointers[a.Type]; is != nil {
			return is(n)
		}
	}
	return beyond(n)
}
