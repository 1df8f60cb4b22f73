package spec

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

var lists = []struct {
	name string
	defs func() []Definition
}{
	{"core", core6_12},
	{"mlx5", func() []Definition { return Linux6_12.Declared(RDMA_DRIVER_MLX5, MLX5()) }},
	{"efa", func() []Definition { return Linux6_12.Declared(RDMA_DRIVER_EFA, EFA()) }},
	{"bnxt_re", func() []Definition { return Linux6_12.Declared(RDMA_DRIVER_BNXT_RE, BNXT()) }},
}

// core6_12 are the core's definitions in the kernel that the facts are of.
func core6_12() []Definition { return Linux6_12.Declared(RDMA_DRIVER_UNKNOWN, Core()) }

// An object as both the tables and the facts can state it.
type object struct {
	Name, Class, FDName string
	ID                  uint16
	Key                 uint32
	FDFlags             int
	Needs               []string // sorted; of all definitions of the object
	IsSupported         string
	Methods             []method
}

type method struct {
	Name             string
	ID               uint16
	Key, WholeKey    uint32
	Destroy, Extends bool
	Attrs            []attr
}

type attr struct {
	Name, Type, CType, Access                    string
	ID                                           uint16
	Key, Bkey                                    uint32
	Mandatory, ZeroTrailing, AllocAndCopy, Udata bool
	Len, MinLen, Object, MinItems, MaxItems      uint16
	Enum                                         []attr
}

// collect joins the definitions of each object, as the facts have them.
func collect(defs []Definition) []object {
	byID := map[uint16]*object{}
	for _, d := range defs {
		o := byID[d.Object.ID]
		if o == nil {
			o = &object{ID: d.Object.ID, Name: d.Object.Name, Class: "none", Key: KeyObj(d.Object.ID)}
			byID[d.Object.ID] = o
		}
		if d.Object.Class != ClassNone {
			o.Class, o.FDName, o.FDFlags = d.Object.Class.String(), d.Object.FDName, d.Object.FDFlags
		}
		for _, op := range d.Object.Needs {
			if !slices.Contains(o.Needs, op.String()) {
				o.Needs = append(o.Needs, op.String())
			}
		}
		if d.Object.IsSupported != "" {
			o.IsSupported = d.Object.IsSupported
		}
		for i := range d.Object.Methods {
			o.Methods = append(o.Methods, collectMethod(d.Object.ID, &d.Object.Methods[i]))
		}
	}
	var all []object
	for _, o := range byID {
		slices.Sort(o.Needs)
		all = append(all, *o)
	}
	slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func collectMethod(obj uint16, m *Method) method {
	c := method{
		Name: m.Name, ID: m.ID, Key: KeyIoctlMethod(m.ID), WholeKey: KeyObj(obj) | KeyIoctlMethod(m.ID),
		Destroy: m.Destroy, Extends: m.Extends,
	}
	for _, a := range m.Attrs {
		ca := attr{
			Name: a.Name, ID: a.ID, Type: a.Type.String(), CType: a.CType,
			Key: KeyAttr(a.ID), Bkey: BkeyAttr(KeyAttr(a.ID)),
			Mandatory: a.Mandatory, ZeroTrailing: a.ZeroTrailing, AllocAndCopy: a.AllocAndCopy, Udata: a.Udata,
			Len: a.Len, MinLen: a.MinLen, Object: a.Object, MinItems: a.MinItems, MaxItems: a.MaxItems,
		}
		if a.IsObject() || a.Type == TypeIDRsArray {
			ca.Access = a.Access.String()
		}
		for _, e := range a.Enum {
			ca.Enum = append(ca.Enum, attr{
				ID: e.ID, Type: e.Type.String(), Len: e.Len, MinLen: e.MinLen,
				ZeroTrailing: e.ZeroTrailing, AllocAndCopy: e.AllocAndCopy,
			})
		}
		c.Attrs = append(c.Attrs, ca)
	}
	return c
}

func collectFacts(t *testing.T, objs []factObject) []object {
	var all []object
	for _, f := range objs {
		o := object{ID: f.ID, Name: f.Name, Class: cmp.Or(f.Type.Class, "none"), Key: f.ObjKey, FDName: f.Type.FDName}
		if f.Type.Flags != "" {
			require.Equal(t, "O_RDONLY", f.Type.Flags)
			o.FDFlags = syscall.O_RDONLY
		}
		for _, c := range f.Conditions {
			if op, ok := strings.CutPrefix(c.Needs, "ib_device_ops."); ok {
				o.Needs = append(o.Needs, op)
			} else {
				o.IsSupported = c.Needs
			}
		}
		slices.Sort(o.Needs)
		for _, m := range f.Methods {
			o.Methods = append(o.Methods, collectFactMethod(t, m))
		}
		all = append(all, o)
	}
	slices.SortFunc(all, func(a, b object) int { return cmp.Compare(a.ID, b.ID) })
	return all
}

func collectFactMethod(t *testing.T, m factMethod) method {
	c := method{Name: m.Name, ID: m.ID, Key: m.MethodKey, WholeKey: m.Key}
	switch {
	case m.Kind == "method":
	case m.Kind == "destroy":
		c.Destroy = true
	case strings.HasPrefix(m.Kind, "attributes-only"):
		c.Extends = true
	default:
		require.Fail(t, "a kind of method that the test does not know", m.Kind)
	}
	for _, a := range m.Attrs {
		ca := attr{
			Name: a.Name, ID: a.ID, Type: a.Type, Access: a.Access, Key: a.AttrKey, Bkey: a.Bkey,
			Mandatory: a.Mandatory, ZeroTrailing: a.ZeroTrailing, AllocAndCopy: a.AllocAndCopy, Udata: a.IsUdata,
			Len: a.Len, MinLen: a.MinLen, Object: a.ObjectID, MinItems: a.MinElems, MaxItems: a.MaxElems,
			CType: a.CType,
		}
		for _, e := range a.Elems {
			ca.Enum = append(ca.Enum, attr{
				ID: e.ElemID, Type: e.Type, Len: e.Len, MinLen: e.MinLen,
				ZeroTrailing: e.ZeroTrailing, AllocAndCopy: e.AllocAndCopy,
			})
		}
		c.Attrs = append(c.Attrs, ca)
	}
	return c
}

func TestTablesAreTheKernels(t *testing.T) {
	f := loadFacts(t)
	for _, l := range lists {
		t.Run(l.name, func(t *testing.T) {
			want, got := collectFacts(t, f.objects(l.name)), collect(l.defs())
			require.Empty(t, gocmp.Diff(want, got), "-kernel +table")
		})
	}
}

func TestCounts(t *testing.T) {
	f := loadFacts(t)
	count := func(defs []Definition) (objects, methods, attrs int) {
		for _, o := range collect(defs) {
			objects++
			for _, m := range o.Methods {
				methods++
				attrs += len(m.Attrs)
			}
		}
		return objects, methods, attrs
	}
	objects, methods, attrs := count(core6_12())
	require.EqualValues(t, f.Counts["core"]["objects"], objects)
	require.EqualValues(t, f.Counts["core"]["ioctl_methods"], methods)
	require.EqualValues(t, f.Counts["core"]["ioctl_attrs"], attrs)
	_, methods, attrs = count(MLX5())
	require.EqualValues(t, f.Counts["mlx5"]["ioctl_methods"].(float64)+f.Counts["mlx5"]["attrs_only_methods"].(float64), methods)
	require.EqualValues(t, f.Counts["mlx5"]["attrs"], attrs)
}

// The order in which the kernel merges decides which definition it meets
// first; it is stated here from uverbs_core_api and mlx5_ib_defs.
func TestMergeOrder(t *testing.T) {
	order := func(defs []Definition) string {
		var s []string
		for _, d := range defs {
			n := strings.TrimPrefix(strings.TrimPrefix(d.Object.Name, "UVERBS_OBJECT_"), "MLX5_IB_OBJECT_")
			if d.Writes != nil {
				n = "w:" + n
			}
			s = append(s, n)
		}
		return strings.Join(s, " ")
	}
	require.Equal(t, "ASYNC_EVENT COUNTERS CQ DEVICE DM FLOW_ACTION "+
		"PD COMP_CHANNEL AH MW FLOW RWQ_IND_TBL XRCD MR QP SRQ WQ "+
		"w:AH w:COMP_CHANNEL w:CQ w:DEVICE w:FLOW w:MR w:MW w:PD w:QP w:RWQ_IND_TBL w:WQ w:SRQ w:XRCD",
		order(Core()))
	require.Equal(t, "DEVX DEVX_OBJ DEVX_UMEM DEVX_ASYNC_CMD_FD DEVX_ASYNC_EVENT_FD "+
		"FLOW_MATCHER FLOW FLOW_ACTION STEERING_ANCHOR PP PD DEVICE DM DM CQ DEVICE MR VAR UAR",
		order(MLX5()))
}

// Which of an object's needs stand with its tree and which with its write()
// commands is not in the facts; it is stated here from the kernel's sources.
func TestNeedsOfWriteDefinitions(t *testing.T) {
	for _, d := range Core() {
		if d.Writes == nil {
			continue
		}
		switch d.Object.ID {
		case UVERBS_OBJECT_AH:
			require.Equal(t, []Op{OpCreateUserAH, OpDestroyAH}, d.Object.Needs)
		case UVERBS_OBJECT_DEVICE:
			require.Equal(t, []Op{OpAllocUcontext, OpDeallocUcontext}, d.Object.Needs)
		case UVERBS_OBJECT_XRCD:
			require.Equal(t, []Op{OpAllocXRCD, OpDeallocXRCD}, d.Object.Needs)
		default:
			require.Empty(t, d.Object.Needs, d.Object.Name)
		}
	}
}

// FindMethod must see what the kernel sees after it has merged everything.
func TestFindMethodAgainstMergedTree(t *testing.T) {
	f := loadFacts(t)
	drivers := map[string]uint32{"mlx5": RDMA_DRIVER_MLX5, "efa": RDMA_DRIVER_EFA, "bnxt_re": RDMA_DRIVER_BNXT_RE}
	require.Len(t, f.Merged, len(drivers))
	for name, id := range drivers {
		defs := Linux6_12.Definitions(id)
		ids := map[string][2]uint16{}
		for _, o := range collect(defs) {
			for _, m := range o.Methods {
				ids[o.Name+" "+m.Name] = [2]uint16{o.ID, m.ID}
			}
		}
		n := 0
		for _, o := range f.Merged[name] {
			for _, m := range o.Methods {
				n++
				id, ok := ids[o.Name+" "+m.Name]
				require.True(t, ok, "%s has no %s %s", name, o.Name, m.Name)
				objectName, got := FindMethod(defs, id[0], id[1])
				require.NotNil(t, got, m.Name)
				require.Equal(t, o.Name, objectName)
				bitmapLen := uint32(1) // of a method without attributes too
				var mandatory uint64
				udata := false
				for _, a := range got.Attrs {
					bkey := BkeyAttr(KeyAttr(a.ID))
					bitmapLen = max(bitmapLen, bkey+1)
					if a.Mandatory {
						mandatory |= 1 << bkey
					}
					udata = udata || a.Udata
				}
				want, err := strconv.ParseUint(m.Finalized.Mandatory, 0, 64)
				require.NoError(t, err)
				require.Equal(t, m.Finalized.NumAttrs, len(got.Attrs), m.Name)
				require.Equal(t, m.Finalized.BitmapLen, bitmapLen, m.Name)
				require.Equal(t, want, mandatory, m.Name)
				require.Equal(t, m.Finalized.HasUdata, udata, m.Name)
			}
		}
		require.Equal(t, len(ids), n, "methods of %s", name)
	}
}

func TestFindMethodOfNone(t *testing.T) {
	name, m := FindMethod(Core(), UVERBS_OBJECT_CQ, 2)
	require.Nil(t, m)
	require.Equal(t, "UVERBS_OBJECT_CQ", name)
	name, m = FindMethod(Core(), 0x1000, 0)
	require.Nil(t, m)
	require.Empty(t, name)
	// What only extends has no handler.
	_, m = FindMethod(MLX5(), UVERBS_OBJECT_CQ, UVERBS_METHOD_CQ_CREATE)
	require.Nil(t, m)
}

// everything are the definitions of the core and of all drivers, in the newest
// kernel.
func everything() []Definition {
	return slices.Concat(Core(), MLX5(), EFA(), BNXT())
}

// TestEverythingHasAName: names.go has the names of all that the tables declare.
func TestEverythingHasAName(t *testing.T) {
	const how = "go generate -run names_gen ./spec"
	for _, d := range everything() {
		require.NotEmpty(t, d.Object.Name, "object %#x: %s", d.Object.ID, how)
		for _, m := range d.Object.Methods {
			require.NotEmpty(t, m.Name, "%s: method %#x: %s", d.Object.Name, m.ID, how)
			for _, a := range m.Attrs {
				require.NotEmpty(t, a.Name, "%s: attribute %#x: %s", m.Name, a.ID, how)
			}
		}
	}
}

// A caller that changes what it got must not change what the next one gets.
func TestDefinitionsAreCopies(t *testing.T) {
	for _, l := range lists {
		a := l.defs()
		for i := range a {
			o := &a[i].Object
			o.Name = "x"
			for j := range o.Needs {
				o.Needs[j] = NumOps
			}
			for j := range o.Methods {
				o.Methods[j].Name = "x"
				for k := range o.Methods[j].Attrs {
					o.Methods[j].Attrs[k].Mandatory = !o.Methods[j].Attrs[k].Mandatory
					for e := range o.Methods[j].Attrs[k].Enum {
						o.Methods[j].Attrs[k].Enum[e].Len = 99
					}
				}
			}
			for j := range a[i].Writes {
				a[i].Writes[j].ReqSize = 99
				for k := range a[i].Writes[j].Needs {
					a[i].Writes[j].Needs[k] = NumOps
				}
			}
		}
		require.Empty(t, gocmp.Diff(collectFacts(t, loadFacts(t).objects(l.name)), collect(l.defs())))
		for _, d := range l.defs() {
			for _, w := range d.Writes {
				require.NotEqual(t, uint8(99), w.ReqSize)
				require.NotContains(t, w.Needs, NumOps)
			}
		}
	}
}

func TestWrites(t *testing.T) {
	f := loadFacts(t)
	byKey := map[uint32]factWrite{}
	for _, w := range append(slices.Clone(f.Write), f.WriteEx...) {
		byKey[w.Key] = w
	}
	require.Len(t, byKey, len(f.Write)+len(f.WriteEx))
	defs := Core()
	n := 0
	for _, d := range defs {
		for _, w := range d.Writes {
			n++
			key := KeyWriteMethod(uint32(w.Command))
			if w.Ex {
				key = KeyWriteExMethod(uint32(w.Command))
			}
			want, ok := byKey[KeyObj(d.Object.ID)|key]
			require.True(t, ok, w.Name)
			var needs []string
			for _, op := range w.Needs {
				needs = append(needs, op.String())
			}
			slices.Sort(needs)
			slices.Sort(want.NeedsOps)
			require.Equal(t, want.NeedsOps, append([]string{}, needs...), w.Name)
			want.NeedsOps, want.Key, want.InDefault = nil, 0, false
			require.Equal(t, want, factWrite{
				Cmd: w.Name, Num: w.Command, ObjectID: w.Object, IsEx: w.Ex,
				ReqSize: w.ReqSize, RespSize: w.RespSize, HasUdata: w.HasUdata, HasResp: w.HasResp,
			})
			found := FindWrite(defs, w.Command, w.Ex)
			require.NotNil(t, found)
			require.Equal(t, w, *found)
			require.Equal(t, w.Name, WriteName(w.Command, w.Ex))
		}
	}
	require.Equal(t, len(byKey), n)
	require.Nil(t, FindWrite(defs, IB_USER_VERBS_CMD_BIND_MW, false))
	require.Nil(t, FindWrite(defs, IB_USER_VERBS_CMD_GET_CONTEXT, true))
	for _, d := range MLX5() {
		require.Empty(t, d.Writes)
	}
}

func TestDefaultUverbsCmdMask(t *testing.T) {
	f := loadFacts(t)
	require.NotEmpty(t, f.DefaultUverbsCmds)
	var mask uint64
	for _, name := range f.DefaultUverbsCmds {
		i := slices.IndexFunc(Enumerators("enum ib_uverbs_write_cmds"), func(e Enumerator) bool { return e.Name == name })
		require.GreaterOrEqual(t, i, 0, name)
		mask |= 1 << Enumerators("enum ib_uverbs_write_cmds")[i].Value
	}
	require.Equal(t, mask, DefaultUverbsCmdMask)
	for _, w := range f.Write {
		require.Equal(t, w.InDefault, DefaultUverbsCmdMask>>w.Num&1 == 1, w.Cmd)
	}
}

func TestOps(t *testing.T) {
	f := loadFacts(t)
	var names []string
	for op := Op(0); op < NumOps; op++ {
		names = append(names, op.String())
		back, ok := OpByName(op.String())
		require.True(t, ok)
		require.Equal(t, op, back)
	}
	slices.Sort(names)
	want := slices.Clone(f.DeviceOpsNeeded)
	slices.Sort(want)
	require.Equal(t, want, names)
	_, ok := OpByName("alloc_hw_port_stats")
	require.False(t, ok)
	require.Equal(t, "?", NumOps.String())
}

func TestNewerNames(t *testing.T) {
	added := map[string]int{}
	for _, enums := range loadFacts(t).Since612.ByHeader["ib_user_ioctl_cmds.h"].Added {
		for name, value := range enums {
			added[name] = value
		}
	}
	defs := Core()
	for k, name := range newerNames {
		value, ok := added[name]
		require.True(t, ok, name)
		last := max(k.method, k.attr)
		if k.attr != none {
			last = k.attr
		}
		if k.method == none {
			last = k.object
		}
		require.Equal(t, value, last, name)
		require.Equal(t, name, NewerName(k.object, k.method, k.attr))
		// What a table declares is not newer than the tables.
		_, m := FindMethod(defs, uint16(k.object), uint16(max(k.method, 0)))
		switch {
		case k.method == none:
			require.Empty(t, ObjectName(uint16(k.object)))
		case k.attr == none:
			require.Nil(t, m, name)
		default:
			require.NotNil(t, m, name)
			require.Nil(t, m.Attr(uint16(k.attr)), name)
		}
	}
	require.Empty(t, NewerName(UVERBS_OBJECT_CQ, none, none))
}

func TestMethodAndObjectLookup(t *testing.T) {
	o := Core()[2].Object
	require.Equal(t, "UVERBS_OBJECT_CQ", o.Name)
	m := o.Method(UVERBS_METHOD_CQ_DESTROY)
	require.NotNil(t, m)
	require.Nil(t, o.Method(7))
	require.Equal(t, "UVERBS_ATTR_DESTROY_CQ_RESP", m.Attr(UVERBS_ATTR_DESTROY_CQ_RESP).Name)
	require.Nil(t, m.Attr(UVERBS_ATTR_UHW_IN))
}

func TestNamesOfValuesOutOfRange(t *testing.T) {
	require.Equal(t, "?", AttrType(8).String())
	require.Equal(t, "?", Access(4).String())
	require.Equal(t, "?", Class(3).String())
}
