package spec

//go:generate go run headers_gen.go

import (
	"slices"
	"strings"
)

// Kernel is what the model knows of one version of the kernel: its name, whose
// answers it is held to, and which features it has. All else is the same in
// every version. A nil Kernel is Linux6_12.
type Kernel struct {
	Name    string // "6.12"
	Release string // the release whose sources and answers were read

	// ABIVersion is what /sys/class/infiniband_verbs/abi_version says.
	ABIVersion int

	features uint64 // by Feature
}

// The kernels. The tables of this package describe the newest one.
var (
	Linux6_1  = &Kernel{Name: "6.1", Release: "Debian 6.1.192-3", ABIVersion: IB_USER_VERBS_ABI_VERSION}
	Linux6_12 = &Kernel{Name: "6.12", Release: "Debian 6.12.117-1~deb12u1", ABIVersion: IB_USER_VERBS_ABI_VERSION}
)

// kernels has them all, the oldest first.
var kernels = []*Kernel{Linux6_1, Linux6_12}

func init() {
	for f := range features {
		first := slices.IndexFunc(kernels, func(k *Kernel) bool { return k.Name == features[f].Since })
		for _, k := range kernels[first:] {
			k.features |= 1 << f
		}
	}
}

// Has says whether the kernel has a feature.
func (k *Kernel) Has(f Feature) bool {
	if k == nil {
		k = Linux6_12
	}
	return k.features>>f&1 != 0
}

// With returns a kernel like k that has the features too. No such kernel was
// released; it serves to see what one feature does.
func (k *Kernel) With(fs ...Feature) *Kernel {
	c := *k
	for _, f := range fs {
		c.features |= 1 << f
	}
	return &c
}

// Without returns a kernel like k that lacks the features; see With.
func (k *Kernel) Without(fs ...Feature) *Kernel {
	c := *k
	for _, f := range fs {
		c.features &^= 1 << f
	}
	return &c
}

// KernelByName returns the kernel of that name, "6.12" for one, and whether
// there is one.
func KernelByName(name string) (*Kernel, bool) {
	return findKernel(func(k *Kernel) bool { return k.Name == name })
}

// KernelByRelease returns the kernel that a release belongs to, such as
// "6.1.0-57-amd64" as uname -r prints it, and whether there is one. A kernel's
// name alone is a release of it.
func KernelByRelease(release string) (*Kernel, bool) {
	return findKernel(func(k *Kernel) bool { return release == k.Name || strings.HasPrefix(release, k.Name+".") })
}

func findKernel(is func(*Kernel) bool) (*Kernel, bool) {
	i := slices.IndexFunc(kernels, is)
	if i < 0 {
		return nil, false
	}
	return kernels[i], true
}

// Kernels returns all kernels that the model knows, the oldest first.
func Kernels() []*Kernel { return slices.Clone(kernels) }

// drivers has what each driver adds to the core's definitions, by its id.
var drivers = map[uint32]func() []Definition{
	RDMA_DRIVER_MLX5:    MLX5,
	RDMA_DRIVER_EFA:     EFA,
	RDMA_DRIVER_BNXT_RE: BNXT,
}

// Definitions returns what a device has whose driver's id is driver, a
// RDMA_DRIVER_ constant: the core's definitions, then the driver's. A driver
// that adds none has the core's alone. The caller may change what it gets.
func (k *Kernel) Definitions(driver uint32) []Definition {
	defs := Core()
	if f := drivers[driver]; f != nil {
		defs = append(defs, f()...)
	}
	return k.Declared(driver, defs)
}

// Declared returns those of a driver's definitions that the kernel has: all,
// or a list that shares nothing with defs. RDMA_DRIVER_UNKNOWN stands for the
// core, whose parts are left out of every driver's definitions too.
func (k *Kernel) Declared(driver uint32, defs []Definition) []Definition {
	lacks := map[nameKey]bool{}
	for _, f := range Features() {
		if k.Has(f) {
			continue
		}
		for _, d := range f.Info().Declares {
			if d.Driver == driver || d.Driver == RDMA_DRIVER_UNKNOWN {
				lacks[nameKey{d.Object, d.Method, d.Attr}] = true
			}
		}
	}
	if len(lacks) == 0 {
		return defs
	}
	var has []Definition
	for _, d := range defs {
		if d = d.Clone(); d.drop(lacks) {
			has = append(has, d)
		}
	}
	return has
}

// drop takes out what a kernel lacks and says whether anything is left; a
// definition that was empty before is left.
func (d *Definition) drop(lacks map[nameKey]bool) bool {
	o := &d.Object
	obj := int(o.ID)
	if lacks[nameKey{obj, none, none}] {
		return false
	}
	had := len(o.Methods)
	o.Methods = slices.DeleteFunc(o.Methods, func(m Method) bool {
		lacked := func(a Attr) bool { return lacks[nameKey{obj, int(m.ID), int(a.ID)}] }
		return lacks[nameKey{obj, int(m.ID), none}] ||
			m.Extends && slices.ContainsFunc(m.Attrs, lacked) &&
				!slices.ContainsFunc(m.Attrs, func(a Attr) bool { return !lacked(a) })
	})
	for i := range o.Methods {
		m := &o.Methods[i]
		m.Attrs = slices.DeleteFunc(m.Attrs, func(a Attr) bool { return lacks[nameKey{obj, int(m.ID), int(a.ID)}] })
	}
	return had == 0 || len(o.Methods) > 0 || o.Class != ClassNone || len(d.Writes) > 0
}
