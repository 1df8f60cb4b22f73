package spec

import (
	"bytes"
	"encoding/binary"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
)

// layout is one struct of testdata/layout-6.12.json: what gcc for x86-64 made
// of the headers. A member is its name, offset and size; size 0 is an array
// that follows the struct.
type layout struct {
	Size    uintptr
	Members [][3]any
}

func wireTypes() map[string]reflect.Type {
	all := map[string]reflect.Type{}
	for c, f := range wireStructs {
		all[c] = reflect.TypeOf(f()).Elem()
	}
	for c, v := range unions {
		all[c] = reflect.TypeOf(v)
	}
	return all
}

func TestLayouts(t *testing.T) {
	var want map[string]layout
	loadJSON(t, "layout-6.12.json", &want)
	require.Greater(t, len(want), 180)
	got := wireTypes()
	for c := range want {
		require.Contains(t, got, c)
	}
	for c, typ := range got {
		t.Run(c, func(t *testing.T) {
			l, ok := want[c]
			require.True(t, ok, "no such struct in the headers")
			require.Equal(t, l.Size, typ.Size())
			var members [][3]any
			for _, m := range l.Members {
				if m[2].(float64) != 0 {
					members = append(members, [3]any{plain(m[0].(string)), m[1], m[2]})
				}
			}
			require.Equal(t, members, goMembers(typ))
		})
	}
}

// plain strips a member's name of what the two languages write differently.
func plain(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

func goMembers(typ reflect.Type) [][3]any {
	var all [][3]any
	for i := range typ.NumField() {
		if f := typ.Field(i); f.Name != "_" {
			all = append(all, [3]any{plain(f.Name), float64(f.Offset), float64(f.Type.Size())})
		}
	}
	return all
}

// Bytes shows the whole memory of a struct: there must be none that no field
// accounts for.
func TestWireStructsHaveNoHiddenPadding(t *testing.T) {
	var sum func(typ reflect.Type) uintptr
	sum = func(typ reflect.Type) uintptr {
		switch typ.Kind() {
		case reflect.Struct:
			var n uintptr
			for i := range typ.NumField() {
				n += sum(typ.Field(i).Type)
			}
			return n
		case reflect.Array:
			return uintptr(typ.Len()) * sum(typ.Elem())
		}
		return typ.Size()
	}
	for c, typ := range wireTypes() {
		require.Equal(t, typ.Size(), sum(typ), c)
		if typ.Size() != 0 {
			require.Equal(t, "structs.HostLayout", typ.Field(0).Type.String(), c)
		}
	}
}

func TestBytesIsTheLittleEndianForm(t *testing.T) {
	v := CreateCQ{Response: 0x1122334455667788, CQE: 5, CompChannel: -1}
	want, err := binary.Append(nil, binary.LittleEndian, &v)
	require.NoError(t, err)
	require.Len(t, want, CreateCQSize)
	require.Equal(t, want, Bytes(&v))
	require.Equal(t, []byte{0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11}, Bytes(&v)[:8])
	copy(Bytes(&v)[16:20], []byte{9, 1, 0, 0})
	require.Equal(t, uint32(0x109), v.CQE)
	var resp QueryPortRespEx
	require.Zero(t, testing.AllocsPerRun(100, func() { Bytes(&resp)[0]++ }))
}

func TestNewStruct(t *testing.T) {
	require.IsType(t, &QPCap{}, NewStruct("struct ib_uverbs_qp_cap"))
	require.Nil(t, NewStruct("u32"))
	// What the tables name must be known.
	for _, l := range lists {
		for _, d := range l.defs() {
			for _, m := range d.Object.Methods {
				for _, a := range m.Attrs {
					if strings.HasPrefix(a.CType, "struct ") {
						v := NewStruct(a.CType)
						require.NotNil(t, v, a.Name)
						require.EqualValues(t, a.Len, reflect.TypeOf(v).Elem().Size(), a.Name)
					}
				}
			}
		}
	}
}

func TestIoctlHdrAndAttr(t *testing.T) {
	hb := [IoctlHdrSize]byte{
		0x38, 0x00, 0x03, 0x00, 0x01, 0x10, 0x02, 0x00,
		1, 2, 3, 4, 5, 6, 7, 8,
		0x0e, 0, 0, 0, 0xEF, 0xBE, 0xAD, 0xDE,
	}
	h := DecodeIoctlHdr(&hb)
	require.Equal(t, IoctlHdr{
		Length: 0x38, ObjectID: 3, MethodID: 0x1001, NumAttrs: 2,
		Reserved1: 0x0807060504030201, DriverID: RDMA_DRIVER_RXE, Reserved2: 0xDEADBEEF,
	}, h)
	ab := [IoctlAttrSize]byte{0x07, 0x10, 4, 0, 1, 0, 2, 3, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}
	a := DecodeIoctlAttr(&ab)
	require.Equal(t, IoctlAttr{AttrID: 0x1007, Len: 4, Flags: UVERBS_ATTR_F_MANDATORY, AttrData: 0x0302, Data: 1<<64 - 2}, a)
	require.EqualValues(t, 2, a.ElemID())
	require.EqualValues(t, 3, a.EnumReserved())
	require.EqualValues(t, -2, a.DataS64())
	require.EqualValues(t, 1, ab[IoctlAttrFlagsOffset])
	require.EqualValues(t, 0xFE, ab[IoctlAttrDataOffset])
	require.EqualValues(t, uint32(0xc0181b01), uint32(RDMA_VERBS_IOCTL)) // what strace shows
	require.Zero(t, testing.AllocsPerRun(100, func() {
		h = DecodeIoctlHdr(&hb)
		a = DecodeIoctlAttr(&ab)
		h.Encode(&hb)
		a.Encode(&ab)
	}))
}

// loadConstants returns what gcc made of each enumerator and macro, by enum;
// those without one are under "".
func loadConstants(t *testing.T) map[string]map[string]int64 {
	var c map[string]map[string]int64
	loadJSON(t, "constants-6.12.json", &c)
	return c
}

func TestConstantsAreTheHeaders(t *testing.T) {
	want := map[string]string{}
	for _, enum := range loadConstants(t) {
		for name, value := range enum {
			want[name] = constant.MakeInt64(value).ExactString()
		}
	}
	require.Greater(t, len(want), 900)
	want["RDMA_VERBS_IOCTL"] = constant.MakeInt64(0xc0181b01).ExactString()
	got := packageConstants(t)
	for name := range got {
		if isNewer(name) {
			delete(got, name)
		}
	}
	require.Empty(t, gocmp.Diff(want, got), "-header +constant")
}

// isNewer says whether a constant came with a feature that the kernel of the
// headers lacks.
func isNewer(name string) bool {
	for _, f := range Features() {
		if !Linux6_12.Has(f) && slices.ContainsFunc(f.Info().Headers, func(h string) bool { return comesWith(name, h) }) {
			return true
		}
	}
	return false
}

// packageConstants returns the constants of this package that are spelled as
// the kernel spells them.
func packageConstants(t *testing.T) map[string]string {
	fset := token.NewFileSet()
	names, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var files []*ast.File
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasSuffix(name, "_gen.go") {
			continue
		}
		f, err := parser.ParseFile(fset, name, nil, 0)
		require.NoError(t, err)
		files = append(files, f)
	}
	// Without imports nothing but constants can be checked, which is enough.
	cfg := types.Config{Error: func(error) {}, IgnoreFuncBodies: true}
	pkg, _ := cfg.Check("spec", fset, files, nil)
	kernel := regexp.MustCompile(`^[A-Z][A-Z0-9]*_[A-Za-z0-9_]+$`)
	all := map[string]string{}
	for _, name := range pkg.Scope().Names() {
		if c, ok := pkg.Scope().Lookup(name).(*types.Const); ok && kernel.MatchString(name) {
			all[name] = c.Val().ExactString()
		}
	}
	return all
}

func TestEnumerators(t *testing.T) {
	for enum, want := range loadConstants(t) {
		if enum == "" {
			continue
		}
		got := map[string]int64{}
		for _, e := range Enumerators(enum) {
			if !isNewer(e.Name) {
				got[e.Name] = int64(e.Value)
			}
		}
		require.Equal(t, want, got, enum)
	}
	require.Nil(t, Enumerators("enum no_such_enum"))
	require.Equal(t, "IB_UVERBS_QPT_RAW_PACKET", EnumeratorName("enum ib_uverbs_qp_type", 8))
	require.Empty(t, EnumeratorName("enum ib_uverbs_qp_type", 7))
	headers := loadConstants(t)
	for enum, es := range enumerators {
		if headers[enum] == nil {
			require.False(t, slices.ContainsFunc(es, func(e Enumerator) bool { return !isNewer(e.Name) }), enum)
		}
	}
}

// What the size constants say is what the structs take.
func TestSizeConstants(t *testing.T) {
	consts := packageSizes(t)
	for c, f := range wireStructs {
		typ := reflect.TypeOf(f()).Elem()
		require.EqualValues(t, typ.Size(), consts[typ.Name()+"Size"], c)
	}
	require.Len(t, consts, len(wireStructs))
}

func packageSizes(t *testing.T) map[string]int64 {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "wire_sizes.go", nil, 0)
	require.NoError(t, err)
	pkg, err := new(types.Config).Check("spec", fset, []*ast.File{f}, nil)
	require.NoError(t, err)
	all := map[string]int64{}
	for _, name := range pkg.Scope().Names() {
		v, ok := constant.Int64Val(pkg.Scope().Lookup(name).(*types.Const).Val())
		require.True(t, ok)
		all[name] = v
	}
	return all
}

func TestDeclareUnknownMember(t *testing.T) {
	require.PanicsWithValue(t, "spec: QPCap has no member Nothing", func() { Struct[QPCap]("Nothing") })
}

func TestAttrString(t *testing.T) {
	var b bytes.Buffer
	for _, a := range []Attr{
		PtrIn(0, U32, Mandatory),
		PtrOut(0, Struct[QueryPortRespEx]("PortCapFlags2")),
		PtrIn(0, MinSize(4)),
		FlagsIn(0, "enum ib_access_flags"),
		IDRAttr(0, IDRAnyObject, AccessRead, Mandatory),
		FDAttr(0, UVERBS_OBJECT_ASYNC_EVENT, AccessNew),
		IDRsArray(0, MLX5_IB_OBJECT_DEVX_OBJ, AccessRead, 1, 2),
		EnumIn(0, mlx5FlowType),
		RawFDAttr(0),
	} {
		b.WriteString(a.String() + "\n")
	}
	require.Equal(t, `PTR_IN u32, 4 bytes, mandatory
PTR_OUT struct ib_uverbs_query_port_resp_ex, 42 to 48 bytes, zeros after
PTR_IN, 4 bytes or more
PTR_IN enum ib_access_flags, 4 to 8 bytes
IDR of any object, READ, mandatory
FD of UVERBS_OBJECT_ASYNC_EVENT, NEW
IDRS_ARRAY of object 0x1001, READ, 1 to 2 handles
ENUM_IN, one of 4
RAW_FD
`, b.String())
}

// The names of members are those of the Go structs' fields, one for one.
func TestMembers(t *testing.T) {
	for c, typ := range wireTypes() {
		var want []string
		for i := range typ.NumField() {
			if f := typ.Field(i); f.Name != "_" {
				want = append(want, plain(f.Name))
			}
		}
		var got []string
		for _, m := range Members("struct " + c) {
			got = append(got, plain(m))
		}
		require.Equal(t, want, got, c)
	}
	require.Nil(t, Members("struct no_such_struct"))
	require.Equal(t, []string{"cqn", "reserved"}, Members("struct mlx5_ib_create_cq_resp"))
}

func TestStructName(t *testing.T) {
	require.Equal(t, "struct ib_uverbs_qp_cap", StructName(reflect.TypeFor[QPCap]()))
	require.Empty(t, StructName(reflect.TypeFor[layout]()))
}
