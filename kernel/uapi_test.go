package kernel

import (
	"encoding/json"
	"os"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/core"
	"uverbsim/spec"
	"uverbsim/uobject"
)

// allOps has every operation; none may be called.
func allOps() core.DeviceOps {
	var ops core.DeviceOps
	v := reflect.ValueOf(&ops).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value { panic("called") }))
	}
	return ops
}

// emptyDefs gives declarations handlers that do nothing.
func emptyDefs(defs []spec.Definition) Definitions {
	d := Definitions{Spec: defs, Types: map[uint16]*uobject.TypeAttrs{}, Methods: map[MethodID]Handler{}, Writes: map[WriteID]Handler{}}
	nop := func(*Bundle) error { return nil }
	for _, def := range defs {
		if def.Object.Class != spec.ClassNone {
			d.Types[def.Object.ID] = &uobject.TypeAttrs{}
		}
		for _, m := range def.Object.Methods {
			d.Methods[MethodID{def.Object.ID, m.ID}] = nop
		}
		for _, w := range def.Writes {
			d.Writes[WriteID{w.Command, w.Ex}] = nop
		}
	}
	return d
}

type finalized struct {
	NumAttrs     uint8  `json:"num_attrs"`
	KeyBitmapLen uint8  `json:"key_bitmap_len"`
	Mandatory    string `json:"attr_mandatory_bitmap"`
	HasUdata     bool   `json:"has_udata"`
	DestroyBkey  uint8  `json:"destroy_bkey"`
	UseStack     bool   `json:"use_stack"`
	BundleSize   uint16 `json:"bundle_size"`
}

type mergedObject struct {
	Name    string
	Methods []struct {
		Name      string
		Finalized finalized
	}
}

// TestFinalizeLikeTheKernel compares what finalize computes with the numbers
// of a 6.12 kernel, for the tree of a device that can do everything.
func TestFinalizeLikeTheKernel(t *testing.T) {
	raw, err := os.ReadFile("../spec/testdata/uapi-6.12.json")
	require.NoError(t, err)
	var facts struct{ Merged map[string][]mergedObject }
	require.NoError(t, json.Unmarshal(raw, &facts))
	drivers := map[string][]spec.Definition{"mlx5": spec.MLX5(), "efa": spec.EFA(), "bnxt_re": spec.BNXT()}
	require.Len(t, facts.Merged, len(drivers))
	for name, defs := range drivers {
		t.Run(name, func(t *testing.T) {
			dev := &core.Device{Ops: allOps(), UverbsCmdMask: ^uint64(0)}
			api, err := NewAPI(dev, emptyDefs(spec.Core()), emptyDefs(defs))
			require.NoError(t, err)
			want := map[string]finalized{}
			objects := map[string]bool{}
			for _, o := range facts.Merged[name] {
				objects[o.Name] = true
				for _, m := range o.Methods {
					want[m.Name] = m.Finalized
				}
			}
			got := map[string]finalized{}
			for key, elm := range api.radix.From(0) {
				switch {
				case spec.IsObject(key):
					require.Truef(t, objects[elm.Object.Name], "object %s", elm.Object.Name)
					delete(objects, elm.Object.Name)
				case spec.IsIoctlMethod(key):
					m := elm.Method
					got[m.Name] = finalized{m.NumAttrs, m.KeyBitmapLen, "0x" + strconv.FormatUint(m.Mandatory, 16),
						m.HasUdata, m.DestroyBkey, m.UseStack, m.BundleSize}
				}
			}
			require.Empty(t, objects, "objects that are missing")
			require.Equal(t, want, got)
		})
	}
}

// TestBadDefinitions wants each wrong declaration refused with its reason.
func TestBadDefinitions(t *testing.T) {
	object := func(methods ...spec.Method) []spec.Definition {
		return []spec.Definition{{Object: spec.Object{ID: 0x1000, Name: "OBJ", Class: spec.ClassIDR, Methods: methods}}}
	}
	handle := func(id uint16, access spec.Access, mandatory bool) spec.Attr {
		return spec.Attr{ID: id, Name: "ATTR" + strconv.Itoa(int(id&0xff)), Type: spec.TypeIDR, Object: 0x1000, Access: access, Mandatory: mandatory}
	}
	method := func(id uint16, attrs ...spec.Attr) spec.Method {
		return spec.Method{ID: id, Name: "METHOD", Attrs: attrs}
	}
	for _, tc := range []struct {
		name string
		defs []spec.Definition
		want string
	}{
		{"duplicate attribute", object(method(0x1000, handle(0x1000, spec.AccessRead, true), handle(0x1000, spec.AccessRead, true))),
			"OBJ: METHOD: attribute ATTR0: id 0x1000 is declared twice"},
		{"two NEW attributes", object(method(0x1000, handle(0x1000, spec.AccessNew, true), handle(0x1001, spec.AccessNew, true))),
			"method METHOD makes or destroys two objects, ATTR0 and ATTR1"},
		{"NEW and DESTROY", object(method(0x1000, handle(0x1000, spec.AccessDestroy, true), handle(0x1001, spec.AccessNew, true))),
			"method METHOD makes or destroys two objects, ATTR0 and ATTR1"},
		{"optional NEW", object(method(0x1000, handle(0x1000, spec.AccessNew, false))),
			"method METHOD: attribute ATTR0 makes or destroys an object and is not mandatory"},
		{"attribute id out of range", object(method(0x1000, handle(0x101f, spec.AccessRead, true))),
			"OBJ: METHOD: attribute ATTR31: id 0x101f is out of range"},
		{"method id out of range", object(method(0x1008)), "OBJ: method METHOD: id 0x1008 is out of range"},
		{"method twice", object(method(0x1000), method(0x1000)), "OBJ: method METHOD is declared twice"},
		{"object id out of range", []spec.Definition{{Object: spec.Object{ID: 0x100c, Name: "OBJ"}}}, "object OBJ: id 0x100c is out of range"},
		{"class twice", append(object(), object()...), "object OBJ: its class is declared twice"},
		{"array of NEW", object(method(0x1000, spec.Attr{ID: 0x1000, Name: "ARR", Type: spec.TypeIDRsArray, Object: 0x1000, Access: spec.AccessNew})),
			"OBJ: METHOD: attribute ARR: an array of handles cannot be made or destroyed"},
		{"extends nothing", object(spec.Method{ID: 0x1000, Name: "METHOD", Extends: true}), "OBJ: method METHOD is extended but nobody declares it"},
		{"command out of range", []spec.Definition{{Writes: []spec.Write{{Command: 64, Name: "CMD"}}}}, "command CMD: number 64 is out of range"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m := NewMachine(emptyDefs(spec.Core()))
			dev := &core.Device{Name: "dev0", Ops: allOps()}
			_, err := m.Register(dev, emptyDefs(tc.defs))
			require.EqualError(t, err, "device dev0: kernel: bad definition: "+tc.want)
			require.Nil(t, m.Device(nodePrefix+"0"))
			_, err = m.Register(dev, emptyDefs(spec.MLX5()))
			require.NoError(t, err, "the machine goes on")
			require.NotNil(t, m.Device(nodePrefix+"0"))
		})
	}

	t.Run("no handler", func(t *testing.T) {
		defs := emptyDefs(object(method(0x1000)))
		delete(defs.Methods, MethodID{0x1000, 0x1000})
		_, err := NewAPI(&core.Device{Ops: allOps()}, emptyDefs(spec.Core()), defs)
		require.EqualError(t, err, "kernel: bad definition: OBJ: method METHOD has no handler")
	})
}
