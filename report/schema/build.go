package schema

import (
	"fmt"
	"slices"
	"strings"

	"uverbsim/kernel"
	"uverbsim/spec"
)

// Build makes the document of a driver on a kernel.
func Build(d Driver, k *spec.Kernel) (*Document, error) {
	api, err := d.API(k)
	if err != nil {
		return nil, fmt.Errorf("driver %s on %s: %w", d.Name, k.Name, err)
	}
	b := &builder{
		driver: d, kernel: k, api: api, names: map[uint16]string{}, since: sinceOf(d),
		doc: &Document{
			Version: Version,
			Kernel:  Kernel{Name: k.Name, Release: k.Release, ABIVersion: k.ABIVersion, Features: []string{}},
			Driver:  DriverInfo{d.Name, d.ID},
			Ioctl: Ioctl{
				Command: spec.RDMA_VERBS_IOCTL, HeaderSize: spec.IoctlHdrSize, AttrSize: spec.IoctlAttrSize,
				InlineSize: inlineSize, DriverNS: spec.NSFlag,
			},
			Write: WriteHeader{
				HeaderSize: spec.CmdHdrSize, ExHeaderSize: spec.ExCmdHdrSize,
				ExFlag: spec.IB_USER_VERBS_CMD_FLAG_EXTENDED, Word: 4, ExWord: 8,
			},
			Structs: map[string]Struct{}, Enums: map[string][]Enumerator{}, Newer: newer(),
		},
	}
	for _, f := range spec.Features() {
		if k.Has(f) {
			b.doc.Kernel.Features = append(b.doc.Kernel.Features, f.String())
		}
	}
	core, own := d.definitions(k)
	for _, def := range slices.Concat(core, own) {
		b.names[def.Object.ID] = def.Object.Name
	}
	for i := range core {
		b.definition(&core[i], "core")
	}
	for i := range own {
		b.definition(&own[i], d.Name)
	}
	b.tidy()
	return b.doc, nil
}

// inlineSize is how many bytes of a PTR_IN lie in the attribute itself
// (uverbs_attr_ptr_is_inline, include/rdma/uverbs_ioctl.h).
const inlineSize = 8

type builder struct {
	driver Driver
	kernel *spec.Kernel
	api    *kernel.API
	doc    *Document
	names  map[uint16]string // of objects
	since  map[place]string
}

// place is an object, a method of it, an attribute of that, or a command; -1
// where none is meant.
type place struct{ object, method, attr, command int }

const none = -1

// sinceOf returns the first kernel that declares each part of a driver's tables.
func sinceOf(d Driver) map[place]string {
	m := map[place]string{}
	for _, k := range slices.Backward(spec.Kernels()) {
		core, own := d.definitions(k)
		for _, def := range slices.Concat(core, own) {
			o := int(def.Object.ID)
			m[place{o, none, none, none}] = k.Name
			for _, w := range def.Writes {
				m[place{o, none, none, int(word(&w))}] = k.Name
			}
			for _, meth := range def.Object.Methods {
				m[place{o, int(meth.ID), none, none}] = k.Name
				for _, a := range meth.Attrs {
					m[place{o, int(meth.ID), int(a.ID), none}] = k.Name
				}
			}
		}
	}
	return m
}

// word is a command's word in the header of a write().
func word(w *spec.Write) uint32 {
	if w.Ex {
		return uint32(w.Command) | spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
	}
	return uint32(w.Command)
}

// object returns the object of that id, which it adds if need be.
func (b *builder) object(o *spec.Object, by string) *Object {
	i := slices.IndexFunc(b.doc.Objects, func(x Object) bool { return x.ID == o.ID })
	if i < 0 {
		i = len(b.doc.Objects)
		b.doc.Objects = append(b.doc.Objects, Object{
			ID: o.ID, Name: o.Name, Short: shortObject(o.Name), Key: spec.KeyObj(o.ID), DriverNS: o.ID&spec.NSFlag != 0,
			Class: spec.ClassNone.String(), DeclaredBy: by, Since: b.since[place{int(o.ID), none, none, none}],
			Methods: []Method{}, Writes: []Write{},
		})
	}
	return &b.doc.Objects[i]
}

func (b *builder) definition(def *spec.Definition, by string) {
	o := b.object(&def.Object, by)
	if def.Object.Class != spec.ClassNone {
		o.Class, o.FDName = def.Object.Class.String(), def.Object.FDName
	}
	needs := opNames(def.Object.Needs)
	o.Needs = append(o.Needs, needs...)
	if def.Object.IsSupported != "" {
		o.Condition = def.Object.IsSupported
	}
	if b.api.Lookup(o.Key) == nil && o.Pruned == "" {
		o.Pruned = b.lackOf(needs)
	}
	for i := range def.Object.Methods {
		b.method(o, &def.Object.Methods[i], by)
	}
	for i := range def.Writes {
		o.Writes = append(o.Writes, b.write(o, &def.Writes[i]))
	}
}

// lackOf says which of some operations the driver lacks, "" if none.
func (b *builder) lackOf(needs []string) string {
	for _, name := range needs {
		if op, _ := spec.OpByName(name); !b.driver.has(b.kernel, op) {
			return b.driver.Name + " has no " + name
		}
	}
	return ""
}

func opNames(ops []spec.Op) []string {
	var names []string
	for _, op := range ops {
		names = append(names, op.String())
	}
	return names
}

func (b *builder) method(o *Object, m *spec.Method, by string) {
	i := slices.IndexFunc(o.Methods, func(x Method) bool { return x.ID == m.ID })
	if i < 0 {
		i = len(o.Methods)
		key := o.Key | spec.KeyIoctlMethod(m.ID)
		o.Methods = append(o.Methods, Method{
			ID: m.ID, Name: m.Name, Short: shortMethod(o, m.Name), Key: key, DriverNS: m.ID&spec.NSFlag != 0,
			DeclaredBy: by, Since: b.since[place{int(o.ID), int(m.ID), none, none}], Attrs: []Attribute{},
		})
		if elm := b.api.Lookup(key); elm != nil {
			o.Methods[i].Finalized = finalized(elm.Method)
		}
	}
	out := &o.Methods[i]
	for j := range m.Attrs {
		b.attr(o, out, &m.Attrs[j], by)
	}
}

func finalized(m *kernel.IoctlMethod) *Finalized {
	return &Finalized{
		NumAttrs: int(m.NumAttrs), KeyBitmapLen: int(m.KeyBitmapLen), Mandatory: m.Mandatory, HasUdata: m.HasUdata,
		UseStack: m.UseStack, BundleSize: int(m.BundleSize),
	}
}

// tidy says why what is pruned is, now that all is known of every object, and
// sorts.
func (b *builder) tidy() {
	for i := range b.doc.Objects {
		o := &b.doc.Objects[i]
		for j := range o.Methods {
			m := &o.Methods[j]
			if b.api.Lookup(m.Key) == nil {
				m.Pruned = b.whyNot(o, m)
			}
			m.sum()
			slices.SortFunc(m.Attrs, func(x, y Attribute) int { return int(x.Key) - int(y.Key) })
		}
		for j := range o.Writes {
			w := &o.Writes[j]
			if slices.ContainsFunc(o.Methods, func(m Method) bool { return m.Short == w.Short }) {
				w.Short = "CMD_" + w.Short
			}
			if b.api.Lookup(w.Key) == nil {
				w.Pruned = b.whyNoWrite(o, w)
			}
		}
		slices.SortFunc(o.Methods, func(x, y Method) int { return int(x.Key) - int(y.Key) })
		slices.SortFunc(o.Writes, func(x, y Write) int { return int(x.Key) - int(y.Key) })
	}
	slices.SortFunc(b.doc.Objects, func(x, y Object) int { return int(x.Key) - int(y.Key) })
}

func (b *builder) whyNot(o *Object, m *Method) string {
	if o.Pruned != "" {
		return o.Pruned
	}
	for _, a := range m.Attrs {
		if a.Mandatory && a.ObjectID != nil && b.api.Lookup(spec.KeyObj(uint16(*a.ObjectID))) == nil {
			return "there is no " + a.Object + " for " + a.Name
		}
	}
	return "pruned"
}

// sum says of a method what its attributes say.
func (m *Method) sum() {
	for _, a := range m.Attrs {
		switch {
		case a.Access == spec.AccessNew.String():
			m.Creates = a.Object
		case a.Access == spec.AccessDestroy.String():
			m.Destroys = a.Object
		}
		in := a.Direction == in
		if a.Data == dataFD || a.Is != nil && a.Is.Role == spec.RoleFD.String() {
			m.TakesFD, m.ReturnsFD = m.TakesFD || in, m.ReturnsFD || !in
		}
		m.Pointer = m.Pointer || in && a.Is != nil && a.Is.Role == spec.RoleUserAddr.String() || carriesPointer(a.Refs)
		takes, gives := fds(a.Refs)
		m.TakesFD, m.ReturnsFD = m.TakesFD || takes, m.ReturnsFD || gives
	}
}

// newer returns what newer kernels have.
func newer() []Newer {
	list := []Newer{}
	add := func(object, method, attr int) {
		name := spec.NewerName(object, method, attr)
		if name == "" {
			return
		}
		n := Newer{Object: object, Name: name}
		if method != none {
			n.Method = &method
		}
		if attr != none {
			n.Attr = &attr
		}
		list = append(list, n)
	}
	for object := range spec.ObjKeyNumCore {
		add(object, none, none)
		for method := range spec.MethodKeyNumCore {
			add(object, method, none)
			for attr := range 1 << (spec.AttrKeyBits - 1) {
				add(object, method, attr)
			}
		}
	}
	return list
}

// objectName is the name of an object's id on this device.
func (b *builder) objectName(id uint16) string {
	if id == spec.IDRAnyObject {
		return "any"
	}
	if n := b.names[id]; n != "" {
		return n
	}
	return fmt.Sprintf("%#x", id)
}

// enum adds the enumerators of a C enum to the document.
func (b *builder) enum(ctype string) {
	list := spec.Enumerators(ctype)
	if !strings.HasPrefix(ctype, "enum ") || len(list) == 0 || b.doc.Enums[ctype] != nil {
		return
	}
	for _, e := range list {
		if f, ok := enumeratorsOf[e.Name]; ok && !b.kernel.Has(f) {
			continue
		}
		if e.Name == "IB_ACCESS_SUPPORTED" && !b.kernel.Has(spec.MRAccessFlush) {
			e.Value &^= spec.IB_ACCESS_FLUSH_GLOBAL | spec.IB_ACCESS_FLUSH_PERSISTENT
		}
		b.doc.Enums[ctype] = append(b.doc.Enums[ctype], Enumerator{e.Name, e.Value})
	}
}

// enumeratorsOf are the enumerators that came with a feature, of the enums that
// attributes have.
var enumeratorsOf = map[string]spec.Feature{
	"IB_ACCESS_FLUSH_GLOBAL":            spec.MRAccessFlush,
	"IB_ACCESS_FLUSH_PERSISTENT":        spec.MRAccessFlush,
	"MLX5_IB_UAPI_DM_TYPE_ENCAP_SW_ICM": spec.MLX5EncapICM,
}
