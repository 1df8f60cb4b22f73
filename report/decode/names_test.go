package decode

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"uverbsim/copyuser"
	"uverbsim/interpose/watch"
	"uverbsim/spec"
)

// opaque are the attributes whose bytes have no structure that package spec
// knows: commands of the device's firmware and what goes into them, and packet
// headers.
var opaque = map[string]bool{
	"MLX5_IB_ATTR_DEVX_OTHER_CMD_IN":                true,
	"MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT":               true,
	"MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN":           true,
	"MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT":          true,
	"MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN":           true,
	"MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT":          true,
	"MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN":            true,
	"MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT":           true,
	"MLX5_IB_ATTR_FLOW_MATCHER_MATCH_MASK":          true,
	"MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE":          true,
	"MLX5_IB_ATTR_CREATE_MODIFY_HEADER_ACTIONS_PRM": true,
	"MLX5_IB_ATTR_CREATE_PACKET_REFORMAT_DATA_BUF":  true,
	"MLX5_IB_ATTR_PP_OBJ_ALLOC_CTX":                 true,
}

const (
	argAt = 0x10000 // where the tests' argument is
	bufAt = 0x20000 // and what its attributes lead to
)

// callOf makes a call with one attribute of a method, of n bytes, which all are
// one, as if the kernel had taken it and written its output.
func callOf(driver uint32, object, method uint16, a *spec.Attr, n int) *watch.Call {
	ia := spec.IoctlAttr{AttrID: a.ID, Data: bufAt}
	switch a.Type {
	case spec.TypeIDR, spec.TypeFD, spec.TypeRawFD:
		ia.Data = 7
	case spec.TypeEnumIn:
		ia.AttrData, ia.Len = 0, uint16(a.Enum[0].Len)
	case spec.TypePtrOut:
		ia.Len, ia.Flags = uint16(n), spec.UVERBS_ATTR_F_VALID_OUTPUT
	default:
		ia.Len = uint16(n)
		if n <= 8 {
			ia.Data = 0x0101010101010101
		}
	}
	return take(driver, object, method, []spec.IoctlAttr{ia})
}

func take(driver uint32, object, method uint16, attrs []spec.IoctlAttr) *watch.Call {
	mem := make([]byte, bufAt-argAt+0x1000)
	copy(mem, spec.EncodeMethod(driver, object, method, attrs...))
	for i := bufAt - argAt; i < len(mem); i++ {
		mem[i] = 1
	}
	c := &watch.Call{Name: "ioctl", Cmd: spec.RDMA_VERBS_IOCTL, Arg: argAt, Driver: driver, Mem: copyuser.NewBytes(argAt, mem)}
	c.TakeArgument()
	c.TakeAnswer()
	return c
}

// TestEveryAttribute: every attribute of every method that a driver has is
// decoded under its name, and its bytes under the names of the members of a
// struct, or as a number, but for those listed.
func TestEveryAttribute(t *testing.T) {
	seen := 0
	for _, driver := range []uint32{spec.RDMA_DRIVER_MLX5, spec.RDMA_DRIVER_RXE, spec.RDMA_DRIVER_EFA, spec.RDMA_DRIVER_BNXT_RE} {
		defs := spec.Linux6_12.Definitions(driver)
		for _, d := range defs {
			for _, m := range d.Object.Methods {
				_, method := spec.FindMethod(defs, d.Object.ID, m.ID)
				require.NotNil(t, method)
				for i := range method.Attrs {
					a := &method.Attrs[i]
					if a.Udata || a.ID == spec.UVERBS_ATTR_CORE_IN || a.ID == spec.UVERBS_ATTR_CORE_OUT {
						continue // see TestEveryCommand and TestEveryUdata
					}
					seen++
					checkAttr(t, driver, d.Object.ID, m.ID, a)
				}
			}
		}
	}
	require.Greater(t, seen, 400)
}

func checkAttr(t *testing.T, driver uint32, object, method uint16, a *spec.Attr) {
	t.Helper()
	n := int(a.Len)
	if a.Len == spec.MaxLen {
		n = 64
	}
	if a.Type == spec.TypeIDRsArray {
		n = 16
	}
	d := Call(callOf(driver, object, method, a, n))
	require.NotEmpty(t, d.Object.Text, "object %#x", object)
	require.NotEmpty(t, d.Method.Text, "method %#x of %s", method, d.Object.Text)
	require.NotEmpty(t, d.Driver.Text)
	require.Len(t, d.Attrs, 1)
	got := &d.Attrs[0]
	require.Equal(t, a.Name, got.Name.Text)
	require.NotEmpty(t, a.Name, "attribute %#x of %s", a.ID, d.Method.Text)
	v := got.In
	if a.Type == spec.TypePtrOut || got.New {
		v = got.Out
	}
	require.NotNil(t, v, a.Name)
	require.Equal(t, opaque[a.Name], v.Kind == Bytes && n > 0, "%s: %+v", a.Name, v)
}

// TestEveryCommand: every write() command has a name, and its request and
// response are structs.
func TestEveryCommand(t *testing.T) {
	n := 0
	for _, d := range spec.Core() {
		for _, w := range d.Writes {
			n++
			word := uint32(w.Command)
			if w.Ex {
				word |= spec.IB_USER_VERBS_CMD_FLAG_EXTENDED
			}
			require.Equal(t, w.Name, Command(word).Text)
			b := BuffersOf(spec.RDMA_DRIVER_UNKNOWN, word)
			require.Len(t, b.Request, 1, w.Name)
			require.NotNil(t, spec.NewStruct(b.Request[0]), w.Name)
			require.Equal(t, w.RespSize > 0, len(b.Response) > 0, w.Name)
			for _, c := range b.Response {
				require.NotNil(t, spec.NewStruct(c), w.Name)
			}
			invoked(t, w, word)
		}
	}
	require.Greater(t, n, 40)
	require.Empty(t, Command(77).Text)
	require.Empty(t, Command(0x100|spec.IB_USER_VERBS_CMD_ALLOC_PD).Text)
	require.Empty(t, BuffersOf(spec.RDMA_DRIVER_MLX5, 0x100|spec.IB_USER_VERBS_CMD_ALLOC_PD))
}

// invoked: the command by way of UVERBS_METHOD_INVOKE_WRITE.
func invoked(t *testing.T, w spec.Write, word uint32) {
	t.Helper()
	d := Call(take(spec.RDMA_DRIVER_MLX5, spec.UVERBS_OBJECT_DEVICE, spec.UVERBS_METHOD_INVOKE_WRITE, []spec.IoctlAttr{
		{AttrID: spec.UVERBS_ATTR_WRITE_CMD, Len: 8, Data: uint64(word)},
		{AttrID: spec.UVERBS_ATTR_CORE_IN, Len: 64, Data: bufAt},
		{AttrID: spec.UVERBS_ATTR_CORE_OUT, Len: 64, Data: bufAt, Flags: spec.UVERBS_ATTR_F_VALID_OUTPUT},
	}))
	require.Equal(t, w.Name, d.Command.Text)
	require.Equal(t, w.Name, d.Attrs[0].In.Text)
	require.Equal(t, w.ReqType, d.Attrs[1].In.Type)
	require.Equal(t, w.RespType, d.Attrs[2].Out.Type)
}

// TestEveryUdata: what a driver is handed is a struct for each method that
// hands it on, where the driver has one.
func TestEveryUdata(t *testing.T) {
	for _, driver := range []uint32{spec.RDMA_DRIVER_MLX5, spec.RDMA_DRIVER_RXE} {
		for _, d := range spec.Core() {
			for _, m := range d.Object.Methods {
				in := m.Attr(spec.UVERBS_ATTR_UHW_IN)
				if in == nil || m.ID == spec.UVERBS_METHOD_INVOKE_WRITE && d.Object.ID == spec.UVERBS_OBJECT_DEVICE {
					continue
				}
				u := spec.UdataOfMethod(driver, d.Object.ID, m.ID)
				got := Call(callOf(driver, d.Object.ID, m.ID, in, 32)).Attrs[0].In
				require.Equal(t, len(u.In) > 0, got.Kind == Struct, m.Name)
				got = Call(callOf(driver, d.Object.ID, m.ID, m.Attr(spec.UVERBS_ATTR_UHW_OUT), 72)).Attrs[0].Out
				require.Equal(t, len(u.Out) > 0, got.Kind == Struct, m.Name)
			}
		}
	}
}

// The tables name members, attributes and enums that there are.
func TestTables(t *testing.T) {
	all := map[string]bool{}
	raw, err := os.ReadFile("../../spec/testdata/layout-6.12.json")
	require.NoError(t, err)
	var structs map[string]struct{ Members [][3]any }
	require.NoError(t, json.Unmarshal(raw, &structs))
	for c, s := range structs {
		for _, m := range s.Members {
			all[m[0].(string)], all[c+"."+m[0].(string)] = true, true
		}
	}
	for name := range members {
		require.True(t, all[name], name)
	}
	names := map[string]bool{}
	for _, driver := range []uint32{spec.RDMA_DRIVER_MLX5, spec.RDMA_DRIVER_EFA, spec.RDMA_DRIVER_BNXT_RE} {
		for _, d := range spec.Linux6_12.Definitions(driver) {
			for _, m := range d.Object.Methods {
				for _, a := range m.Attrs {
					names[a.Name] = true
				}
			}
		}
	}
	for name := range attrs {
		require.True(t, names[name], name)
	}
	for name := range attrTypes {
		require.True(t, names[name], name)
	}
	for name := range opaque {
		require.True(t, names[name], name)
	}
	for c := range behind {
		require.NotNil(t, spec.NewStruct(c), c)
	}
	for _, c := range flowStructs {
		require.NotNil(t, spec.NewStruct(c), c)
	}
	src, err := os.ReadFile("members.go")
	require.NoError(t, err)
	more, err := os.ReadFile("attrs.go")
	require.NoError(t, err)
	n := 0
	for _, part := range strings.FieldsFunc(string(src)+string(more), func(r rune) bool { return r == '(' || r == ')' }) {
		if name, ok := strings.CutPrefix(part, `"`); ok && strings.HasSuffix(name, `"`) && !strings.ContainsAny(name, " :") {
			n++
			require.NotNil(t, spec.Enumerators("enum "+strings.TrimSuffix(name, `"`)), name)
		}
	}
	require.Greater(t, n, 60)
}

// Values of all structs: every member has the bytes that the layout says, so
// that nothing is lost between the Go struct and what is shown.
func TestStructOf(t *testing.T) {
	typ := reflect.TypeFor[spec.Mlx5CreateCQ]()
	b := make([]byte, typ.Size()+8)
	for i := range b {
		b[i] = byte(i + 1)
	}
	v := StructOf("struct mlx5_ib_create_cq", b[:typ.Size()])
	require.Equal(t, uint64(0x0807060504030201), v.Field("buf_addr").Num)
	require.Equal(t, Hex, v.Field("buf_addr").Kind)
	require.Equal(t, uint64(0x14131211), v.Field("cqe_size").Num)
	require.Zero(t, v.Missing)

	short := StructOf("struct mlx5_ib_create_cq", b[:18:18])
	require.Equal(t, []string{"buf_addr", "db_addr", "cqe_size"}, []string{short.Fields[0].Name, short.Fields[1].Name, short.Fields[2].Name})
	require.Len(t, short.Fields, 3)
	require.Equal(t, Value{Kind: Bytes, Bytes: b[16:18:18]}, short.Fields[2].Value)
	require.Equal(t, 14, short.Missing)

	long := StructOf("struct mlx5_ib_create_cq", b)
	require.Equal(t, b[32:], long.Tail)
	clear(b[32:])
	require.Equal(t, 8, StructOf("struct mlx5_ib_create_cq", b).Zeros)

	part := StructOf("struct ib_uverbs_query_port_resp_ex", b[:9])
	require.Equal(t, 39, part.Missing)
	require.Len(t, part.Field("legacy_resp").Fields, 3)
	require.Zero(t, part.Field("legacy_resp").Missing)

	require.Equal(t, Bytes, StructOf("struct no_such_struct", b).Kind)
}

func TestForms(t *testing.T) {
	dev := StructOf("struct ib_uverbs_query_device_resp", []byte{0xf2, 3, 0x23, 0, 0x16, 0, 0, 0, 2, 0, 0x5e, 0xff, 0xfe, 0, 0x53, 1})
	require.Equal(t, uint64(0x02005efffe005301), dev.Field("node_guid").Num, "in network order")
	require.Equal(t, int64(-1), int64(signed([]byte{0xff, 0xff, 0xff, 0xff}).Num))
	v := flags("ib_uverbs_access_flags")([]byte{0x05, 0, 0, 0x80})
	require.Equal(t, []string{"IB_UVERBS_ACCESS_LOCAL_WRITE", "IB_UVERBS_ACCESS_REMOTE_READ"}, v.Names)
	require.Equal(t, uint64(0x80000000), v.Rest)
	require.Equal(t, "IB_QPS_RTS", enum("ib_qp_state")([]byte{3}).Text)
	require.Empty(t, enum("ib_qp_state")([]byte{77}).Text)
	require.Equal(t, "/sys/x", text([]byte("/sys/x\x00garbage")).Text)
	list := Of("struct ib_uverbs_sge[]", "", make([]byte, 3*spec.SGESize+5))
	require.Len(t, list.Items, 3)
	require.Equal(t, 5, list.Zeros)
	require.Equal(t, 1000, Of("u16[]", "", make([]byte, 2*(maxItems+1000))).More)
}

// What follows a request: each part as long as the one before it says.
func TestBehind(t *testing.T) {
	send := spec.PostSend{WRCount: 2, SGECount: 3, WQESize: spec.SendWRSize + 8}
	wr := spec.SendWR{WRID: 7, Opcode: spec.IB_UVERBS_WR_RDMA_READ}
	sge := spec.SGE{Addr: 0x1000, Length: 5}
	b := spec.Bytes(&send)
	b = append(slices.Concat(b, spec.Bytes(&wr)), 0, 0, 0, 0, 0, 0, 0, 0)
	b = append(slices.Concat(b, spec.Bytes(&wr)), 1, 0, 0, 0, 0, 0, 0, 0)
	b = slices.Concat(b, spec.Bytes(&sge), spec.Bytes(&sge), spec.Bytes(&sge))
	v := StructOf("struct ib_uverbs_post_send", b)
	wrs := v.Field("send_wr").Items
	require.Len(t, wrs, 2)
	require.Equal(t, "IB_UVERBS_WR_RDMA_READ", wrs[1].Field("opcode").Text)
	require.Equal(t, 8, wrs[0].Zeros)
	require.Equal(t, []byte{1, 0, 0, 0, 0, 0, 0, 0}, wrs[1].Tail)
	require.Len(t, v.Field("sge").Items, 3)
	require.Equal(t, uint64(5), v.Field("sge").Items[2].Field("length").Num)

	for _, bad := range []spec.PostSend{{WRCount: 1 << 31, WQESize: spec.SendWRSize}, {WRCount: 1, WQESize: 0}, {WRCount: 1 << 31, WQESize: 1 << 31}} {
		v := StructOf("struct ib_uverbs_post_send", append(slices.Clone(spec.Bytes(&bad)), 1, 2, 3))
		require.Nil(t, v.Field("send_wr"))
		require.Equal(t, []byte{1, 2, 3}, v.Tail)
	}

	flow := spec.CreateFlow{}
	eth := spec.FlowSpecEth{Hdr: spec.FlowSpecHdr{Type: spec.IB_FLOW_SPEC_ETH, Size: spec.FlowSpecEthSize}}
	eth.Val.DstMac = [6]uint8{2, 0, 0, 0, 0, 1}
	eth.Val.EtherType = 0x0008 // network order
	tcp := spec.FlowSpecTCPUDP{Hdr: spec.FlowSpecHdr{Type: spec.IB_FLOW_SPEC_TCP | spec.IB_FLOW_SPEC_INNER, Size: spec.FlowSpecTCPUDPSize}}
	odd := spec.FlowSpecHdr{Type: 0x99, Size: spec.FlowSpecHdrSize}
	end := spec.FlowSpecHdr{Type: spec.IB_FLOW_SPEC_TCP, Size: 7}
	v = StructOf("struct ib_uverbs_create_flow", slices.Concat(spec.Bytes(&flow), spec.Bytes(&eth), spec.Bytes(&tcp), spec.Bytes(&odd), spec.Bytes(&end)))
	specs := v.Field("flow_specs").Items
	require.Len(t, specs, 3)
	require.Equal(t, []byte{2, 0, 0, 0, 0, 1}, specs[0].Field("val").Field("dst_mac").Bytes)
	require.Equal(t, uint64(0x800), specs[0].Field("val").Field("ether_type").Num)
	require.Equal(t, []string{"IB_FLOW_SPEC_TCP", "IB_FLOW_SPEC_INNER"}, specs[1].Field("hdr").Field("type").Names)
	require.Equal(t, named(0x99, ""), *specs[2].Field("type"))
	require.Equal(t, spec.Bytes(&end), v.Tail)
}
